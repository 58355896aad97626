"""A table of lists or truth, read a bounded number of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from harness.errors import DataError
from harness.frames.values import (
    MISMATCH,
    Int64,
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


@dataclass(frozen=True)
class Slice:
    """Some rows of a table.

    Attributes
    ----------
    start : int
        The first row's place in the table.
    users : polars.Series
        One entry a row.
    items : polars.Series
        One entry a row, or all lists one after another.
    sizes : int64 array
        How long each row's list is; empty in a long table.
    numbers : polars.Series, optional
        One entry an item.
    """

    start: int
    users: pl.Series
    items: pl.Series
    sizes: Int64
    numbers: pl.Series | None

    def row_of(self, entry: int) -> int:
        """Return the row of this slice that an item stands in."""
        return (
            int(np.searchsorted(np.cumsum(self.sizes), entry, "right"))
            if len(self.sizes)
            else entry
        )


@dataclass(frozen=True)
class Table:
    """Rows with a user and an item, or, if `wide`, a user and a list of items.

    Attributes
    ----------
    role : str
        What the table is, for messages: ``recommendations``, ``truth`` or ``train``.
    given : narwhals.DataFrame or Slice
        A frame, or what a dict or lists held.
    """

    role: str
    given: nw.DataFrame[Any] | Slice
    columns: Columns
    wide: bool

    def where(self, column: str) -> str:
        """Return how a message names a column: ``user``, ``item`` or ``number``."""
        if isinstance(self.given, Slice):
            return f"{self.role}: {self.columns.meaning if column == 'number' else column + 's'}"
        return f'{self.role}: column "{getattr(self.columns, column)}"'

    def slices(self) -> Iterator[Slice]:
        """Yield the rows in order; no id is missing.

        Raises
        ------
        DataError
            A missing id, or a cell of another type than its column's.
        """
        for part in [self.given] if isinstance(self.given, Slice) else self._slices(self.given):
            self._refuse_missing(part, part.users, "user")
            self._refuse_missing(part, part.items, "item")
            yield part

    def _slices(self, frame: nw.DataFrame[Any]) -> Iterator[Slice]:
        step, rows = LISTS if self.wide else ROWS, len(frame)
        for start in range(0, rows, step):
            yield self._slice(start, frame if rows <= step else frame[start : start + step])

    def _slice(self, start: int, part: nw.DataFrame[Any]) -> Slice:
        sizes, numbers = np.zeros(0, np.int64), None
        users = self._column(part.get_column(self.columns.user), "user", start)
        items = part.get_column(self.columns.item)
        if self.wide:
            flat, sizes = self._lists(items, start)
        else:
            flat = self._column(items, "item", start)
        if self.columns.number is not None:
            numbers = self._column(part.get_column(self.columns.number), "number", start)
        return Slice(start, users, flat, sizes, numbers)

    def _column(self, column: nw.Series[Any], name: str, start: int) -> pl.Series:
        try:
            if column.dtype != nw.Object:
                return column.to_polars()
        except ModuleNotFoundError:  # pandas without pyarrow
            pass
        except MISMATCH as error:
            raise mixed(self.where(name), column.to_list()) from error
        make = numbers_of if name == "number" else ids_of
        return make(column.to_list(), self.where(name))

    def column(self, name: str) -> pl.Series:
        """Return a whole column of the frame, whatever it holds."""
        frame = self.given
        if isinstance(frame, Slice):
            raise TypeError("a dict or lists have no columns")
        return self._column(frame.get_column(name), "item", 0)

    def _lists(self, column: nw.Series[Any], start: int) -> tuple[pl.Series, Int64]:
        if column.dtype != nw.Object:
            return _apart(column.to_polars())
        cells = column.to_list()
        for row, cell in enumerate(cells, start):
            self.check_list(cell, row_text(row))
        return flat(cells, self.where("item"))

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

    def _refuse_missing(self, part: Slice, ids: pl.Series, name: str) -> None:
        if ids.null_count() > 0:
            entry = int(ids.is_null().arg_true()[0])
            row = entry if name == "user" else part.row_of(entry)
            raise DataError(
                f"{self.where(name)}, {row_text(part.start + row)}: the id is missing; drop such "
                "rows, or give them an id"
            )


def flat(cells: list[Any], where: str) -> tuple[pl.Series, Int64]:
    """Return the items of Python lists one after another, and how long each list is."""
    lists = [as_list(cell) or [] for cell in cells]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    return ids_of([item for items in lists for item in items], where), sizes


def _apart(lists: pl.Series) -> tuple[pl.Series, Int64]:
    """Return the items of all lists one after another, and how long each list is."""
    if isinstance(lists.dtype, pl.Array):
        if lists.null_count() == 0:
            return lists.reshape((-1,)), np.full(len(lists), lists.dtype.shape[0], np.int64)
        lists = lists.arr.to_list()
    sizes = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
    return lists.explode(empty_as_null=False, keep_nulls=False), sizes
