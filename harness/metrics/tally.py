"""What one list earned at one cut-off: the sums that most metrics are a formula over."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.integer[Any]]

LARGEST = 2**31 - 1  # cut-offs and counts are int32


@dataclass(frozen=True, eq=False)
class Tally:
    """What each user's list earned at one cut-off; the arrays have shape (n users,).

    hit(i) = 1 when place i holds a truth item that no place before it holds, and
    P(i) = (hits among the first i places)/i.
    """

    k: int
    """The cut-off, from 1."""
    precision_sum: Floats
    """Σ_{i≤k} P(i)·hit(i), the numerator of AP@k."""
    dcg: Floats
    """Σ_{i≤k} hit(i)/log2(i+1)."""
    hits: NDArray[np.int32]
    """Σ_{i≤k} hit(i)."""
    early_hits: NDArray[np.int32]
    """Σ_{i≤min(k,R)} hit(i)."""
    first_hit: NDArray[np.int32]
    """The rank of the first hit, from 1; 0 without a hit."""
    length: NDArray[np.int32]
    """L: the places up to k that are not empty."""
    relevant: NDArray[np.int32]
    """R: all truth items, those without a position among the candidates included."""


def discounts(places: int) -> Floats:
    """Return 1/log2(i+1) for the ranks i = 1 … places, shape (places,), float64.

    Source: Burges et al., Learning to Rank using Gradient Descent, ICML 2005.

    Examples
    --------
    >>> discounts(3).round(4).tolist()
    [1.0, 0.6309, 0.5]
    """
    return np.asarray(1.0 / np.log2(np.arange(2, places + 2)), np.float64)


def ideal_dcg(relevant: Counts, k: int) -> Floats:
    """Return Σ_{i≤min(R,k)} 1/log2(i+1) for each R, and 1 for R = 0, so that it can divide.

    Examples
    --------
    >>> ideal_dcg(np.array([0, 1, 5]), k=2).round(4).tolist()
    [1.0, 1.0, 1.6309]
    """
    filled = np.minimum(relevant, k)
    sums = np.cumsum(discounts(int(filled.max(initial=0))))
    return np.concatenate(([1.0], sums)).take(filled)
