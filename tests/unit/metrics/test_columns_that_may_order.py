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

ROWS = pd.DataFrame({"user": ["ann", "ann"], "item": ["x", "a"]})
TRUTH = {"ann": ["a"]}
WORTH = [0.1, 0.9]
"""By worth ann's list is a, x, and AP@2 is 1; as the rows stand it is x, a, and AP@2 is 1/2."""
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
MAP = "MAP@2"


def rows(name: str, values: Any = WORTH) -> dict[str, Any]:
    return {"user": ["ann", "ann"], "item": ["x", "a"], name: values}


def refused(lists: Any, *words: str, **named: Any) -> str:
    """Check that lists are refused with every word, and return what is said."""
    with refusal(UsageError, *words) as caught:
        evaluate(lists, TRUTH, MAP, **named)
    return str(caught.value)


@FRAMES
def test_a_column_of_predictions_is_refused_and_both_ways_out_work(frame: Any) -> None:
    lists = frame(rows("prediction"))
    refused(lists, 'recommendations: column "prediction"', 'score="prediction"', "score=False")
    assert evaluate(lists, TRUTH, MAP, score="prediction")[MAP] == 1
    assert evaluate(lists, TRUTH, MAP, score=False)[MAP] == 1 / 2


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, WORTH) for name in ("Prediction", "pred", "PREDICTIONS", "Score", "scores")),
        *((name, WORTH) for name in ("pred_score", "Predicted Rating", "rating", "est", "Proba")),
        *((name, WORTH) for name in ("probability", "relevance", "weight", "y_pred", "y-score")),
        ("prediction", pd.Series(WORTH, dtype=object)),
        ("prediction", pd.Series([1, 2], dtype="Int8")),
        ("prediction", pd.Series(["0.1", "9e-1"])),
        ("prediction", pd.Series([None, 0.9], dtype=object)),
    ],
)
def test_every_usual_spelling_and_type_is_refused(name: str, values: Any) -> None:
    lists = pd.DataFrame(rows(name, values))
    refused(lists, f'score="{name}"')
    if values is WORTH:
        assert evaluate(lists, TRUTH, MAP, score=name)[MAP] == 1


def test_a_rank_in_another_case_is_a_rank() -> None:
    lists = pd.DataFrame(rows("Rank", [2, 1]))
    refused(lists, 'rank="Rank"', "score=False")
    assert evaluate(lists, TRUTH, MAP, rank="Rank")[MAP] == 1


def test_several_are_all_named() -> None:
    lists = pd.DataFrame(rows("prediction") | {"rating": [1, 2], "price": [3, 4]})
    words = ['columns "prediction" and "rating"', 'score="prediction" or score="rating"']
    assert "price" not in refused(lists, *words)


@FRAMES
def test_numbers_written_as_text_are_to_be_made_numbers_first(frame: Any) -> None:
    lists = frame(rows("prediction", ["0.1", "0.9"]))
    refused(lists, "make it numbers")
    assert evaluate(lists, TRUTH, MAP, score=False)[MAP] == 1 / 2


def test_words_are_no_scores() -> None:
    assert evaluate(pd.DataFrame(rows("rating", ["good", "bad"])), TRUTH, MAP)[MAP] == 1 / 2


def test_the_column_of_items_is_never_taken_for_scores() -> None:
    """Kaggle's files call the items `prediction`; ids may be whole numbers."""
    lists = pd.DataFrame({"user": ["ann", "ann"], "prediction": [7, 8]})
    assert evaluate(lists, {"ann": [8]}, MAP, item="prediction")[MAP] == 1 / 2
    lists = pd.DataFrame({"weight": [1, 1], "prediction": [7, 8]})
    found = evaluate(lists, {1: [8]}, MAP, user="weight", item="prediction")
    assert found[MAP] == 1 / 2


@FRAMES
def test_other_numbers_are_named_in_a_warning(frame: Any) -> None:
    lists = frame(rows("price", [3, 4]) | {"week": [1, 1], "shop": ["s", "t"]})
    with pytest.warns(UserWarning) as told:
        found = evaluate(lists, TRUTH, MAP)
    assert found[MAP] == 1 / 2
    (warning,) = told
    assert warning.filename == __file__
    text = str(warning.message)
    for word in ('columns "price" and "week"', "rows count as they stand", "score=False", "score="):
        assert word in text
    assert "shop" not in text
    evaluate(lists, TRUTH, MAP, score=False)
    evaluate(lists, TRUTH, MAP, score="price")


def test_who_names_an_order_is_told_nothing() -> None:
    lists = pd.DataFrame(rows("prediction") | {"rank": [2, 1], "price": [3, 4]})
    assert evaluate(lists, TRUTH, MAP)[MAP] == 1
    assert evaluate(lists, TRUTH, MAP, rank="rank")[MAP] == 1
    wide = pd.DataFrame({"user": ["ann"], "item": [["a"]], "weight": [1.0]})
    assert evaluate(wide, TRUTH, MAP)[MAP] == 1


def test_false_means_the_order_of_rows_whatever_columns_there_are() -> None:
    lists = pd.DataFrame(rows("score") | {"rank": [2, 1]})
    found = evaluate(lists, TRUTH, MAP, score=False)
    assert (found[MAP], found.attrs["order"]) == (1 / 2, "rows as they stand")


def test_false_where_there_is_no_frame_is_refused() -> None:
    refused({"ann": {"a": 2.0}}, "recommendations", "score=False", "no frame", score=False)
    refused(pd.DataFrame(rows("rank")), "not both", rank="rank", score=False)


def test_truth_and_training_events_have_no_order() -> None:
    events = pd.DataFrame(rows("rating", [1, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(ROWS, events, ["MAP@2", "Coverage@2"], train=events)


def test_conventions_ask_too() -> None:
    lists = pd.DataFrame(rows("prediction"))
    with pytest.raises(UsageError, match='score="prediction"'):
        conventions(lists, TRUTH, 2)
    assert conventions(lists, TRUTH, 2, score="prediction").loc["kaggle", MAP] == 1
    assert conventions(lists, TRUTH, 2, score=False).loc["kaggle", MAP] == 1 / 2
    with pytest.warns(UserWarning, match='"price"') as told:
        conventions(pd.DataFrame(rows("price")), TRUTH, 2)
    assert told[0].filename == __file__
