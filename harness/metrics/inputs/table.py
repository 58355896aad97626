"""A table of lists or truth, read a bounded number of rows at a time; its column of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Floats, Int64
from harness.core.errors import DataError
from harness.core.once import once
from harness.metrics.inputs.cells import (
    MISMATCH,
    as_list,
    ids_of,
    mixed,
    numbers_of,
    row_text,
    shown,
)

ROWS = 1 << 20
LISTS = 1 << 14
"""Rows of long and of wide tables read at a time: what is half done stays small."""


@dataclass(frozen=True)
class Columns:
    """What the columns are called; `number` holds what `meaning` says: rank, score or grade."""

    user: str
    item: str
    number: str | None = None
    meaning: str = ""


class Slice(Protocol):
    """Some rows of a table; a column is converted when it is first asked for."""

    @property
    def start(self) -> int:
        """The first row's place in the table."""

    @property
    def users(self) -> pl.Series:
        """One id a row."""

    @property
    def items(self) -> pl.Series:
        """One id a row, or those of all lists one after another."""

    @property
    def sizes(self) -> Int64:
        """How long each row's list is; empty in a long table."""

    @property
    def numbers(self) -> pl.Series | None:
        """One number an item, where the table has any."""


@dataclass(frozen=True)
class Held:
    """What a dict or lists held, as one slice."""

    users: pl.Series
    items: pl.Series
    sizes: Int64
    numbers: pl.Series | None = None
    start: int = 0


@dataclass(frozen=True)
class _OfFrame:
    """Some rows of a frame."""

    table: Table
    start: int
    frame: nw.DataFrame[Any]

    @once
    def users(self) -> pl.Series:
        return self.table.convert(self.frame, "user", self.start)

    @once
    def items(self) -> pl.Series:
        return self._flat[0]

    @once
    def sizes(self) -> Int64:
        return self._flat[1]

    @once
    def numbers(self) -> pl.Series | None:
        named = self.table.columns.number is not None
        return self.table.convert(self.frame, "number", self.start) if named else None

    @once
    def _flat(self) -> tuple[pl.Series, Int64]:
        if self.table.wide:
            return self.table.lists(self.frame, self.start)
        return self.table.convert(self.frame, "item", self.start), np.zeros(0, np.int64)


@dataclass(frozen=True)
class Table:
    """Rows with a user and an item, or, if `wide`, a user and a list of items.

    Attributes
    ----------
    role : str
        What the table is, for messages: ``recommendations``, ``truth`` or ``train``.
    given : narwhals.DataFrame or Held
        A frame, or what a dict or lists held.
    """

    role: str
    given: nw.DataFrame[Any] | Held
    columns: Columns
    wide: bool

    def __len__(self) -> int:
        return len(self.given.items if isinstance(self.given, Held) else self.given)

    def where(self, column: str) -> str:
        """Return how a message names a column: ``user``, ``item`` or ``number``."""
        if isinstance(self.given, Held):
            return f"{self.role}: {self.columns.meaning if column == 'number' else column + 's'}"
        return f'{self.role}: column "{getattr(self.columns, column)}"'

    def slices(self) -> Iterator[Slice]:
        """Yield the rows in order."""
        if isinstance(self.given, Held):
            yield self.given
            return
        step, rows = LISTS if self.wide else ROWS, len(self.given)
        for start in range(0, rows, step):
            part = self.given if rows <= step else self.given[start : start + step]
            yield _OfFrame(self, start, part)

    def row_of(self, part: Slice, entry: int) -> int:
        """Return the row of the table that an item of a slice stands in."""
        if self.wide:
            entry = int(np.searchsorted(np.cumsum(part.sizes), entry, "right"))
        return part.start + entry

    def refuse_missing(self, part: Slice, name: str) -> None:
        """Raise DataError where an id of a slice is missing; `name` is ``user`` or ``item``."""
        ids = part.users if name == "user" else part.items
        if ids.null_count() > 0:
            entry = int(ids.is_null().arg_true()[0])
            row = part.start + entry if name == "user" else self.row_of(part, entry)
            raise DataError(
                f"{self.where(name)}, {row_text(row)}: the id is missing; drop such rows, or give "
                "them an id"
            )

    def convert(self, part: nw.DataFrame[Any], name: str, start: int = 0) -> pl.Series:
        """Return a column of the rows from `start` as Polars holds it.

        Parameters
        ----------
        name : str
            ``user``, ``item`` or ``number``.

        Raises
        ------
        DataError
            A cell of another type than its column's.
        """
        column = part.get_column(getattr(self.columns, name))
        row_of = partial(add, start)
        try:
            if column.dtype != nw.Object:
                return column.to_polars()
        except ImportError:  # pandas without pyarrow
            pass
        except MISMATCH as error:
            raise mixed(self.where(name), column.to_list(), row_of) from error
        make = numbers_of if name == "number" else ids_of
        return make(column.to_list(), self.where(name), row_of)

    def lists(self, part: nw.DataFrame[Any], start: int) -> tuple[pl.Series, Int64]:
        """Return the items of all lists of some rows, and how long each list is.

        Raises
        ------
        DataError
            A cell that is no list, or holds items of several types.
        """
        column = part.get_column(self.columns.item)
        if column.dtype in (nw.List, nw.Array):
            try:
                return _apart(column.to_polars())
            except MISMATCH as error:
                raise mixed(self.where("item"), column.to_list()) from error
        cells = column.to_list()
        for row, cell in enumerate(cells, start):
            self.check_list(cell, row_text(row))
        return flat(cells, self.where("item"), start)

    def check_list(self, cell: Any, where: str) -> None:
        """Raise DataError where a cell of a column of lists is no list, or has no order.

        Parameters
        ----------
        where : str
            Which cell it is, for the message.
        """
        plain = as_list(cell)
        if plain is not None and not isinstance(plain, list):
            raise DataError(
                f"{self.where('item')}, {where}: found {shown(cell)} ({type(cell).__name__}) "
                "where a list of items was expected; split a text first, as in "
                'frame["item"].str.split(" ")'
            )
        if isinstance(cell, (set, frozenset)) and self.role == "recommendations":
            raise DataError(
                f"{self.where('item')}, {where}: found {shown(cell)}, a set, which has no order; "
                "give a list"
            )


def flat(cells: list[Any], where: str, start: int = 0) -> tuple[pl.Series, Int64]:
    """Return the items of Python lists one after another, and how long each list is.

    Parameters
    ----------
    start : int
        The row of the first, for messages.
    """
    lists = [as_list(cell) or [] for cell in cells]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))

    def row_of(entry: int) -> int:
        return start + int(np.searchsorted(np.cumsum(sizes), entry, "right"))

    return ids_of([item for items in lists for item in items], where, row_of), sizes


def _apart(lists: pl.Series) -> tuple[pl.Series, Int64]:
    """Return the items of all lists one after another, and how long each list is."""
    if isinstance(lists.dtype, pl.Array):
        if lists.null_count() == 0 and len(lists.dtype.shape) == 1:
            return lists.reshape((-1,)), np.full(len(lists), lists.dtype.shape[0], np.int64)
        lists = lists.arr.to_list()
    sizes = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
    return lists.explode(empty_as_null=False, keep_nulls=False), sizes


def ranks_of(table: Table, part: Slice) -> Int64:
    """Return whole numbers from 1, or raise DataError."""
    numbers = _numbers(table, part)
    if numbers.dtype == pl.Int64 and len(numbers) > 0 and numbers.to_numpy().min() > 0:
        return numbers.to_numpy()
    value = numbers.cast(pl.Float64)
    wrong = ~value.is_finite() | (value < 1) | (value != value.floor()) | (value >= 2**63)
    zero = "; where ranks begin with 0, add 1 to all" if (numbers == 0).any() else ""
    _refuse(table, part, wrong, f"a whole number from 1{zero}")
    return numbers.cast(pl.Int64).to_numpy()


def scores_of(table: Table, part: Slice) -> npt.NDArray[Any]:
    """Return int64 or float64 scores without NaN, or raise DataError."""
    numbers = _numbers(table, part)
    if numbers.dtype.is_integer():
        whole = numbers.cast(pl.Int64, strict=False)
        _refuse(table, part, whole.is_null(), "a number of 64 bits")
        return whole.to_numpy()
    values = numbers.cast(pl.Float64)
    _refuse(table, part, values.is_nan(), "a number")
    return values.to_numpy()


def grades_of(table: Table, part: Slice) -> Floats:
    """Return float64 grades from 0, or raise DataError."""
    values = _numbers(table, part).cast(pl.Float64)
    _refuse(table, part, ~values.is_finite() | (values < 0), "a number from 0")
    return values.to_numpy()


def _numbers(table: Table, part: Slice) -> pl.Series:
    numbers = part.numbers
    meaning = table.columns.meaning
    if numbers is None or not (numbers.dtype.is_numeric() or numbers.dtype == pl.Null):
        found = None if numbers is None or len(numbers) == 0 else numbers[0]
        raise DataError(
            f"{table.where('number')} holds no numbers (first {shown(found)}); "
            f"a {meaning} is a number"
        )
    _refuse(table, part, numbers.is_null(), "a number")
    return numbers


def _refuse(table: Table, part: Slice, wrong: pl.Series, wanted: str) -> None:
    if not wrong.any() or part.numbers is None:
        return
    entry = int(wrong.arg_true()[0])
    row = table.row_of(part, entry)
    found = part.numbers[entry]
    value = "a missing value" if found is None else found
    raise DataError(
        f"{table.where('number')}, {row_text(row)}, user {shown(part.users[row - part.start])}: "
        f"found {value}; a {table.columns.meaning} is {wanted}"
    )
