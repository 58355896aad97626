"""EASE: the best linear model of items on items that may not use the item itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Floats, Int32
from harness.core.params import ParameterError, require_above
from harness.models.base import Draws, Train
from harness.models.bases import InteractionWeights
from harness.models.products import in_threads, largest_scores

MAX_ITEMS = 30_000
_BLOCK = 512


@dataclass(eq=False)
class EASE(InteractionWeights):
    """x B, with B the ridge regression of every item on all others: B = I − P / diag(P).

    Steck (2019), "Embarrassingly shallow autoencoders for sparse data": P = (XᵀX + λI)⁻¹, in
    closed form and exact. Users without items in the window get no list; candidates without
    events are in no list.

    Parameters
    ----------
    regularization : float
        λ, in events; above 0.
    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.

    Notes
    -----
    The matrix of n items with events holds 8 n² bytes, and 4 n² for its weights, while it is
    inverted (n³ operations, on one processor: BLAS rounds otherwise with more); beyond 30,000
    items, 10.8 GB, it is refused.
    """

    regularization: float = 500.0

    def fit(self, train: Train) -> Self:
        """Solve for the weights of every item with events on every candidate."""
        require_above(0, regularization=self.regularization)
        users = self.interactions(train)
        there = np.bincount(users.indices, minlength=users.shape[1]) > 0
        _require_room(int(there.sum()))
        self.users_ = users[:, there].tocsr()
        self.allowed_ = there[train.candidates]
        inverse = _inverse(gram(self.users_), self.regularization)
        place = np.cumsum(there) - 1
        # −P[i, j] / P[j, j] for every candidate j, 0 for itself and for unknown ones.
        weights = np.zeros((len(inverse), len(train.candidates)), np.float32)
        columns, items = np.flatnonzero(self.allowed_), place[train.candidates][self.allowed_]
        divisor = -inverse.diagonal()[items]
        for first in range(0, len(inverse), _BLOCK):
            rows = slice(first, first + _BLOCK)
            weights[rows, columns] = inverse[rows, items] / divisor
        weights[items, columns] = 0.0
        self.weights_ = weights
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates of the highest scores."""
        rows = self.users_[users]
        return largest_scores(rows, self.weights_, k, allowed=self.allowed_, exclude=exclude)


def _require_room(items: int) -> None:
    if items > MAX_ITEMS:
        raise ParameterError(
            f"{items:,} items have events, and EASE inverts the matrix of all their pairs, "
            f"{12e-9 * items**2:,.0f} GB; the most is {MAX_ITEMS:,} items "
            f"({12e-9 * MAX_ITEMS**2:.1f} GB). Take a shorter window_days, or ItemKNN or RP3beta"
        )


def gram(users: csr_array[Any]) -> Floats:
    """Return XᵀX, dense, (items, items) float64."""
    items = users.T.tocsr()
    n = items.shape[0]
    products = np.zeros((n, n))
    parts = [
        (m.indptr.astype(np.int64), m.indices.astype(np.int32, copy=False), m.data)
        for m in (items, users)
    ]
    in_threads(
        lambda first, last: _kernels.gram(first, last, *parts[0], *parts[1], products), n, _BLOCK
    )
    return products


def _inverse(gram: Floats, regularization: float) -> Floats:
    """Return (gram + λI)⁻¹ in gram's own memory."""
    from scipy.linalg import lapack
    from threadpoolctl import threadpool_limits

    gram[np.diag_indices(len(gram))] += regularization
    if len(gram) == 0:
        return gram
    # LAPACK reads by columns: the transpose of a symmetric matrix is that matrix, not copied.
    with threadpool_limits(1, "blas"):
        factor, failed = lapack.dpotrf(gram.T, lower=1, overwrite_a=1, clean=0)
        if failed == 0:
            _, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed != 0:
        raise ParameterError("the matrix cannot be inverted; take a larger regularization")
    for first in range(0, len(gram), _BLOCK):  # what stands above the diagonal goes below it
        rows = slice(first, first + _BLOCK)
        gram[rows, rows] = np.triu(gram[rows, rows]) + np.triu(gram[rows, rows], 1).T
        gram[first + _BLOCK :, rows] = gram[rows, first + _BLOCK :].T
    return gram
