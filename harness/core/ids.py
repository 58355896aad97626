"""Ids to codes, each in the order they are first met: texts of a column, or keys of bytes.

96 bits of a key stand for an id; that any two of ten million different ids agree in all of them has
a chance of about 10⁻¹⁵, far below that of a fault in the machine's memory. The key of a column's
text is two hashes of Polars'. Their seeds are drawn at random in every process, so that nobody can
write ids that agree, and no result depends on them.
"""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Int32, UInt64
from harness.core.jit import compiled

_LEAST = 1 << 12
_MOST_FILLED = 0.7


@cache
def _seeds() -> tuple[int, int]:
    """Return the seeds of this process."""
    return secrets.randbits(64), secrets.randbits(64)


def hashes_of(column: str) -> tuple[pl.Expr, pl.Expr]:
    """Return the two hashes of a text column, as expressions that the reader works out."""
    first, second = (pl.col(column).hash(seed) for seed in _seeds())
    return first, second


class KeyTable:
    """A hash table that grows.

    Attributes
    ----------
    rows : uint64 array, (a power of 2, 2)
        As `look_up` reads it.
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


class Encoder:
    """Codes 0, 1, 2 … for the ids of columns, and the ids of the codes."""

    def __init__(self) -> None:
        self._table = KeyTable()
        self._ids: list[pl.Series] = []

    def __len__(self) -> int:
        return len(self._table)

    def codes(self, ids: pl.Series, hashes: tuple[pl.Series, pl.Series]) -> Int32:
        """Return the code of each id (none missing), an int32 array.

        Parameters
        ----------
        ids : polars.Series
        hashes : two polars.Series of uint64
            What `hashes_of` gives for `ids`.
        """
        known = len(self)
        codes = self._table.codes(np.column_stack([h.to_numpy() for h in hashes]))
        self._ids.append(ids.gather(_first_met(codes, known, len(self))))
        return codes

    def ids(self) -> pl.Series:
        """Return the id of every code, in code order."""
        return pl.concat(self._ids) if self._ids else pl.Series(dtype=pl.String)


@compiled
def _codes(keys: Any, start: int, table: Any, count: int, room: int, codes: Any) -> tuple[int, int]:
    """Go on from `start`; stop where there is no more room. Return (entry, count)."""
    for at in range(start, len(keys)):
        if at > 0 and keys[at, 0] == keys[at - 1, 0] and keys[at, 1] == keys[at - 1, 1]:
            codes[at] = codes[at - 1]  # logs and lists are often ordered by user
            continue
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
def _first_met(codes: Any, known: int, count: int) -> Any:
    """Return where each code from `known` on stands first."""
    rows = np.empty(count - known, np.int64)
    at = met = 0
    while met < len(rows):
        if codes[at] == known + met:
            rows[met] = at
            met += 1
        at += 1
    return rows


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
