"""Ids to codes, each in the order they are first met: texts of a column, or keys of bytes.

A column is hashed by Polars; two 64-bit hashes with different seeds stand for an id. Two ids that
agree in the first are told apart by the second; that any two of ten million different ids agree in
both has a chance of about 10⁻²⁵, far below that of a fault in the machine's memory. The seeds are
drawn at random in every process, so that nobody can write ids that agree, and no result depends on
them.
"""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Int32, UInt64
from harness.core.jit import compiled

_SLOTS = 1 << 12


@cache
def _seeds() -> tuple[int, int]:
    """Return the seeds of this process."""
    return secrets.randbits(64), secrets.randbits(64)


def hashes_of(column: str) -> tuple[pl.Expr, pl.Expr]:
    """Return the two hashes of a text column, as expressions that the reader works out."""
    first, second = (pl.col(column).hash(seed) for seed in _seeds())
    return first, second


class Encoder:
    """Codes 0, 1, 2 … for ids in the order they are first met.

    A slot holds code + 1 (0 is free); the two hashes lie apart, in code order, so that ids met
    again in the order of their first time are found in memory that was just read.
    """

    def __init__(self) -> None:
        self._slots = np.zeros(_SLOTS, np.int32)
        self._hashes = np.empty((_SLOTS // 2, 2), np.uint64)
        self._count = 0
        self._texts: list[pl.Series] = []

    def __len__(self) -> int:
        return self._count

    def codes(self, ids: pl.Series, hashes: tuple[pl.Series, pl.Series]) -> Int32:
        """Return the code of each id (none missing), an int32 array.

        Parameters
        ----------
        ids : polars.Series
        hashes : two polars.Series of uint64
            What `hashes_of` gives for `ids`.
        """
        first, second = (_read_only(h.to_numpy()) for h in hashes)
        codes = np.empty(len(ids), np.int32)
        new = np.empty(len(ids), np.int32)
        start = 0
        while start < len(ids):
            stop, count = _encode(
                first, second, start, self._slots, self._hashes, self._count, codes, new
            )
            self._texts.append(ids.gather(new[: count - self._count]))
            self._count, start = count, stop
            if start < len(ids):
                self._grow()
        return codes

    def ids(self) -> pl.Series:
        """Return the id of every code, in code order."""
        return pl.concat(self._texts) if self._texts else pl.Series(dtype=pl.String)

    def _grow(self) -> None:
        """Make room for four times the ids; each keeps its code."""
        self._slots = np.zeros(4 * len(self._slots), np.int32)
        hashes = np.empty((len(self._slots) // 2, 2), np.uint64)
        hashes[: self._count] = self._hashes[: self._count]
        self._hashes = hashes
        _settle(self._hashes, self._count, self._slots)


@compiled
def _encode(
    first: Any, second: Any, start: int, slots: Any, hashes: Any, count: int, codes: Any, new: Any
) -> tuple[int, int]:
    """Code the rows from `start`; stop where there is no more room. Return (row, count)."""
    mask = np.uint64(len(slots) - 1)
    met = 0
    for row in range(start, len(first)):
        a, b = first[row], second[row]
        if row > 0 and a == first[row - 1] and b == second[row - 1]:
            codes[row] = codes[row - 1]  # logs and lists are often ordered by user
            continue
        slot = a & mask
        while True:
            code = slots[slot] - 1
            if code < 0:
                if count == len(hashes):
                    return row, count
                hashes[count, 0], hashes[count, 1] = a, b
                slots[slot] = count + 1
                codes[row] = count
                new[met] = row
                count += 1
                met += 1
                break
            if hashes[code, 0] == a and hashes[code, 1] == b:
                codes[row] = code
                break
            slot = (slot + np.uint64(1)) & mask
    return len(first), count


@compiled
def _settle(hashes: Any, count: int, slots: Any) -> None:
    """Give every code a slot of an empty table."""
    mask = np.uint64(len(slots) - 1)
    for code in range(count):
        slot = hashes[code, 0] & mask
        while slots[slot] > 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code + 1


def _read_only(hashes: UInt64) -> UInt64:
    """Return a read-only view: one type, so that the loop is compiled once."""
    view = np.ascontiguousarray(hashes).view()
    view.setflags(write=False)
    return view


_LEAST = 1 << 12
_MOST_FILLED = 0.7


class KeyTable:
    """A hash table that grows.

    Attributes
    ----------
    rows : uint64 array, (a power of 2, 2)
        As `words.look_up` reads it.
    """

    def __init__(self, rows: UInt64 | None = None, count: int = 0) -> None:
        self.rows: UInt64 = np.zeros((_LEAST, 2), np.uint64) if rows is None else rows
        self._count = count

    def __len__(self) -> int:
        return self._count

    def codes(self, keys: UInt64) -> Int32:
        """Return the code of each key, (n, 2); a new one gets the next."""
        codes = np.empty(len(keys), np.int32)
        start = 0
        while start < len(keys):
            room = int(_MOST_FILLED * len(self.rows))
            start, self._count = _codes(keys, start, self.rows, self._count, room, codes)
            if start < len(keys):
                rows = np.zeros((4 * len(self.rows), 2), np.uint64)
                _move(self.rows, rows)
                self.rows = rows
        return codes


@compiled
def _codes(keys: Any, start: int, table: Any, count: int, room: int, codes: Any) -> tuple[int, int]:
    """Go on from `start`; stop where there is no more room. Return (entry, count)."""
    for at in range(start, len(keys)):
        code = look_up(keys[at, 0], keys[at, 1], table)
        if code < 0:
            if count == room:
                return at, count
            code = count
            give_slot(keys[at, 0], keys[at, 1], code, table)
            count += 1
        codes[at] = code
    return len(keys), count


@compiled
def _move(table: Any, larger: Any) -> None:
    for slot in range(len(table)):
        held = table[slot, 1]
        if held != np.uint64(0):
            give_slot(table[slot, 0], held, int(held & np.uint64(0xFFFFFFFF)) - 1, larger)


_FREE, _NEXT, _LOW = (np.uint64(n) for n in (0, 1, 0xFFFFFFFF))


@compiled
def look_up(first: Any, second: Any, table: Any) -> int:
    """Return the code of a key, −1 where it is not known.

    A row of the table holds the first half of a key, and 32 bits of the second beside code + 1;
    0, 0 is free. One row is one access to memory.
    """
    mask = np.uint64(len(table) - 1)
    slot = first & mask
    while True:
        held = table[slot, 1]
        if held == _FREE:
            return -1
        if table[slot, 0] == first and (held ^ second) <= _LOW:
            return int(held & _LOW) - 1
        slot = (slot + _NEXT) & mask


@compiled
def give_slot(first: Any, second: Any, code: int, table: Any) -> None:
    """Give the code of a new key a row of the table; there must be a free one."""
    mask = np.uint64(len(table) - 1)
    slot = first & mask
    while table[slot, 1] != _FREE:
        slot = (slot + _NEXT) & mask
    table[slot, 0] = first
    table[slot, 1] = (second & ~_LOW) | np.uint64(code + 1)
