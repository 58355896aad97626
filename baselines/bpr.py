"""BPR: factors that put what a user had before what they had not, through `implicit`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Self

from scipy.sparse import csr_array

from harness.core.params import require_above, require_from, require_whole
from harness.models.base import Train
from harness.models.factors import FactorModel, Vectors, implicit_vectors

if find_spec("implicit") is None:
    raise ModuleNotFoundError("it needs implicit: pip install implicit")


@dataclass(eq=False)
class BPR(FactorModel):
    """Bayesian personalized ranking: vectors learned from pairs of an item with and one without.

    Rendle, Freudenthaler, Gantner and Schmidt-Thieme (2009), by stochastic gradients in `implicit`,
    in one thread, as several threads would give different results in each run. Users without
    items in the window get no list; candidates without events are in no list.

    Parameters
    ----------
    factors : int
        Numbers in a vector.
    iterations : int
        Rounds; each draws as many pairs as there are entries.
    learning_rate : float
        How far a pair moves its vectors; above 0.
    regularization : float
        The penalty on the squared lengths of the vectors; 0 or more.
    seed : int
        The seed of the first vectors and of the pairs.

    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 64
    learning_rate: float = 0.05
    regularization: float = 0.01
    iterations: int = 100
    seed: int = 42

    def fit(self, train: Train) -> Self:
        """Learn from pairs of items, iteration by iteration."""
        require_whole(1, factors=self.factors, iterations=self.iterations)
        require_whole(0, seed=self.seed)
        require_above(0, learning_rate=self.learning_rate)
        require_from(0, regularization=self.regularization)
        return super().fit(train)

    def _vectors(self, matrix: csr_array[Any]) -> tuple[Vectors, Vectors]:
        from implicit.cpu.bpr import BayesianPersonalizedRanking  # slow to import

        model = BayesianPersonalizedRanking(
            factors=self.factors,
            learning_rate=self.learning_rate,
            regularization=self.regularization,
            iterations=self.iterations,
            random_state=self.seed,
            num_threads=1,
        )
        return implicit_vectors(model, matrix, "take a smaller learning_rate")
