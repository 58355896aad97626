"""UserKNN: what the users most like this one have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.params import require_whole
from harness.models.base import Draws, Train
from harness.models.bases import InteractionWeights
from harness.models.products import largest_products
from harness.models.similarity import documents


@dataclass(eq=False)
class UserKNN(InteractionWeights):
    """Σ over the most similar users of the similarity, for what they have.

    Sarwar, Karypis, Konstan and Riedl (2000), on implicit data. Neighbours are looked for when a
    user is asked for, among all users: the time grows with users × their items' popularity.
    Users without items in the window get no list.

    Parameters
    ----------
    neighbours : int
        How many users vote.
    similarity, shrink, alpha, k1, b : optional
        Of users, by the items they have (`harness.models.similarity.documents`), as in ItemKNN.
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
        """Weigh what every user has; neighbours are found when they are asked for."""
        require_whole(1, neighbours=self.neighbours)
        users = self.interactions(train)
        settings = {"shrink": self.shrink, "alpha": self.alpha, "k1": self.k1, "b": self.b}
        self.users_ = documents(users, self.similarity, settings)
        self.have_ = users[:, train.candidates].tocsr()
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates that the user's neighbours have most."""
        votes = self.users_.nearest(self.neighbours, users)
        return largest_products(votes, self.have_, k, exclude=exclude)[0]
