"""A column that may order the rows of a frame is never passed over in silence."""

import warnings
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import refusal

from harness import conventions, evaluate
from harness.core.errors import UsageError

TRUTH = {"ann": ["a"]}
WORTH = [0.1, 0.9]
"""By worth ann's list is a, x, and AP@2 is 1; as the rows stand it is x, a, and AP@2 is 1/2."""
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
MAP = "MAP@2"


def rows(name: str, values: Any = WORTH) -> dict[str, Any]:
    return {"user": ["ann", "ann"], "item": ["x", "a"], name: values}


def refused(lists: Any, *words: str) -> str:
    """Check that lists are refused with every word, and return the text."""
    with refusal(UsageError, *words) as caught:
        evaluate(lists, TRUTH, MAP)
    return str(caught.value)


@FRAMES
def test_a_column_of_predictions_is_refused_and_both_ways_out_work(frame: Any) -> None:
    lists = frame(rows("prediction"))
    refused(lists, 'recommendations: column "prediction"', 'score="prediction"', "score=False")
    assert evaluate(lists, TRUTH, MAP, score="prediction")[MAP] == 1
    assert evaluate(lists, TRUTH, MAP, score=False)[MAP] == 1 / 2


@pytest.mark.parametrize(
    ("name", "values", "way"),
    [
        *((name, WORTH, "score") for name in ("Prediction", "PREDICTIONS", "scores", "pred_score")),
        *((name, WORTH, "score") for name in ("Predicted Rating", "est", "relevance", "y-score")),
        ("Rank", [2, 1], "rank"),
        ("prediction", pd.Series([1, 2], dtype="Int8"), "score"),
        ("prediction", pd.Series([None, 0.9], dtype=object), "score"),
    ],
)
def test_every_usual_spelling_and_type_is_refused(name: str, values: Any, way: str) -> None:
    lists = pd.DataFrame(rows(name, values))
    refused(lists, f'{way}="{name}"', "score=False")
    if isinstance(values, list):
        assert evaluate(lists, TRUTH, MAP, **{way: name})[MAP] == 1


def test_several_are_all_named() -> None:
    lists = pd.DataFrame(rows("prediction") | {"rating": [1, 2], "price": [3, 4]})
    words = ['columns "prediction" and "rating"', 'score="prediction" or score="rating"']
    assert "price" not in refused(lists, *words)


@FRAMES
def test_numbers_written_as_text_are_to_be_made_numbers_first(frame: Any) -> None:
    refused(frame(rows("prediction", ["0.1", "9e-1"])), "make it numbers")


@pytest.mark.parametrize("values", [["good", "bad"], [True, False]])
def test_words_truth_values_and_columns_beside_lists_order_nothing(values: list[Any]) -> None:
    assert evaluate(pd.DataFrame(rows("rating", values)), TRUTH, MAP)[MAP] == 1 / 2
    wide = pd.DataFrame({"user": ["ann"], "item": [["x", "a"]], "weight": [1.0]})
    assert evaluate(wide, TRUTH, MAP)[MAP] == 1 / 2


def test_the_columns_of_users_and_items_are_never_taken_for_scores() -> None:
    """Kaggle's files call the items `prediction`; ids may be whole numbers."""
    lists = pd.DataFrame({"weight": [1, 1], "prediction": [7, 8]})
    result = evaluate(lists, {1: [8]}, MAP, user="weight", item="prediction")
    assert result[MAP] == 1 / 2


@FRAMES
def test_other_numbers_are_named_in_a_warning(frame: Any) -> None:
    lists = frame(rows("price", [3, 4]) | {"week": [1, 1], "shop": ["s", "t"]})
    with pytest.warns(UserWarning) as warned:
        result = evaluate(lists, TRUTH, MAP)
    assert result[MAP] == 1 / 2
    (warning,) = warned
    assert warning.filename == __file__
    text = str(warning.message)
    assert 'columns "price" and "week"' in text
    assert "rows count as they stand" in text
    assert 'score="price" (highest first) or rank="price" (1 first); score=False' in text
    evaluate(lists, TRUTH, MAP, score=False)
    evaluate(lists, TRUTH, MAP, score="price")


def test_where_an_order_is_named_nothing_is_said() -> None:
    lists = pd.DataFrame(rows("prediction") | {"rank": [2, 1], "price": [3, 4]})
    assert evaluate(lists, TRUTH, MAP)[MAP] == 1
    result = evaluate(lists, TRUTH, MAP, score=False)
    assert (result[MAP], result.attrs["order"]) == (1 / 2, "rows as they stand")


def test_truth_and_training_events_have_no_order() -> None:
    events = pd.DataFrame(rows("rating", [1, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate({"ann": ["x", "a"]}, events, ["MAP@2", "Coverage@2"], train=events)


def test_conventions_ask_too() -> None:
    lists = pd.DataFrame(rows("prediction"))
    with pytest.raises(UsageError, match='score="prediction"'):
        conventions(lists, TRUTH, 2)
    assert conventions(lists, TRUTH, 2, score="prediction").loc["kaggle", MAP] == 1
    assert conventions(lists, TRUTH, 2, score=False).loc["kaggle", MAP] == 1 / 2
    with pytest.warns(UserWarning, match='"price"') as warned:
        conventions(pd.DataFrame(rows("price")), TRUTH, 2)
    assert warned[0].filename == __file__
