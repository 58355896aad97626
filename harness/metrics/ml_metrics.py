"""``apk`` and ``mapk`` with the signatures of ml_metrics: lists of any items in, one number out."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def apk(
    actual: Iterable[Hashable], predicted: Sequence[Hashable] | NDArray[Any], k: int = 10
) -> float:
    """Return AP@k of one list of any items: Σ_{i≤min(k,L)} P(i)·hit(i) / min(R, k).

    hit(i) = 1 where rank i holds a true item that no rank before it holds, P(i) = hits among the
    first i ranks / i. This is the plain reference of what `harness.metrics.kernels` computes for
    many users at once, equal to the last bit.

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
    found: set[Hashable] = set()
    precision_sum = 0.0
    for i, item in enumerate(predicted[:k], start=1):
        if item in truth and item not in found:
            found.add(item)
            precision_sum += len(found) / i
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
