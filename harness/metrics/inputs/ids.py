"""Ids of one type, text or whole numbers, become codes 0, 1, 2 … in the order they are met."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Int32, Int64
from harness.core.errors import DataError
from harness.core.ids import Encoder, hashes_of
from harness.core.jit import compiled
from harness.metrics.inputs.cells import shown
from harness.metrics.inputs.table import Slice, Table

_WORTH_A_THREAD = 1 << 15
"""Rows from which a table is read by threads."""
_AHEAD = 2
"""Slices that are coded before the first of them is used."""
_TABLE = 1 << 22
_SPREAD = 8
"""Numbers are looked up in a table while they span no more than _TABLE, or so many times the rows
that were read; numbers further apart are hashed, as text is."""


@dataclass(frozen=True)
class Coders:
    """Codes of users and items, each coded by a thread of its own while the next rows are read."""

    users: Coder
    items: Coder
    user_thread: Executor
    item_thread: Executor

    def read(self, table: Table) -> Iterator[tuple[Slice, Int32, Int32]]:
        """Yield every slice of a table with the codes of its users and of its items.

        The first slices are begun at once, before anyone asks for them.

        Raises
        ------
        DataError
            A missing id, a cell of another type than its column's, ids of several kinds.
        """
        begun = (self._coded(table, part) for part in table.slices())
        return _finished(begun, deque(islice(begun, _AHEAD)))

    def _coded(self, table: Table, part: Slice) -> tuple[Slice, Future[Int32], Future[Int32]]:
        def codes(coder: Coder, name: str) -> Int32:
            ids = part.users if name == "user" else part.items
            table.refuse_missing(part, name)
            return coder.codes(ids, table.where(name))

        small = len(table) < _WORTH_A_THREAD
        threads = (_here, _here) if small else (self.user_thread.submit, self.item_thread.submit)
        return part, threads[0](codes, self.users, "user"), threads[1](codes, self.items, "item")


def _here(call: Callable[..., Int32], *given: Any) -> Future[Int32]:
    """Call at once; for a few rows a thread would cost more than it saves."""
    done: Future[Int32] = Future()
    done.set_result(call(*given))
    return done


_Begun = tuple[Slice, Future[Int32], Future[Int32]]


def _finished(
    begun: Iterator[_Begun], ahead: deque[_Begun]
) -> Iterator[tuple[Slice, Int32, Int32]]:
    """Yield each slice when it is coded, and begin another."""
    while ahead:
        part, user, item = ahead.popleft()
        yield part, user.result(), item.result()
        ahead.extend(islice(begun, 1))


@contextmanager
def coders(users: Coder | None = None, items: Coder | None = None) -> Iterator[Coders]:
    """Yield coders, new ones unless given, with their threads."""
    with ThreadPoolExecutor(1) as user_thread, ThreadPoolExecutor(1) as item_thread:
        yield Coders(users or Coder(), items or Coder(), user_thread, item_thread)


class Coder:
    """One code for every id, whichever table holds it; every table must hold ids of one kind."""

    def __init__(self) -> None:
        self._kind = ""
        self._met = ""
        self._rows = 0
        self._coded: _Numbers | _Hashed | None = None

    def __len__(self) -> int:
        return 0 if self._coded is None else len(self._coded)

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
        if len(ids) == 0:
            return np.zeros(0, np.int32)
        ids = self._checked(ids, where)
        self._rows += len(ids)
        if self._kind == "text":
            self._coded = self._coded or _Hashed()
        else:
            self._coded = self._room_for(ids)
        return self._coded.codes(ids)

    def ids(self) -> pl.Series:
        """Return the id of every code, in code order."""
        return pl.Series(dtype=pl.String) if self._coded is None else self._coded.ids()

    def _checked(self, ids: pl.Series, where: str) -> pl.Series:
        kind = _kind(ids, where)
        met = f"{where} holds {kind} (first {shown(ids[0])})"
        self._kind, self._met = self._kind or kind, self._met or met
        if kind != self._kind:
            raise DataError(
                f"{met}, {self._met}: no id would match; make both text or both whole numbers "
                "(in pandas: .astype(str))"
            )
        return ids.cast(pl.String) if kind == "text" else ids

    def _room_for(self, ids: pl.Series) -> _Numbers | _Hashed:
        """Return what can code these numbers as well; the codes given so far stay."""
        if isinstance(self._coded, _Hashed):
            return self._coded
        known = self._coded or _Numbers(np.zeros(0, np.int64), 0, -1)
        low, high = _low_and_high(ids)
        if known.low <= known.high:
            low, high = min(low, known.low), max(high, known.high)
        if low == known.low and high == known.high:
            return known
        if _fits(low, high) and high - low < max(_TABLE, _SPREAD * self._rows):
            return _Numbers(known.numbers(), low, high)
        hashed = _Hashed()
        hashed.codes(known.ids())
        return hashed


def _kind(ids: pl.Series, where: str) -> str:
    if ids.dtype == pl.String or isinstance(ids.dtype, (pl.Categorical, pl.Enum)):
        return "text"
    if ids.dtype.is_integer():
        return "whole numbers"
    hint = ""
    if ids.dtype.is_float():
        hint = '; a missing value turns numbers into decimals in pandas: use astype("Int64")'
    raise DataError(
        f"{where} holds {ids.dtype} values (first {shown(ids[0])}); ids are text or "
        f"whole numbers{hint}"
    )


def _fits(low: int, high: int) -> bool:
    return low >= -(2**63) and high < 2**63


def _low_and_high(ids: pl.Series) -> tuple[int, int]:
    if ids.dtype in (pl.Int128, pl.UInt128):  # NumPy has none of 128 bits
        numbers = ids.to_list()
        return min(numbers), max(numbers)
    return int(ids.to_numpy().min()), int(ids.to_numpy().max())


class _Hashed:
    """Codes by two hashes of each id."""

    def __init__(self) -> None:
        self._encoder = Encoder()

    def __len__(self) -> int:
        return len(self._encoder)

    def codes(self, ids: pl.Series) -> Int32:
        first, second = hashes_of("id")
        if ids.dtype != pl.String:
            ids = ids.cast(pl.Int128)  # equal numbers of any width have equal hashes
        hashed = ids.to_frame("id").select(first.alias("first"), second.alias("second"))
        return self._encoder.codes(ids, (hashed["first"], hashed["second"]))

    def ids(self) -> pl.Series:
        return self._encoder.ids()


class _Numbers:
    """Codes of whole numbers from `low` to `high`, by a table; the `known` have the first codes."""

    def __init__(self, known: Int64, low: int, high: int) -> None:
        self.low, self.high = low, high
        self._codes = np.full(high - low + 1, -1, np.int32)
        self._codes[known - low] = np.arange(len(known), dtype=np.int32)
        self._known = [known]
        self._count = len(known)

    def __len__(self) -> int:
        return self._count

    def codes(self, ids: pl.Series) -> Int32:
        numbers = np.ascontiguousarray(ids.cast(pl.Int64).to_numpy())
        codes = np.empty(len(ids), np.int32)
        new = np.empty(len(ids), np.int32)
        count = _look_up(numbers, self.low, self._codes, self._count, codes, new)
        self._known.append(numbers[new[: count - self._count]])
        self._count = count
        return codes

    def numbers(self) -> Int64:
        return np.concatenate(self._known)

    def ids(self) -> pl.Series:
        return pl.Series(self.numbers())


@compiled
def _look_up(numbers: Any, low: int, known: Any, count: int, codes: Any, new: Any) -> int:
    """Code every number, those not known yet too; return how many are known then."""
    met = 0
    for row in range(len(numbers)):
        place = numbers[row] - low
        if known[place] < 0:
            known[place] = count
            new[met] = row
            count += 1
            met += 1
        codes[row] = known[place]
    return count
