"""Keys to codes 0, 1, 2 … in the order they are first met."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.arrays import Int32, UInt64
from harness.compiled import compiled
from harness.submission.words import give_slot, look_up

_LEAST = 1 << 12
_SLOTS_A_KEY = 2


class KeyTable:
    """A hash table that grows.

    Attributes
    ----------
    slots : int32 array
        Code + 1 where a key belongs, 0 = free; twice as many as there is room for keys, or more.
    """

    def __init__(self, room: int = 0) -> None:
        size = 1 << max(_LEAST, _SLOTS_A_KEY * room).bit_length()
        self.slots: Int32 = np.zeros(size, np.int32)
        self._keys: UInt64 = np.empty((size // _SLOTS_A_KEY, 2), np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def keys(self) -> UInt64:
        """The keys in the order of their codes, (n, 2)."""
        return self._keys[: self._count]

    def codes(self, keys: UInt64) -> Int32:
        """Return the code of each key, (n, 2); a new one gets the next."""
        codes = np.empty(len(keys), np.int32)
        start = 0
        while start < len(keys):
            start, self._count = _codes(keys, start, self.slots, self._keys, self._count, codes)
            if start < len(keys):
                self._grow()
        return codes

    def _grow(self) -> None:
        """Make room for four times the keys; each keeps its code."""
        keys = np.empty((4 * len(self._keys), 2), np.uint64)
        keys[: self._count] = self.keys
        self.slots, self._keys = np.zeros(4 * len(self.slots), np.int32), keys
        _place(keys, self._count, self.slots)


@compiled
def _codes(
    given: Any, start: int, slots: Any, keys: Any, count: int, codes: Any
) -> tuple[int, int]:
    """Go on from `start`; stop where there is no more room. Return (entry, count)."""
    for at in range(start, len(given)):
        code = look_up(given[at, 0], given[at, 1], slots, keys)
        if code < 0:
            if count == len(keys):
                return at, count
            code = count
            keys[code, 0], keys[code, 1] = given[at, 0], given[at, 1]
            give_slot(keys, code, slots)
            count += 1
        codes[at] = code
    return len(given), count


@compiled
def _place(keys: Any, count: int, slots: Any) -> None:
    for code in range(count):
        give_slot(keys, code, slots)
