"""A table of lists or truth, read a bounded number of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from harness.errors import DataError, printable

Int64 = npt.NDArray[np.int64]

ROWS = 1 << 20
LISTS = 1 << 14
"""Rows of long and of wide tables read at a time: what is half done stays small."""

_MISMATCH = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError)


@dataclass(frozen=True)
class Columns:
    """What the columns are called; `number` holds what `meaning` says: rank, score or grade."""

    user: str
    item: str
    number: str | None = None
    meaning: str = ""


@dataclass(frozen=True)
class Slice:
    """Some rows of a table; no id is missing.

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
        One entry a row.
    """

    start: int
    users: pl.Series
    items: pl.Series
    sizes: Int64
    numbers: pl.Series | None


@dataclass(frozen=True)
class Table:
    """Rows with a user and an item, or, if `wide`, a user and a list of items.

    Attributes
    ----------
    role : str
        What the table is, for messages: ``recommendations``, ``truth`` or ``train``.
    """

    role: str
    frame: nw.DataFrame[Any]
    columns: Columns
    wide: bool

    def slices(self) -> Iterator[Slice]:
        """Yield the rows in order.

        Raises
        ------
        DataError
            A missing id, or a cell of another type than its column's.
        """
        step = LISTS if self.wide else ROWS
        for start in range(0, len(self.frame), step):
            yield self._slice(start, self.frame[start : start + step])

    def _slice(self, start: int, part: nw.DataFrame[Any]) -> Slice:
        users = self._series(part, self.columns.user, start)
        self._refuse_missing(users, self.columns.user, start, np.arange(len(users)))
        item, number = self.columns.item, self.columns.number
        if self.wide:
            lists = self._lists(part, item, start)
            sizes = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
            items = lists.explode(empty_as_null=False, keep_nulls=False)
            self._refuse_missing(items, item, start, np.repeat(np.arange(len(sizes)), sizes))
        else:
            sizes = np.zeros(0, np.int64)
            items = self._series(part, item, start)
            self._refuse_missing(items, item, start, np.arange(len(items)))
        numbers = None if number is None else self._series(part, number, start)
        return Slice(start, users, items, sizes, numbers)

    def _series(self, part: nw.DataFrame[Any], name: str, start: int) -> pl.Series:
        column = part.get_column(name)
        try:
            return column.to_polars() if column.dtype != nw.Object else self._strict(column, start)
        except ModuleNotFoundError:  # pandas without pyarrow
            return self._strict(column, start)
        except _MISMATCH as error:
            raise self._mixed(name, column.to_list(), start) from error

    def _strict(self, column: nw.Series[Any], start: int) -> pl.Series:
        values = [None if _missing(value) else value for value in column.to_list()]
        try:
            return pl.Series(column.name, values, strict=True)
        except _MISMATCH as error:
            raise self._mixed(column.name, values, start) from error

    def _lists(self, part: nw.DataFrame[Any], name: str, start: int) -> pl.Series:
        column = part.get_column(name)
        if column.dtype == nw.Object:
            return self._python_lists(name, column.to_list(), start)
        lists = column.to_polars()
        return lists.arr.to_list() if isinstance(lists.dtype, pl.Array) else lists

    def _python_lists(self, name: str, cells: list[Any], start: int) -> pl.Series:
        plain = [as_list(cell) for cell in cells]
        for row, cell in enumerate(plain, start):
            if cell is not None and not isinstance(cell, list):
                raise self.no_list(name, row, cell)
        try:
            lists = pl.Series(name, plain, strict=True)
        except _MISMATCH as error:
            flat = [item for cell in plain for item in cell or ()]
            raise self._mixed(name, flat, start) from error
        # Nothing but empty lists has no type of its own.
        return lists if isinstance(lists.dtype, pl.List) else lists.cast(pl.List(pl.Null))

    def no_list(self, name: str, row: int, cell: object) -> DataError:
        """Return what to say of a cell that is no list in a column of lists."""
        return DataError(
            f'{self.role}: column "{name}", {row_text(row)}: found {shown(cell)}, a '
            f"{type(cell).__name__} where a list of items was expected; split a text first, as in "
            f'frame["{name}"].str.split(" ")'
        )

    def _mixed(self, name: str, values: list[Any], start: int) -> DataError:
        return mixed(f'{self.role}: column "{name}"', values, start)

    def _refuse_missing(self, ids: pl.Series, name: str, start: int, rows: Int64) -> None:
        if ids.null_count() > 0:
            row = start + int(rows[ids.is_null().arg_true()[0]])
            raise DataError(
                f'{self.role}: column "{name}", {row_text(row)}: the id is missing; drop such '
                "rows, or give them an id"
            )


def mixed(where: str, values: list[Any], start: int = 0) -> DataError:
    """Return what to say of values of several types in one column."""
    filled = [(row, v) for row, v in enumerate(values, start) if not _missing(v)]
    first = type(filled[0][1]) if filled else object
    row, other = next(((r, v) for r, v in filled if type(v) is not first), (start, None))
    return DataError(
        f"{where}, {row_text(row)}: found {shown(other)}, {type(other).__name__} among "
        f"{first.__name__}; make the values all text, or all numbers"
    )


def as_list(cell: Any) -> Any:
    """Return a list where the cell is some sequence of items, None where it is missing."""
    if isinstance(cell, np.ndarray):
        return cell.tolist()
    if isinstance(cell, (tuple, set, frozenset)):
        return list(cell)
    return None if _missing(cell) else cell


def shown(value: object) -> str:
    """Return a value of the user's as a message shows it."""
    return printable(repr(value))[:60]


def row_text(row: int) -> str:
    """Return how a message names a row, counted as frames count."""
    return f"row {row:,} (the first is 0)"


def _missing(value: Any) -> bool:
    return value is None or (not isinstance(value, (list, np.ndarray)) and value != value)
