"""Ids to codes while reading: each id is kept once, each row costs one look into a hash table.

Polars hashes the text; two 64-bit hashes with different seeds stand for an id. Two ids that agree
in the first are told apart by the second; that any two of ten million different ids agree in both
has a chance of about 10⁻²⁵, far below that of a fault in the machine's memory. The seeds are drawn
at random in every process, so that nobody can write ids that agree; no result depends on them.
"""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.compiled import compiled

Int32 = npt.NDArray[np.int32]
UInt64 = npt.NDArray[np.uint64]

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
        _place(self._hashes, self._count, self._slots)


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
def _place(hashes: Any, count: int, slots: Any) -> None:
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
