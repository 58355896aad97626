"""The formulas beyond accuracy: what the lists are made of, whether they hit or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.core.arrays import Bool, Floats, Int64
from harness.core.errors import UsageError, suggest
from harness.metrics.judgments import Block
from harness.metrics.ranking import Settings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from harness.models.item_stats import Catalogue, TrainCounts

_BLOCK = 1 << 20
_LEAST = np.finfo(np.float64).tiny
"""The smallest number that 1 can be divided by."""


def novelty(b: Block, _: Settings) -> Floats:
    """Novelty@k = Σ_{i≤k} -log2 share(i) / L; an item of share 0 adds 0."""
    share = _train(b).user_share
    return _mean_over_list(b, -np.log2(np.where(share > 0, share, 1.0)))


def popularity(b: Block, _: Settings) -> Floats:
    """Popularity@k = Σ_{i≤k} count(i) / L."""
    return _mean_over_list(b, _train(b).count.astype(np.float64))


def serendipity(b: Block, _: Settings) -> Floats:
    """Serendipity@k = hits that are not among the k most popular items / k."""
    train = _train(b)
    unexpected = np.ones(len(train.count), np.bool_)
    unexpected[train.popular[: b.k]] = False
    surprising = unexpected[b.judgments.truth.indices[b.found.entry]].astype(np.float64)
    return b.sum_by_user(b.found.user, surprising) / b.k


def diversity(b: Block, settings: Settings) -> Floats:
    """ILD@k = mean over the pairs i < j ≤ k of 1 - cos(i, j); fewer than two items give 0.

    With x the items' unit vectors: Σ_{i<j} cos(i, j) = (|Σ x|² - Σ |x|²) / 2.
    """
    from scipy.sparse import csr_array  # slow to import

    unit, has_any = _unit_vectors(_catalogue(b), settings["attributes"])
    row, place = np.nonzero(b.lists >= 0)
    length = np.bincount(row, minlength=len(b))
    ends = np.concatenate(([0], np.cumsum(length)))
    shape = (len(b), len(has_any))
    lists = csr_array((np.ones(len(row)), b.lists[row, place], ends), shape=shape)
    total = lists @ unit
    together = np.asarray(total.multiply(total).sum(axis=1)).ravel()
    alone = lists @ has_any.astype(np.float64)
    pairs = length * (length - 1) / 2
    distance = 1.0 - (together - alone) / 2 / np.maximum(pairs, 1)
    return np.where(pairs > 0, np.clip(distance, 0.0, 2.0), 0.0)


def exposure(b: Block, _: Settings) -> Int64:
    """Return how often each candidate is listed."""
    return listings(b)[_catalogue(b).candidate]


def listings(b: Block) -> Int64:
    """Return how often each item is listed, candidate or not."""
    counts = np.zeros(len(_catalogue(b).candidate), np.int64)
    rows = max(1, _BLOCK // max(b.lists.shape[1], 1))
    for start in range(0, len(b), rows):
        items = b.lists[start : start + rows]
        counts += np.bincount(items[items >= 0], minlength=len(counts))
    return counts


def coverage(exposure: Int64, _: Sequence[float]) -> float:
    """Coverage@k = candidates that are in any list / candidates."""
    return float(np.count_nonzero(exposure) / max(len(exposure), 1))


def gini(exposure: Int64, _: Sequence[float]) -> float:
    """Gini@k = Σ_{i≤N} (2i - N - 1)·x_i / (N·Σ x), x_i: each candidate's listings, ascending."""
    x = np.sort(exposure)
    n, total = len(x), int(x.sum())
    if total == 0:
        return 0.0
    return int(((2 * np.arange(1, n + 1) - n - 1) * x).sum()) / (n * total)


def _catalogue(b: Block) -> Catalogue:
    assert b.judgments.catalogue is not None, "needed for items"  # noqa: S101
    return b.judgments.catalogue


def _train(b: Block) -> TrainCounts:
    train = _catalogue(b).train
    assert train is not None, "needed for training events"  # noqa: S101
    return train


def _mean_over_list(b: Block, values: Floats) -> Floats:
    """Return the mean value of the items of each list; 0 for an empty one."""
    values, total = np.append(values, 0.0), np.zeros(len(b))
    for items in b.lists.T:  # NumPy's own sum adds up in an order that hangs on the longest list
        total += values.take(items)  # −1, an empty position, takes the last: 0
    length = np.count_nonzero(b.lists >= 0, axis=1)
    return np.asarray(total / np.maximum(length, 1), np.float64)


def _unit_vectors(catalogue: Catalogue, columns: str) -> tuple[csr_array[Any], Bool]:
    """Return the items' attributes as vectors of length 1, and which items have any."""
    from scipy.sparse import csr_array, diags_array, hstack  # slow to import

    held = catalogue.attributes
    assert held is not None, "needed for attributes"  # noqa: S101
    names = list(held) if columns == "all" else columns.split("+")
    for name in names:
        if name not in held:
            raise UsageError(f'metric ILD: no item attribute "{name}"; {suggest(name, held)}')
    vectors = csr_array(hstack([held[name] for name in names]))
    largest = np.asarray(abs(vectors).max(axis=1).todense()).ravel()  # squares must not overflow
    vectors = csr_array(diags_array(1 / np.maximum(largest, _LEAST)) @ vectors)
    norm = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.where(norm > 0, norm, 1.0)) @ vectors), norm > 0
