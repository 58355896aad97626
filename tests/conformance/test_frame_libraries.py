"""The same lists and truth in every type of every library: always the same values."""

import copy
from collections.abc import Callable, Iterable
from functools import partial
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
"""Items by user; forms are one row an item (`long`), or one a user with a list in each cell."""
Forms = dict[str, Callable[[Rows], Any]]


def long(rows: Rows) -> pd.DataFrame:
    pairs = [(user, item) for user, row in rows.items() for item in row]
    return pd.DataFrame(pairs, columns=["user", "item"])


def wide(rows: Rows, kind: Any = list) -> pd.DataFrame:
    return pd.DataFrame({"user": list(rows), "item": pd.Series(map(kind, rows.values()))})


def arrow(rows: Rows, kind: pa.DataType) -> pa.Table:
    return pa.table({n: pa.array(column.tolist(), kind) for n, column in long(rows).items()})


def arrow_lists(rows: Rows, kind: pa.DataType) -> pa.Table:
    return pa.table({"user": list(rows), "item": pa.array(list(rows.values()), kind)})


def polars_lists(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame({"user": list(rows), "item": list(rows.values())})


def typed(kinds: Iterable[Any], make: Callable[[Rows, Any], Any]) -> Forms:
    return {f"{make.__name__} {kind}": partial(make, kind=kind) for kind in kinds}


def pandas(rows: Rows, kind: Any) -> pd.DataFrame:
    return long(rows).astype(kind)


def polars(rows: Rows, kind: Any) -> pl.DataFrame:
    return pl.from_pandas(long(rows)).cast(kind)


def polars_arrays(rows: Rows, kind: Any) -> pl.DataFrame:
    (length,) = set(map(len, rows.values()))
    return polars_lists(rows).cast({"item": pl.Array(kind, length)})


EITHER: Forms = {
    "pandas": long,
    "pandas with any index": lambda rows: long(rows).set_axis(["i"] * sum(map(len, rows.values()))),
    **typed([object, "category"], pandas),
    **typed([list, tuple, np.array], wide),
    "polars Categorical": lambda rows: pl.from_pandas(long(rows).astype("category")),
    "polars LazyFrame": lambda rows: pl.from_pandas(long(rows)).lazy(),
    "polars List": polars_lists,
    "polars List, lazy": lambda rows: polars_lists(rows).lazy(),
    "arrow": lambda rows: pa.Table.from_pandas(long(rows)),
    "dict of lists": dict,
    "dict of arrays": lambda rows: {user: np.array(row) for user, row in rows.items()},
    "dict of object arrays": lambda rows: {u: np.array(row, object) for u, row in rows.items()},
    "dict of numbers": lambda rows: {
        user: {item: 10 - place for place, item in enumerate(row)} for user, row in rows.items()
    },
}
STRING, CODED, NAMES = pa.string(), pa.dictionary(pa.int8(), pa.int64()), sorted("abcdxyz")
TEXT: Forms = {
    **EITHER,
    **typed(["string", pd.ArrowDtype(STRING)], pandas),
    **typed([{"user": pl.Enum(["ann", "bob"]), "item": pl.Enum(NAMES)}], polars),
    **typed([pl.String], polars_arrays),
    **typed([STRING, pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), STRING)], arrow),
    **typed([pa.list_(STRING), pa.large_list(pa.large_string())], arrow_lists),
    "pandas lists of Arrow": lambda rows: wide(rows).astype(
        {"item": pd.ArrowDtype(pa.list_(STRING))}
    ),
    "arrow lists of one size": lambda rows: arrow_lists(rows, pa.list_(STRING, len(rows["ann"]))),
}
NUMBERS: Forms = {
    **EITHER,
    **typed(["int32", "uint64", "Int64"], pandas),
    **typed([pl.UInt8, pl.Int128], polars),
    **typed([pl.Int32], polars_arrays),
    **typed([pa.int16(), CODED], arrow),
    **typed([pa.list_(pa.int32())], arrow_lists),
    "arrow in chunks": lambda rows: pa.concat_tables(
        [arrow(rows, CODED).slice(0, 2), arrow(rows, CODED).slice(2)]
    ),
}


def numbered(rows: Rows) -> Rows:
    return {NUMBER[user]: [NUMBER[item] for item in row] for user, row in rows.items()}


CASES = [*((dict, TEXT, form) for form in TEXT), *((numbered, NUMBERS, form) for form in NUMBERS)]


@pytest.mark.parametrize(("names", "forms", "form"), CASES)
def test_lists_and_truth_in_every_type(names: Any, forms: Forms, form: str) -> None:
    lists, truth = names(LISTS), names(TRUTH)
    assert evaluate(forms[form](lists), truth, METRICS).tolist() == EXPECTED
    assert evaluate(lists, forms[form](truth), METRICS).tolist() == EXPECTED


@pytest.mark.parametrize("form", TEXT)
def test_the_input_is_not_changed(form: str) -> None:
    lists, truth = TEXT[form](LISTS), TEXT[form](TRUTH)
    before = copy.deepcopy(lists), copy.deepcopy(truth)
    evaluate(lists, truth, [*METRICS, "Novelty@3", "Coverage@3"], train=truth)
    for now, then in zip((lists, truth), before, strict=True):
        if isinstance(now, pl.LazyFrame):
            now, then = now.collect(), then.collect()
        assert repr(now) == repr(then)
