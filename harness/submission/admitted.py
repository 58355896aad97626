"""Users met so far, in the order of the file: who is there, who twice, and with which list."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.arrays import Bool, Int32, Int64, UInt64
from harness.compiled import compiled
from harness.submission.key_table import KeyTable
from harness.submission.lines import NO_ROW
from harness.submission.users import STRANGER

_OTHER, _SAME = 1, 2
_FEW = 1 << 10


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

    def admit(self, users: Int32, keys: UInt64, lists: UInt64) -> tuple[Int64, Int64]:
        """Take in the users of a block's lines, and keys of what else stands there.

        Returns
        -------
        twice, same : int64 arrays
            Lines of users who were there before, with another list and with the same one.
        """
        self.rows += int(np.count_nonzero(users != NO_ROW))
        again = np.zeros(len(users), np.int8)
        _admit(users, lists, self.known, self._lists, again)
        strange = np.flatnonzero(users == STRANGER)
        if len(strange) > 0:
            before = self.strangers
            codes = self._strangers.codes(np.ascontiguousarray(keys[strange]))
            self._room(self.strangers)
            new = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1] < codes
            self._strange_lists[codes[new]] = lists[strange[new]]
            same = self._strange_lists[codes] == lists[strange]
            again[strange] = np.where(new, 0, np.where(same, _SAME, _OTHER))
        return np.flatnonzero(again == _OTHER), np.flatnonzero(again == _SAME)

    def _room(self, strangers: int) -> None:
        if strangers > len(self._strange_lists):
            more = np.zeros(2 * strangers, np.uint64)
            more[: len(self._strange_lists)] = self._strange_lists
            self._strange_lists = more


@compiled
def _admit(users: Any, lists: Any, known: Any, first: Any, again: Any) -> None:
    for line in range(len(users)):
        user = users[line]
        if user >= 0:
            if known[user]:
                again[line] = _SAME if first[user] == lists[line] else _OTHER
            else:
                known[user], first[user] = True, lists[line]
