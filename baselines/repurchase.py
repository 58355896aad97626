"""Repurchase: what the user had before, latest first, then what was popular last."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.dataset import Int32
from harness.lists import fill, first_k
from harness.recommender import Draws, Train


class Repurchase:
    """The user's own candidates by latest event (ties by item id), filled up with popular ones.

    People buy the same article again: on H&M this rule alone beat most first submissions.

    Parameters
    ----------
    window_days : float
        The list is filled with the candidates of most events in the last so many days.
    """

    def __init__(self, window_days: float = 7) -> None:
        self.window_days = window_days

    def fit(self, train: Train) -> Self:
        """Count the last days' events; the users' own are read when they are asked for."""
        if not self.window_days > 0:
            raise ValueError(f"window_days is {self.window_days}; expected days above 0")
        self.train_ = train
        self.order_ = train.candidates_by_count(train.last_days(self.window_days))
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return each user's own items, latest first, then the popular ones."""
        own = self._own(users, k, exclude)
        return fill(own, self.order_, exclude, len(self.train_.candidates))

    def _own(self, users: Int32, k: int, exclude: csr_array[Any] | None) -> Int32:
        train = self.train_
        starts, sizes = train.user_starts[users], np.diff(train.user_starts)[users]
        rows = np.repeat(np.arange(len(users)), sizes)
        at = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + starts[rows]
        candidate = train.candidate_of_item[train.events.item[at]]
        time = train.events.time[at]
        keep = candidate >= 0
        if exclude is not None:
            width = len(train.candidates)
            held = np.repeat(np.arange(len(users)), np.diff(exclude.indptr)) * width
            keep &= ~np.isin(rows * width + candidate, held + exclude.indices)
        rows, candidate, time = rows[keep], candidate[keep], time[keep]
        latest_first = np.lexsort((candidate, -time, rows))
        return first_k(rows[latest_first], candidate[latest_first], len(users), k)
