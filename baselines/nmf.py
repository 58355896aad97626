"""NMF: users and items as sums of factors that are never negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from scipy.sparse import csr_array

from harness.core.params import require_from, require_whole
from harness.models.base import Train
from harness.models.factors import FactorModel, Vectors


@dataclass(eq=False)
class NMF(FactorModel):
    """Non-negative matrix factorization: users × items as a product W H.

    Lee and Seung (1999), by coordinate descent (scikit-learn's NMF, Cichocki and Phan 2009) from
    the start of Boutsidis and Gallopoulos (2008, NNDSVD). Users without items in the window get
    no list; candidates without events are in no list.

    Parameters
    ----------
    factors : int
        The number of factors; at most the number of users and of items.
    regularization : float
        The penalty on both matrices (scikit-learn's alpha_W and alpha_H).
    iterations : int
        The most iterations.
    seed : int
        The seed of the start of the descent.

    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 50
    regularization: float = 0.0
    iterations: int = 100
    seed: int = 42

    def fit(self, train: Train) -> Self:
        """Find the factors."""
        require_whole(1, factors=self.factors, iterations=self.iterations)
        require_whole(0, seed=self.seed)
        require_from(0, regularization=self.regularization)
        return super().fit(train)

    def _vectors(self, matrix: csr_array[Any]) -> tuple[Vectors, Vectors]:
        """Return W and Hᵀ."""
        import warnings

        from sklearn import decomposition
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

        model = decomposition.NMF(
            min(self.factors, *matrix.shape),
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
