"""PureSVD: the users × items matrix, zeros and all, seen through its largest singular values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.params import require_whole
from harness.models.base import Train
from harness.models.factors import FactorModel, Vectors


@dataclass(eq=False)
class PureSVD(FactorModel):
    """x V Vᵀ, with V the right singular vectors of the largest singular values.

    Cremonesi, Koren and Turrin (2010). Solved by ARPACK to machine precision (scikit-learn's
    TruncatedSVD), from a start of fixed numbers. Users without items in the window get no list;
    candidates without events are in no list.

    Parameters
    ----------
    factors : int
        How many singular values; all if there are fewer.

    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 50

    def fit(self, train: Train) -> Self:
        """Find the singular vectors."""
        require_whole(1, factors=self.factors)
        return super().fit(train)

    def _vectors(self, matrix: csr_array[Any]) -> tuple[Vectors, Vectors]:
        """Return X V and V."""
        from sklearn.decomposition import TruncatedSVD
        from threadpoolctl import threadpool_limits

        exact = matrix.astype(np.float64)
        # Sums depend on BLAS's threads.
        with threadpool_limits(1, "blas"), np.errstate(all="ignore"):
            if min(matrix.shape) <= self.factors:  # ARPACK finds fewer than all
                rows = np.linalg.svd(exact.toarray(), full_matrices=False)[2]
            else:
                svd = TruncatedSVD(self.factors, algorithm="arpack", random_state=0).fit(exact)
                rows = svd.components_
        # What the solver adds to equal items, or to 0, breaks no tie.
        vectors: Vectors = np.round(rows.T, 10)
        return matrix @ vectors, vectors
