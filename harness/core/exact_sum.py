"""Sums that no order of their terms changes: exact, and rounded once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.core.arrays import Floats, read_only
from harness.core.jit import compiled

_MOST_PARTIALS = 64  # numbers of 53 bits that do not overlap fill a double's 2,098 bits with 40


def exact_sum(values: Floats) -> float:
    """Return the exact sum of finite numbers, (n,), rounded once: `math.fsum` of an array.

    Raises
    ------
    OverflowError
        A sum is beyond the largest number.

    Notes
    -----
    Source: Shewchuk 1997, Adaptive Precision Floating-Point Arithmetic.

    Examples
    --------
    1e16 + 1 does not fit one number; the sum keeps it.

    >>> exact_sum(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    held = np.empty(_MOST_PARTIALS)
    count = int(_partials(read_only(values), held))
    if count < 0:
        raise OverflowError("numbers too large to be added up")
    return math.fsum(held[:count].tolist())


@compiled
def _partials(values: Any, held: Any) -> int:
    """Write partials that do not overlap, smallest first; return how many, −1 if too large."""
    count = 0
    for value in values:
        x, kept = value, 0
        for i in range(count):
            y = held[i]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                held[kept] = low
                kept += 1
            x = high
        if not abs(x) < np.inf:  # beyond the largest number nothing is exact, and no place is left
            return -1
        held[kept] = x
        count = kept + 1
    return count
