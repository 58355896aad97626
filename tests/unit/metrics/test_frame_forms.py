"""Forms of lists and truth; tests/conformance has every type of every library."""

from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from harness import conventions, evaluate

LISTS = {"ann": ["a", "x", "b"], "bob": ["y", "c", "z"]}
TRUTH = {"ann": ["a", "b"], "bob": ["c", "d"]}
METRICS = ["MAP@3", "MRR", "Recall@2"]
EXPECTED = [(5 / 6 + 1 / 4) / 2, (1 + 1 / 2) / 2, (1 / 2 + 1 / 2) / 2]
LONG = pd.DataFrame({"user": ["ann"] * 3 + ["bob"] * 3, "item": list("axbycz")})
TRUE = pd.DataFrame({"user": ["ann", "ann", "bob", "bob"], "item": list("abcd")})
WIDE = pl.DataFrame({"user": list(LISTS), "item": list(LISTS.values())})


FORMS: dict[str, tuple[Any, Any]] = {
    "lazy": (WIDE.lazy().rename({"item": "recs"}), pl.from_pandas(TRUE).lazy()),
    "narwhals": (nw.from_native(WIDE), nw.from_native(pl.from_pandas(TRUE).lazy())),
    "dicts": (
        {user: pd.Series(items) for user, items in LISTS.items()},
        {user: set(items) for user, items in TRUTH.items()},
    ),
    "lists": (list(LISTS.values()), [set("ab"), set("cd")]),
    "2-d": (np.array(list(LISTS.values())), np.array([["a", "b"], ["c", "d"]])),
}


@pytest.mark.parametrize("form", FORMS)
def test_lists_and_truth_in_every_form(form: str) -> None:
    assert evaluate(*FORMS[form], METRICS).tolist() == pytest.approx(EXPECTED)


GRADED_ROWS = TRUE.assign(grade=[1.0, 3.0, 0.5, 0.0])
GRADED: dict[str, Any] = {
    "dict": {"ann": {"a": 1, "b": 3}, "bob": {"c": 0.5, "d": 0}},
    "polars": pl.from_pandas(GRADED_ROWS),
    "shuffled twice": pd.concat([GRADED_ROWS, GRADED_ROWS]).sample(frac=1, random_state=1),
    "another name": GRADED_ROWS.rename(columns={"grade": "stars"}),
}


@pytest.mark.parametrize("form", GRADED)
def test_grades_in_every_form(form: str) -> None:
    grade = "stars" if form == "another name" else None
    metrics = ["NDCG(gain=linear)@3", "Recall@3"]
    result = evaluate(LISTS, GRADED[form], metrics, per_user=True, grade=grade)
    ann, bob = (1 + 3 / 2) / (3 + 1 / np.log2(3)), 1 / np.log2(3)
    assert result.iloc[:, 0].tolist() == pytest.approx([ann, bob])
    assert result.iloc[:, 1].tolist() == [1, 1]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_list_is_an_empty_one(missing: Any) -> None:
    users, cells = [*range(150), 150], pd.Series([missing] * 150 + [["y", "c"]], dtype=object)
    truth = {user: ["c"] for user in users}
    for lists in (
        pd.DataFrame({"user": users, "item": cells}),
        dict(zip(users, cells, strict=True)),
        {150: {"y": 2, "c": 1}} | dict.fromkeys(range(150), missing),
        pl.DataFrame({"user": users, "item": [None] * 150 + [["y", "c"]]}),
    ):
        result = evaluate(lists, truth, "MRR")
        assert result.iloc[0] == (1 / 2) / 151
        assert result.attrs["users_without_list"] == 150


def test_an_empty_frame_leaves_everyone_without_a_list() -> None:
    ordered = pl.DataFrame({"user": [], "item": [], "score": []})  # columns without a type
    for nothing in (LONG.iloc[:0], WIDE.clear(), {}, {"ann": [], "bob": []}, [], ordered):
        result = evaluate(nothing, TRUTH, METRICS)
        assert result.tolist() == [0, 0, 0]
        assert result.attrs["users_without_list"] == 2


def test_a_column_of_objects_may_hold_numbers_of_several_types() -> None:
    scores = pd.Series([Decimal("1E+9"), 2.5, 2, Decimal("Infinity"), 2, 0], dtype=object)
    assert evaluate(LONG.assign(score=scores), TRUTH, METRICS).tolist() == pytest.approx(EXPECTED)


@pytest.mark.parametrize("ids", [[-1, 2**64 - 1], [np.uint8(200), -5, 2**63]])
def test_whole_numbers_of_several_widths_in_any_order(ids: list[int]) -> None:
    column = pd.DataFrame({"user": 7, "item": pd.Series(ids, dtype=object)})
    for lists in ({7: ids}, {7: ids[::-1]}, column):
        assert evaluate(lists, {7: ids}, "Recall@3").iloc[0] == 1


@pytest.mark.parametrize(
    ("column", "kind"),
    [("item", ">i8"), ("item", "Sparse[int]"), ("score", ">f8"), ("score", "longdouble")],
)
def test_numbers_that_polars_has_no_column_for(column: str, kind: str) -> None:
    rows = pd.DataFrame({"user": ["ann"] * 2, "item": [1, 2], "score": [1, 2]})
    assert evaluate(rows.astype({column: kind}), {"ann": [2]}, "MRR").iloc[0] == 1


def test_rows_of_an_array_are_filled_up_with_minus_1_and_a_matrix_is_one() -> None:
    with pytest.warns(PendingDeprecationWarning):
        assert evaluate(np.matrix([[1, 2]]), [[2]], "MRR").iloc[0] == 1 / 2
    lists = np.array([[5, 6, -1], [7, -1, -1], [-1, -1, -1]])
    truth = np.array([[6, -1], [8, 7], [9, -1]], np.int32)
    result = evaluate(lists, truth, ["Recall@3", "MRR@3"], per_user=True)
    assert result["Recall@3"].tolist() == [1, 1 / 2, 0]
    assert result["MRR@3"].tolist() == [1 / 2, 1, 0]


def test_frames_are_read_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas' columns of text then cannot become Polars' by themselves."""

    def refuse(_column: object) -> None:
        raise ImportError("pyarrow is required")

    monkeypatch.setattr("narwhals.Series.to_polars", refuse)
    monkeypatch.setattr("narwhals.Series.to_arrow", refuse)
    for lists in (LONG, WIDE.to_pandas()):
        assert evaluate(lists, TRUE, METRICS).tolist() == pytest.approx(EXPECTED)


def test_the_truth_may_have_other_names() -> None:
    lists = pl.DataFrame({"visitor": ["010", "010"], "sku": ["x", "a"]})
    truth = pd.DataFrame({"customer_id": ["010"], "article_id": ["a"]}, dtype="category")
    names: dict[str, Any] = {"user": "visitor", "item": "sku"}
    names |= {"truth_user": "customer_id", "truth_item": "article_id"}
    assert evaluate(lists, truth, "MRR", **names)["MRR"] == 1 / 2
    assert conventions(lists, truth, 2, **names)["MAP@2"]["kaggle"] == 1 / 2
    assert evaluate(lists, truth, "MRR", **names, per_user=True).index.to_list() == ["010"]
