"""UserKNN: what the users most like this one have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.params import require_choice, require_whole
from harness.models.base import Draws, Train
from harness.models.bases import InteractionWeights
from harness.models.neighbours import Similarity, from_least
from harness.models.products import largest_products


@dataclass(eq=False)
class UserKNN(Similarity, InteractionWeights):
    """Candidates by Σ of the similarity of the users who have them; only neighbours count.

    Sarwar, Karypis, Konstan and Riedl (2000), on implicit data. It searches the neighbours of a
    user in `recommend`, among all users: the time grows with users × their items' popularity.
    Users without items in the window get no list.

    Parameters
    ----------
    neighbours : int
        How many neighbours each user has.
    similarity, shrink, alpha, beta, k1, b : optional
        Of users, by the items they have (`harness.models.similarity.documents`), as in ItemKNN;
        where the item that the user has is named there, it is the user who asks.
    neighbours_of : {"user", "voter"}
        user: the `neighbours` users most like the one who asks vote. voter: each user votes for the
        `neighbours` users most like them, who are then all looked for by `fit`, and kept. Ties go
        by user id.
    min_similarity : float, optional
        Users with less similarity are not neighbours.
    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    neighbours_of: str = field(default="user", kw_only=True)

    def fit(self, train: Train) -> Self:
        """Weigh what every user has; neighbours are found when they are asked for."""
        require_whole(1, neighbours=self.neighbours)
        require_choice(("user", "voter"), neighbours_of=self.neighbours_of)
        users = self.interactions(train)
        self.users_ = self.documents(users)
        self.have_ = users[:, train.candidates].tocsr()
        if self.neighbours_of == "voter":
            everyone = np.arange(users.shape[0], dtype=np.int32)
            self.votes_ = self.users_.nearest_to(self.neighbours, everyone)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates that the user's neighbours have most."""
        if self.neighbours_of == "voter":
            votes = self.votes_[users]
        else:
            votes = self.users_.nearest(self.neighbours, users)
        votes = from_least(votes, self.min_similarity)
        return largest_products(votes, self.have_, k, exclude=exclude)[0]
