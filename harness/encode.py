"""Ids to codes while reading: each id is kept once, each row costs one look into a hash table.

Polars hashes the text; two 64-bit hashes with different seeds stand for an id. Two ids that agree
in the first are told apart by the second; that any two of ten million different ids agree in both
has a chance of about 10⁻²⁵, far below that of a fault in the machine's memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.compiled import compiled

Int32 = npt.NDArray[np.int32]
UInt64 = npt.NDArray[np.uint64]

_SLOTS = 1 << 12
_SEEDS = (0, 1)


def hashes_of(column: str) -> tuple[pl.Expr, pl.Expr]:
    """Return the two hashes of a text column, as expressions that the reader works out."""
    first, second = (pl.col(column).hash(seed) for seed in _SEEDS)
    return first, second


class Encoder:
    """Codes 0, 1, 2 … for ids in the order they are first met."""

    def __init__(self) -> None:
        self._table = np.zeros((_SLOTS, 3), np.uint64)  # two hashes, and code + 1; 0 is free
        self._count = 0
        self._texts: list[pl.Series] = []

    def codes(self, ids: pl.Series, hashes: tuple[pl.Series, pl.Series]) -> Int32:
        """Return the code of each id (str, none missing), an int32 array.

        Parameters
        ----------
        ids : polars.Series of str
        hashes : two polars.Series of uint64
            What `hashes_of` gives for `ids`.
        """
        first, second = (_read_only(h.to_numpy()) for h in hashes)
        codes = np.empty(len(ids), np.int32)
        new = np.empty(len(ids), np.int32)
        start = 0
        while start < len(ids):
            stop, count = _encode(first, second, start, self._table, self._count, codes, new)
            self._texts.append(ids.gather(new[: count - self._count]))
            self._count, start = count, stop
            if start < len(ids):
                self._table = _grown(self._table)
        return codes

    def ids(self) -> pl.Series:
        """Return the id of every code, in code order."""
        return pl.concat(self._texts) if self._texts else pl.Series(dtype=pl.String)


@compiled
def _encode(
    first: Any, second: Any, start: int, table: Any, count: int, codes: Any, new: Any
) -> tuple[int, int]:
    """Code the rows from `start`; stop where the table is half full. Return (row, count)."""
    mask = np.uint64(len(table) - 1)
    met = 0
    for row in range(start, len(first)):
        slot = first[row] & mask
        while True:
            code = table[slot, 2]
            if code == 0:
                if 2 * count >= len(table):
                    return row, count
                table[slot, 0], table[slot, 1] = first[row], second[row]
                table[slot, 2] = count + 1
                codes[row] = count
                new[met] = row
                count += 1
                met += 1
                break
            if table[slot, 0] == first[row] and table[slot, 1] == second[row]:
                codes[row] = np.int32(code) - 1
                break
            slot = (slot + np.uint64(1)) & mask
    return len(first), count


def _grown(table: UInt64) -> UInt64:
    """Return a table of four times the slots with the same codes."""
    held = table[table[:, 2] > 0]
    held = held[np.argsort(held[:, 2])]  # met again in code order, so that each keeps its code
    grown = np.zeros((4 * len(table), 3), np.uint64)
    unused = np.empty((2, len(held)), np.int32)
    first, second = (_read_only(held[:, i].copy()) for i in (0, 1))
    _encode(first, second, 0, grown, 0, unused[0], unused[1])
    return grown


def _read_only(hashes: UInt64) -> UInt64:
    """Return a read-only view: one type, so that the loop is compiled once."""
    view = np.ascontiguousarray(hashes).view()
    view.setflags(write=False)
    return view
