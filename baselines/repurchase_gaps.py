"""RepurchaseGaps: what the user had, by the chance that it is due to be bought again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Bool, Floats, Int32, Int64
from harness.core.exact_sum import Sums
from harness.core.params import ParameterError, require_above, require_whole
from harness.data import dataset
from harness.models.base import Draws, Train
from harness.models.sums import FromSums, Steps
from harness.models.topk import fill, first_of

_BLOCK = 1 << 16
"""Users whose events are sorted at a time."""


@dataclass(eq=False)
class RepurchaseGaps(FromSums):
    """The user's own items by their chance to return in the next days, then popular ones.

    From all pairs of user and item the gaps between one event and the next are counted, in whole
    days, gaps still open at the cut-off included (Kaplan and Meier 1958): h(d) is the share of
    pairs without an event for d days that have one on that day. The chance that an item whose last
    event lies a days back returns within the horizon is 1 − Π (1 − h(d)) over a ≤ d < a + horizon.
    Items with equal chances are in order of the day of their last event, then of item id.

    Parameters
    ----------
    horizon_days : int
        How far ahead to look: best the length of the evaluated window.
    window_days : float
        The rest of the list has the candidates with the most events in this many last days.

    Notes
    -----
    Events of a pair on one day (counted back from the cut-off) are one. Anderson, Kumar, Tomkins
    and Vassilvitskii (2014) describe how such gaps decide what is consumed again.
    """

    horizon_days: int = 7
    window_days: float = 7

    def fit_steps(self, train: Train) -> Steps:
        """Learn the gaps, and with them the order of the days since the last event."""
        require_whole(1, horizon_days=self.horizon_days)
        require_above(0, window_days=self.window_days)
        total: Any = yield self._sums
        self.order_ = train.candidates_by_sum(total["popular"])
        self.chances_ = returning(total["closed"], total["open"], self.horizon_days)
        self.places_ = np.empty(len(self.chances_), np.int64)  # the best chance first
        ordered = np.lexsort((np.arange(len(self.places_)), -self.chances_))
        self.places_[ordered] = np.arange(len(self.places_))

    def _sums(self, train: Train) -> Sums:
        """Return the last days' events, and how many gaps closed and are open, by days from 0."""
        # An open gap counts for the days before the cut-off.
        events, cutoff = train.events, _cutoff(train)
        longest = -((int(events.time.min(initial=cutoff)) - cutoff) // dataset.DAY_US)
        closed, open_ = np.zeros((2, longest + 1), np.int64)
        starts = train.user_starts
        for first in range(0, len(starts) - 1, _BLOCK):
            block = slice(starts[first], starts[min(first + _BLOCK, len(starts) - 1)])
            pairs = _Pairs.of(events.user[block], events.item[block], events.time[block], cutoff)
            gap = (pairs.age[:-1] - pairs.age[1:])[~pairs.last[:-1]]
            closed += np.bincount(gap[gap > 0], minlength=len(closed))
            open_ += np.bincount(pairs.age[pairs.last] - 1, minlength=len(open_))
        popular = train.exact_sums(train.last_days(self.window_days))
        return {"popular": popular, "closed": closed, "open": open_}

    def for_users(self, train: Train) -> Self:
        """Keep the users' own events, which are read when they are asked for."""
        self.train_ = train
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return each user's own items, the likeliest to return first, then the popular ones."""
        train = self.train_
        events = train.events.of_users(users, len(train.user_ids))
        pairs = _Pairs.of(events.user, events.item, events.time, _cutoff(train))
        candidate = train.candidate_of_item[pairs.item]
        listed = pairs.last & (candidate >= 0)
        user = pairs.user[listed]
        order = np.lexsort((self.places_[pairs.age[listed]], user))
        rows = np.arange(len(users), dtype=np.int32)
        starts = np.searchsorted(user, np.arange(len(users) + 1))
        lists = first_of(starts, candidate[listed][order], rows, k, exclude)
        return fill(lists, self.order_, exclude)


class _Pairs(NamedTuple):
    """Events by user and item, those of a pair in order of time.

    `age` is in days, 1 on the last day; `last` says which events are the last of their pair.
    """

    user: Int32
    item: Int32
    age: Int64
    last: Bool

    @classmethod
    def of(cls, user: Int32, item: Int32, time: Int64, cutoff: int) -> _Pairs:
        order = np.lexsort((item, user))
        user, item = user[order], item[order]
        last = np.ones(len(order), np.bool_)
        last[:-1] = (user[1:] != user[:-1]) | (item[1:] != item[:-1])
        return cls(user, item, -((time[order] - cutoff) // dataset.DAY_US), last)


def _cutoff(train: Train) -> int:
    if train.cutoff is None:
        raise ParameterError("the events carry no time, so there are no gaps between them")
    return train.cutoff


def returning(closed: Int64, open_: Int64, horizon: int) -> Floats:
    """Return the chance to come back within the horizon, by days since the last event, (n,).

    `closed` and `open_` say how many gaps of each number of days closed, and how many are open
    after so many.
    """
    # A gap of d days was watched on each of them; one that is open, on all days before the cut-off.
    watched = np.cumsum((closed + open_)[::-1])[::-1]
    horizon = min(horizon, len(closed))  # no gap was longer
    stays = np.append(1 - closed / np.maximum(watched, 1), np.ones(horizon))
    ahead = np.lib.stride_tricks.sliding_window_view(stays, horizon)[: len(closed)]
    chance: Floats = 1 - ahead.prod(axis=1)
    return chance
