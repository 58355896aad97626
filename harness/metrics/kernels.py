"""Lists and truth in, a `Tally` for every user out: the one pass over the lists.

Every metric of accuracy is a short formula over a `Tally` (`harness.metrics.ranking`), so a list is
read once however many metrics are wanted. `apk` is the plain reference, readable as the formula of
AP@k; the tests hold the two equal to the last bit.
"""

import operator
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.core.arrays import Counts, Floats, Int32, Int64
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


def tally(
    items: Int32,
    truth_indptr: Counts,
    truth_indices: Int32,
    k: int,
    *,
    relevant: Counts | None = None,
) -> Tally:
    """Score the first k positions of every list against the truth.

    Parameters
    ----------
    items : (n, K) int32
        One list a row, best first. -1 is an empty position; it uses its rank wherever it is. A
        repeated item is no second hit and uses its rank. If K < k, the missing positions are empty.
    truth_indptr, truth_indices : (n + 1,) integer and (nnz,) int32
        The truth as CSR: a user's row holds positions from 0, each once, ascending.
    k : int
        The cut-off, from 1.
    relevant : (n,) integer, optional
        R for users whose truth also holds items without a position; by default the row lengths.

    Raises
    ------
    ValueError
        For any other type or shape, a CSR that is none, a row of truth that is not ascending, an
        item below -1, an R below the row's length, and k below 1.

    Examples
    --------
    Truth {2, 7}: the list 2, 9, 7 hits at ranks 1 and 3, so P(1) + P(3) = 1 + 2/3.

    >>> counts = tally(np.array([[2, 9, 7]], np.int32), np.array([0, 2]),
    ...                np.array([2, 7], np.int32), k=3)
    >>> counts.precision_sum.round(4).tolist(), counts.hits.tolist(), counts.first_hit.tolist()
    ([1.6667], [2], [1])
    """
    k = _count("k", k)
    lists, starts, true = _checked(items, truth_indptr, truth_indices)
    rows = np.diff(starts)
    sizes = _relevant(relevant, rows)
    # Rows of two arrays, not six arrays: large memory comes in large pages, which is faster.
    precision_sum, dcg = np.empty((2, len(sizes)), np.float64)
    hits, early_hits, first_hit, length = np.empty((4, len(sizes)), np.int32)
    discount = discounts(min(k, items.shape[1]))
    longest = int(rows.max(initial=0))
    faulty = _kernels.tally(
        lists,
        starts,
        true,
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
    if faulty >= 0:
        raise ValueError(_describe_fault(faulty, lists[:, :k], starts, true))
    return Tally(k, precision_sum, dcg, hits, early_hits, first_hit, length, sizes)


def ranks(
    items: Int32,
    truth_indptr: Counts,
    truth_indices: Int32,
    k: int,
) -> Int32:
    """Return the first rank, from 1 to k, of each true item; 0 where it is not listed.

    Parameters and errors are those of `tally`; the result has one entry a true item, (nnz,).

    Examples
    --------
    >>> ranks(np.array([[9, 2, 2]], np.int32), np.array([0, 2]), np.array([2, 7], np.int32), k=3)
    array([2, 0], dtype=int32)
    """
    k = _count("k", k)
    lists, starts, true = _checked(items, truth_indptr, truth_indices)
    first = np.zeros(len(truth_indices), np.int32)
    faulty = _kernels.ranks(lists, starts, true, min(k, items.shape[1]), first)
    if faulty >= 0:
        raise ValueError(_describe_fault(faulty, lists[:, :k], starts, true))
    return first


def _checked(items: Any, indptr: Any, indices: Any) -> list[NDArray[Any]]:
    """Return lists and truth as the loops take them."""
    _require_int32("items", items, dimensions=2)
    _require_int32("truth_indices", indices, dimensions=1)
    _require_integers("truth_indptr", indptr, (len(items) + 1,))
    if indptr[0] != 0 or indptr[-1] != len(indices):
        raise ValueError(
            f"truth_indptr must run from 0 to {len(indices)}, the length of truth_indices; "
            f"it runs from {indptr[0]} to {indptr[-1]}"
        )
    # Compared, not subtracted: a difference of unsigned numbers is never negative.
    falling = indptr[1:] < indptr[:-1]
    if falling.any():
        raise ValueError(f"truth_indptr must not fall, it does at user {falling.argmax()}")
    pairs = (items, np.int32), (indptr, np.int64), (indices, np.int32)
    return [np.ascontiguousarray(array, dtype) for array, dtype in pairs]


def _count(name: str, value: int) -> int:
    """Return a whole number from 1 that fits int32."""
    number = operator.index(value) if hasattr(value, "__index__") else None
    if number is None or not 1 <= number <= LARGEST:
        raise ValueError(f"{name} must be a whole number from 1 to {LARGEST}, got {value!r}")
    return number


def _require_int32(name: str, array: object, dimensions: int) -> None:
    wanted = isinstance(array, np.ndarray) and array.ndim == dimensions and array.dtype == np.int32
    if not wanted:
        raise ValueError(f"{name} must be a {dimensions}-d int32 array, got {_seen(array)}")


def _require_integers(name: str, array: object, shape: tuple[int, ...]) -> None:
    wanted = isinstance(array, np.ndarray) and array.shape == shape and array.dtype.kind in "iu"
    if not wanted:
        raise ValueError(f"{name} must be an integer array of shape {shape}, got {_seen(array)}")


def _seen(thing: object) -> str:
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype} of shape {thing.shape}"
    return type(thing).__name__


def _relevant(relevant: Counts | None, rows: Counts) -> Int32:
    """Return R of every user, never below the true items that have a position."""
    if relevant is None:
        return rows.astype(np.int32)
    _require_integers("relevant", relevant, rows.shape)
    wrong = (relevant < rows) | (relevant > LARGEST)
    if wrong.any():
        user = int(wrong.argmax())
        raise ValueError(
            f"relevant must be from {rows[user]} (the truth items with a position) to {LARGEST} "
            f"for user {user}, got {relevant[user]}"
        )
    return relevant.astype(np.int32)


def _describe_fault(user: int, items: Int32, indptr: Int64, indices: Int32) -> str:
    lowest = items[user].min(initial=0)
    if lowest < -1:
        return f"items of user {user} hold {lowest}; a position is from 0, an empty one is -1"
    row = indices[indptr[user] : indptr[user + 1]]
    wrong = int((row <= np.concatenate(([-1], row[:-1]))).argmax())
    entries = ", ".join(map(str, row[max(wrong - 1, 0) : wrong + 1]))
    return f"truth_indices of user {user} must be from 0, each once, ascending; found {entries}"
