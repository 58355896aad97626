"""ContentPopular: new items are as popular as the items that are most like them were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.core.exact_sum import rounded
from harness.models.base import Train, descending
from harness.models.bases import EventWeights, ItemFeatures, OneOrder
from harness.models.similarity import carried_means, most_similar
from harness.models.sums import FromSums, Steps


@dataclass(eq=False)
class ContentPopular(OneOrder, EventWeights, ItemFeatures, FromSums):
    """One list for all: candidates by the mean popularity of the items that are most like them.

    The popularity of an item is the sum of its events' weights. A candidate's score is the mean
    of the popularity of its `neighbours` most similar items that have any, weighted by the cosine
    of their attributes; its own popularity, where it has any, counts as that of one neighbour
    more, with similarity 1. Ties go by item id.

    The idea is that of RecoTour (Rodriguez Zaurin, 2019), chapter 6, which ranks new coupons by
    their mean distance from the ten most popular old ones.

    A candidate without attributes has its own popularity alone. One that has no neighbour and no
    events is not listed, nor is any where no event lies in the window: the rest of the list stays
    empty. Items of the log without attributes are nobody's neighbours. Users need no history.

    Parameters
    ----------
    categories, numbers, texts : sequences of str
        Columns of the items' table, at least one; see `harness.models.features.feature_groups`.
    neighbours : int
        How many similar items a score rests on.
    window_days : float, optional
        Only events of the last so many days before the cut-off count; all by default.
    half_life_days : float, optional
        An event counts 2^(−age / half_life_days); 1 by default.
    weights : mapping of event type to weight, optional
        What an event of each type counts, such as ``{visit = 0.1}``; 1 by default.
    values : bool
        Whether an event counts as much as its value.
    """

    neighbours: int = 50

    def fit_steps(self, train: Train) -> Steps:
        """Carry the popularity of the items that have any to every candidate."""
        features = self.features(train)
        popularity = rounded((yield self.exact_sums), len(train.item_ids))
        popular = np.flatnonzero(popularity > 0).astype(np.int32)
        similar = most_similar(features, train.candidates, popular, self.neighbours)
        score = carried_means(popularity[popular], similar)
        self.order_ = descending(score, ~np.isnan(score))
