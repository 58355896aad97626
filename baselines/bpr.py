"""BPR: factors that put what a user had before what they had not, through `implicit`."""

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
    from implicit.cpu.bpr import BayesianPersonalizedRanking
    from implicit.recommender_base import ModelFitError
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("it needs implicit: pip install 'submission-harness[als]'") from error


@dataclass(eq=False)
class BPR:
    """Vectors of users and items, learnt from pairs: one item that the user had, one that not.

    Rendle, Freudenthaler, Gantner and Schmidt-Thieme (2009), by stochastic gradients in `implicit`,
    in one thread, since several would write over each other in another order every time. Users
    without items in the window get no list; candidates without events are in nobody's list.

    Parameters
    ----------
    factors : int
        Numbers in a vector.
    iterations : int
        How often as many pairs are drawn as there are entries.
    learning_rate : float
        How far a pair moves its vectors; above 0.
    regularization : float
        What the squared lengths of the vectors cost; from 0.
    seed : int
        Of the vectors at the start and of the pairs.

    window_days, half_life_days, weights, counts : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 64
    learning_rate: float = 0.05
    regularization: float = 0.01
    iterations: int = 100
    seed: int = 42
    window_days: float | None = None
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    counts: bool = False

    def fit(self, train: Train) -> Self:
        """Learn from pairs of items, iteration by iteration."""
        require_whole(1, factors=self.factors, iterations=self.iterations)
        require_whole(0, seed=self.seed)
        require_above(0, learning_rate=self.learning_rate)
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
        if matrix.nnz == 0:
            return np.zeros((0, self.factors)), np.zeros((0, self.factors))
        model = BayesianPersonalizedRanking(
            factors=self.factors,
            learning_rate=self.learning_rate,
            regularization=self.regularization,
            iterations=self.iterations,
            random_state=self.seed,
            num_threads=1,
        )
        try:
            model.fit(narrow(matrix), show_progress=False)
        except ModelFitError as error:
            raise ParameterError(
                "the vectors grew beyond all numbers; take a smaller learning_rate"
            ) from error
        return model.user_factors, model.item_factors
