"""RP3beta: a random walk of three steps from the user, less what is popular anyway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.params import require_above, require_from, require_whole
from harness.models.base import Draws, Train
from harness.models.products import as_matrix, itself, largest_products


@dataclass(eq=False)
class RP3beta:
    """User → item → user → item, each step in proportion to the weights to the power of α.

    Paudel, Christoffel, Newell and Bernstein (2017): the chance that the walk ends at an item,
    divided by the item's popularity to the power of β. Users without items in the window get no
    list.

    Parameters
    ----------
    alpha : float
        The power of the chance of each step; above 0.
    beta : float
        How much popularity is taken back; 0 is Cooper's P³α (2014).
    neighbours : int
        To how many candidates a walk may come from each item, the likeliest ones.
    window_days, half_life_days, weights, counts : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    alpha: float = 0.5
    beta: float = 0.4
    neighbours: int = 100
    window_days: float | None = None
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    counts: bool = False

    def fit(self, train: Train) -> Self:
        """Walk from every item over its users to other items."""
        require_whole(1, neighbours=self.neighbours)
        require_above(0, alpha=self.alpha)
        require_from(0, beta=self.beta)
        users = train.interactions(self.window_days, self.half_life_days, self.weights, self.counts)
        popularity = users.sum(axis=0, dtype=np.float64)[train.candidates]
        popularity[popularity == 0] = 1.0
        self.users_ = _steps(users, self.alpha)
        every = np.arange(len(train.item_ids), dtype=np.int32)
        found = largest_products(
            _steps(users.T.tocsr(), self.alpha),
            self.users_[:, train.candidates].tocsr(),
            min(self.neighbours, len(train.candidates)),
            column_norms=popularity**self.beta,
            exclude=itself(every, train.candidates, len(every)),
        )
        self.similar_ = as_matrix(*found, len(train.candidates))
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates at which a walk from the user is likeliest to end."""
        return largest_products(self.users_[users], self.similar_, k, exclude=exclude)[0]


def _steps(matrix: csr_array[Any], alpha: float) -> csr_array[Any]:
    """Return the chance of each step from row to column, to the power of alpha."""
    sums = np.repeat(matrix.sum(axis=1, dtype=np.float64), np.diff(matrix.indptr))
    chance = (matrix.data / sums) ** alpha
    return csr_array((chance, matrix.indices, matrix.indptr), shape=matrix.shape)
