"""The same lists and truth in every form that people hold them in: always the same values."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import refusal

from harness import conventions, evaluate, score
from harness.core.errors import HarnessError, UsageError

LISTS = {"ann": ["a", "x", "b"], "bob": ["y", "c", "z"]}
TRUTH = {"ann": ["a", "b"], "bob": ["c", "d"]}
METRICS = ["MAP@3", "MRR", "Recall@2"]
EXPECTED = [(5 / 6 + 1 / 4) / 2, (1 + 1 / 2) / 2, (1 / 2 + 1 / 2) / 2]
NUMBER = {"ann": 7, "bob": 3, "a": 11, "b": 2, "c": 5, "d": 6, "x": 30, "y": 40, "z": 1}

Rows = dict[str, list[Any]]
Form = Callable[[Rows], Any]


def long(rows: Rows) -> pd.DataFrame:
    """Return one row an item, in the order of the lists."""
    pairs = [(user, item) for user, row in rows.items() for item in row]
    return pd.DataFrame(pairs, columns=["user", "item"])


def wide(rows: Rows, lists: list[Any]) -> pd.DataFrame:
    """Return one row a user; the cells of the column of lists are given."""
    column = pd.Series(lists, dtype=object)
    return pd.DataFrame({"user": list(rows), "item": column})


def enums(rows: Rows) -> pl.DataFrame:
    """Return categories that are fixed beforehand."""
    frame = pl.from_pandas(long(rows))
    return frame.cast({name: pl.Enum(frame[name].unique().sort()) for name in frame.columns})


def arrow(kind: pa.DataType) -> Form:
    """Return a form with ids of one Arrow type."""
    return lambda rows: pa.table(
        {name: pa.array(column.tolist(), kind) for name, column in long(rows).items()}
    )


def arrow_lists(kind: pa.DataType) -> Form:
    """Return a form with a column of Arrow lists."""
    return lambda rows: pa.table({"user": list(rows), "item": pa.array(list(rows.values()), kind)})


def in_chunks(rows: Rows) -> pa.Table:
    """Return one row an item, in chunks each with a dictionary of numbers."""
    table = arrow(pa.dictionary(pa.int8(), pa.int64()))(rows)
    return pa.concat_tables([table.slice(0, 2), table.slice(2)])


def polars_lists(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame({"user": list(rows), "item": list(rows.values())})


EITHER: dict[str, Form] = {
    "pandas": long,
    "pandas object": lambda rows: long(rows).astype(object),
    "pandas category": lambda rows: long(rows).astype("category"),
    "pandas with any index": lambda rows: long(rows).set_axis(["i"] * sum(map(len, rows.values()))),
    "polars": lambda rows: pl.from_pandas(long(rows)),
    "polars Categorical": lambda rows: pl.from_pandas(long(rows).astype("category")),
    "polars LazyFrame": lambda rows: pl.from_pandas(long(rows)).lazy(),
    "polars List": polars_lists,
    "polars List, lazy": lambda rows: polars_lists(rows).lazy(),
    "polars List of another name": lambda rows: polars_lists(rows).rename({"item": "recs"}),
    "arrow": lambda rows: pa.Table.from_pandas(long(rows)),
    "pandas lists": lambda rows: wide(rows, list(rows.values())),
    "pandas tuples": lambda rows: wide(rows, [tuple(row) for row in rows.values()]),
    "pandas arrays": lambda rows: wide(rows, [np.array(row) for row in rows.values()]),
    "dict of lists": dict,
    "dict of tuples": lambda rows: {user: tuple(row) for user, row in rows.items()},
    "dict of arrays": lambda rows: {user: np.array(row) for user, row in rows.items()},
    "dict of object arrays": lambda rows: {u: np.array(row, object) for u, row in rows.items()},
    "dict of numbers": lambda rows: {
        user: {item: 10 - place for place, item in enumerate(row)} for user, row in rows.items()
    },
}
OF_TEXT: dict[str, Form] = {
    "pandas string": lambda rows: long(rows).astype("string"),
    "pandas string of Arrow": lambda rows: long(rows).astype(pd.ArrowDtype(pa.string())),
    "polars Enum": enums,
    "arrow string": arrow(pa.string()),
    "arrow large_string": arrow(pa.large_string()),
    "arrow string_view": arrow(pa.string_view()),
    "arrow dictionary": arrow(pa.dictionary(pa.int8(), pa.string())),
    "arrow list": arrow_lists(pa.list_(pa.string())),
    "arrow large_list": arrow_lists(pa.large_list(pa.large_string())),
    "pandas lists of Arrow": lambda rows: pd.DataFrame(
        {
            "user": list(rows),
            "item": pd.Series(list(rows.values()), dtype=pd.ArrowDtype(pa.list_(pa.string()))),
        }
    ),
}
OF_NUMBERS: dict[str, Form] = {
    "pandas int32": lambda rows: long(rows).astype("int32"),
    "pandas uint64": lambda rows: long(rows).astype("uint64"),
    "pandas Int64": lambda rows: long(rows).astype("Int64"),
    "polars UInt8": lambda rows: pl.from_pandas(long(rows)).cast(pl.UInt8),
    "polars Int128": lambda rows: pl.from_pandas(long(rows)).cast(pl.Int128),
    "arrow int16": arrow(pa.int16()),
    "arrow dictionary": arrow(pa.dictionary(pa.int8(), pa.int64())),
    "arrow dictionary in chunks": in_chunks,
    "pandas dictionary in chunks": lambda rows: in_chunks(rows).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "arrow list": arrow_lists(pa.list_(pa.int32())),
}
OF_ONE_LENGTH: dict[str, Form] = {
    "polars Array": lambda rows: polars_lists(rows).cast(
        {"item": pl.Array(pl.String if "ann" in rows else pl.Int32, len(next(iter(rows.values()))))}
    ),
    "arrow list of fixed size": lambda rows: arrow_lists(
        pa.list_(pa.string() if "ann" in rows else pa.int64(), len(next(iter(rows.values()))))
    )(rows),
}
BY_POSITION: dict[str, Form] = {
    "lists": lambda rows: list(rows.values()),
    "tuples": lambda rows: tuple(tuple(row) for row in rows.values()),
    "2-d array": lambda rows: np.array(list(rows.values())),
    "2-d array in Fortran order": lambda rows: np.asfortranarray(list(rows.values())),
    "2-d object array": lambda rows: np.array(list(rows.values()), object),
    "list of arrays": lambda rows: [np.array(row) for row in rows.values()],
}


def numbered(rows: Rows) -> Rows:
    """Return the same with whole numbers for ids."""
    return {NUMBER[user]: [NUMBER[item] for item in row] for user, row in rows.items()}  # type: ignore[misc]


TEXT_FORMS = EITHER | OF_TEXT | OF_ONE_LENGTH
NUMBER_FORMS = EITHER | OF_NUMBERS | OF_ONE_LENGTH


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_lists_and_truth_with_ids_of_text(form: str) -> None:
    of = TEXT_FORMS[form]
    assert evaluate(of(LISTS), TRUTH, METRICS).tolist() == pytest.approx(EXPECTED)
    assert evaluate(LISTS, of(TRUTH), METRICS).tolist() == pytest.approx(EXPECTED)


@pytest.mark.parametrize("form", NUMBER_FORMS)
def test_lists_and_truth_with_ids_of_whole_numbers(form: str) -> None:
    of, lists, truth = NUMBER_FORMS[form], numbered(LISTS), numbered(TRUTH)
    assert evaluate(of(lists), truth, METRICS).tolist() == pytest.approx(EXPECTED)
    assert evaluate(lists, of(truth), METRICS).tolist() == pytest.approx(EXPECTED)


@pytest.mark.parametrize("form", BY_POSITION)
@pytest.mark.parametrize("names", [dict, numbered])
def test_lists_a_row_go_with_lists_a_row(form: str, names: Form) -> None:
    lists, truth = BY_POSITION[form](names(LISTS)), BY_POSITION[form](names(TRUTH))
    assert evaluate(lists, truth, METRICS).tolist() == pytest.approx(EXPECTED)


def test_truth_may_be_sets() -> None:
    sets = {user: set(row) for user, row in TRUTH.items()}
    for truth in (
        sets,
        wide(TRUTH, list(sets.values())),
        {u: frozenset(s) for u, s in sets.items()},
    ):
        assert evaluate(LISTS, truth, METRICS).tolist() == pytest.approx(EXPECTED)
    by_position = evaluate(list(LISTS.values()), list(sets.values()), METRICS)
    assert by_position.tolist() == pytest.approx(EXPECTED)


@pytest.mark.parametrize("kind", [pd.Series, pd.Index, pl.Series])
def test_lists_in_a_dict_may_be_series(kind: Any) -> None:
    lists = {user: kind(row) for user, row in LISTS.items()}
    assert evaluate(lists, TRUTH, METRICS).tolist() == pytest.approx(EXPECTED)


GRADES = {"ann": {"a": 1, "b": 3}, "bob": {"c": 0.5, "d": 0}}
GRADED_ROWS = pd.DataFrame(
    [("ann", "a", 1.0), ("ann", "b", 3.0), ("bob", "c", 0.5), ("bob", "d", 0.0)],
    columns=["user", "item", "grade"],
)


@pytest.mark.parametrize(
    "truth",
    [
        pytest.param(GRADES, id="dict"),
        pytest.param(GRADED_ROWS, id="pandas"),
        pytest.param(GRADED_ROWS.sample(frac=1, random_state=1), id="shuffled"),
        pytest.param(pl.from_pandas(GRADED_ROWS), id="polars"),
        pytest.param(pa.Table.from_pandas(GRADED_ROWS), id="arrow"),
        pytest.param(pd.concat([GRADED_ROWS, GRADED_ROWS]), id="every row twice"),
    ],
)
def test_grades_in_every_form(truth: Any) -> None:
    found = evaluate(LISTS, truth, ["NDCG(gain=linear)@3", "Recall@3"], per_user=True)
    ann, bob = (1 + 3 / 2) / (3 + 1 / np.log2(3)), 1 / np.log2(3)
    assert found.iloc[:, 0].tolist() == pytest.approx([ann, bob])
    assert found.iloc[:, 1].tolist() == [1, 1]


def test_grades_in_a_column_of_another_name() -> None:
    truth = GRADED_ROWS.rename(columns={"grade": "stars"})
    found = evaluate(LISTS, truth, "NDCG(gain=linear)@3", grade="stars")
    plain = evaluate(LISTS, GRADED_ROWS, "NDCG(gain=linear)@3")
    assert found.iloc[0] == plain.iloc[0]


def test_columns_of_other_names() -> None:
    lists = long(LISTS).rename(columns={"user": "customer", "item": "sku"})
    truth = pl.from_pandas(long(TRUTH)).rename({"user": "customer", "item": "sku"})
    found = evaluate(lists, truth, METRICS, user="customer", item="sku")
    assert found.tolist() == pytest.approx(EXPECTED)


def test_columns_that_nobody_asks_for_are_not_looked_at() -> None:
    lists = long(LISTS).assign(price=[None, "x", 3, 4, 5, 6], grade="none")
    assert evaluate(lists, TRUTH, METRICS).tolist() == pytest.approx(EXPECTED)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_list_is_an_empty_one(missing: Any) -> None:
    for lists in (
        wide(LISTS, [missing, LISTS["bob"]]),
        {"ann": None, "bob": LISTS["bob"]},
        pl.DataFrame({"user": ["ann", "bob"], "item": [None, LISTS["bob"]]}),
    ):
        found = evaluate(lists, TRUTH, "MRR")
        assert found.iloc[0] == (0 + 1 / 2) / 2
        assert found.attrs["users_without_list"] == 1


def test_an_empty_frame_leaves_everyone_without_a_list() -> None:
    for nothing in (long(LISTS).iloc[:0], {}, {"ann": [], "bob": []}, wide({}, []), []):
        found = evaluate(nothing, TRUTH, METRICS)
        assert found.tolist() == [0, 0, 0]
        assert found.attrs["users_without_list"] == 2


def test_a_dict_may_hold_whole_and_broken_numbers() -> None:
    lists = {"ann": {"b": 1, "a": 2.5, "x": 2}, "bob": {"y": 0.1, "c": 0, "z": -1}}
    assert evaluate(lists, TRUTH, METRICS).tolist() == pytest.approx(EXPECTED)


def test_a_column_of_objects_may_hold_whole_and_broken_numbers() -> None:
    lists = long(LISTS).assign(score=pd.Series([3, 2.5, 2, 3, 2, 1.5], dtype=object))
    assert evaluate(lists, TRUTH, METRICS).tolist() == pytest.approx(EXPECTED)


def test_ids_of_items_may_be_of_several_words() -> None:
    assert evaluate({"ann": ["green tea", "milk"]}, {"ann": ["milk"]}, "MRR@2").iloc[0] == 1 / 2
    titles = pd.DataFrame({"user": ["ann"] * 2, "item": ["Star Wars", "Alien"]})
    assert evaluate(titles, {"ann": ["Alien"]}, "MRR@2").iloc[0] == 1 / 2


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_what_was_given_is_not_changed(form: str) -> None:
    lists, truth = TEXT_FORMS[form](LISTS), TEXT_FORMS[form](TRUTH)
    before = [copy.deepcopy(lists), copy.deepcopy(truth)]
    for given in (lists, truth):
        for array in given.values() if isinstance(given, dict) else ():
            if isinstance(array, np.ndarray):
                array.setflags(write=False)
    evaluate(lists, truth, [*METRICS, "Novelty@3", "Coverage@3"], train=truth)
    for now, then in zip((lists, truth), before, strict=True):
        assert same(now, then)


def same(one: Any, other: Any) -> bool:
    """Return whether two tables of one form hold the same."""
    if isinstance(one, pl.LazyFrame):
        one, other = one.collect(), other.collect()
    if isinstance(one, pd.DataFrame):
        return repr(one.to_dict("list")) == repr(other.to_dict("list")) and one.columns.equals(
            other.columns
        )
    return bool(one.equals(other)) if hasattr(one, "equals") else repr(one) == repr(other)


def test_arrays_are_not_changed() -> None:
    items = np.array([[1, 9, 2], [8, 3, 7]])
    scores = pl.DataFrame({"user": [0, 0, 1], "item": [1, 2, 3], "score": [1, 2, 3]})
    truth = [[1, 2], [3]]
    before = items.copy(), scores.clone(), copy.deepcopy(truth)
    evaluate(items, truth, METRICS)
    evaluate(scores, truth, METRICS)
    assert np.array_equal(items, before[0])
    assert scores.equals(before[1])
    assert truth == before[2]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_of_an_array_are_filled_up_with_minus_1(dtype: Any) -> None:
    lists = np.array([[5, 6, -1], [7, -1, -1], [-1, -1, -1]], dtype)
    truth = np.array([[6, -1], [8, 7], [9, -1]], dtype)
    found = evaluate(lists, truth, ["Recall@3", "MRR@3"], per_user=True)
    assert found["Recall@3"].tolist() == [1, 1 / 2, 0]
    assert found["MRR@3"].tolist() == [1 / 2, 1, 0]


@pytest.mark.parametrize("form", ["pandas", "polars", "polars LazyFrame", "arrow"])
def test_files_lists_and_solutions_may_be_frames_of_any_library(form: str) -> None:
    """ann's a and b stand first and third, of two: (1/1 + 2/3) / 2; bob's c second: (1/2) / 2."""
    texts = pd.DataFrame({"customer_id": ["ann", "bob"], "prediction": ["a x b", "y c z"]})
    solution = texts.assign(prediction=["a b", "c d"])
    given = {
        "pandas": lambda frame: frame,
        "polars": pl.from_pandas,
        "polars LazyFrame": lambda frame: pl.from_pandas(frame).lazy(),
        "arrow": pa.Table.from_pandas,
    }[form]
    found = score(given(texts), solution=given(solution), k=3)
    assert found.to_dict()["metrics"]["MAP@3"]["mean"] == pytest.approx((5 / 6 + 1 / 4) / 2)


def test_names_of_columns_that_are_no_text() -> None:
    texts = pd.DataFrame({0: ["ann"], 1: ["a"]})
    with refusal(UsageError, "solution: names of columns are text; found [0, 1]"):
        score(texts, solution=texts, k=3)


def test_frames_are_read_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas' columns of text then cannot become Polars' by themselves."""

    def refuse(_column: object) -> None:
        raise ImportError("pyarrow is required")

    monkeypatch.setattr("narwhals.Series.to_polars", refuse)
    monkeypatch.setattr("narwhals.Series.to_arrow", refuse)
    long = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["a", "x", "b"]})
    wide = pd.DataFrame({"user": ["ann", "bob"], "item": [["a", "x"], ["b"]]})
    for lists in (long, wide):
        assert evaluate(lists, long, "MAP@3").iloc[0] == 1


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_truth_may_have_names_of_its_own(library: Callable[[Any], Any]) -> None:
    lists = library({"visitor": ["ann", "ann"], "sku": ["x", "a"]})
    truth = library({"customer_id": ["ann"], "article_id": ["a"]})
    names: dict[str, Any] = {"user": "visitor", "item": "sku"}
    names |= {"truth_user": "customer_id", "truth_item": "article_id"}
    assert evaluate(lists, truth, "MRR", **names)["MRR"] == 1 / 2
    assert conventions(lists, truth, 2, **names)["MAP@2"]["kaggle"] == 1 / 2
    assert evaluate(lists, truth, "MRR", **names, per_user=True).index.to_list() == ["ann"]


def test_one_of_the_two_may_have_the_same_name() -> None:
    lists = pd.DataFrame({"user": ["ann"], "prediction": [["a"]]})
    truth = pd.DataFrame({"customer": ["ann"], "item": ["a"]})
    found = evaluate(lists, truth, "MRR", truth_user="customer")
    assert found["MRR"] == 1


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({}, 'truth: no column "user"; .*(another is named with truth_user="…")'),
        ({"truth_user": "customers"}, 'no column "customers"; did you mean "customer"?'),
        ({"truth_user": 7}, 'truth: no column "7"; allowed: customer, item'),
    ],
)
def test_a_column_that_the_truth_lacks(names: dict[str, Any], words: str) -> None:
    lists = pd.DataFrame({"user": ["ann"], "item": ["a"]})
    truth = pd.DataFrame({"customer": ["ann"], "item": ["a"]})
    with pytest.raises(HarnessError) as told:
        evaluate(lists, truth, "MRR", **names)
    for part in words.split(".*"):
        assert part in str(told.value)
