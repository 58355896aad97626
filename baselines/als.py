"""ALS: implicit alternating least squares, through the library `implicit` (extra als)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.params import ParameterError, require_above, require_from, require_whole
from harness.models.base import Draws, Train
from harness.models.factors import Factors, Vectors, compact, narrow

try:
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.recommender_base import ModelFitError
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("it needs implicit: pip install 'submission-harness[als]'") from error


@dataclass(eq=False)
class ALS:
    """Vectors of users and items that explain who had what, a missing pair weighing least.

    Hu, Koren and Volinsky (2008), solved by conjugate gradients (Takács, Pilászy and Tikk 2011) in
    `implicit`. Users without items in the window get no list; candidates without events are in
    nobody's list.

    Parameters
    ----------
    factors : int
        Numbers in a vector.
    iterations : int
        How often the users' vectors are solved for, and then the items'.
    regularization : float
        What the squared lengths of the vectors cost; from 0.
    alpha : float
        What an event adds to the confidence in its pair.
    seed : int
        Of the vectors at the start.

    window_days, half_life_days, weights, counts : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 64
    regularization: float = 0.01
    alpha: float = 1.0
    iterations: int = 15
    seed: int = 42
    window_days: float | None = None
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    counts: bool = True

    def fit(self, train: Train) -> Self:
        """Alternate between the users' vectors and the items'."""
        from threadpoolctl import threadpool_limits

        require_whole(1, factors=self.factors, iterations=self.iterations)
        require_whole(0, seed=self.seed)
        require_above(0, alpha=self.alpha)
        require_from(0, regularization=self.regularization)
        known = compact(
            train.interactions(self.window_days, self.half_life_days, self.weights, self.counts)
        )
        with threadpool_limits(1, "blas"):  # implicit has threads of its own
            users, items = self._vectors(known.matrix)
        self.factors_ = Factors(known, users, items, train.candidates)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates of the highest scores."""
        return self.factors_.recommend(users, k, exclude)

    def _vectors(self, matrix: csr_array[Any]) -> tuple[Vectors, Vectors]:
        if matrix.nnz == 0:
            return np.zeros((0, self.factors)), np.zeros((0, self.factors))
        model = AlternatingLeastSquares(
            factors=self.factors,
            regularization=self.regularization,
            alpha=self.alpha,
            iterations=self.iterations,
            random_state=self.seed,
        )
        try:
            model.fit(narrow(matrix), show_progress=False)
        except ModelFitError as error:
            raise ParameterError(
                "the vectors grew beyond all numbers; take a larger regularization"
            ) from error
        return model.user_factors, model.item_factors
