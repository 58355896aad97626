"""Ids to codes, each in the order they are first met: texts of a column, or keys of bytes.

96 bits of a key stand for an id; that any two of ten million different ids agree in all of them has
a chance of about 10⁻¹⁵, far below that of a fault in the machine's memory. The key of a column's
text is two hashes of Polars'. Their seeds are drawn at random in every process, so that nobody can
write ids that agree, and no result depends on them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Int32, Int64, UInt64

if TYPE_CHECKING:
    import polars as pl

_LEAST = 1 << 12
_MOST_FILLED = 0.7
_HELD = 1 << 22
"""Bytes of ids that wait to become a column."""


_SEEDS = secrets.randbits(64), secrets.randbits(64)
"""Of this process, drawn while it is imported: two threads would draw two pairs."""


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


class Lines(NamedTuple):
    """Texts as UTF-8, each with the byte `end` behind it, which none holds."""

    text: bytes
    end: int

    def texts(self) -> pl.Series:
        """Return them; there must be one."""
        import polars as pl  # slow to import

        whole = pl.Series([str(memoryview(self.text)[:-1], "utf-8")])
        return whole.str.split(chr(self.end)).explode(empty_as_null=False)


class Encoder:
    """Codes 0, 1, 2 … for the ids of columns, and the ids of the codes."""

    def __init__(self) -> None:
        self._table = KeyTable()
        self._ids: list[pl.Series] = []
        self._waiting: list[Lines] = []  # to make a column takes its time
        self._held = 0

    def __len__(self) -> int:
        return len(self._table)

    def codes(self, ids: pl.Series, hashes: tuple[pl.Series, pl.Series]) -> Int32:
        """Return the code of each id (none missing), an int32 array, by what `hashes_of` gives."""
        keys = np.column_stack([h.to_numpy() for h in hashes])
        return self.codes_of_keys(keys, ids.gather)

    def codes_of_keys(self, keys: UInt64, texts: Callable[[Int64], pl.Series | Lines]) -> Int32:
        """Return the code of each id, (n,), by its key, (n, 2); `texts` has the ids of new rows."""
        known = len(self)
        codes = self._table.codes(keys)
        first = np.empty(len(self) - known, np.int64)
        if len(first) == 0:
            return codes
        _kernels.first_met(codes, known, first)
        ids = texts(first)
        if not isinstance(ids, Lines):
            self._gather()
            self._ids.append(ids)
            return codes
        if self._waiting and self._waiting[0].end != ids.end:
            self._gather()
        self._waiting.append(ids)
        self._held += len(ids.text)
        if self._held > _HELD:
            self._gather()
        return codes

    def ids(self) -> pl.Series:
        """Return the id of every code, in code order."""
        import polars as pl  # slow to import

        self._gather()
        return pl.concat(self._ids) if self._ids else pl.Series(dtype=pl.String)

    def take(self) -> pl.Series:
        """Return the ids of the codes since they were taken last, and forget these alone."""
        taken = self.ids()
        self._ids = []
        return taken

    def _gather(self) -> None:
        """Make one column of the lines that are waiting; all have the same end."""
        if self._waiting:
            text = b"".join(lines.text for lines in self._waiting)
            self._ids.append(Lines(text, self._waiting[0].end).texts())
            self._waiting, self._held = [], 0
