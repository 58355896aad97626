"""Ids to codes, each in the order they are first met: texts of a column, or keys of bytes.

96 bits of a key stand for an id; that any two of ten million different ids agree in all of them has
a chance of about 10⁻¹⁵, far below that of a fault in the machine's memory. The key of a column's
text is two hashes of Polars'. Their seeds are drawn at random in every process, so that nobody can
write ids that agree, and no result depends on them.
"""

from __future__ import annotations

import secrets
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Int32, UInt64

if TYPE_CHECKING:
    import polars as pl

_LEAST = 1 << 12
_MOST_FILLED = 0.7


@cache
def _seeds() -> tuple[int, int]:
    """Return the seeds of this process."""
    return secrets.randbits(64), secrets.randbits(64)


def hashes_of(column: str) -> tuple[pl.Expr, pl.Expr]:
    """Return the two hashes of a text column, as expressions that the reader works out."""
    import polars as pl  # slow to import

    first, second = (pl.col(column).hash(seed) for seed in _seeds())
    return first, second


class KeyTable:
    """A hash table that grows.

    Attributes
    ----------
    rows : uint64 array, (a power of 2, 2)
        A row holds the first half of a key, and 32 bits of the second beside code + 1.
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
            start, self._count = _kernels.codes(keys, start, self.rows, self._count, room, codes)
            if start < len(keys):
                rows = np.zeros((4 * len(self.rows), 2), np.uint64)
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
        """Return the code of each id (none missing), an int32 array.

        Parameters
        ----------
        ids : polars.Series
        hashes : two polars.Series of uint64
            What `hashes_of` gives for `ids`.
        """
        known = len(self)
        codes = self._table.codes(np.column_stack([h.to_numpy() for h in hashes]))
        first = np.empty(len(self) - known, np.int64)
        _kernels.first_met(codes, known, first)
        self._ids.append(ids.gather(first))
        return codes

    def ids(self) -> pl.Series:
        """Return the id of every code, in code order."""
        import polars as pl  # slow to import

        return pl.concat(self._ids) if self._ids else pl.Series(dtype=pl.String)
