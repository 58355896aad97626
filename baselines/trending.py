"""Trending: what sells this week, and more than the week before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.core.exact_sum import Sums, rounded
from harness.core.params import require_above, require_flag, require_from
from harness.models.base import Train, descending
from harness.models.bases import OneOrder
from harness.models.sums import FromSums, Steps


@dataclass(eq=False)
class Trending(OneOrder, FromSums):
    """Candidates by expected events, if the trend of the last two windows continues.

    With c events in the last window and b in the one before, the score is
    c · ((c + prior) / (b + prior)) ** damping: last week's sales times the quotient of weeks, as in
    the trending products of H&M's notebooks (Kaggle, 2022), damped (Gardner and McKenzie 1985).
    The same list for everyone; only candidates with an event in the last window are in it.

    Parameters
    ----------
    window_days : float
        The length of each of the two windows.
    damping : float
        How much of the trend continues: 0 is popularity alone, 1 all of it.
    prior : float
        Events to add to both windows, so that small numbers make no trend; above 0.
    weights : mapping of event type to weight, optional
        What an event of each type counts; 1 by default.
    values : bool
        Whether an event counts as much as its value.
    """

    window_days: float = 7
    damping: float = 0.5
    prior: float = 10.0
    weights: Mapping[str, float] | None = None
    values: bool = False

    def fit_steps(self, train: Train) -> Steps:
        """Count the events of the last two windows."""
        require_above(0, window_days=self.window_days, prior=self.prior)
        require_from(0, damping=self.damping)
        require_flag(values=self.values)
        total: Any = yield self._windows
        n_items = len(train.item_ids)
        c, b = (rounded(total[name], n_items)[train.candidates] for name in ("now", "before"))
        score = c * ((c + float(self.prior)) / (b + float(self.prior))) ** self.damping
        self.order_ = descending(score, c > 0)

    def _windows(self, train: Train) -> Sums:
        """Return the sums of the last window and of the one before."""
        now = train.last_days(self.window_days)
        before = train.last_days(2 * self.window_days) & ~now
        _, weight = train.event_weights(weights=self.weights, values=self.values)
        return {
            "now": train.exact_sums(now, weight),
            "before": train.exact_sums(before, weight),
        }
