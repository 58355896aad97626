"""Popular: the same list for everyone, the candidates with most events before the cut-off."""

from __future__ import annotations

from dataclasses import dataclass

from harness.models.base import Train
from harness.models.bases import EventWeights, OneOrder
from harness.models.sums import FromSums, Steps


@dataclass(eq=False)
class Popular(OneOrder, EventWeights, FromSums):
    """Candidates by their number of events, most first; ties by item id ascending.

    If fewer than k candidates have events, the rest of the list is empty.

    Parameters
    ----------
    window_days : float, optional
        Only events of the last so many days before the cut-off count; all by default.
    half_life_days : float, optional
        An event counts 2^(−age / half_life_days); 1 by default.
    weights : mapping of event type to weight, optional
        What an event of each type counts, such as ``{visit = 0.1}``; 1 by default.
    values : bool
        Whether an event counts as much as its value.
    """

    def fit_steps(self, train: Train) -> Steps:
        """Count the events of every candidate."""
        self.order_ = train.candidates_by_sum((yield self.exact_sums))
