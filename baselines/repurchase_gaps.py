"""RepurchaseGaps: what the user had, by the chance that it is due to be bought again."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from harness.dataset import Int32, Int64
from harness.lists import fill, first_of
from harness.parameters import require_above, require_whole
from harness.recommender import Draws, Train

Float64 = npt.NDArray[np.float64]


class RepurchaseGaps:
    """The user's own candidates by their chance to come back in the next days, then popular ones.

    From all pairs of user and item the gaps between one event and the next are learnt, in whole
    days, gaps still open at the cut-off included (Kaplan and Meier 1958): h(d) is the share of
    pairs without an event for d days that have one on that day. The chance that an item whose last
    event lies a days back returns within the horizon is 1 − Π (1 − h(d)) over a ≤ d < a + horizon.
    Items with equal chances stand in order of their last event, then of item id.

    Parameters
    ----------
    horizon_days : int
        How far ahead to look: the length of the exam.
    window_days : float
        The list is filled with the candidates of most events in the last so many days.

    Notes
    -----
    Events of a pair on one day (counted back from the cut-off) are one. Anderson, Kumar, Tomkins
    and Vassilvitskii (2014) describe how such gaps decide what is consumed again.
    """

    def __init__(self, horizon_days: int = 7, window_days: float = 7) -> None:
        self.horizon_days = horizon_days
        self.window_days = window_days

    def fit(self, train: Train) -> Self:
        """Learn the gaps, and order every user's items by them."""
        require_whole(1, horizon_days=self.horizon_days)
        require_above(0, window_days=self.window_days)
        self.order_ = train.candidates_by_count(train.last_days(self.window_days))
        pairs, ages = _days(train)
        self.chances_ = returning(pairs, ages, self.horizon_days)
        last = np.flatnonzero(np.append(pairs[1:] != pairs[:-1], np.ones(1, np.bool_)))
        user, item = np.divmod(pairs[last], len(train.item_ids))
        candidate, age = train.candidate_of_item[item], ages[last]
        own = candidate >= 0
        user, candidate, age = user[own], candidate[own], age[own]
        place = np.empty(len(self.chances_), np.int64)  # of each age: the best chance first
        place[np.lexsort((np.arange(len(place)), -self.chances_))] = np.arange(len(place))
        order = np.argsort(user * len(place) + place[age], kind="stable")
        self.own_ = candidate[order]
        counts = np.bincount(user, minlength=len(train.user_ids))
        self.starts_ = np.append(0, np.cumsum(counts))
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return each user's own items, the likeliest to return first, then the popular ones."""
        own = first_of(self.starts_, self.own_, users, k, exclude)
        return fill(own, self.order_, exclude)


def _days(train: Train) -> tuple[Int64, Int64]:
    """Return each (user, item) pair's days with an event: the pair, and days before the cut-off.

    Pairs rise, and within a pair the oldest day stands first. The last day before the cut-off is 1.
    """
    pairs = train.events.user.astype(np.int64) * len(train.item_ids) + train.events.item
    order = np.argsort(pairs, kind="stable")  # events of a user stand in order of time
    pairs, ages = pairs[order], np.ceil(train.age_days()).astype(np.int64)[order]
    new = np.ones(len(pairs), np.bool_)
    new[1:] = (pairs[1:] != pairs[:-1]) | (ages[1:] != ages[:-1])
    return pairs[new], ages[new]


def returning(pairs: Int64, ages: Int64, horizon: int) -> Float64:
    """Return the chance to come back within the horizon, by days since the last event.

    Parameters
    ----------
    pairs, ages : int64 arrays
        Days with an event: which pair's, and how many days before the cut-off; a pair's days
        stand together, the oldest first.

    Returns
    -------
    float64 array, (oldest age + 1,)

    Examples
    --------
    Pair 0 has events 4, 3 and 1 days back, pair 1 one event 2 days back. Three gaps were watched
    on their first day, 1 and 2 days long and an open one, and one of them closed; on the second
    day one was, and closed.

    >>> returning(np.array([0, 0, 0, 1]), np.array([4, 3, 1, 2]), 1).round(2).tolist()
    [0.0, 0.33, 1.0, 0.0, 0.0]
    """
    longest = int(ages.max())
    same = pairs[1:] == pairs[:-1]
    closed = np.bincount((ages[:-1] - ages[1:])[same], minlength=longest + 1)
    latest = np.append(~same, np.ones(1, np.bool_))
    # A gap of d days was watched on each of them; one that is open, on all days before the cut-off.
    lengths = closed + np.bincount(ages[latest] - 1, minlength=longest + 1)
    watched = np.cumsum(lengths[::-1])[::-1]
    stays = np.append(1 - closed / np.maximum(watched, 1), np.ones(horizon))
    ahead = np.lib.stride_tricks.sliding_window_view(stays, horizon)[: longest + 1]
    chance: Float64 = 1 - ahead.prod(axis=1)
    return chance
