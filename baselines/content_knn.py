"""ContentKNN: item kNN over the items that have events, carried to the candidates like them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.params import require_whole
from harness.models.base import Train
from harness.models.bases import InteractionWeights, ItemFeatures, ItemVotes
from harness.models.similarity import documents, most_similar


@dataclass(eq=False)
class ContentKNN(ItemVotes, InteractionWeights, ItemFeatures):
    """Item kNN carried to new candidates by the similarity of their attributes.

    The items of a user's history and their `neighbours` (cosine over who had them) are each
    carried to their `carried` most similar candidates (cosine over attributes); a candidate that
    has events is carried to itself with 1 as well. With user weights w, item similarities S and
    content similarities C, the scores are w · (I + S) · C. Ties go by item id.

    Sources: item kNN, Deshpande and Karypis (2004), "Item-Based Top-N Recommendation
    Algorithms"; the way to new items, RecoTour (Rodriguez Zaurin, 2019), chapter 9, which takes
    the one nearest candidate of each item.

    Users without history or without an event in the window get an empty list, as do those whose
    items and neighbours have no attributes and are no candidates. A candidate without attributes
    is reached by its own events alone. Only scores above 0 are listed; the rest stays empty.

    Parameters
    ----------
    categories, numbers, texts : sequences of str
        Columns of the items' table, at least one; see `harness.models.features.feature_groups`.
    neighbours : int
        Similar items of each item of a user, by who had them.
    carried : int
        Similar candidates of each of those, by attributes.
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

    neighbours: int = 20
    carried: int = 10

    def fit(self, train: Train) -> Self:
        """Work out what each item says of each candidate."""
        require_whole(1, neighbours=self.neighbours, carried=self.carried)
        features = self.features(train)
        self.users_ = self.interactions(train)
        similar = documents(self.users_.T, "cosine", {}).nearest(self.neighbours)
        items = np.arange(len(train.item_ids), dtype=np.int32)
        content = most_similar(features, items, train.candidates, self.carried)
        self.votes_ = csr_array(content + similar @ content)
        return self
