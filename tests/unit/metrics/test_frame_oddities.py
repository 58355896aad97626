"""Values that Python, pandas, Polars and Arrow hold and that are no ids, numbers or lists."""

from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import refusal

from harness import conventions, evaluate
from harness.core.errors import DataError, HarnessError, UsageError
from harness.metrics import Metric

TRUTH = {"ann": ["a", "b"]}


def objects(values: list[Any]) -> pd.Series:
    """Return a column of Python objects."""
    return pd.Series(values, dtype=object)


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


def test_a_lazy_frame_that_cannot_be_worked_out() -> None:
    with pytest.raises(HarnessError, match="recommendations"):
        evaluate(pl.LazyFrame({"user": ["ann"]}).select("gone"), TRUTH, "MRR")
