"""Repurchase: what the user had before, latest first, then what was popular last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.jit import compiled
from harness.core.params import require_above
from harness.models.base import Draws, Train
from harness.models.recommendations import EMPTY
from harness.models.topk import excluded_rows, fill


@dataclass(eq=False)
class Repurchase:
    """The user's own candidates by latest event (ties by item id), filled up with popular ones.

    People buy the same article again: on H&M this rule alone beat most first submissions.

    Parameters
    ----------
    window_days : float
        The list is filled with the candidates of most events in the last so many days.
    """

    window_days: float = 7

    def fit(self, train: Train) -> Self:
        """Count the last days' events; the users' own are read when they are asked for."""
        require_above(0, window_days=self.window_days)
        self.train_ = train
        self.candidates_ = train.candidate_of_item[train.events.item]
        self.order_ = train.candidates_by_count(train.last_days(self.window_days))
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return each user's own items, latest first, then the popular ones."""
        train = self.train_
        own = _latest(
            users,
            k,
            train.user_starts,
            self.candidates_,
            train.events.time,
            *excluded_rows(exclude, len(users)),
        )
        return fill(own, self.order_, exclude)


@compiled
def _latest(
    users: Any, k: int, starts: Any, candidates: Any, times: Any, indptr: Any, excluded: Any
) -> Any:
    """Return the last `k` different candidates of each user, latest first, ties ascending.

    Events of one time stand in item order, so they are walked forwards, and the times backwards.
    """
    lists = np.full((len(users), k), EMPTY, np.int32)
    for row in range(len(users)):
        held = excluded[indptr[row] : indptr[row + 1]]
        begin, end, filled = starts[users[row]], starts[users[row] + 1], 0
        while end > begin and filled < k:
            start = end - 1
            while start > begin and times[start - 1] == times[end - 1]:
                start -= 1
            for event in range(start, end):
                candidate = candidates[event]
                at = np.searchsorted(held, candidate)
                fits = candidate >= 0 and (at == len(held) or held[at] != candidate)
                for place in range(filled):
                    fits &= lists[row, place] != candidate
                if fits and filled < k:
                    lists[row, filled] = candidate
                    filled += 1
            end = start
    return lists
