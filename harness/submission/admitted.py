"""Which users a file has, each admitted once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.core.arrays import Bool, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.submission import _scan
from harness.submission._scan import NO_ROW, STRANGER

_OTHER, _SAME = 1, 2
_FEW = 1 << 10


class Again(NamedTuple):
    """Lines of a block whose users were there before, with another list and with the same one."""

    other: Int64
    same: Int64


class Admitted:
    """Which users a file has.

    Attributes
    ----------
    known, torn : bool arrays, one a known user
        Who has a row, and who has a line that is none.
    rows : int
    """

    def __init__(self, n_known: int) -> None:
        self.known: Bool = np.zeros(n_known, np.bool_)
        self.torn: Bool = np.zeros(n_known, np.bool_)
        self.rows = 0
        self._lists = np.zeros(n_known, np.uint64)
        self._strangers = KeyTable()
        self._strange_lists = np.zeros(_FEW, np.uint64)

    @property
    def strangers(self) -> int:
        """How many users are not known."""
        return len(self._strangers)

    def admit(self, users: Int32, keys: UInt64, lists: UInt64) -> Again:
        """Take in the users of a block's lines, and keys of what else stands there."""
        self.rows += int(np.count_nonzero(users != NO_ROW))
        again = np.zeros(len(users), np.int8)
        _scan.admit(users, lists, self.known, self._lists, again)
        strange = np.flatnonzero(users == STRANGER)
        if len(strange) > 0:
            before = self.strangers
            codes = self._strangers.codes(np.ascontiguousarray(keys[strange]))
            self._room(self.strangers)
            new = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1] < codes
            self._strange_lists[codes[new]] = lists[strange[new]]
            same = self._strange_lists[codes] == lists[strange]
            again[strange] = np.where(new, 0, np.where(same, _SAME, _OTHER))
        return Again(np.flatnonzero(again == _OTHER), np.flatnonzero(again == _SAME))

    def _room(self, strangers: int) -> None:
        if strangers > len(self._strange_lists):
            more = np.zeros(2 * strangers, np.uint64)
            more[: len(self._strange_lists)] = self._strange_lists
            self._strange_lists = more
