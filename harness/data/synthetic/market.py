"""The behaviour that all layouts share: from a size and a seed to weekly blocks of events.

Items have a taste group, a launch day and a Zipf-like appeal that comes and goes in waves and
fades after the launch. Users have a favourite group, a first week and an unequal activity; they
buy in baskets, and now and then come back to one of the last items they touched. Only those last
items are remembered, so memory grows with users and items but not with events.
"""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator, SeedSequence

from harness.data.synthetic.appeal import Appeal
from harness.data.synthetic.block import Block, Bools, Ints, Memory
from harness.data.synthetic.rules import Rules

_JOINED_AT_START = 0.9


class Market:
    """A shop with its users and items.

    Parameters
    ----------
    rules : Rules
    users, items, events : int
    seed : int

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

    def __init__(self, rules: Rules, users: int, items: int, events: int, seed: int) -> None:
        self.rules, self.seed = rules, seed
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

    def join_week(self) -> Ints:
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

    def _block(self, week: int, rows: int, memory: Memory) -> Block:
        rng = self.stream("events", week)
        opens = rng.random(rows) < self._opens
        opens[0] = True
        basket = (np.cumsum(opens) - 1).astype(np.int32)
        buyer, day = self._baskets(week, int(basket[-1]) + 1, rng)
        user = buyer[basket]
        item = self._recalled(user, self._fresh(user, rng), memory, rng)
        return Block(week, day[basket], user, self._pieces(item, opens, rng), basket)

    def _baskets(self, week: int, count: int, rng: Generator) -> tuple[Ints, Ints]:
        total = self._reach[self.joined(week) - 1]
        user = np.searchsorted(self._reach, np.sort(rng.random(count)) * total, side="right")
        first, last = self.rules.days_of(week)
        day = first + (rng.random(count) * (last - first)).astype(np.int32)
        order = np.argsort(day, kind="stable")
        return np.minimum(user, self.users - 1)[order].astype(np.int32), day[order]

    def _fresh(self, user: Ints, rng: Generator) -> Ints:
        other = self.rules.groups(rng.random(user.size))
        group = np.where(rng.random(user.size) < self.rules.loyal, self.taste[user], other)
        return self.appeal.draw(group, rng.random(user.size))

    def _recalled(self, user: Ints, item: Ints, memory: Memory, rng: Generator) -> Ints:
        again = rng.random(user.size) < self.rules.again
        old = memory.recall(user, rng.random(user.size))
        return np.where(again & (old >= 0) & self.appeal.alive[old], old, item)

    def _pieces(self, item: Ints, opens: Bools, rng: Generator) -> Ints:
        new = opens | (rng.random(item.size) >= self.rules.pieces)
        return item[np.maximum.accumulate(np.where(new, np.arange(item.size), 0))]
