"""Lists and truth in, a `Tally` for every user out: the one pass over the lists.

Every metric of accuracy is a short formula over a `Tally` (`harness.metrics.ranking`), so a list is
read once however many metrics are wanted. `apk` is the plain reference, readable as the formula of
AP@k; the tests hold the two equal to the last bit.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.core.arrays import Counts, Floats, Int32, Ragged
from harness.metrics import _kernels

LARGEST = 2**31 - 1  # cut-offs and counts are int32
SCANNED_TRUTH = 128  # up to so many true items a scan per item beats a search per rank


def apk(
    actual: Iterable[Hashable], predicted: Sequence[Hashable] | NDArray[Any], k: int = 10
) -> float:
    """Return AP@k of one list of any items: Σ_{i≤min(k,L)} P(i)·hit(i) / min(R, k).

    hit(i) = 1 where rank i holds a true item that no rank before it holds, P(i) = hits among the
    first i ranks / i. This is the plain reference of what `tally` sums for many users at once,
    equal to the last bit.

    The signature of ``ml_metrics`` (benhamner/Metrics, ``average_precision.py``), and its values
    too, except that truth is a set: an item repeated in `actual` counts once.

    Raises
    ------
    ValueError
        For k below 1.

    Examples
    --------
    Hits at ranks 2 and 4 of three true items: (1/2 + 2/4)/3.

    >>> round(apk(["A", "B", "F"], ["C", "B", "E", "A", "D"], k=5), 4)
    0.3333
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    truth = set(actual)
    hits: set[Hashable] = set()
    precision_sum = 0.0
    for i, item in enumerate(predicted[:k], start=1):
        if item in truth and item not in hits:
            hits.add(item)
            precision_sum += len(hits) / i
    return precision_sum / min(len(truth), k) if truth else 0.0


def mapk(
    actual: Collection[Iterable[Hashable]],
    predicted: Collection[Sequence[Hashable] | NDArray[Any]],
    k: int = 10,
) -> float:
    """Return MAP@k, the mean of `apk` over all users, those without truth included.

    Raises
    ------
    ValueError
        For k below 1, for no users, and for truth and lists of different numbers of users:
        ``ml_metrics`` would leave the surplus out.

    Examples
    --------
    >>> mapk([["a"], ["b"]], [["a"], ["x", "b"]])
    0.75
    """
    if len(actual) != len(predicted) or len(actual) == 0:
        raise ValueError(
            f"mapk needs one list per user and at least one user, got truth of {len(actual)} "
            f"and lists of {len(predicted)} users"
        )
    return float(np.mean([apk(a, p, k) for a, p in zip(actual, predicted, strict=True)]))


@dataclass(frozen=True, eq=False)
class Tally:
    """Hits, their ranks and their sums at one cut-off; the arrays have shape (n users,).

    hit(i) = 1 when rank i holds a true item that no rank before it holds, and
    P(i) = (hits among the first i places)/i.
    """

    k: int
    """The cut-off, from 1."""
    precision_sum: Floats
    """Σ_{i≤k} P(i)·hit(i), the numerator of AP@k."""
    dcg: Floats
    """Σ_{i≤k} hit(i)/log2(i+1)."""
    hits: Int32
    """Σ_{i≤k} hit(i)."""
    early_hits: Int32
    """Σ_{i≤min(k,R)} hit(i)."""
    first_hit: Int32
    """The rank of the first hit, from 1; 0 without a hit."""
    length: Int32
    """L: the positions up to k that are not empty."""
    relevant: Int32
    """R: all true items, those without a position among the candidates included."""


def discounts(places: int) -> Floats:
    """Return 1/log2(i+1) for the ranks i = 1 … places (Burges et al., ICML 2005)."""
    return np.asarray(1.0 / np.log2(np.arange(2, places + 2)), np.float64)


def ideal_dcg(relevant: Counts, k: int) -> Floats:
    """Return Σ_{i≤min(R,k)} 1/log2(i+1) for each R, and 1 for R = 0, so that it can divide."""
    filled = np.minimum(relevant, k)
    sums = np.cumsum(discounts(int(filled.max(initial=0))))
    return np.concatenate(([1.0], sums)).take(filled)


def tally(items: Int32, truth: Ragged, k: int, relevant: Counts) -> Tally:
    """Score the first k positions of every list, (n, K), against the truth.

    -1 is an empty position; it uses its rank wherever it is. A repeated item is no second hit and
    uses its rank. `relevant` is R of each user, true items without a position included.

    Truth {2, 7}: the list 2, 9, 7 hits at ranks 1 and 3, so P(1) + P(3) = 1 + 2/3.

    >>> truth = Ragged(np.array([0, 2]), np.array([2, 7], np.int32))
    >>> counts = tally(np.array([[2, 9, 7]], np.int32), truth, 3, np.array([2]))
    >>> counts.precision_sum.round(4).tolist(), counts.hits.tolist(), counts.first_hit.tolist()
    ([1.6667], [2], [1])
    """
    _require_rows(items, truth, relevant)
    sizes = relevant.astype(np.int32)
    # Rows of two arrays, not six arrays: large memory comes in large pages, which is faster.
    precision_sum, dcg = np.empty((2, len(sizes)), np.float64)
    hits, early_hits, first_hit, length = np.empty((4, len(sizes)), np.int32)
    discount = discounts(min(k, items.shape[1]))
    longest = int(truth.sizes.max(initial=0))
    faulty = _kernels.tally(
        np.ascontiguousarray(items),
        truth.indptr,
        truth.indices,
        sizes,
        discount,
        SCANNED_TRUTH,
        np.zeros(len(discount), np.uint8),
        np.zeros(longest if longest > SCANNED_TRUTH else 0, np.uint8),
        precision_sum,
        dcg,
        hits,
        early_hits,
        first_hit,
        length,
    )
    _require_positions(faulty)
    return Tally(k, precision_sum, dcg, hits, early_hits, first_hit, length, sizes)


def ranks(items: Int32, truth: Ragged, k: int) -> Int32:
    """Return the first rank, from 1 to k, of each true item of all users; 0 where it has none."""
    _require_rows(items, truth, truth.sizes)
    first = np.zeros(len(truth.indices), np.int32)
    cut, lists = min(k, items.shape[1]), np.ascontiguousarray(items)
    _require_positions(_kernels.ranks(lists, truth.indptr, truth.indices, cut, first))
    return first


def _require_rows(items: Int32, truth: Ragged, relevant: Counts) -> None:
    """Raise ValueError where rows are missing: the loops check no bounds."""
    if not len(items) == len(truth) == len(relevant) or truth.indptr[-1] > len(truth.indices):
        raise ValueError(
            f"{len(items)} lists, {len(truth)} rows of truth up to {truth.indptr[-1]} of "
            f"{len(truth.indices)} items, and R of {len(relevant)} users; expected the same number"
        )


def _require_positions(faulty: int) -> None:
    if faulty >= 0:
        raise ValueError(
            f"user {faulty}: positions in lists are from -1, those of truth from 0 and ascending"
        )
