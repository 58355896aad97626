"""Ids of one type, text or whole numbers, as codes 0, 1, 2 … in the order they are first met."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Int32, Int64
from harness.core.errors import DataError
from harness.core.ids import Encoder, hashes_of
from harness.metrics.inputs.cells import MISMATCH, row_within, shown
from harness.metrics.inputs.frame import Table


@dataclass(frozen=True)
class Overlap:
    """Whether the ids of one table are those of another; of parts of the users it adds up.

    `known` rows have an id that the other table has; `here` and `there` hold the least id that the
    other lacks, and the least of the other, if there is one.
    """

    known: int
    here: list[Any]
    there: list[Any]

    @property
    def is_none(self) -> bool:
        """Whether both have ids, and none in common."""
        return self.known == 0 and bool(self.here and self.there)


class Coder:
    """One code for every id, whichever table holds it; every table must hold ids of one kind."""

    def __init__(self) -> None:
        self._encoder = Encoder()
        self._kind = self._met = ""

    def __len__(self) -> int:
        return len(self._encoder)

    @property
    def ids(self) -> pl.Series:
        """The id of every code, String or Int128."""
        return self._encoder.ids()

    def codes(self, ids: pl.Series, where: str) -> Int32:
        """Return the code of every id (none missing); `where` says what holds them, for messages.

        DataError over ids that are neither text nor whole numbers, or of another kind than before.
        """
        if len(ids) == 0:
            return np.zeros(0, np.int32)
        kind = _kind(ids, where)
        met = f"{where} holds {kind} (first {shown(ids[0])})"
        self._kind, self._met = self._kind or kind, self._met or met
        if kind != self._kind:
            raise DataError(
                f"{met}, {self._met}: no id would match; make both text or both whole numbers "
                "(in pandas: .astype(str))"
            )
        try:  # equal numbers of any width have equal hashes
            column = ids.cast(pl.String if self._kind == "text" else pl.Int128).alias("id")
        except MISMATCH as error:
            raise _no_ids(ids, where) from error
        first, second = hashes_of(pl.col("id"))
        hashed = column.to_frame().select(first.alias("first"), second.alias("second"))
        return self._encoder.codes(column, (hashed["first"], hashed["second"]))

    def overlap(self, codes: Int32, known: int) -> Overlap:
        """Return what a table of these codes shares with those that had codes before, `known`."""
        is_met = np.zeros(len(self), np.bool_)
        is_met[codes] = True
        ids = self.ids
        return Overlap(
            known=int(np.count_nonzero(codes < known)),
            here=least(ids.slice(known).filter(pl.Series(is_met[known:]))),
            there=least(ids.head(known)),
        )


def least(ids: pl.Series) -> list[Any]:
    """Return the least id, if there is any."""
    return [ids.min()] if len(ids) > 0 else []


def _kind(ids: pl.Series, where: str) -> str:
    if ids.dtype == pl.String or isinstance(ids.dtype, (pl.Categorical, pl.Enum)):
        return "text"
    if ids.dtype.is_integer():
        return "whole numbers"
    raise _no_ids(ids, where)


def _no_ids(ids: pl.Series, where: str) -> DataError:
    hint = ""
    if ids.dtype.is_float():
        hint = '; in pandas, a missing value turns whole numbers into decimals: use astype("Int64")'
    return DataError(
        f"{where} holds {ids.dtype} values (first {shown(ids[0])}); ids are text or "
        f"whole numbers{hint}"
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """A table in codes: runs of items that belong to one user.

    `user` has the user of every run, of a list or of rows that stand together, and `sizes` how many
    items it has; `item` has the items of all runs.
    """

    user: Int32
    sizes: Int64
    item: Int32

    @property
    def users(self) -> Int32:
        """The user of every item."""
        return np.repeat(self.user, self.sizes)


@dataclass(frozen=True)
class Coders:
    """Codes of users and of items."""

    users: Coder = field(default_factory=Coder)
    items: Coder = field(default_factory=Coder)

    def read(self, table: Table) -> Rows:
        """Return a table in codes; DataError over missing ids, and ids of several kinds."""
        with ThreadPoolExecutor(1) as thread:
            items = thread.submit(self._items, table)
            user = _coded(self.users, table, "user", table.parts("user"))
            item, sizes = items.result()
        if sizes is None:
            runs = pl.Series(user).rle().struct.unnest()
            user, sizes = runs["value"].to_numpy(), runs["len"].cast(pl.Int64).to_numpy()
        return Rows(user, sizes, item)

    def _items(self, table: Table) -> tuple[Int32, Int64 | None]:
        """Return the codes of all items and, of lists, how many each has."""
        if not table.wide:
            return _coded(self.items, table, "item", table.parts("item")), None
        items, sizes = table.lists()
        return _coded(self.items, table, "item", [items], sizes), sizes


def _coded(
    coder: Coder, table: Table, name: str, parts: Iterable[pl.Series], sizes: Int64 | None = None
) -> Int32:
    """Return the codes of a column, or raise DataError where an id of it is missing."""
    codes, rows = [np.zeros(0, np.int32)], 0
    for ids in parts:
        if ids.null_count() > 0:
            row = row_within(sizes, rows + int(ids.is_null().arg_true()[0]))
            raise DataError(
                f"{table.where(name)}, {table.row(row)}: the id is missing; drop such rows, or "
                "give them an id"
            )
        codes.append(coder.codes(ids, table.where(name)))
        rows += len(ids)
    return np.concatenate(codes)


def ranks_of(table: Table) -> Int64:
    """Return whole numbers from 1, or raise DataError."""
    numbers = _numbers(table)
    if numbers.dtype == pl.Int64 and len(numbers) > 0 and numbers.to_numpy().min() > 0:
        return numbers.to_numpy()
    value = numbers.cast(pl.Float64)
    wrong = ~value.is_finite() | (value < 1) | (value != value.floor()) | (value >= 2**63)
    zero = "; if ranks start at 0, add 1 to all" if (numbers == 0).any() else ""
    _refuse(table, numbers, wrong, f"a whole number, 1 or more{zero}")
    return numbers.cast(pl.Int64).to_numpy()


def scores_of(table: Table) -> pl.Series:
    """Return Int64 or Float64 scores without NaN, or raise DataError."""
    numbers = _numbers(table)
    if numbers.dtype.is_integer():
        whole = numbers.cast(pl.Int64, strict=False)
        _refuse(table, numbers, whole.is_null(), "a 64-bit number")
        return whole
    values = numbers.cast(pl.Float64)
    _refuse(table, numbers, values.is_nan(), "a number")
    return values


def grades_of(table: Table) -> pl.Series:
    """Return Float64 grades from 0, or raise DataError."""
    numbers = _numbers(table)
    values = numbers.cast(pl.Float64)
    _refuse(table, numbers, ~values.is_finite() | (values < 0), "a number, 0 or more")
    return values.alias("grade")


def _numbers(table: Table) -> pl.Series:
    numbers = table.column("number")
    if not (numbers.dtype.is_numeric() or numbers.dtype == pl.Null):
        first = None if len(numbers) == 0 else numbers[0]
        raise DataError(
            f"{table.where('number')} has values that are not numbers (first {shown(first)}); a "
            f"{table.meaning} must be a number"
        )
    _refuse(table, numbers, numbers.is_null(), "a number")
    return numbers.cast(pl.Int64) if numbers.dtype == pl.Null else numbers  # without rows


def _refuse(table: Table, numbers: pl.Series, wrong: pl.Series, wanted: str) -> None:
    if not wrong.any():
        return
    entry = int(wrong.arg_true()[0])
    row = row_within(table.sizes, entry)
    number, step = numbers[entry], ""
    if number is None:
        zero = " (0 means not relevant)" if table.meaning == "grade" else ""
        number, step = "a missing value", f"; write one{zero}, or drop the row"
    raise DataError(
        f"{table.where('number')}, {table.row_and_user(row)}: found {number}; a "
        f"{table.meaning} must be {wanted}{step}"
    )
