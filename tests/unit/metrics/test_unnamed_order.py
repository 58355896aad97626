"""A column that may order the rows of a frame is never passed over in silence."""

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


def refused(lists: Any, *words: str) -> None:
    with refusal(UsageError, words):
        evaluate(lists, TRUTH, MAP)


@FRAMES
def test_a_column_of_predictions_is_refused_and_both_ways_out_work(frame: Any) -> None:
    lists = frame(rows("prediction"))
    refused(lists, 'recommendations: column "prediction"', 'score="prediction"', "score=False")
    assert evaluate(lists, TRUTH, MAP, score="prediction")[MAP] == 1
    assert evaluate(lists, TRUTH, MAP, score=False)[MAP] == 1 / 2
    refused(frame(rows("prediction", ["0.1", "9e-1"])), "make it numbers")


@pytest.mark.parametrize(
    ("name", "values", "way"),
    [
        *((name, WORTH, "score") for name in ("PREDICTIONS", "Predicted Rating", "est", "y-score")),
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


def test_several_are_all_named_but_no_words_truth_values_or_other_numbers() -> None:
    """Nor the columns of users and items; Kaggle's files call the items `prediction`."""
    two = pd.DataFrame(rows("prediction") | {"rating": [1, 2], "price": [3, 4]})
    refused(two, 'columns "prediction", "rating" hold', 'score="prediction" or score="rating"')
    for lists in (
        *(pd.DataFrame(rows("rating", values)) for values in (["good", "bad"], [True, False])),
        pd.DataFrame({"user": ["ann"], "item": [["x", "a"]], "weight": [1.0]}),
    ):
        assert evaluate(lists, TRUTH, MAP)[MAP] == 1 / 2
    ids = pd.DataFrame({"weight": [1, 1], "prediction": [7, 8]})
    assert evaluate(ids, {1: [8]}, MAP, user="weight", item="prediction")[MAP] == 1 / 2


@FRAMES
def test_other_numbers_are_named_in_a_warning(frame: Any) -> None:
    lists = frame(rows("price", [3, 4]) | {"week": [1, 1], "shop": ["s", "t"]})
    with pytest.warns(UserWarning) as warned:
        result = evaluate(lists, TRUTH, MAP)
    assert result[MAP] == 1 / 2
    (warning,) = warned
    assert warning.filename == __file__
    way = 'score="price" (highest first) or rank="price" (1 first); score=False'
    for words in ('columns "price", "week"', "order of rows counts", way):
        assert words in str(warning.message)
    evaluate(lists, TRUTH, MAP, score="price")


@FRAMES
def test_lists_of_several_models_and_true_rows_of_several_kinds(frame: Any) -> None:
    refused(frame(rows("model", ["A", "B"])), 'column "model"', "keep the rows of one value")
    assert evaluate(frame(rows("model", ["A", "A"])), TRUTH, MAP)[MAP] == 1 / 2
    with pytest.warns(UserWarning, match='column "event" holds "buy", "click"') as warned:
        assert evaluate({"ann": ["a"]}, frame(rows("event", ["click", "buy"])), MAP)[MAP] == 1 / 2
    assert warned[0].filename == __file__


def test_where_an_order_is_named_or_none_is_needed_nothing_is_said() -> None:
    lists = pd.DataFrame(rows("prediction") | {"rank": [2, 1], "price": [3, 4]})
    assert evaluate(lists, TRUTH, MAP)[MAP] == 1
    result = evaluate(lists, TRUTH, MAP, score=False)
    assert (result[MAP], result.attrs["order"]) == (1 / 2, "rows in their own order")
    events = pd.DataFrame(rows("rating", [1, 2]))
    evaluate({"ann": ["x", "a"]}, events, [MAP, "Coverage@2"], train=events)


def test_conventions_ask_too() -> None:
    lists = pd.DataFrame(rows("prediction"))
    with pytest.raises(UsageError, match='score="prediction"'):
        conventions(lists, TRUTH, 2)
    assert conventions(lists, TRUTH, 2, score="prediction").loc["kaggle", MAP] == 1
    with pytest.warns(UserWarning, match='"price"') as warned:
        conventions(pd.DataFrame(rows("price")), TRUTH, 2)
    assert warned[0].filename == __file__
