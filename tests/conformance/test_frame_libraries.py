"""The same lists and truth in every form that people hold them in: always the same values."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from harness import evaluate

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
