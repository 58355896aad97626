"""ItemKNN: what is most like the items that the user has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from harness.core.params import require_whole
from harness.models.base import Train
from harness.models.bases import InteractionWeights, ItemVotes
from harness.models.similarity import documents


@dataclass(eq=False)
class ItemKNN(ItemVotes, InteractionWeights):
    """Σ over the user's items of their similarity with the candidate, neighbours alone.

    Item-based top-N recommendation (Deshpande and Karypis 2004), with the variants that Ferrari
    Dacrema, Cremonesi and Jannach (2019) found hard to beat. An item is no neighbour of itself.
    Users without items in the window, and those whose items have no neighbour, get no list.

    Parameters
    ----------
    neighbours : int
        How many candidates each item may vote for, the most similar ones.
    similarity : {"cosine", "tfidf", "bm25", "asymmetric"}
        Of items, by the users who have them (`harness.models.similarity.documents`).
    shrink : float, optional
        Added to the denominator, so that what few users share counts little; 0 by default.
    alpha : float, optional
        asymmetric alone: how much of the norm is the first item's; 0.5 (cosine) by default.
    k1, b : float, optional
        bm25 alone; 1.2 and 0.75 by default.
    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    neighbours: int = 100
    similarity: str = "cosine"
    shrink: float | None = None
    alpha: float | None = None
    k1: float | None = None
    b: float | None = None

    def fit(self, train: Train) -> Self:
        """Find the neighbours of every item."""
        require_whole(1, neighbours=self.neighbours)
        self.users_ = self.interactions(train)
        settings = {"shrink": self.shrink, "alpha": self.alpha, "k1": self.k1, "b": self.b}
        items = documents(self.users_.T, self.similarity, settings)
        self.votes_ = items.nearest(self.neighbours, among=train.candidates)
        return self
