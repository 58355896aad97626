"""Ids of one type, text or whole numbers, as codes 0, 1, 2 … in the order they are first met."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int32, Int64
from harness.core.errors import DataError
from harness.metrics.inputs.cells import row_text, shown
from harness.metrics.inputs.frame import Table, row_within


class Coder:
    """One code for every id, whichever table holds it; every table must hold ids of one kind.

    Attributes
    ----------
    ids : polars.Series of str or Int128
        The id of every code.
    """

    def __init__(self) -> None:
        self.ids = pl.Series(dtype=pl.String)
        self._met = ""

    def __len__(self) -> int:
        return len(self.ids)

    def codes(self, ids: pl.Series, where: str) -> Int32:
        """Return the code of every id (none missing).

        Parameters
        ----------
        where : str
            What holds them, for the message: ``truth: column "user"``.

        Raises
        ------
        DataError
            Ids that are neither text nor whole numbers, or of another kind than those before.
        """
        ids = self.checked(ids, where)
        # Numbers of 64 bits are looked up much faster than texts.
        known, codes = self._looked_up(ids, by_hash=ids.dtype != pl.Int64)
        if not known.gather(codes).equals(ids):  # two ids have one hash
            known, codes = self._looked_up(ids, by_hash=False)
        self.ids = known
        return codes

    def checked(self, ids: pl.Series, where: str) -> pl.Series:
        """Return ids as text, or as numbers of the width of those before, or raise DataError."""
        if len(ids) == 0:
            return self.ids.clear()
        kind = _kind(ids, where)
        met = f"{where} holds {kind} (first {shown(ids[0])})"
        if self._met and (kind == "text") != (self.ids.dtype == pl.String):
            raise DataError(
                f"{met}, {self._met}: no id would match; make both text or both whole numbers "
                "(in pandas: .astype(str))"
            )
        if kind == "text":
            ids = ids.cast(pl.String)
        else:
            narrow = ids.cast(pl.Int64, strict=False)
            fits = narrow.null_count() == 0 and self.ids.dtype != pl.Int128
            ids = narrow if fits else ids.cast(pl.Int128)
        self._met = self._met or met
        self.ids = self.ids.cast(ids.dtype)
        return ids

    def _looked_up(self, ids: pl.Series, by_hash: bool) -> tuple[pl.Series, Int32]:
        """Return all ids known now, and the code of every one that was given."""
        key, known = (ids.hash(), self.ids.hash()) if by_hash else (ids, self.ids)
        if len(known) == 0:
            first, codes = _by_first(key)
            return ids.gather(first), codes
        places = pl.int_range(len(known), dtype=pl.Int32, eager=True)
        found = key.replace_strict(known, places, default=None, return_dtype=pl.Int32)
        unknown = found.is_null()
        if not unknown.any():
            return self.ids, found.to_numpy()
        first, new = _by_first(key.filter(unknown))
        codes = found.fill_null(-1).to_numpy().copy()
        codes[codes < 0] = len(known) + new
        return pl.concat([self.ids, ids.filter(unknown).gather(first)]), codes


def _by_first(keys: pl.Series) -> tuple[pl.Series, Int32]:
    """Return where each key stands first, and the code of every one in that order."""
    first, rank = keys.arg_unique(), keys.rank("dense").to_numpy() - 1
    codes = np.empty(len(first), np.int32)
    codes[rank[first.to_numpy()]] = np.arange(len(first))
    return first, codes[rank]


def _kind(ids: pl.Series, where: str) -> str:
    if ids.dtype == pl.String or isinstance(ids.dtype, (pl.Categorical, pl.Enum)):
        return "text"
    if ids.dtype.is_integer() and ids.dtype != pl.UInt128:
        return "whole numbers"
    hint = ""
    if ids.dtype.is_float():
        hint = '; a missing value turns numbers into decimals in pandas: use astype("Int64")'
    raise DataError(
        f"{where} holds {ids.dtype} values (first {shown(ids[0])}); ids are text or "
        f"whole numbers{hint}"
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """A table in codes: runs of items that belong to one user.

    Attributes
    ----------
    user : int32 array
        The user of every run: of every list, or of rows that stand together.
    sizes : int64 array
        How many items it has.
    item : int32 array
        The items of all runs, one after another.
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
        """Return a table in codes; one column is converted at a time.

        Raises
        ------
        DataError
            A missing id, a cell of another type than its column's, ids of several kinds.
        """
        users = table.column("user")
        _refuse_missing(table, "user", users, None)
        users, sizes = self.users.checked(users, table.where("user")), None
        if not table.wide:
            runs = users.rle().struct.unnest()
            users, sizes = runs["value"], runs["len"].cast(pl.Int64).to_numpy()
            del runs
        user = self.users.codes(users, table.where("user"))
        del users
        items, lengths = (table.column("item"), sizes) if sizes is not None else table.lists()
        _refuse_missing(table, "item", items, None if sizes is not None else lengths)
        return Rows(user, np.asarray(lengths), self.items.codes(items, table.where("item")))


def _refuse_missing(table: Table, name: str, ids: pl.Series, sizes: Int64 | None) -> None:
    if ids.null_count() > 0:
        row = row_within(sizes, int(ids.is_null().arg_true()[0]))
        raise DataError(
            f"{table.where(name)}, {row_text(row)}: the id is missing; drop such rows, or give "
            "them an id"
        )


def ranks_of(table: Table) -> Int64:
    """Return whole numbers from 1, or raise DataError."""
    numbers = _numbers(table)
    if numbers.dtype == pl.Int64 and len(numbers) > 0 and numbers.to_numpy().min() > 0:
        return numbers.to_numpy()
    value = numbers.cast(pl.Float64)
    wrong = ~value.is_finite() | (value < 1) | (value != value.floor()) | (value >= 2**63)
    zero = "; where ranks begin with 0, add 1 to all" if (numbers == 0).any() else ""
    _refuse(table, numbers, wrong, f"a whole number from 1{zero}")
    return numbers.cast(pl.Int64).to_numpy()


def scores_of(table: Table) -> pl.Series:
    """Return Int64 or Float64 scores without NaN, or raise DataError."""
    numbers = _numbers(table)
    if numbers.dtype.is_integer():
        whole = numbers.cast(pl.Int64, strict=False)
        _refuse(table, numbers, whole.is_null(), "a number of 64 bits")
        return whole
    values = numbers.cast(pl.Float64)
    _refuse(table, numbers, values.is_nan(), "a number")
    return values


def grades_of(table: Table) -> Floats:
    """Return float64 grades from 0, or raise DataError."""
    numbers = _numbers(table)
    values = numbers.cast(pl.Float64)
    _refuse(table, numbers, ~values.is_finite() | (values < 0), "a number from 0")
    return values.to_numpy()


def _numbers(table: Table) -> pl.Series:
    numbers = table.column("number")
    if not (numbers.dtype.is_numeric() or numbers.dtype == pl.Null):
        found = None if len(numbers) == 0 else numbers[0]
        raise DataError(
            f"{table.where('number')} holds no numbers (first {shown(found)}); "
            f"a {table.meaning} is a number"
        )
    _refuse(table, numbers, numbers.is_null(), "a number")
    return numbers


def _refuse(table: Table, numbers: pl.Series, wrong: pl.Series, wanted: str) -> None:
    if not wrong.any():
        return
    entry = int(wrong.arg_true()[0])
    row = row_within(table.sizes, entry)
    found: Any = "a missing value" if numbers[entry] is None else numbers[entry]
    raise DataError(
        f"{table.where('number')}, {row_text(row)}, user {shown(table.column('user')[row])}: "
        f"found {found}; a {table.meaning} is {wanted}"
    )
