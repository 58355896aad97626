"""ALS: implicit alternating least squares, through the library `implicit` (extra als)."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Self

from scipy.sparse import csr_array

from harness.core.params import require_above, require_from, require_whole
from harness.models.base import Train
from harness.models.factors import FactorModel, Vectors, implicit_vectors

if find_spec("implicit") is None:
    raise ModuleNotFoundError("it needs implicit: pip install implicit")


@dataclass(eq=False)
class ALS(FactorModel):
    """Matrix factorization by alternating least squares on implicit feedback.

    Hu, Koren and Volinsky (2008), solved by conjugate gradients (Takács, Pilászy and Tikk 2011) in
    `implicit`. Users without items in the window get no list; candidates without events are in
    no list.

    Parameters
    ----------
    factors : int
        Numbers in a vector.
    iterations : int
        How often it solves for the users' vectors and then the items'.
    regularization : float
        The penalty on the squared lengths of the vectors; 0 or more.
    alpha : float
        How much an event adds to the confidence in its pair.
    seed : int
        The seed of the first vectors.

    window_days, half_life_days, weights, counts, values : optional
        Which events count and how much: `harness.models.base.Train.interactions`.
    """

    factors: int = 64
    regularization: float = 0.01
    alpha: float = 1.0
    iterations: int = 15
    seed: int = 42
    counts: bool = field(default=True, kw_only=True)

    def fit(self, train: Train) -> Self:
        """Alternate between the users' vectors and the items'."""
        require_whole(1, factors=self.factors, iterations=self.iterations)
        require_whole(0, seed=self.seed)
        require_above(0, alpha=self.alpha)
        require_from(0, regularization=self.regularization)
        return super().fit(train)

    def _vectors(self, matrix: csr_array[Any]) -> tuple[Vectors, Vectors]:
        from implicit.cpu.als import AlternatingLeastSquares  # slow to import
        from threadpoolctl import threadpool_limits

        # Behind the import, which may load another BLAS; implicit has threads of its own.
        with threadpool_limits(1, "blas"):
            model = AlternatingLeastSquares(
                factors=self.factors,
                regularization=self.regularization,
                alpha=self.alpha,
                iterations=self.iterations,
                random_state=self.seed,
            )
            return implicit_vectors(model, matrix, "take a larger regularization")
