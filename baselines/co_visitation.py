"""CoVisitation: what others took with, or soon after, what is in the user's last basket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Floats
from harness.core.params import require_above, require_whole
from harness.data import dataset
from harness.data.dataset import Events
from harness.data.interactions import pair_matrix
from harness.models.base import Train
from harness.models.bases import ItemVotes
from harness.models.products import as_matrix, in_threads, scratch

_BLOCK = 256


@dataclass(eq=False)
class CoVisitation(ItemVotes):
    """Σ over the items i of the last basket of the weight of i → j, divided by i's own weight.

    A pair i → j counts whenever a user has j with i or within some days after it: directional, as
    what is bought after a camera is not what is bought before. It counts 2^(−gap / half-life), and
    less the longer ago it was: the co-visitation matrix of OTTO's best entries (Kaggle, 2023;
    Linden, Smith and York 2003 for its undirected kin). Users without events get no list, nor do
    those whose basket was followed by nothing.

    Parameters
    ----------
    within_days : float
        How long after i its pairs are looked for.
    gap_half_life_days : float
        In which a pair's weight halves as the days between i and j grow.
    half_life_days : float, optional
        In which a pair's weight halves as it grows old; None: it does not.
    window_days : float, optional
        Only events of the last so many days make pairs; all by default.
    basket_days : float
        The last basket is what the user had less than so many days before the last event.
    neighbours : int
        How many j each i keeps, the heaviest ones.
    """

    within_days: float = 7
    gap_half_life_days: float = 7
    half_life_days: float | None = 30
    window_days: float | None = None
    basket_days: float = 1
    neighbours: int = 100

    def fit(self, train: Train) -> Self:
        """Weigh all pairs, and note everyone's last basket."""
        require_whole(1, neighbours=self.neighbours)
        require_above(
            0,
            within_days=self.within_days,
            gap_half_life_days=self.gap_half_life_days,
            basket_days=self.basket_days,
        )
        counted, weight = train.event_weights(self.window_days, self.half_life_days)
        events = train.events
        value = np.ones(len(events)) if weight is None else weight
        if counted is not None:
            events, value = events.where(counted), value[counted]
        self.votes_ = self._after(train, events, value)
        self.users_ = _baskets(train, self.basket_days)
        return self

    def _after(self, train: Train, events: Events, value: Floats) -> csr_array[Any]:
        """Return the heaviest pairs of each item, (items, candidates)."""
        n_items, width = len(train.item_ids), len(train.candidates)
        order = np.argsort(events.item, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(events.item, minlength=n_items)))
        columns = np.full((n_items, min(self.neighbours, width)), -1, np.int32)
        values = np.zeros(columns.shape)
        span = float(self.within_days * dataset.DAY_US)
        half = float(self.gap_half_life_days * dataset.DAY_US)
        given = (events.user, train.candidate_of_item[events.item], events.time, value, span, half)
        in_threads(
            lambda *items: _kernels.pairs(
                *items, starts, order, *given, *scratch(width), columns, values
            ),
            n_items,
            _BLOCK,
        )
        own = np.bincount(events.item, value, n_items)
        return as_matrix(columns, values / np.maximum(own, 1e-300)[:, None], width)


def _baskets(train: Train, days: float) -> csr_array[Any]:
    """Return what everyone had last, a (users, items) matrix of ones."""
    events, starts = train.events, train.user_starts
    last = events.time[np.maximum(starts[1:], 1) - 1]
    keep = events.time > (last - float(days) * dataset.DAY_US)[events.user]
    user, item = events.user[keep], events.item[keep]
    shape = (len(train.user_ids), len(train.item_ids))
    return pair_matrix(user, item, np.ones(len(user), np.float32), shape, counts=False)
