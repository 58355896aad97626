"""ItemKNN: what is most like the items that the user has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from harness.models.base import Train
from harness.models.bases import InteractionWeights, ItemVotes
from harness.models.neighbours import ItemNeighbours, Similarity


@dataclass(eq=False)
class ItemKNN(ItemVotes, ItemNeighbours, Similarity, InteractionWeights):
    """Candidates by Σ of their similarity with the user's items; only neighbours count.

    Item-based top-N recommendation (Deshpande and Karypis 2004), with the variants that Ferrari
    Dacrema, Cremonesi and Jannach (2019) found hard to beat. An item is not its own neighbour.
    Users without items in the window, or whose items have no neighbour, get no list.

    Parameters
    ----------
    neighbours : int
        How many neighbours each item has, or each candidate: `neighbours_of`.
    similarity : {"cosine", "tfidf", "bm25", "asymmetric", "dot", "jaccard", "dice", "tversky"}
        Of items, by the users who have them (`harness.models.similarity.documents`).
    shrink : float, optional
        Added to the denominator, so that what few users share counts little; 0 by default. Not of
        bm25 and dot.
    alpha : float, optional
        asymmetric: how much of the norm is the item's that the user has, from -1 to 2, the rest
        being the candidate's; 0.5 (cosine) by default. tversky: what users count who have that
        item alone; 1 (jaccard) by default.
    beta : float, optional
        tversky alone: what users count who have the candidate alone; 1 (jaccard) by default.
    k1, b : float, optional
        bm25 alone; 1.2 and 0.75 by default.
    neighbours_of : {"item", "candidate"}
        item: each item votes for the `neighbours` candidates most like it. candidate: the
        `neighbours` items most like a candidate vote for it. Ties go by item id.
    normalize : bool
        What an item says of candidates is divided by its sum, so that all items say as much: after
        neighbours are chosen.
    min_similarity : float, optional
        Items with less similarity are not neighbours.
    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    removed = ItemNeighbours.removed | Similarity.removed  # type: ignore[operator]

    def fit(self, train: Train) -> Self:
        """Find the neighbours of every item."""
        self.users_ = self.interactions(train)
        least = self.min_similarity or 0.0
        items = self.documents(self.users_.T)
        self.votes_ = self.item_votes(items, train.candidates, self.neighbours, least)
        return self
