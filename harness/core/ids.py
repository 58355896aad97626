"""Ids to codes, each in the order they are first met: 96 bits of a key stand for an id."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Int32, Int64, UInt64

if TYPE_CHECKING:
    import polars as pl

_LEAST = 1 << 12
_MOST_FILLED = 0.7

_SEEDS = secrets.randbits(64), secrets.randbits(64)
"""Of this process, so that nobody can write ids that agree; two threads would draw two pairs."""


def hashes_of(ids: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return the two hashes of ids, as expressions that the reader works out."""
    return ids.hash(_SEEDS[0]), ids.hash(_SEEDS[1])


class KeyTable:
    """A hash table that grows; `rows`, (a power of 2, 2), as `look_up` in _kernels.pxd has them."""

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
            start, self._count = _kernels.codes(keys, start, self.rows, self._count, room, codes)
            if start < len(keys):
                rows = np.zeros((2 * len(self.rows), 2), np.uint64)
                _kernels.move(self.rows, rows)
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
        """Return the code of each id (none missing), an int32 array, by what `hashes_of` gives."""
        keys = np.column_stack([h.to_numpy() for h in hashes])
        return self.codes_of_keys(keys, ids.gather)

    def codes_of_keys(self, keys: UInt64, texts: Callable[[Int64], pl.Series]) -> Int32:
        """Return the code of each id, (n,), by its key, (n, 2); `texts` has the ids of new rows."""
        known = len(self)
        codes = self._table.codes(keys)
        first = np.empty(len(self) - known, np.int64)
        if len(first) > 0:
            _kernels.first_met(codes, known, first)
            self._ids.append(texts(first))
        return codes

    def ids(self) -> pl.Series:
        """Return the id of every code, in code order."""
        import polars as pl  # slow to import

        return pl.concat(self._ids) if self._ids else pl.Series(dtype=pl.String)

    def take(self) -> pl.Series:
        """Return the ids of the codes since they were taken last, and forget these alone."""
        taken = self.ids()
        self._ids = []
        return taken
