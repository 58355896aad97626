"""The same lists and truth in every type of every library: always the same values."""

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
EXPECTED = pytest.approx([(5 / 6 + 1 / 4) / 2, (1 + 1 / 2) / 2, (1 / 2 + 1 / 2) / 2])
NUMBER = {"ann": 7, "bob": 3, "a": 11, "b": 2, "c": 5, "d": 6, "x": 30, "y": 40, "z": 1}

Rows = dict[Any, list[Any]]
Forms = dict[str, Callable[[Rows], Any]]


def long(rows: Rows) -> pd.DataFrame:
    """Return one row an item, in the order of the lists."""
    pairs = [(user, item) for user, row in rows.items() for item in row]
    return pd.DataFrame(pairs, columns=["user", "item"])


def wide(rows: Rows, kind: Any = list) -> pd.DataFrame:
    """Return one row a user, with a list in each cell."""
    return pd.DataFrame({"user": list(rows), "item": pd.Series(map(kind, rows.values()))})


def arrow(rows: Rows, kind: pa.DataType) -> pa.Table:
    """Return one row an item, with ids of one Arrow type."""
    return pa.table({n: pa.array(column.tolist(), kind) for n, column in long(rows).items()})


def arrow_lists(rows: Rows, kind: pa.DataType) -> pa.Table:
    return pa.table({"user": list(rows), "item": pa.array(list(rows.values()), kind)})


def polars_lists(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame({"user": list(rows), "item": list(rows.values())})


def enums(rows: Rows) -> pl.DataFrame:
    frame = pl.from_pandas(long(rows))
    return frame.cast({name: pl.Enum(frame[name].unique().sort()) for name in frame.columns})


def in_chunks(rows: Rows) -> pa.Table:
    """Return one row an item, in chunks each with a dictionary of numbers."""
    table = arrow(rows, pa.dictionary(pa.int8(), pa.int64()))
    return pa.concat_tables([table.slice(0, 2), table.slice(2)])


EITHER: Forms = {
    "pandas": long,
    "pandas object": lambda rows: long(rows).astype(object),
    "pandas category": lambda rows: long(rows).astype("category"),
    "pandas with any index": lambda rows: long(rows).set_axis(["i"] * sum(map(len, rows.values()))),
    "pandas lists": wide,
    "pandas tuples": lambda rows: wide(rows, tuple),
    "pandas arrays": lambda rows: wide(rows, np.array),
    "polars": lambda rows: pl.from_pandas(long(rows)),
    "polars Categorical": lambda rows: pl.from_pandas(long(rows).astype("category")),
    "polars LazyFrame": lambda rows: pl.from_pandas(long(rows)).lazy(),
    "polars List": polars_lists,
    "polars List, lazy": lambda rows: polars_lists(rows).lazy(),
    "polars List of another name": lambda rows: polars_lists(rows).rename({"item": "recs"}),
    "arrow": lambda rows: pa.Table.from_pandas(long(rows)),
    "dict of lists": dict,
    "dict of tuples": lambda rows: {user: tuple(row) for user, row in rows.items()},
    "dict of arrays": lambda rows: {user: np.array(row) for user, row in rows.items()},
    "dict of object arrays": lambda rows: {u: np.array(row, object) for u, row in rows.items()},
    "dict of numbers": lambda rows: {
        user: {item: 10 - place for place, item in enumerate(row)} for user, row in rows.items()
    },
}
TEXT: Forms = EITHER | {
    "pandas string": lambda rows: long(rows).astype("string"),
    "pandas string of Arrow": lambda rows: long(rows).astype(pd.ArrowDtype(pa.string())),
    "pandas lists of Arrow": lambda rows: wide(rows).astype(
        {"item": pd.ArrowDtype(pa.list_(pa.string()))}
    ),
    "polars Enum": enums,
    "polars Array": lambda rows: polars_lists(rows).cast(
        {"item": pl.Array(pl.String, len(rows["ann"]))}
    ),
    "arrow string": lambda rows: arrow(rows, pa.string()),
    "arrow large_string": lambda rows: arrow(rows, pa.large_string()),
    "arrow string_view": lambda rows: arrow(rows, pa.string_view()),
    "arrow dictionary": lambda rows: arrow(rows, pa.dictionary(pa.int8(), pa.string())),
    "arrow list": lambda rows: arrow_lists(rows, pa.list_(pa.string())),
    "arrow large_list": lambda rows: arrow_lists(rows, pa.large_list(pa.large_string())),
    "arrow list of fixed size": lambda rows: arrow_lists(
        rows, pa.list_(pa.string(), len(rows["ann"]))
    ),
}
NUMBERS: Forms = EITHER | {
    "pandas int32": lambda rows: long(rows).astype("int32"),
    "pandas uint64": lambda rows: long(rows).astype("uint64"),
    "pandas Int64": lambda rows: long(rows).astype("Int64"),
    "pandas dictionary in chunks": lambda rows: in_chunks(rows).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "polars UInt8": lambda rows: pl.from_pandas(long(rows)).cast(pl.UInt8),
    "polars Int128": lambda rows: pl.from_pandas(long(rows)).cast(pl.Int128),
    "polars Array": lambda rows: polars_lists(rows).cast(
        {"item": pl.Array(pl.Int32, len(rows[7]))}
    ),
    "arrow int16": lambda rows: arrow(rows, pa.int16()),
    "arrow dictionary": lambda rows: arrow(rows, pa.dictionary(pa.int8(), pa.int64())),
    "arrow dictionary in chunks": in_chunks,
    "arrow list": lambda rows: arrow_lists(rows, pa.list_(pa.int32())),
}
BY_POSITION: Forms = {
    "lists": lambda rows: list(rows.values()),
    "tuples": lambda rows: tuple(map(tuple, rows.values())),
    "2-d array": lambda rows: np.array(list(rows.values())),
    "2-d array in Fortran order": lambda rows: np.asfortranarray(list(rows.values())),
    "2-d object array": lambda rows: np.array(list(rows.values()), object),
    "list of arrays": lambda rows: [np.array(row) for row in rows.values()],
}


def numbered(rows: Rows) -> Rows:
    """Return the same with whole numbers for ids."""
    return {NUMBER[user]: [NUMBER[item] for item in row] for user, row in rows.items()}


@pytest.mark.parametrize("form", TEXT)
def test_lists_and_truth_with_ids_of_text(form: str) -> None:
    of = TEXT[form]
    assert evaluate(of(LISTS), TRUTH, METRICS).tolist() == EXPECTED
    assert evaluate(LISTS, of(TRUTH), METRICS).tolist() == EXPECTED


@pytest.mark.parametrize("form", NUMBERS)
def test_lists_and_truth_with_ids_of_whole_numbers(form: str) -> None:
    of, lists, truth = NUMBERS[form], numbered(LISTS), numbered(TRUTH)
    assert evaluate(of(lists), truth, METRICS).tolist() == EXPECTED
    assert evaluate(lists, of(truth), METRICS).tolist() == EXPECTED


@pytest.mark.parametrize("form", BY_POSITION)
@pytest.mark.parametrize("names", [dict, numbered])
def test_lists_a_row_go_with_lists_a_row(form: str, names: Callable[[Rows], Rows]) -> None:
    lists, truth = BY_POSITION[form](names(LISTS)), BY_POSITION[form](names(TRUTH))
    assert evaluate(lists, truth, METRICS).tolist() == EXPECTED


@pytest.mark.parametrize("form", TEXT)
def test_the_input_is_not_changed(form: str) -> None:
    lists, truth = TEXT[form](LISTS), TEXT[form](TRUTH)
    before = copy.deepcopy(lists), copy.deepcopy(truth)
    evaluate(lists, truth, [*METRICS, "Novelty@3", "Coverage@3"], train=truth)
    for now, then in zip((lists, truth), before, strict=True):
        if isinstance(now, pl.LazyFrame):
            now, then = now.collect(), then.collect()
        if isinstance(now, pd.DataFrame):
            now, then = now.to_dict("list"), then.to_dict("list")
        assert now.equals(then) if hasattr(now, "equals") else repr(now) == repr(then)
