"""Which users a file has: each admitted once, or with a row for each of their items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Bool, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited._delimited import NO_ROW
from harness.submission import _scan
from harness.submission._scan import STRANGER

_OTHER, _SAME = 1, 2
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
    known, torn : bool arrays, one a known user
        Who has a row, and who has a line that is none.
    rows, strangers : int
        Rows, and users who are not known.
    """

    def __init__(self, n_known: int, size: int = 0) -> None:
        self._size = size
        self.known: Bool = np.zeros(n_known, np.bool_)
        self.torn: Bool = np.zeros(n_known, np.bool_)
        self.rows = 0
        self.strangers = 0
        self._several = KeyTable()
        self._lists = np.zeros(n_known, np.uint64)
        self._table = np.zeros((_LEAST, 2), np.uint64)
        self._others = np.empty(int(_MOST_FILLED * _LEAST), np.uint64)

    def admit(self, users: Int32, keys: UInt64, lists: UInt64, size: int) -> Again:
        """Take in the users of a block's lines, and keys of what else stands there.

        Parameters
        ----------
        size : int
            How many bytes the block has.
        """
        share = size / max(self._size, size)
        self.rows += int(np.count_nonzero(users != NO_ROW))
        again, line = np.zeros(len(users), np.int8), 0
        given = users, keys, lists
        while line < len(users):
            known = self.known, self._lists
            others = self._table, self._others, self.strangers
            line, self.strangers = _scan.admit(*given, line, *known, *others, again)
            if line < len(users):
                self._grow(self.strangers + int(np.count_nonzero(users == STRANGER) / share))
        return Again(np.flatnonzero(again == _OTHER), np.flatnonzero(again == _SAME))

    def codes(self, users: Int32, keys: UInt64) -> Int32:
        """Take in rows of which a user may have many; return codes, others' behind the known."""
        self.rows += int(np.count_nonzero(users != NO_ROW))
        self.known[users[users >= 0]] = True
        strange = users == STRANGER
        codes = users.copy()
        codes[strange] = len(self.known) + self._several.codes(keys[strange])
        self.strangers = len(self._several)
        return codes

    def _grow(self, users: int) -> None:
        """Make room for more users who are not known, for at least so many."""
        size = 2 * len(self._table)
        while _MOST_FILLED * size < users:
            size *= 2
        table = np.zeros((size, 2), np.uint64)
        _kernels.move(self._table, table)
        others = np.empty(int(_MOST_FILLED * len(table)), np.uint64)
        others[: self.strangers] = self._others[: self.strangers]
        self._table, self._others = table, others
