"""Keys to codes 0, 1, 2 … in the order they are first met."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.arrays import Int32, UInt64
from harness.compiled import compiled
from harness.submission.words import give_slot, look_up

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
