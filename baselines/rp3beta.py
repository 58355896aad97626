"""RP3beta: a random walk of three steps from the user, less what is popular anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.params import require_above, require_from
from harness.models.base import Train
from harness.models.bases import InteractionWeights, ItemVotes
from harness.models.neighbours import ItemNeighbours
from harness.models.similarity import Documents


@dataclass(eq=False)
class RP3beta(ItemVotes, ItemNeighbours, InteractionWeights):
    """A random walk from user to item to user to item, by weights to the power of α.

    Paudel, Christoffel, Newell and Bernstein (2017): the chance that the walk ends at an item,
    divided by the item's popularity to the power of β. Users without items in the window get no
    list.

    Parameters
    ----------
    alpha : float
        The power of the chance of each step; above 0.
    beta : float
        How much to reduce the effect of popularity; 0 is Cooper's P³α (2014).
    neighbours : int
        How many neighbours each item has, or each candidate: `neighbours_of`.
    neighbours_of : {"item", "candidate"}
        item: from each item a walk comes to the `neighbours` candidates that it likeliest ends at.
        candidate: to each candidate it comes from the `neighbours` likeliest items. Ties go by
        item id.
    normalize : bool
        The chances of an item are divided by their sum, so that all items say as much: after
        neighbours are chosen.
    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    alpha: float = 0.5
    beta: float = 0.4
    neighbours: int = 100

    def fit(self, train: Train) -> Self:
        """Walk from every item over its users to other items."""
        require_above(0, alpha=self.alpha)
        require_from(0, beta=self.beta)
        users = self.interactions(train)
        popularity = users.sum(axis=0, dtype=np.float64)
        popularity[popularity == 0] = 1.0
        self.users_ = _steps(users, self.alpha)
        to_users = _steps(users.T.tocsr(), self.alpha)
        alike = Documents(to_users, self.users_, np.ones(len(popularity)), popularity**self.beta)
        self.votes_ = self.item_votes(alike, train.candidates, self.neighbours)
        return self


def _steps(matrix: csr_array[Any], alpha: float) -> csr_array[Any]:
    """Return the chance of each step from row to column, to the power of alpha."""
    sums = np.repeat(matrix.sum(axis=1, dtype=np.float64), np.diff(matrix.indptr))
    chance = (matrix.data / sums) ** alpha
    return csr_array((chance, matrix.indices, matrix.indptr), shape=matrix.shape)
