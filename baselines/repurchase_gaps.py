"""RepurchaseGaps: what the user had, by the chance that it is due to be bought again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Floats, Int32, Int64
from harness.core.params import ParameterError, require_above, require_whole
from harness.data import dataset
from harness.models.base import Draws, Train
from harness.models.topk import fill, first_of


@dataclass(eq=False)
class RepurchaseGaps:
    """The user's own candidates by their chance to come back in the next days, then popular ones.

    From all pairs of user and item the gaps between one event and the next are counted, in whole
    days, gaps still open at the cut-off included (Kaplan and Meier 1958): h(d) is the share of
    pairs without an event for d days that have one on that day. The chance that an item whose last
    event lies a days back returns within the horizon is 1 − Π (1 − h(d)) over a ≤ d < a + horizon.
    Items with equal chances stand in order of the day of their last event, then of item id.

    Parameters
    ----------
    horizon_days : int
        How far ahead to look: best the length of the evaluated window.
    window_days : float
        The list is filled with the candidates of most events in the last so many days.

    Notes
    -----
    Events of a pair on one day (counted back from the cut-off) are one. Anderson, Kumar, Tomkins
    and Vassilvitskii (2014) describe how such gaps decide what is consumed again.
    """

    horizon_days: int = 7
    window_days: float = 7

    def fit(self, train: Train) -> Self:
        """Learn the gaps, and order every user's items by them."""
        require_whole(1, horizon_days=self.horizon_days)
        require_above(0, window_days=self.window_days)
        self.order_ = train.candidates_by_count(train.last_days(self.window_days))
        closed, open_, self.starts_, self.own_, ages = _gaps(train)
        self.chances_ = returning(closed, open_, self.horizon_days)
        place = np.empty(len(self.chances_), np.int64)  # of each age: the best chance first
        place[np.lexsort((np.arange(len(place)), -self.chances_))] = np.arange(len(place))
        scratch = _scratch(self.starts_)
        own, self.own_ = self.own_, np.empty_like(self.own_)
        _kernels.order_by(place[ages], self.starts_, *scratch, own, self.own_)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return each user's own items, the likeliest to return first, then the popular ones."""
        own = first_of(self.starts_, self.own_, users, k, exclude)
        return fill(own, self.order_, exclude)


def _gaps(train: Train) -> tuple[Int64, Int64, Int64, Int32, Int32]:
    """Return how many gaps closed and are open, by days, and what everyone had when.

    Returns
    -------
    closed, open_ : int64 arrays
        By days from 0; an open gap counts for the days before the cut-off.
    starts : int64 array, (n users + 1,)
    own, ages : int32 arrays
        Each user's candidates in id order, and days since the last event; the last day is 1.
    """
    if train.cutoff is None:
        raise ParameterError("the events carry no time, so there are no gaps between them")
    events, n_users = train.events, len(train.user_ids)
    longest = -((int(events.time.min()) - train.cutoff) // dataset.DAY_US)
    closed, open_ = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    starts, own = np.zeros(n_users + 1, np.int64), np.empty(len(events), np.int32)
    ages = np.empty(len(events), np.int32)
    given = train.user_starts, events.item, events.time, train.cutoff, dataset.DAY_US
    scratch, found = _scratch(train.user_starts), (closed, open_, starts, own, ages)
    _kernels.count_gaps(*given, train.candidate_of_item, *scratch, *found)
    return closed, open_, starts, own[: starts[-1]], ages[: starts[-1]]


def _scratch(starts: Int64) -> tuple[Int64, Int64]:
    """Return the memory that the longest of some rows is sorted in."""
    most = int(np.diff(starts).max(initial=0))
    return np.empty(most, np.int64), np.empty(most, np.int64)


def returning(closed: Int64, open_: Int64, horizon: int) -> Floats:
    """Return the chance to come back within the horizon, by days since the last event.

    Parameters
    ----------
    closed, open_ : int64 arrays, (n,)
        How many gaps of each number of days closed, and how many are open after so many.

    Returns
    -------
    float64 array, (n,)

    Examples
    --------
    One item was bought 4, 3 and 1 days before the cut-off, another 2 days before it: gaps of one
    and two days closed, and two are open after no day and after one. So three were watched on
    their first day, and one of them closed; on the second day one was, and closed.

    >>> returning(np.array([0, 1, 1]), np.array([1, 1, 0]), 1).round(2).tolist()
    [0.0, 0.33, 1.0]
    """
    # A gap of d days was watched on each of them; one that is open, on all days before the cut-off.
    watched = np.cumsum((closed + open_)[::-1])[::-1]
    horizon = min(horizon, len(closed))  # no gap was longer
    stays = np.append(1 - closed / np.maximum(watched, 1), np.ones(horizon))
    ahead = np.lib.stride_tricks.sliding_window_view(stays, horizon)[: len(closed)]
    chance: Floats = 1 - ahead.prod(axis=1)
    return chance
