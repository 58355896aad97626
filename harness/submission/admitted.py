"""Which users a file has: each admitted once, or with a row for each of their items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.core.arrays import Bool, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited._lines import NO_ROW
from harness.submission._kernels import STRANGER


class Again(NamedTuple):
    """Lines of a block whose users were there before, with another list and with the same one."""

    other: Int64
    same: Int64


class Admitted:
    """Which users a file has.

    Parameters
    ----------
    n_known : int
        How many users are known.

    Attributes
    ----------
    torn : bool array, one a known user
        Who has a line that is no row.
    rows : int
    """

    def __init__(self, n_known: int) -> None:
        self.torn: Bool = np.zeros(n_known, np.bool_)
        self.rows = 0
        self._n_known = n_known
        self._strangers = KeyTable()
        # Of known users, then of strangers, with room for more of these.
        self._is_there: Bool = np.zeros(n_known, np.bool_)
        self._lists: UInt64 = np.zeros(n_known, np.uint64)
        self._line: Int64 = np.zeros(n_known, np.int64)

    @property
    def known(self) -> Bool:
        """Who of the known users has a row."""
        return self._is_there[: self._n_known]

    @property
    def strangers(self) -> int:
        """Users who are not known."""
        return len(self._strangers)

    def admit(self, users: Int32, keys: UInt64, lists: UInt64) -> Again:
        """Take in the users of a block's lines, and keys of what else stands there."""
        rows = np.flatnonzero(users >= STRANGER)
        codes, lists = self._codes(users, keys)[rows], lists[rows]
        self._make_room()
        order = np.arange(len(codes))
        self._line[codes[::-1]] = order[::-1]  # the first of each user: the last assignment holds
        again = self._is_there[codes] | (self._line[codes] < order)
        new = codes[~again]
        self._is_there[new], self._lists[new] = True, lists[~again]
        same = lists[again] == self._lists[codes[again]]
        return Again(rows[again][~same], rows[again][same])

    def codes(self, users: Int32, keys: UInt64) -> Int32:
        """Take in rows of which a user may have many; return codes, others' behind the known."""
        self._is_there[users[users >= 0]] = True
        return self._codes(users, keys)

    def _codes(self, users: Int32, keys: UInt64) -> Int32:
        self.rows += int(np.count_nonzero(users != NO_ROW))
        strange = users == STRANGER
        codes = users.copy()
        codes[strange] = self._n_known + self._strangers.codes(keys[strange])
        return codes

    def _make_room(self) -> None:
        """Make room for as many strangers as there are, and for as many again."""
        more = self._n_known + self.strangers - len(self._is_there)
        if more > 0:
            room = more + self.strangers
            self._is_there = np.concatenate((self._is_there, np.zeros(room, np.bool_)))
            self._lists = np.concatenate((self._lists, np.zeros(room, np.uint64)))
            self._line = np.concatenate((self._line, np.zeros(room, np.int64)))
