"""Users met so far, in the order of the file: who is there, and who stands there twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.arrays import Bool, Int32, Int64, UInt64
from harness.compiled import compiled
from harness.submission.key_table import KeyTable
from harness.submission.lines import NO_ROW
from harness.submission.users import STRANGER


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
        self._strangers = KeyTable()

    @property
    def strangers(self) -> int:
        """How many users are not known."""
        return len(self._strangers)

    def admit(self, users: Int32, keys: UInt64) -> Int64:
        """Take in the users of a block's lines; return the lines of those who were there before."""
        self.rows += int(np.count_nonzero(users != NO_ROW))
        twice = np.zeros(len(users), np.bool_)
        _admit(users, self.known, twice)
        strange = np.flatnonzero(users == STRANGER)
        if len(strange) > 0:
            before = self.strangers
            codes = self._strangers.codes(np.ascontiguousarray(keys[strange]))
            new = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1] < codes
            twice[strange[~new]] = True
        return np.flatnonzero(twice)


@compiled
def _admit(users: Any, known: Any, twice: Any) -> None:
    for line in range(len(users)):
        if users[line] >= 0:
            twice[line] = known[users[line]]
            known[users[line]] = True
