"""RandomItems: chance as a model, k distinct candidates drawn uniformly for each user."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Int32
from harness.models.base import Draws, Train
from harness.models.recommendations import EMPTY
from harness.models.sums import FromSums, Steps
from harness.models.topk import excluded_rows, skip_excluded


class RandomItems(FromSums):
    """Each user's list is a uniform draw without replacement, in random order.

    It is a pure function of seed, repeat and user id: neither row order nor batches nor threads
    change it. Averaged over repeats (set in the config) it approaches the exact chance value.
    """

    def fit_steps(self, train: Train) -> Steps:
        """Note how many candidates there are; nothing else is needed."""
        self.n_candidates_ = len(train.candidates)
        yield from ()

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return `k` distinct candidates for each user, fewer where fewer are left."""
        free = np.full(len(users), self.n_candidates_, np.int64)
        if exclude is not None:
            free -= np.diff(exclude.indptr)
        ranks = np.full((len(users), k), EMPTY, np.int32)
        pool = np.arange(self.n_candidates_, dtype=np.int32)
        _kernels.distinct(draws.keys(users), free, pool, np.empty(k, np.int64), ranks)
        if exclude is None:
            return ranks
        places = skip_excluded(np.maximum(ranks, 0), *excluded_rows(exclude, len(users)))
        return np.where(ranks == EMPTY, EMPTY, places).astype(np.int32)
