"""PureSVD: the users × items matrix, zeros and all, seen through its largest singular values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.params import require_whole
from harness.models.base import Draws, Train
from harness.models.factors import Factors, Vectors, compact


@dataclass(eq=False)
class PureSVD:
    """x V Vᵀ, with V the right singular vectors of the largest singular values.

    Cremonesi, Koren and Turrin (2010). Solved by ARPACK to machine precision (scikit-learn's
    TruncatedSVD), from a start of fixed numbers. Users without items in the window get no list;
    candidates without events are in nobody's list.

    Parameters
    ----------
    factors : int
        How many singular values; all where there are fewer.

    window_days, half_life_days, weights, counts : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 50
    window_days: float | None = None
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    counts: bool = False

    def fit(self, train: Train) -> Self:
        """Find the singular vectors."""
        require_whole(1, factors=self.factors)
        known = compact(
            train.interactions(self.window_days, self.half_life_days, self.weights, self.counts)
        )
        vectors = _right_vectors(known.matrix.astype(np.float64), self.factors)
        self.factors_ = Factors(known, known.matrix @ vectors, vectors, train.candidates)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates of the highest scores."""
        return self.factors_.recommend(users, k, exclude)


def _right_vectors(matrix: csr_array[Any], factors: int) -> Vectors:
    """Return the right singular vectors of the largest singular values, (items, factors).

    Rounded to ten decimals: what the solver adds to equal items, or to 0, breaks no tie.
    """
    from sklearn.decomposition import TruncatedSVD
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"), np.errstate(all="ignore"):  # sums depend on BLAS's threads
        if min(matrix.shape) <= factors:  # ARPACK finds fewer than all
            rows = np.linalg.svd(matrix.toarray(), full_matrices=False)[2]
        else:
            found = TruncatedSVD(factors, algorithm="arpack", random_state=0).fit(matrix)
            rows = found.components_
    vectors: Vectors = np.round(rows.T, 10)
    return vectors
