"""Blend: the lists of several models as one, by weighted reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Int32, Int64
from harness.core.errors import in_toml
from harness.core.params import ParameterError, is_number, require_from, require_whole
from harness.models.base import Draws
from harness.models.bases import Ensemble
from harness.models.recommendations import EMPTY
from harness.models.topk import ask

_WHOLE = 62
"""Shares are whole numbers whose sum is at most 2 to this power, which int64 holds."""
_LAST = 20
"""The last bits of a sum, which the rounding of shares may have touched."""


@dataclass(eq=False)
class Blend(Ensemble):
    """Reciprocal rank fusion: candidates by Σ over base models of weight / (constant + rank).

    Ranks start at 1. A model that does not list a candidate adds 0; ties go by item id ascending.
    Only ranks count, so the models' scores can have different scales. Source: Cormack,
    Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods, SIGIR 2009, with constant 60 and without weights.

    Parameters
    ----------
    models : list of recommenders
        The base models; in a config: ``of``.
    weights : list of float, optional
        The weight of each model, above 0; 1 by default.
    depth : int
        How many ranks of each model's list count; at least k.
    constant : float
        0 or more; the larger it is, the less the first ranks dominate.

    Examples
    --------
    Lists ``a b`` and ``b c`` with constant 60: b has 1/62 + 1/61, a has 1/61, c has 1/62.
    """

    weights: Sequence[float] | None = None
    depth: int = 100
    constant: float = 60

    def require_parameters(self) -> None:
        """Raise ParameterError where a parameter cannot be."""
        super().require_parameters()
        _require_weights(self.weights, len(self.models))
        require_whole(1, depth=self.depth)
        require_from(0, constant=self.constant)

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return each user's candidates of the highest sums."""
        depth = min(max(k, self.depth), self.n_candidates_)
        fused = np.full((len(users), k), EMPTY, np.int32)
        n = self.n_candidates_
        lists = np.stack([ask(model, users, depth, n, draws, exclude) for model in self.models_])
        sums, best = np.zeros(n, np.int64), np.zeros(k, np.int64)
        if k > 0:
            _kernels.fuse(lists, self._shares(depth), _LAST, sums, best, fused)
        return fused

    def _shares(self, depth: int) -> Int64:
        """Return what each rank of each model's list adds, (models, depth)."""
        # Whole numbers: their sum does not depend on the order of the models.
        n = len(self.models)
        weights = np.ones(n) if self.weights is None else np.array(self.weights, float)
        weights /= weights.max()
        shares = weights[:, None] / (float(self.constant) + np.arange(1, depth + 1))
        largest = shares.max(axis=1, initial=0).sum()
        whole: npt.NDArray[Any] = np.floor(np.ldexp(shares / (largest or 1), _WHOLE))
        return np.maximum(whole.astype(np.int64), 1)  # however little a weight, it lists its items


def _require_weights(weights: object, models: int) -> None:
    """Raise ValueError where there is not one weight above 0 for each model."""
    if weights is None:
        return
    if not isinstance(weights, (list, tuple)) or len(weights) != models:
        raise ParameterError(
            f"weights is {in_toml(weights)}; expected a list of {models}, one for each model"
        )
    for weight in weights:
        if not is_number(weight) or weight <= 0:
            raise ParameterError(f"weights holds {in_toml(weight)}; expected numbers above 0")
