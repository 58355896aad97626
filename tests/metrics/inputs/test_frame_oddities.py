"""Values that Python, pandas, Polars and Arrow hold and that are no ids, numbers or lists."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import refusal

from harness import conventions, evaluate
from harness.core.errors import DataError, HarnessError, UsageError
from harness.metrics import Metric

TRUTH = {"ann": ["a", "b"]}


def objects(values: list[Any]) -> pd.Series:
    """Return a column of Python objects."""
    return pd.Series(values, dtype=object)


@pytest.mark.parametrize(
    "score",
    [[1, 2], [], np.array([1, 2]), timedelta(1), "1", b"1", 1j, {"x": 1}, object()],
    ids=lambda score: type(score).__name__,
)
def test_a_score_of_a_dict_that_is_no_number(score: Any) -> None:
    with refusal(DataError, "recommendations: score, row 1", "expected a number"):
        evaluate({"ann": {"a": 1.0, "b": score}}, TRUTH, "MAP@2")


def test_numbers_that_a_float_does_not_hold() -> None:
    with pytest.raises(DataError, match="score: holds a number that is too large"):
        evaluate({"ann": {"a": 10**400}}, TRUTH, "MAP@2")
    assert evaluate({"ann": {"x": 1, "a": Decimal("Infinity")}}, TRUTH, "HitRate@1").iloc[0] == 1


def test_decimals_are_scores() -> None:
    lists = {"ann": {"x": Decimal("0.25"), "a": Decimal("1E+100")}}
    assert evaluate(lists, TRUTH, "HitRate@1").iloc[0] == 1
    with pytest.raises(DataError, match="found a missing value"):
        evaluate({"ann": {"a": Decimal("NaN")}}, TRUTH, "HitRate@1")


@pytest.mark.parametrize("ids", [[-1, 2**64 - 1], [np.int8(5), 300], [np.uint8(200), -5, 2**63]])
def test_whole_numbers_of_several_widths_in_any_order(ids: list[int]) -> None:
    for lists in ({7: ids}, {7: ids[::-1]}, pd.DataFrame({"user": 7, "item": objects(ids)})):
        assert evaluate(lists, {7: ids}, "Recall@3").iloc[0] == 1


def test_scores_of_70_bits_are_refused_in_any_order() -> None:
    for scores in ({"a": 2**70, "b": 1}, {"b": 1, "a": 2**70}):
        with refusal(DataError, "found 1180591620717411303424; a score is a number of 64 bits"):
            evaluate({"ann": scores}, TRUTH, "MRR")


def test_true_is_not_the_id_1() -> None:
    with refusal(DataError, "found True (bool) among values of type int"):
        evaluate({"ann": [5, True]}, {"ann": [1]}, "MRR")


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_a_user_without_a_list_among_dicts_of_scores(nothing: Any) -> None:
    for lists in ({"ann": nothing, "bob": {"c": 1}}, {"bob": {"c": 1}, "ann": nothing}):
        found = evaluate(lists, {"ann": ["a"], "bob": ["c"]}, "HitRate@1", per_user=True)
        assert found["HitRate@1"].tolist() == [0, 1]


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_lists_behind_many_missing_ones(nothing: Any) -> None:
    cells = pd.Series([nothing] * 150 + [["a"]] * 50, dtype=object)
    lists = pd.DataFrame({"user": [f"u{i}" for i in range(200)], "item": cells})
    truth = {f"u{i}": ["a"] for i in range(200)}
    assert evaluate(lists, truth, "HitRate@1").iloc[0] == 50 / 200


def test_lists_of_lists_of_one_length() -> None:
    nested = pl.Series([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], dtype=pl.Array(pl.Int64, (2, 2)))
    with pytest.raises(DataError, match="item"):
        evaluate(pl.DataFrame({"user": ["u", "v"], "item": nested}), {"u": [1], "v": [5]}, "MRR")


@pytest.mark.parametrize("option", ["rank", "score"])
def test_a_column_of_what_has_none(option: str) -> None:
    for lists in ({"ann": {"a": 1}}, {"ann": ["a"]}, [["a"]]):
        truth: Any = [["a"]] if isinstance(lists, list) else TRUTH
        with pytest.raises(UsageError, match=f'{option}="place" names a column'):
            evaluate(lists, truth, "MRR", **{option: "place"})
    with pytest.raises(UsageError, match='truth: grade="g" names a column'):
        evaluate({"ann": ["a"]}, TRUTH, "MRR", grade="g")


def test_metrics_may_come_one_after_another() -> None:
    found = evaluate({"ann": ["a"]}, TRUTH, (f"HitRate@{k}" for k in (1, 2)))  # type: ignore[arg-type]
    assert found.to_dict() == {"HitRate@1": 1, "HitRate@2": 1}


@pytest.mark.parametrize(
    "lists",
    [
        np.array([[1]], "timedelta64[s]"),
        np.array(None, dtype=object),
        np.array([[1 + 1j]]),
        pl.LazyFrame({"user": ["ann"]}).select("gone"),
        pd.DataFrame({"user": ["ann"], "item": [1 + 1j]}),
        pa.table({"user": ["ann"], "item": pa.array([[]], pa.list_(pa.string(), 0))}),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_no_column_holds_is_refused(lists: Any) -> None:
    truth: Any = [[1]] if isinstance(lists, np.ndarray) else TRUTH
    with pytest.raises(HarnessError, match="recommendations"):
        evaluate(lists, truth, "MRR")


def test_two_columns_of_one_name_in_an_arrow_batch() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(["a"])] * 3, names=["user", "item", "item"])
    with refusal(DataError, "recommendations: two columns have one name"):
        evaluate(batch, TRUTH, "MRR")


def test_frames_of_narwhals_are_what_they_hold() -> None:
    rows = pl.DataFrame({"user": ["ann", "ann"], "item": ["x", "a"]})
    for lists in (
        nw.from_native(rows),
        nw.from_native(rows.lazy()),
        nw.from_native(rows.to_arrow()),
    ):
        assert evaluate(lists, TRUTH, "MRR").iloc[0] == 1 / 2


def test_a_matrix_is_an_array() -> None:
    with pytest.warns(PendingDeprecationWarning):
        lists = np.matrix([[1, 2]])
    assert evaluate(lists, [[2]], "MRR").iloc[0] == 1 / 2


def test_attributes_under_names_that_are_numbers() -> None:
    looks = pd.DataFrame({0: [1, 0], 1: [0, 1], "item": ["a", "b"]})
    assert evaluate({"ann": ["a", "b"]}, TRUTH, "ILD@2", attributes=looks).iloc[0] == 1


def test_attributes_whose_names_are_alike_as_text() -> None:
    looks = pd.DataFrame({"item": ["a", "b"], 1: [1, 0], "1": [0, 1]})
    with refusal(DataError, 'attributes: two columns have one name "1"; rename one of them'):
        evaluate({"ann": ["a", "b"]}, TRUTH, "ILD@2", attributes=looks)


@pytest.mark.parametrize("values", [[1j, 2j], pd.period_range("2020", periods=2, freq="D")])
def test_attributes_that_are_neither_text_nor_number(values: Any) -> None:
    looks = pd.DataFrame({"item": ["a", "b"], "look": values})
    with pytest.raises(DataError, match=r'attributes: column "look"'):
        evaluate({"ann": ["a", "b"]}, TRUTH, "ILD@2", attributes=looks)


@pytest.mark.parametrize("k", ["3", 3])
def test_the_cut_off_of_the_conventions(k: Any) -> None:
    assert conventions({"ann": ["a"]}, TRUTH, k)["MAP@3"]["kaggle"] == 1 / 2
    with pytest.raises(UsageError, match="cut-off"):
        conventions({"ann": ["a"]}, TRUTH, 0)


def test_conventions_far_behind_all_lists() -> None:
    """Elliot averages P(i) over all ranks, hits/i behind the list."""
    found = conventions({"ann": ["a"]}, TRUTH, 10_000_000)
    harmonic = np.log(1e7) + np.euler_gamma + 1 / 2e7
    assert found.iloc[:, 0]["elliot"] == pytest.approx(harmonic / 1e7, rel=1e-9)


@pytest.mark.parametrize("arguments", [("MAP", "12"), ("MAP", 12.5), ("MAP", True), (5, 3)])
def test_a_metric_made_of_other_types(arguments: Any) -> None:
    with pytest.raises(UsageError):
        Metric(*arguments)


def test_numbers_that_polars_has_no_column_for_are_numbers() -> None:
    rows = pd.DataFrame({"user": ["ann"] * 2, "item": [1, 2], "score": [1, 2]})
    for kind in (">i8", pd.SparseDtype("int64")):
        lists = rows.astype({"item": kind})
        assert evaluate(lists, {"ann": [2]}, "MRR").iloc[0] == 1
    for kind in (">f8", "longdouble", pd.SparseDtype("float64")):
        lists = rows.astype({"score": kind})
        assert evaluate(lists, {"ann": [2]}, "MRR").iloc[0] == 1


def test_a_text_that_is_none_is_what_is_named() -> None:
    items = pd.Series(["a", "b\ud800"], dtype=object)
    for lists in ({"ann": list(items)}, pd.DataFrame({"user": "ann", "item": items})):
        with refusal(DataError, "values of type str that cannot be read", r"'b\ud800'"):
            evaluate(lists, TRUTH, "MRR")


def test_the_row_of_a_mistake_in_a_later_slice() -> None:
    items = pd.Series(["a"] * 1_100_000 + [1], dtype=object)
    lists = pd.DataFrame({"user": ["ann"] * len(items), "item": items})
    with refusal(
        DataError, 'column "item", row 1,100,000 ', "found 1 (int) among values of type str"
    ):
        evaluate(lists, TRUTH, "MAP@2")


def test_the_row_of_a_mistake_within_lists() -> None:
    cells = pd.Series([["a", "b"]] * 20_000 + [[1]], dtype=object)
    lists = pd.DataFrame({"user": [f"u{i}" for i in range(len(cells))], "item": cells})
    with refusal(DataError, 'column "item"', "20,000", "1"):
        evaluate(lists, {"u1": ["a"]}, "MAP@2")


def test_a_rank_that_is_a_time_is_too_far() -> None:
    lists = pd.DataFrame({"user": ["ann"], "item": ["a"], "rank": [1_600_000_000]})
    with pytest.raises(DataError, match="a rank that is far too high"):
        evaluate(lists, TRUTH, "MRR")


def test_a_long_list_by_score_is_sorted_as_a_short_one_is() -> None:
    n = 1000
    ids = [f"i{i:04}" for i in range(n)]
    score = [(i * 37) % 11 for i in range(n)]  # many ties, which go by id
    lists = pd.DataFrame({"user": ["ann"] * n, "item": ids, "score": score}).sample(
        frac=1, random_state=1
    )
    best_first = sorted(ids, key=lambda one: (-score[ids.index(one)], one))
    truth = {"ann": [best_first[300], best_first[777]]}
    found = evaluate(lists, truth, ["MRR", "MAP@1000"])
    assert found["MRR"] == 1 / 301
    assert found["MAP@1000"] == pytest.approx((1 / 301 + 2 / 778) / 2)
    floats = lists.assign(score=lists["score"] / 2)
    assert evaluate(floats, truth, ["MRR", "MAP@1000"]).tolist() == found.tolist()
