"""harness.evaluate: who counts, what is returned, and what a reader is told beside the figures."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from harness import conventions, evaluate
from harness.core.errors import UsageError
from harness.metrics import parse

LISTS = {"ann": ["a", "x", "b"], "bob": ["y", "c"]}
TRUTH = {"ann": ["a", "b"], "bob": ["c"]}
TRUE = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["a", "b", "c"]})


def test_a_metric_may_be_text_an_object_or_several_and_stands_once() -> None:
    for metrics in ("MAP@3", parse("MAP@3"), ["MAP@3", "MAP(divisor=kaggle)@3"]):
        result = evaluate(LISTS, TRUTH, metrics)
        assert result.to_dict() == {"MAP@3": pytest.approx((5 / 6 + 1 / 2) / 2)}  # (1 + 2/3)/2, 1/2
    several = (f"Recall@{k}" for k in (3, 1, 2147483647, 2))
    result = evaluate(LISTS, TRUTH, several)  # type: ignore[arg-type]
    assert list(result.index) == ["Recall@3", "Recall@1", "Recall@2147483647", "Recall@2"]
    assert result.tolist() == [1, (1 / 2 + 0) / 2, 1, (1 / 2 + 1) / 2]


@pytest.mark.parametrize("users", [["010", "9", "cem"], [-2, 9, 10]])
def test_one_row_a_user_in_the_order_of_ids_which_keep_their_type(users: Any) -> None:
    ann, bob, cem = users
    lists = {cem: ["c"], ann: ["x"], bob: ["b"]}
    truth = {bob: ["b"], cem: ["c", "d"], ann: ["a"]}
    result = evaluate(lists, truth, ["Recall@1", "MRR"], per_user=True)
    index = pd.Index(users, name="user")
    expected = pd.DataFrame({"Recall@1": [0, 1, 1 / 2], "MRR": [0.0, 1, 1]}, index=index)
    pd.testing.assert_frame_equal(result, expected)


@pytest.mark.parametrize(
    "truth",
    [
        {"ann": ["a"], "bob": []},
        {"ann": {"a": 1}, "bob": {"c": 0}},
        {"ann": {"a": 1}, "bob": {}},
        pl.DataFrame({"user": ["ann", "bob"], "item": [["a"], []]}),
        pl.DataFrame({"user": ["ann", "bob"], "item": [["a"], None]}),
        pd.DataFrame({"user": ["ann", "bob"], "item": ["a", "c"], "grade": [1, 0]}),
    ],
)
def test_a_user_whose_truth_is_empty_counts_with_0(truth: Any) -> None:
    result = evaluate(LISTS, truth, ["MAP@3", "Recall@3", "MRR", "pFound"])
    assert result.tolist() == [1 / 2, 1 / 2, 1 / 2, 1 / 2]
    assert result.attrs["users"] == 2


def test_a_true_item_that_stands_twice_counts_once() -> None:
    rows = pd.DataFrame({"user": ["ann"] * 4, "item": ["a", "b", "a", "a"]})
    for truth in (rows, {"ann": ["a", "b", "a", "a"]}):
        result = evaluate({"ann": ["a"]}, truth, "Recall@1")
        assert result.iloc[0] == 1 / 2
        assert result.attrs["true_items_repeated"] == 2


@pytest.mark.parametrize("per_user", [False, True])
def test_users_outside_the_truth_are_left_out_counted_and_warned_of(per_user: bool) -> None:
    lists = LISTS | {"zed": ["a", "b", "c"], "yan": ["a"]}
    rows = pd.DataFrame([(u, i) for u, row in lists.items() for i in row], columns=["user", "item"])
    with pytest.warns(UserWarning, match="4 rows of 2 users .*not in the truth.*'yan'") as caught:
        result = evaluate(rows, TRUTH, "MAP@3", per_user=per_user)
    assert result.mean().item() == pytest.approx(2 / 3)
    counts = {"users": 2, "users_without_list": 0, "users_outside": 2, "rows_outside": 4}
    order = {"order": "rows in their own order"}
    assert result.attrs == order | counts | {"true_items_repeated": 0}
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("column", ["rank", "score"])
def test_users_outside_are_left_out_of_ordered_rows_too(column: str) -> None:
    rows = {"user": ["zed", "ann", "zed", "ann"], "item": list("abab"), column: [1, 1, 2, 2]}
    with pytest.warns(UserWarning, match="2 rows of 1 user "):
        result = evaluate(pd.DataFrame(rows), {"ann": ["b"], "bob": ["a"]}, ["Recall@2", "MRR@2"])
    assert result.tolist() == [1 / 2, 1 / 2]


def test_lists_of_users_outside_are_counted_as_lists_and_have_no_candidates() -> None:
    lists, names = LISTS | {"zed": ["q", "r"], "yan": []}, ["Coverage@3", "Gini@3"]
    with pytest.warns(UserWarning, match="2 users .*not in the truth"):
        result = evaluate(lists, TRUTH, names, candidates=["a", "q", "r", "s"])
    assert (result.attrs["rows_outside"], result.attrs["users_outside"]) == (2, 2)
    assert result.tolist() == [1 / 4, 3 / 4]
    with pytest.warns(UserWarning, match="'zed'"):
        assert evaluate({"ann": [], "zed": ["a"]}, TRUTH, "MAP@3").iloc[0] == 0


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("MAP@3", {}),
        ("Novelty@3", {"train": pl.DataFrame({"user": ["ann"], "item": ["A"]})}),
        ("Coverage@3", {"candidates": ["A", "B"]}),
        ("ILD@3", {"attributes": pl.DataFrame({"item": ["A"], "kind": ["x"]})}),
    ],
)
def test_items_that_are_written_otherwise_are_warned_of(
    metric: str, options: dict[str, Any]
) -> None:
    text = "'A' here, 'a' there; are the ids written the same way"
    for role in options:
        text = f"{role}: .*'A' here, 'a' in .* written the same way"
    with pytest.warns(UserWarning, match=text) as caught:
        evaluate({"ann": ["a", "b"] if options else ["A"]}, {"ann": ["a"]}, metric, **options)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(("item", "true"), [("7", "007"), ("A", "a"), ("a\u00a0", "a")])
def test_single_items_that_look_like_true_ones_are_warned_of(item: str, true: str) -> None:
    with pytest.warns(UserWarning, match="1 recommended item .*such as .*: if these are the same"):
        result = evaluate({"ann": [item], "bob": ["y"]}, {"ann": [true], "bob": ["y"]}, "MAP@3")
    assert result.iloc[0] == 1 / 2


@pytest.mark.parametrize(
    ("column", "values", "text"),
    [
        ("Book-Rating", [0, 7], "holds 0,"),
        ("Quantity", [-2, 1], "holds -2,"),
        ("shown", [0, 1], "holds 0,"),  # 0 and 1 alone, whatever it is called
        ("label", ["-1", "1"], "(make it numbers first; from 0"),
        ("is_relevant", [False, True], "(make it numbers first; from 0"),
    ],
)
def test_numbers_that_may_say_that_an_item_is_not_true_are_refused(
    column: str, values: list[Any], text: str
) -> None:
    truth = pl.DataFrame({"user": ["ann", "ann"], "item": ["a", "b"], column: values})
    with pytest.raises(UsageError, match=f'grade="{column}"') as caught:
        evaluate({"ann": ["a", "b"]}, truth, "Precision@2")
    assert text in str(caught.value)
    graded = truth.cast({column: pl.Int64}).with_columns(pl.col(column).clip(0))
    assert evaluate({"ann": ["a", "b"]}, graded, "Precision@2", grade=column).iloc[0] == 1 / 2
    assert evaluate({"ann": ["a", "b"]}, truth.drop(column), "Precision@2").iloc[0] == 2 / 2


@pytest.mark.parametrize(
    ("truth", "metric"),
    [
        (TRUTH | {"bob": ["y"]}, "MAP@1"),
        ({"ann": ["b"], "bob": ["c"]}, "MAP@1"),  # hits beyond the cut-off
        ({"ann": [], "bob": []}, "MAP@3"),  # no item is true
        (TRUE.with_columns(relevance=pl.Series([2, 1, 1])), "MAP@3"),  # none is less than true
        (TRUE.with_columns(price=pl.Series([0, 1, 5])), "MAP@3"),
    ],
)
def test_where_all_is_well_nothing_is_said(truth: Any, metric: str) -> None:
    evaluate(LISTS, truth, metric)  # a warning is an error


def test_the_cut_off_of_the_conventions() -> None:
    for k in ("3", 3):
        assert conventions({"ann": ["a"]}, TRUTH, k)["MAP@3"]["kaggle"] == (1 / 2 + 0) / 2
    with pytest.raises(UsageError, match="cut-off"):
        conventions({"ann": ["a"]}, TRUTH, 0)


def test_conventions_far_behind_all_lists() -> None:
    """Elliot averages P(i) over all ranks, hits/i behind the list."""
    result = conventions({"ann": ["a"]}, TRUTH, 10_000_000)
    harmonic = np.log(1e7) + np.euler_gamma + 1 / 2e7
    assert result.iloc[:, 0]["elliot"] == pytest.approx(harmonic / 1e7, rel=1e-9)
