"""The behaviour that all layouts share: from a size and a seed to weekly blocks of events.

Items have a taste group, a launch day and a Zipf-like appeal that comes and goes in waves and
fades after the launch. Users have a favourite group, a first week and an unequal activity; they
buy in baskets, and now and then come back to one of the last items they touched. Only those last
items are remembered, so memory grows with users and items but not with events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence

from harness.core.arrays import Bool, Floats, Int32
from harness.data.synthetic.rules import Rules

_JOINED_AT_START = 0.9
_SLOTS = 4
_NEARLY_NOTHING = 1e-9
_ALIVE = 0.02
_STOCK_WEEKS = 40
_HEAD = 5


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
    day: Int32
    user: Int32
    item: Int32
    basket: Int32


class Market:
    """A shop with its users and items.

    Parameters
    ----------
    rules : Rules
    users, items, events : int
    seed : int
    progress : callable, optional
        Called with the number of events that were just dealt with.

    Attributes
    ----------
    items : int
        Items in the log, listed or hidden.
    listed : int64 array
        Those in the item table, ascending.
    growth : float64 array of shape (weeks,)
        Share of events, launches and new users in each week.
    taste : int32 array of shape (users,)
        Favourite group.
    appeal : Appeal
        The items.
    """

    def __init__(
        self,
        rules: Rules,
        users: int,
        items: int,
        events: int,
        seed: int,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self.rules, self.seed, self._progress = rules, seed, progress
        self.users, self.events = users, events
        self.items = items + round(rules.hidden * items)
        self.listed = np.sort(self.stream("listed").permutation(self.items)[:items])
        rng = self.stream("users")
        self._opens = min(rules.opens, rules.baskets * users / events)
        self.growth = rules.share_by_week(events)
        self.taste = rules.groups(rng.random(users))
        self._reach = np.cumsum(np.exp(rules.activity * np.abs(rng.standard_normal(users))))
        self.appeal = Appeal(rules, self.items, self.growth, self.stream("items"))

    def stream(self, purpose: str, week: int = 0) -> Generator:
        """Make a generator that depends on seed, layout, purpose and week alone."""
        name = int.from_bytes(f"{self.rules.name}/{purpose}".encode(), "big")
        return np.random.default_rng(SeedSequence([self.seed, name, week]))

    def joined(self, week: int) -> int:
        """Count the users who may act in a week; they are numbered in order of joining."""
        grown = float(self.growth[: week + 1].sum())
        share = _JOINED_AT_START + (1 - _JOINED_AT_START) * grown
        return max(1, min(self.users, round(self.users * share)))

    def join_week(self) -> Int32:
        """First week of each user, an int32 array of shape (users,)."""
        ends = np.array([self.joined(week) for week in range(self.rules.weeks)])
        ends[-1] = self.users
        return np.searchsorted(ends, np.arange(self.users), side="right").astype(np.int32)

    def blocks(self) -> Iterator[Block]:
        """Yield the weeks in order, `events` rows in all; weeks without an event are left out."""
        edges = np.floor(np.cumsum(self.growth) * self.events).astype(np.int64)
        edges[-1] = self.events
        memory = Memory(self.users)
        for week, rows in enumerate(np.diff(edges, prepend=0)):
            self.appeal.move_to(week)
            if rows:
                block = self._block(week, int(rows), memory)
                memory.add(block.user, block.item)
                yield block
                if self._progress is not None:
                    self._progress(int(rows))

    def _block(self, week: int, rows: int, memory: Memory) -> Block:
        rng = self.stream("events", week)
        opens = rng.random(rows) < self._opens
        opens[0] = True
        basket = (np.cumsum(opens) - 1).astype(np.int32)
        buyer, day = self._baskets(week, int(basket[-1]) + 1, rng)
        user = buyer[basket]
        item = self._recalled(user, self._fresh(user, rng), memory, rng)
        return Block(week, day[basket], user, self._pieces(item, opens, rng), basket)

    def _baskets(self, week: int, count: int, rng: Generator) -> tuple[Int32, Int32]:
        total = self._reach[self.joined(week) - 1]
        user = np.searchsorted(self._reach, np.sort(rng.random(count)) * total, side="right")
        first, last = self.rules.days_of(week)
        day = first + (rng.random(count) * (last - first)).astype(np.int32)
        order = np.argsort(day, kind="stable")
        return np.minimum(user, self.users - 1)[order].astype(np.int32), day[order]

    def _fresh(self, user: Int32, rng: Generator) -> Int32:
        other = self.rules.groups(rng.random(user.size))
        group = np.where(rng.random(user.size) < self.rules.loyal, self.taste[user], other)
        return self.appeal.draw(group, rng.random(user.size))

    def _recalled(self, user: Int32, item: Int32, memory: Memory, rng: Generator) -> Int32:
        again = rng.random(user.size) < self.rules.again
        old = memory.recall(user, rng.random(user.size))
        return np.where(again & (old >= 0) & self.appeal.alive[old], old, item)

    def _pieces(self, item: Int32, opens: Bool, rng: Generator) -> Int32:
        new = opens | (rng.random(item.size) >= self.rules.pieces)
        return item[np.maximum.accumulate(np.where(new, np.arange(item.size), 0))]


class Memory:
    """The last few items of each user, in a ring.

    Parameters
    ----------
    users : int
    """

    def __init__(self, users: int) -> None:
        self._items = np.full((users, _SLOTS), -1, dtype=np.int32)
        self._next = np.zeros(users, dtype=np.int32)

    def recall(self, user: Int32, draw: Floats) -> Int32:
        """Pick one remembered item for each row, the latest most often; -1 for none."""
        back = 1 + (_SLOTS * draw * draw).astype(np.int32)
        item: Int32 = self._items[user, (self._next[user] - back) % _SLOTS]
        return item

    def add(self, user: Int32, item: Int32) -> None:
        """Remember a week of events in their order."""
        order = np.argsort(user, kind="stable")
        who = user[order]
        first = np.flatnonzero(np.diff(who, prepend=-1))
        count = np.diff(first, append=who.size).astype(np.int32)
        turn = np.arange(who.size) - np.repeat(first, count)
        self._items[who, (self._next[who] + turn) % _SLOTS] = item[order]
        self._next[who[first]] += count


class Appeal:
    """Item weights of one week after the other.

    Parameters
    ----------
    rules : Rules
    items : int
    growth : float64 array of shape (weeks,)
        Share of the launches in each week.
    rng : Generator

    Attributes
    ----------
    group : int32 array of shape (items,)
        Taste group.
    launch : float64 array of shape (items,)
        Days since the first day, ascending; negative for old stock.
    alive : bool array of shape (items,)
        Whether anybody would still come back to the item.
    """

    def __init__(self, rules: Rules, items: int, growth: Floats, rng: Generator) -> None:
        self._rules = rules
        self.group = rules.groups(rng.random(items))
        self.launch = _launches(rules, items, growth, rng)
        self._log_base = -rules.zipf * np.log(rng.permutation(items) + _HEAD)
        self._fade = rules.fade * np.exp(rules.spread * rng.standard_normal(items))
        self._period = rules.period * (0.8 + 0.4 * rng.random(items))
        self._phase = rng.random(items)
        self.alive = np.zeros(items, dtype=np.bool_)
        self._order = np.argsort(self.group, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(self.group[self._order], np.arange(len(rules.shares) + 1))

    def move_to(self, week: int) -> None:
        """Weigh the items for a week."""
        life = self._life(week)
        self.alive = life > _ALIVE
        wave = self._rules.wave * np.sin(2 * np.pi * (week / self._period + self._phase))
        weight = np.exp(self._log_base + wave) * life + _NEARLY_NOTHING
        self._sums = np.concatenate([[0.0], np.cumsum(weight[self._order])])

    def draw(self, group: Int32, draw: Floats) -> Int32:
        """Items by weight within taste groups.

        Parameters
        ----------
        group : int32 array of shape (n,)
        draw : float64 array of shape (n,)
            Uniform in [0, 1).

        Returns
        -------
        int32 array of shape (n,)
            A group without items draws from all.
        """
        low, high = self._starts[group], self._starts[group + 1]
        empty = low == high
        low, high = np.where(empty, 0, low), np.where(empty, self.launch.size, high)
        goal = self._sums[low] + draw * (self._sums[high] - self._sums[low])
        place = np.searchsorted(self._sums, goal, side="right") - 1
        item: Int32 = self._order[np.clip(place, low, high - 1)]
        return item

    def _life(self, week: int) -> Floats:
        """Factor for age: nothing, preview, then fading from 1."""
        first, _ = self._rules.days_of(week)
        age = np.ceil((first - self.launch) / 7)
        old = np.exp(-np.maximum(age, 0) / self._fade)
        early = np.where(age >= -self._rules.ahead, self._rules.preview, 0.0)
        return np.where(age < 0, early, old)


def _launches(rules: Rules, items: int, growth: Floats, rng: Generator) -> Floats:
    """Launch days, ascending: old stock first, then as the market grows."""
    draw = np.sort(rng.random(items))
    ends = [0] + [rules.days_of(week)[1] for week in range(rules.weeks)]
    stock = 7 * _STOCK_WEEKS * (draw / rules.stock - 1)
    later = np.interp((draw - rules.stock) / (1 - rules.stock), np.cumsum([0.0, *growth]), ends)
    return np.where(draw < rules.stock, stock, later)
