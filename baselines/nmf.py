"""NMF: users and items as sums of factors that are never negative."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.params import require_from, require_whole
from harness.models.base import Draws, Train
from harness.models.factors import Factors, Vectors, compact


@dataclass(eq=False)
class NMF:
    """W H, the nearest product of two matrices without negative entries.

    Lee and Seung (1999), by coordinate descent (scikit-learn's NMF, Cichocki and Phan 2009) from
    the start of Boutsidis and Gallopoulos (2008, NNDSVD). Users without items in the window get
    no list; candidates without events are in nobody's list.

    Parameters
    ----------
    factors : int
        How many; at most as many as there are users and items.
    regularization : float
        Of both matrices (scikit-learn's alpha_W, the other alike).
    iterations : int
        At most so many.
    seed : int
        Of what the start of the descent is drawn with.

    window_days, half_life_days, weights, counts : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 50
    regularization: float = 0.0
    iterations: int = 100
    seed: int = 42
    window_days: float | None = None
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    counts: bool = False

    def fit(self, train: Train) -> Self:
        """Find the factors."""
        require_whole(1, factors=self.factors, iterations=self.iterations)
        require_whole(0, seed=self.seed)
        require_from(0, regularization=self.regularization)
        known = compact(
            train.interactions(self.window_days, self.half_life_days, self.weights, self.counts)
        )
        self.factors_ = Factors(known, *self._vectors(known.matrix), train.candidates)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates of the highest scores."""
        return self.factors_.recommend(users, k, exclude)

    def _vectors(self, matrix: csr_array[Any]) -> tuple[Vectors, Vectors]:
        """Return W and Hᵀ; nothing but zeros where there is nothing."""
        import warnings

        from sklearn import decomposition
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

        factors = min(self.factors, *matrix.shape)
        if factors == 0:
            return np.zeros((0, 1)), np.zeros((0, 1))
        model = decomposition.NMF(
            factors,
            init="nndsvd",
            alpha_W=self.regularization,
            max_iter=self.iterations,
            random_state=self.seed,
        )
        with threadpool_limits(1, "blas"), warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # `iterations` is the bound asked for
            users = model.fit_transform(matrix)
        return users, model.components_.T
