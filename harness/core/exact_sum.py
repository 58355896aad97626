"""Sums that no order of their terms changes: exact, and rounded once."""

from __future__ import annotations

import math

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Floats

_MOST_PARTIALS = 2100  # each holds one of a double's 2,098 bits or more; the last may be 0


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
    count = _kernels.partials(np.ascontiguousarray(values, np.float64), held)
    if count < 0:
        raise OverflowError("numbers too large to be added up")
    return math.fsum(held[:count].tolist())
