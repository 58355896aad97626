"""Repurchase: what the user had before, latest first, then what was popular last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Int32
from harness.core.params import require_above
from harness.models.base import Draws, Train
from harness.models.recommendations import EMPTY
from harness.models.sums import FromSums, Steps
from harness.models.topk import excluded_rows, fill


@dataclass(eq=False)
class Repurchase(FromSums):
    """The user's own items, latest first (ties by item id), then popular ones.

    People buy the same article again: on H&M this rule alone beat most first submissions.

    Parameters
    ----------
    window_days : float
        The rest of the list has the candidates with the most events in this many last days.
    """

    window_days: float = 7

    def fit_steps(self, train: Train) -> Steps:
        """Count the last days' events."""
        require_above(0, window_days=self.window_days)
        total = yield lambda part: part.exact_sums(part.last_days(self.window_days))
        self.order_ = train.candidates_by_sum(total)

    def for_users(self, train: Train) -> Self:
        """Keep the users' own events, which are read when they are asked for."""
        self.train_ = train
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return each user's own items, latest first, then the popular ones."""
        train = self.train_
        events = train.events.of_users(users, len(train.user_ids))
        lists = np.full((len(users), k), EMPTY, np.int32)
        _kernels.latest(
            events.user_starts(len(users)),
            events.item,
            train.candidate_of_item,
            events.time,
            *excluded_rows(exclude, len(users)),
            lists,
        )
        return fill(lists, self.order_, exclude)
