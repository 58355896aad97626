"""RandomItems: chance as a model, k distinct candidates drawn uniformly for each user."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32, Int64, UInt64
from harness.core.jit import compiled
from harness.models.base import Draws, Train
from harness.models.recommendations import EMPTY
from harness.models.topk import excluded_rows, skip_excluded


class RandomItems:
    """Each user's list is a uniform draw without replacement, in random order.

    It is a pure function of seed, repeat and user id: neither row order nor batches nor threads
    change it. Averaged over repeats (set in the config) it approaches the exact chance value.
    """

    def fit(self, train: Train) -> Self:
        """Note how many candidates there are; nothing else is needed."""
        self.n_candidates_ = len(train.candidates)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return `k` distinct candidates for each user, fewer where fewer are left."""
        free = np.full(len(users), self.n_candidates_, np.int64)
        if exclude is not None:
            free -= np.diff(exclude.indptr)
        ranks: Int32 = _distinct(draws.keys(users), free, self.n_candidates_, k)
        if exclude is None:
            return ranks
        places = skip_excluded(np.maximum(ranks, 0), *excluded_rows(exclude, len(users)))
        return np.where(ranks == EMPTY, EMPTY, places).astype(np.int32)


@compiled
def _distinct(keys: UInt64, free: Int64, largest: int, k: int) -> Int32:
    """Return `k` distinct whole numbers below ``free[i]`` for each key, −1 where they run out.

    A Fisher–Yates shuffle that stops after k exchanges, then takes them back, so that a row costs k
    steps however many candidates there are.
    """
    lists = np.full((len(keys), k), EMPTY, np.int32)
    pool = np.arange(largest, dtype=np.int32)
    swapped = np.empty(k, np.int64)
    for row in range(len(keys)):
        state = keys[row]
        taken = min(k, free[row])
        for place in range(taken):
            state, offset = _below(state, np.uint64(free[row] - place))
            other = place + np.int64(offset)
            pool[place], pool[other] = pool[other], pool[place]
            swapped[place] = other
            lists[row, place] = pool[place]
        for place in range(taken - 1, -1, -1):
            other = swapped[place]
            pool[place], pool[other] = pool[other], pool[place]
    return lists


@compiled
def _below(state: np.uint64, bound: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the next state of a SplitMix64 stream and a uniform number below `bound` < 2³².

    Lemire's method (2019): the high half of a 32-bit draw times the bound, refusing the few
    draws that would favour some numbers, so that every number is exactly as likely.
    """
    low_half = np.uint64(0xFFFFFFFF)
    threshold = (np.uint64(1) << np.uint64(32)) % bound
    while True:
        state += np.uint64(0x9E3779B97F4A7C15)
        z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        product = ((z ^ (z >> np.uint64(31))) >> np.uint64(32)) * bound
        if (product & low_half) >= threshold:
            return state, product >> np.uint64(32)
