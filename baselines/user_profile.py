"""UserProfile: the candidates that are most like what the user had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.models.base import Draws, Train
from harness.models.bases import InteractionWeights, ItemFeatures
from harness.models.products import largest_products


@dataclass(eq=False)
class UserProfile(InteractionWeights, ItemFeatures):
    """Candidates by the cosine of their attributes with the user's profile.

    The profile is the mean of the feature rows of the user's items, weighted by the user's events
    with them (Pazzani and Billsus, 2007, "Content-Based Recommendation Systems"; RecoTour,
    Rodriguez Zaurin, 2019, chapter 7). Ties go by item id.

    Only cosines above 0 are listed, so lists are short where too few candidates have anything
    in common with the user. Users without history, without an event in the window, or whose items
    all have no attributes get an empty list; candidates without attributes are not listed; items
    of the log without attributes add nothing to a profile.

    Parameters
    ----------
    categories, numbers, texts : sequences of str
        Columns of the items' table, at least one; see `harness.models.features.feature_groups`.
    window_days : float, optional
        Only events of the last so many days before the cut-off count; all by default.
    half_life_days : float, optional
        An event counts 2^(−age / half_life_days); 1 by default.
    weights : mapping of event type to weight, optional
        What an event of each type counts, such as ``{visit = 0.1}``; 1 by default.
    values : bool
        Whether an event counts as much as its value.
    counts : bool
        Several events of a user with an item add up; by default the one of most weight counts.
    """

    def fit(self, train: Train) -> Self:
        """Make the features of all items; profiles are worked out when they are asked for."""
        self.features_ = self.features(train)
        self.candidates_ = self.features_[train.candidates].T.tocsr()
        self.interactions_ = self.interactions(train)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates that are most like each user's profile."""
        # Neither the sum of weights nor the profile's length changes a user's own order.
        profiles = self.interactions_[users] @ self.features_
        return largest_products(profiles, self.candidates_, k, exclude=exclude)[0]
