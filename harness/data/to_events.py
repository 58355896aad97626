"""Rows of any file as events: ids as keys, times in microseconds, types, values and conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Floats, Int64, UInt64
from harness.core.errors import DataError
from harness.core.ids import hashes_of
from harness.data import dataset, times
from harness.data.conditions import all_hold, as_number
from harness.data.layout import EventTable
from harness.data.naming import INSIDE
from harness.data.rules import rows_key, shown

MOST_LABELS = 255
"""Event types of a log."""
_FIRST_LABELS = 5
_FIRST_TIME, _LAST_TIME = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_ROW, _WATCHED = "\0row", "\0watched "
_IDS = (dataset.USER, dataset.ITEM)
Kinds = Mapping[str, Any]
"""The Polars type of each column."""


class Met(NamedTuple):
    """The ids of some rows.

    `keys`, (rows, 2), are equal where ids of a file are; `texts` takes rows and returns their ids.
    """

    keys: UInt64
    texts: Callable[[Int64], pl.Series]

    @classmethod
    def of(cls, ids: pl.Series, keys: pl.Series) -> Met:
        """Return the ids of a column, by what `key_of` gives."""
        return cls(keys.to_numpy(), lambda rows: ids.gather(rows).cast(pl.String))


def key_of(column: str) -> pl.Expr:
    """Return the key of each of a column's texts, two hashes, as an expression."""
    return pl.concat_arr(hashes_of(pl.col(column).cast(pl.String)))


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a file."""

    frame: pl.DataFrame  # of ids in text that are wanted as keys alone, whether there is one
    lines: Int64 | None = None  # the place of each in the file, from 1; None: in order
    left_out: int = 0  # lines between them
    bytes: int = 0  # of the text of all
    ids: Mapping[str, Met] = field(default_factory=dict)  # by column, where the file gives keys
    as_text: Callable[[], pl.DataFrame] | None = None  # all columns, where the frame has marks


class Labels(NamedTuple):
    """Texts of which there are few: `names`, and for each row which of them."""

    codes: npt.NDArray[Any]
    names: list[str]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a file, as events."""

    user: Met
    item: Met
    time: Int64  # microseconds since 1970
    row: Int64 | None  # in the file, from 0, where the table is to be numbered
    left_out: int  # rows that do not hold the conditions
    bytes: int  # of text that all were read from
    kind: Labels | None
    value: Floats | None
    watched: Mapping[str, Floats]  # NaN where nothing stands, infinity where a text is no number


def to_events(
    rows: Rows, table: EventTable, name: object, pattern: str | None, start: int
) -> Batch | None:
    """Return rows as events of a table; None where a value is not what it should be.

    `pattern` is as of `times.from_text`, `start` the number of the first row, from 0. A column of a
    type that it cannot have is a DataError; a text in a bounded column is an error of Polars.
    """
    refuse_types(name, table, rows.frame.schema)
    frame = rows.frame
    if table.where or table.numbered:
        numbers = pl.int_range(start, start + frame.height, eager=True).alias(_ROW)
        frame = frame.with_columns(numbers)
    held = frame.select(all_hold(table.where, frame.schema)).to_series() if table.where else None
    if held is not None and not held.all():
        frame = frame.filter(held)
    wanted = dict(_columns(name, table, frame, rows.as_text is not None, pattern))
    columns = {key: column for key, column in wanted.items() if isinstance(column, pl.Series)}
    if len(columns) < len(wanted):  # of a block of text there may be nothing to work out
        rest = frame.select(
            column.alias(key) for key, column in wanted.items() if key not in columns
        )
        columns |= rest.to_dict()
    value = columns.get(dataset.VALUE)
    if any(_is_faulty(role, column) for role, column in columns.items()) or (
        value is not None and not value.is_finite().all()
    ):
        return None
    names = list[str]()
    if table.kind is not None:
        columns[dataset.KIND], names = _labels(name, table.kind, columns[dataset.KIND])
    for bounds in table.where:
        if bounds.of_time:
            within = columns[dataset.TIME].is_between(
                _FIRST_TIME if bounds.since is None else bounds.since,
                _LAST_TIME if bounds.until is None else bounds.until,
            )
            columns = {key: column.filter(within) for key, column in columns.items()}
    arrays = {key: column.to_numpy() for key, column in columns.items() if key not in _IDS}
    row = arrays.get(_ROW)
    kept = None if row is None else row - start
    return Batch(
        user=_met(columns[dataset.USER], rows.ids.get(table.user), kept),
        item=_met(columns[dataset.ITEM], rows.ids.get(table.item), kept),
        time=arrays[dataset.TIME],
        row=row if table.numbered else None,
        left_out=rows.left_out + rows.frame.height - len(arrays[dataset.TIME]),
        bytes=rows.bytes,
        kind=None if table.kind is None else Labels(arrays[dataset.KIND], names),
        value=None if value is None else arrays[dataset.VALUE] + 0.0,  # no zero below zero
        watched={column: arrays[f"{_WATCHED}{column}"] for column in table.watched},
    )


def _columns(
    name: object,
    table: EventTable,
    frame: pl.DataFrame,
    is_marked: bool,
    pattern: str | None,
) -> Iterator[tuple[str, pl.Expr | pl.Series]]:
    """Yield what a batch takes of a frame; null where nothing stands, or what cannot be read."""
    kinds = frame.schema
    for role, column in zip(_IDS, (table.user, table.item), strict=True):
        marks = is_marked and kinds[column] == pl.Boolean  # whether there is an id
        as_is = marks or kinds[column].is_integer()  # a batch has many, and few are new
        yield role, frame[column] if as_is else pl.col(column).cast(pl.String)
    if _ROW in kinds:
        yield _ROW, frame[_ROW]
    yield dataset.TIME, _time(name, table, frame, pattern)
    if table.kind is not None:
        yield dataset.KIND, pl.col(table.kind)
    if table.value is not None:
        yield dataset.VALUE, _number(table.value, kinds)
    for column in table.watched:
        no_number = pl.when(pl.col(column).cast(pl.String) != "").then(math.inf)
        yield f"{_WATCHED}{column}", _number(column, kinds).fill_null(no_number).fill_null(np.nan)


def _is_faulty(role: str, column: pl.Series) -> bool:
    """Return whether a value is missing."""
    if role in _IDS and column.dtype == pl.Boolean:
        return not column.all()
    empty = column.dtype == pl.String and (column == "").any()
    return bool(empty) or column.has_nulls()


def _number(column: str, kinds: Kinds) -> pl.Expr:
    return as_number(pl.col(column), is_text=kinds[column] == pl.String)


def _time(
    name: object, table: EventTable, frame: pl.DataFrame, pattern: str | None
) -> pl.Expr | pl.Series:
    if table.time is None:
        return pl.zeros(frame.height, pl.Int64, eager=True)
    column, dtype = table.time, frame.schema[table.time]
    if dtype == pl.Datetime("us"):
        return frame[column].cast(pl.Int64)
    if dtype.is_temporal():
        return times.from_dtype(column, dtype)
    if dtype.is_integer() and "%" in table.time_format:  # as 20240131 is in text
        return times.from_text(column, table.time_format, pattern, number=True)
    if dtype.is_numeric() and table.time_format not in times.EPOCH_UNITS_US:
        raise DataError(
            f'{name}: column "{column}" holds numbers, not {times.expected(table.time_format)}; '
            'set time_format = "epoch_s" or "epoch_ms" under [data]'
        )
    return times.from_text(column, table.time_format, pattern)


def _met(ids: pl.Series, keyed: Met | None, kept: Int64 | None) -> Met:
    """Return the ids of the rows that are kept, by the keys of all where there are any."""
    if keyed is None:
        return Met.of(ids, ids.to_frame().select(key_of(ids.name)).to_series())
    if kept is None or len(kept) == len(keyed.keys):
        return keyed
    return Met(keyed.keys[kept], lambda rows: keyed.texts(kept[rows]))


def _labels(name: object, column: str, kinds: pl.Series) -> tuple[pl.Series, list[str]]:
    """Return which of some event types each is, and their names."""
    if kinds.dtype.is_integer():  # numbers are found sooner than their texts
        values = kinds.unique().sort()
        names, codes = values.cast(pl.String), values.search_sorted(kinds)
    else:
        names = kinds.cast(pl.String).unique(maintain_order=True)
        if len(names) <= MOST_LABELS:
            names = names.sort()
            codes = kinds.cast(pl.String).cast(pl.Enum(names)).to_physical()
    if len(names) > MOST_LABELS:
        raise DataError(too_many_labels(name, column, names.to_list()))
    return codes, names.to_list()


def too_many_labels(name: object, column: str, names: Sequence[str]) -> str:
    """Return what is said of a column that is hardly one of event types."""
    first = ", ".join(shown(label) for label in names[:_FIRST_LABELS])
    return (
        f'{name}: column "{column}" holds more than {MOST_LABELS} event types ({first}, …); '
        "name the column of event types as [data] kind"
    )


_WORDS = {"Date": "dates", "Datetime": "dates with times", "List": "lists", "Array": "lists"}
_WORDS |= {"Duration": "lengths of time", "Time": "times of a day"}
_WORDS |= {"Struct": "records", "Binary": "bytes", "Float64": "floats", "Float32": "floats"}


def in_words(kind: pl.DataType) -> str:
    """Return what a column holds, for messages."""
    return _WORDS.get(kind.base_type().__name__, f"{kind} values")


def refuse_types(name: object, table: EventTable, kinds: Kinds) -> None:
    """Raise DataError where a column is of a type that it cannot have."""
    for column in (table.user, table.item):
        refuse_float_ids(name, column, kinds[column])
    bounded = [condition.column for condition in table.where if condition.bounds]
    for column in bounded if table.value is None else [table.value, *bounded]:
        kind = kinds[column]
        if not (kind.is_numeric() or kind in (pl.String, pl.Boolean, pl.Null)):
            raise DataError(f'{name}: column "{column}" holds {in_words(kind)}; expected numbers')
    if table.time is not None and kinds[table.time].is_nested():
        cure = ""
        if _may_have_rows(name, kinds[table.time]):
            cure = f"; {rows_key(*table.rows, table.time)} makes one row per element"
        what = in_words(kinds[table.time])
        raise DataError(f'{name}: column "{table.time}" holds {what}; expected times{cure}')
    kind = pl.Null() if table.kind is None else kinds[table.kind]
    if kind.is_nested() or kind == pl.Binary:
        raise DataError(
            f'{name}: column "{table.kind}" holds {in_words(kind)}; expected event types'
        )


def _may_have_rows(name: object, kind: pl.DataType) -> bool:
    """Return whether ``rows`` can name a column: its lists, unless a database has them."""
    return isinstance(kind, (pl.List, pl.Array)) and INSIDE not in str(name)


def refuse_float_ids(name: object, column: str, kind: pl.DataType) -> None:
    """Raise DataError where a column of ids is of a type whose texts are not those of ids."""
    if not (kind.is_float() or kind.is_nested() or kind == pl.Binary):
        return
    cure = "write ids as text"
    if kind.is_float():
        cure = (
            "in pandas, a missing value turns whole numbers into floats: drop such rows, then "
            f'convert the column with .astype({{"{column}": "Int64"}})'
        )
    elif _may_have_rows(name, kind):
        cure = f"if its elements are ids, {rows_key(column)} makes one row per element"
    raise DataError(
        f'{name}: column "{column}" holds {in_words(kind)}, which cannot tell ids apart; {cure}'
    )
