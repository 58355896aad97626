"""The events of a week as arrays, and what users remember of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SLOTS = 4


@dataclass(frozen=True)
class Block:
    """Events of one week.

    Attributes
    ----------
    week : int
    day : int32 array of shape (n,)
        Days since the first day, ascending.
    user, item : int32 arrays of shape (n,)
    basket : int32 array of shape (n,)
        Ascending from 0; rows of a basket share user and day.
    """

    week: int
    day: Ints
    user: Ints
    item: Ints
    basket: Ints


class Memory:
    """The last few items of each user, in a ring.

    Parameters
    ----------
    users : int
    """

    def __init__(self, users: int) -> None:
        self._items = np.full((users, _SLOTS), -1, dtype=np.int32)
        self._next = np.zeros(users, dtype=np.int32)

    def recall(self, user: Ints, draw: Floats) -> Ints:
        """Pick one remembered item for each row, the latest most often; -1 for none."""
        back = 1 + (_SLOTS * draw * draw).astype(np.int32)
        item: Ints = self._items[user, (self._next[user] - back) % _SLOTS]
        return item

    def add(self, user: Ints, item: Ints) -> None:
        """Remember a week of events in their order."""
        order = np.argsort(user, kind="stable")
        who = user[order]
        first = np.flatnonzero(np.diff(who, prepend=-1))
        count = np.diff(first, append=who.size).astype(np.int32)
        turn = np.arange(who.size) - np.repeat(first, count)
        self._items[who, (self._next[who] + turn) % _SLOTS] = item[order]
        self._next[who[first]] += count
