"""Lists as rows of a user, an item and a number, all in codes, and as a matrix of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.core.arrays import Bool, Counts, Floats, Int32, Int64

_PART = 1 << 18
"""Rows that are put in their places at a time."""


class Triples(NamedTuple):
    """Rows with an item each, as every reader of lists gives them.

    `number` orders the rows of a user, the lowest first; it is empty where they stand in order.
    """

    user: Int32
    item: Int32
    number: Floats
    line: Int64

    @classmethod
    def joined(cls, parts: Sequence[Triples]) -> Triples:
        """Return the rows of all parts, as they stand."""
        return cls(
            user=np.concatenate([np.zeros(0, np.int32), *(part.user for part in parts)]),
            item=np.concatenate([np.zeros(0, np.int32), *(part.item for part in parts)]),
            number=np.concatenate([np.zeros(0), *(part.number for part in parts)]),
            line=np.concatenate([np.zeros(0, np.int64), *(part.line for part in parts)]),
        )

    @property
    def first(self) -> Bool:
        """Which rows begin a user's, where these stand together."""
        return np.append(True, self.user[1:] != self.user[:-1])[: len(self.user)]

    @property
    def apart(self) -> Int64:
        """Rows that stand apart from earlier ones of their user."""
        begins = np.flatnonzero(self.first)
        if len(begins) == np.count_nonzero(np.bincount(self.user)):
            return np.zeros(0, np.int64)
        return np.delete(begins, np.unique(self.user[begins], return_index=True)[1])

    @property
    def in_order(self) -> bool:
        """Whether the rows of each user stand together, in the order of their numbers."""
        again = ~self.first[1:]
        falls = self.number[1:] < self.number[:-1] if len(self.number) > 0 else np.False_
        return len(self.apart) == 0 and not np.any(again & falls)

    def ordered(self, *ties: Counts) -> Triples:
        """Return the rows by user and number, then by `ties`, then as they stand."""
        if not ties and self.in_order:
            return self
        numbers = [self.number] if len(self.number) > 0 else []
        order = np.lexsort([*reversed(ties), *numbers, self.user])
        number = self.number[order] if numbers else self.number
        return Triples(self.user[order], self.item[order], number, self.line[order])

    @property
    def place(self) -> Int64:
        """The place of each row among its user's, from 1, where these stand together."""
        return counted(np.diff(np.flatnonzero(np.append(self.first, True))))


def counted(sizes: Int64) -> Int64:
    """Return 1, 2, 3 … for every run of these sizes."""
    before = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.arange(1, len(before) + 1) - before


def lists_of(user: Int32, item: Int32, rank: Counts | Floats, n: int, width: int) -> Int32:
    """Return the items of the first `n` users at their ranks, from 1, to `width`; −1 = empty."""
    lists = np.full((n, width), -1, np.int32)
    for start in range(0, len(user), _PART):
        users, ranks = user[start : start + _PART], rank[start : start + _PART]
        seen = (users >= 0) & (users < n) & (ranks <= width)
        place = users[seen].astype(np.int64) * width + ranks[seen].astype(np.int64) - 1
        lists.reshape(-1)[place] = item[start : start + _PART][seen]
    return lists
