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
import polars as pl
from numpy.random import Generator, SeedSequence

from harness.core.arrays import Bool, Floats, Int32

_JOINED_AT_START = 0.9
_STEEPEST = 0.25
_EVEN = 0.05
_SLOTS = 4
_NEARLY_NOTHING = 1e-9
_ALIVE = 0.02
_STOCK_WEEKS = 40
_HEAD = 5


@dataclass(frozen=True)
class Rules:
    """The parameters that make one market differ from another."""

    name: str
    days: int  # length of the log; weeks are counted back from its end
    shares: tuple[float, ...]  # share of each taste group among users and items
    hidden: float  # items in the log but not in the item table, for each item in it
    crowd: int  # events wanted in the last week; a log too small for that grows from week to week
    opens: float  # chance that a row opens a new basket
    baskets: float  # baskets of an average user at most; a longer log has larger ones
    pieces: float  # chance that a row repeats the item before it in the same basket
    again: float  # chance that a row returns to a remembered item
    loyal: float  # chance that a new item comes from the user's favourite group
    activity: float  # spread of the logarithm of the users' activity above the least active
    zipf: float  # exponent of the items' appeal by rank
    stock: float  # share of the items launched before the first day
    ahead: int  # weeks before the launch in which an item is seen already
    preview: float  # its appeal in these weeks
    fade: float  # weeks in which the appeal of the median item falls to 1/e
    spread: float  # spread of the logarithm of `fade`
    wave: float  # height of the swings of log appeal, so that last week says more than last quarter
    period: float  # their length in weeks; each item has a phase of its own

    @property
    def weeks(self) -> int:
        """Number of weeks; the first may be a part of one."""
        return -(-self.days // 7)

    def days_of(self, week: int) -> tuple[int, int]:
        """First day of a week, 0 being the oldest, and the day after its last."""
        end = self.days - 7 * (self.weeks - 1 - week)
        return max(0, end - 7), end

    def share_by_week(self, events: int) -> Floats:
        """Share of a log of `events` that falls in each week, of shape (weeks,), sum 1."""
        growth = min(max(self.crowd / events - 1 / self.weeks, 0.0), _STEEPEST)
        length = np.diff([self.days_of(week) for week in range(self.weeks)])[:, 0]
        rising = length * (1 - growth) ** np.arange(self.weeks)[::-1]
        share = (1 - _EVEN) * rising / rising.sum() + _EVEN * length / length.sum()
        return np.asarray(share, dtype=np.float64)

    def groups(self, draw: Floats) -> Int32:
        """Taste groups for uniform draws, int32 of the same shape."""
        edges = np.cumsum(self.shares) / np.sum(self.shares)
        return np.searchsorted(edges[:-1], draw, side="right").astype(np.int32)


class Market:
    """A shop with its users and its `items`, listed or hidden; `listed` are in the item table."""

    def __init__(
        self,
        rules: Rules,
        users: int,
        items: int,
        events: int,
        seed: int,
        progress: Callable[[int], object],
    ) -> None:
        self.rules, self.seed, self._progress = rules, seed, progress
        self.users, self.events = users, events
        self.items = items + round(rules.hidden * items)
        self.listed = np.sort(self.stream("listed").permutation(self.items)[:items])
        rng = self.stream("users")
        self._opens = min(rules.opens, rules.baskets * users / events)
        self._growth = rules.share_by_week(events)
        self._taste = rules.groups(rng.random(users))
        self._reach = np.cumsum(np.exp(rules.activity * np.abs(rng.standard_normal(users))))
        self.appeal = Appeal(rules, self.items, self._growth, self.stream("items"))
        # A ring of the last few items of each user, and where the next one goes.
        self._remembered = np.full((users, _SLOTS), -1, dtype=np.int32)
        self._next = np.zeros(users, dtype=np.int32)

    def stream(self, purpose: str, week: int = 0) -> Generator:
        """Make a generator that depends on seed, layout, purpose and week alone."""
        name = int.from_bytes(f"{self.rules.name}/{purpose}".encode(), "big")
        return np.random.default_rng(SeedSequence([self.seed, name, week]))

    def _joined(self, week: int) -> int:
        """Count the users who may act in a week; they are numbered in order of joining."""
        grown = float(self._growth[: week + 1].sum())
        share = _JOINED_AT_START + (1 - _JOINED_AT_START) * grown
        return max(1, min(self.users, round(self.users * share)))

    def join_week(self) -> Int32:
        """First week of each user, an int32 array of shape (users,)."""
        ends = [*map(self._joined, range(self.rules.weeks - 1)), self.users]
        return np.searchsorted(ends, np.arange(self.users), side="right").astype(np.int32)

    def blocks(
        self, users: pl.DataFrame, items: pl.DataFrame
    ) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield weeks and their events in order, `events` rows in all; empty weeks are left out.

        A row has the columns of its user and of its item, _day since the first (ascending) and
        _basket (ascending from 0; rows of a basket share user and day).
        """
        edges = np.floor(np.cumsum(self._growth) * self.events).astype(np.int64)
        edges[-1] = self.events
        for week, rows in enumerate(np.diff(edges, prepend=0).tolist()):
            self.appeal.move_to(week)
            if rows:
                yield week, self._block(week, rows, users, items)
                self._progress(rows)

    def _block(
        self, week: int, rows: int, users: pl.DataFrame, items: pl.DataFrame
    ) -> pl.DataFrame:
        rng = self.stream("events", week)
        opens = rng.random(rows) < self._opens
        opens[0] = True
        basket = (np.cumsum(opens) - 1).astype(np.int32)
        buyer, day = self._baskets(week, int(basket[-1]) + 1, rng)
        user = buyer[basket]
        item = self._items(user, rng)
        new = opens | (rng.random(rows) >= self.rules.pieces)
        item = item[np.maximum.accumulate(np.where(new, np.arange(rows), 0))]
        self._remember(user, item)
        block = pl.DataFrame({"_day": day[basket], "_basket": basket})
        return block.hstack(users[user]).hstack(items[item])

    def _baskets(self, week: int, count: int, rng: Generator) -> tuple[Int32, Int32]:
        """Draw the user and the day of each basket, by day."""
        total = self._reach[self._joined(week) - 1]
        user = np.searchsorted(self._reach, np.sort(rng.random(count)) * total, side="right")
        first, last = self.rules.days_of(week)
        day = first + (rng.random(count) * (last - first)).astype(np.int32)
        order = np.argsort(day, kind="stable")
        return np.minimum(user, self.users - 1)[order].astype(np.int32), day[order]

    def _items(self, user: Int32, rng: Generator) -> Int32:
        """Draw new items by taste, and now and then a remembered one, the latest most often."""
        other = self.rules.groups(rng.random(user.size))
        group = np.where(rng.random(user.size) < self.rules.loyal, self._taste[user], other)
        item = self.appeal.draw(group, rng.random(user.size))
        again = rng.random(user.size) < self.rules.again
        back = 1 + (_SLOTS * rng.random(user.size) ** 2).astype(np.int32)
        old = self._remembered[user, (self._next[user] - back) % _SLOTS]
        return np.where(again & (old >= 0) & self.appeal.alive[old], old, item)

    def _remember(self, user: Int32, item: Int32) -> None:
        """Remember a week of events in their order."""
        order = np.argsort(user, kind="stable")
        user = user[order]
        first = np.flatnonzero(np.diff(user, prepend=-1))
        count = np.diff(first, append=user.size).astype(np.int32)
        turn = np.arange(user.size) - np.repeat(first, count)
        self._remembered[user, (self._next[user] + turn) % _SLOTS] = item[order]
        self._next[user[first]] += count


class Appeal:
    """Item weights of one week after the other."""

    def __init__(self, rules: Rules, items: int, growth: Floats, rng: Generator) -> None:
        self._rules = rules
        self.group = rules.groups(rng.random(items))
        # Days since the first day, ascending: old stock (negative) first, then as the market grows.
        draw = np.sort(rng.random(items))
        ends = [0] + [rules.days_of(week)[1] for week in range(rules.weeks)]
        stock = 7 * _STOCK_WEEKS * (draw / rules.stock - 1)
        new = (draw - rules.stock) / (1 - rules.stock)
        later = np.interp(new, np.cumsum([0.0, *growth]), ends)
        self.launch = np.where(draw < rules.stock, stock, later)
        self._log_base = -rules.zipf * np.log(rng.permutation(items) + _HEAD)
        self._fade = rules.fade * np.exp(rules.spread * rng.standard_normal(items))
        self._period = rules.period * (0.8 + 0.4 * rng.random(items))
        self._phase = rng.random(items)
        # Whether anybody would still come back to the item.
        self.alive: Bool = np.zeros(items, dtype=np.bool_)
        self._order = np.argsort(self.group, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(self.group[self._order], np.arange(len(rules.shares) + 1))

    def move_to(self, week: int) -> None:
        """Weigh the items for a week: they have a preview, then fade with age."""
        age = np.ceil((self._rules.days_of(week)[0] - self.launch) / 7)
        early = np.where(age >= -self._rules.ahead, self._rules.preview, 0.0)
        life = np.where(age < 0, early, np.exp(-np.maximum(age, 0) / self._fade))
        self.alive = life > _ALIVE
        wave = self._rules.wave * np.sin(2 * np.pi * (week / self._period + self._phase))
        weight = np.exp(self._log_base + wave) * life + _NEARLY_NOTHING
        self._sums = np.concatenate([[0.0], np.cumsum(weight[self._order])])

    def draw(self, group: Int32, draw: Floats) -> Int32:
        """Draw an item by weight from each taste group; a group without items draws from all."""
        low, high = self._starts[group], self._starts[group + 1]
        empty = low == high
        low, high = np.where(empty, 0, low), np.where(empty, self.launch.size, high)
        goal = self._sums[low] + draw * (self._sums[high] - self._sums[low])
        place = np.searchsorted(self._sums, goal, side="right") - 1
        item: Int32 = self._order[np.clip(place, low, high - 1)]
        return item
