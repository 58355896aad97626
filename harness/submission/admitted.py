"""Which users a file has: each admitted once, or with a row for each of their items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.core.arrays import Bool, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited._delimited import NO_ROW
from harness.submission import _kernels
from harness.submission._kernels import STRANGER

_LEAST, _MOST_FILLED = 1 << 12, 0.7


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
    size : int
        How many bytes the file has, if that can be told: room is made for as many users.

    Attributes
    ----------
    torn : bool array, one a known user
        Who has a line that is no row.
    rows : int
    """

    def __init__(self, n_known: int, size: int = 0) -> None:
        self.torn: Bool = np.zeros(n_known, np.bool_)
        self.rows = 0
        self._n_known, self._size = n_known, size
        self._strangers = KeyTable()
        # Of known users, then of strangers, with room for more of these.
        self._is_there: Bool = np.zeros(n_known, np.bool_)
        self._lists: UInt64 = np.zeros(n_known, np.uint64)

    @property
    def known(self) -> Bool:
        """Who of the known users has a row."""
        return self._is_there[: self._n_known]

    @property
    def strangers(self) -> int:
        """Users who are not known."""
        return len(self._strangers)

    def admit(self, users: Int32, keys: UInt64, lists: UInt64, size: int = 1) -> Again:
        """Take in the users of a block's lines, and keys of what else stands there.

        Parameters
        ----------
        size : int
            How many bytes the block has.
        """
        strange = users == STRANGER
        if self.strangers == 0 and strange.any():
            strangers = len(np.unique(keys[strange, 0])) * max(1.0, self._size / size)
            rows_of_table = max(_LEAST, 1 << int(strangers / _MOST_FILLED).bit_length())
            self._strangers = KeyTable(np.zeros((rows_of_table, 2), np.uint64))
            self._make_room(int(strangers))
        codes = self._codes(users, keys)
        if self._n_known + self.strangers > len(self._is_there):
            self._make_room(2 * self.strangers)
        again = np.zeros(len(codes), np.int8)
        _kernels.admit(codes, lists, self._is_there, self._lists, again)
        return Again(np.flatnonzero(again == 2), np.flatnonzero(again == 1))

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

    def _make_room(self, strangers: int) -> None:
        """Make room for so many strangers; what nobody writes to takes no memory."""
        is_there, lists = self._is_there, self._lists
        self._is_there = np.zeros(self._n_known + strangers, np.bool_)
        self._lists = np.zeros(self._n_known + strangers, np.uint64)
        self._is_there[: len(is_there)], self._lists[: len(lists)] = is_there, lists
