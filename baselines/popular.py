"""Popular: the same list for everyone, the candidates with most events before the cut-off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.models.base import Draws, Train
from harness.models.topk import top_k


@dataclass(eq=False)
class Popular:
    """Candidates by their number of events, most first; ties by item id ascending.

    Where fewer than k candidates have events, the rest of the list is empty.

    Parameters
    ----------
    window_days : float, optional
        Only events of the last so many days before the cut-off count; all by default.
    half_life_days : float, optional
        An event counts 2^(−age / half_life_days); 1 by default.
    weights : mapping of event type to weight, optional
        What an event of each type counts, such as ``{visit = 0.1}``; 1 by default.
    """

    window_days: float | None = None
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None

    def fit(self, train: Train) -> Self:
        """Count the events of every candidate."""
        counted, weight = train.event_weights(self.window_days, self.half_life_days, self.weights)
        self.order_ = train.candidates_by_count(counted, weight)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the most popular candidates that each user may be shown."""
        return top_k(self.order_, users, k, exclude)
