"""Intervals of a mean over users: one that knows of skewness, Student's, the bootstrap's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from harness.core.arrays import Floats
from harness.core.exact_sum import exact_sum

Interval = tuple[float, float]

LEVEL = 0.05
"""Tests are two-sided at this level; intervals cover 1 − LEVEL."""


@dataclass(frozen=True)
class Sample:
    """What a sample of n values tells of their mean.

    Attributes
    ----------
    error : float
        The standard error s/√n, s with n − 1; 0 for a single value.
    skewness : float
        Of the mean: that of the values, m₃/s³, over √n; 0 where no value differs.
    """

    n: int
    mean: float
    error: float
    skewness: float

    @classmethod
    def of(cls, values: Floats) -> Sample:
        """Return what `values`, (n,), tell."""
        n, others = len(values), values[values != 0]  # most are 0, and are added up at once
        middle, zeros = exact_sum(others) / n, n - len(others)
        if n < 2 or values.min() == values.max():
            return cls(n, float(values[0]), 0.0, 0.0)
        centred = others - middle
        deviation = math.sqrt((exact_sum(centred * centred) + zeros * middle**2) / (n - 1))
        if deviation == 0:  # too small to be squared
            return cls(n, middle, 0.0, 0.0)
        third = exact_sum((centred / deviation) ** 3) - zeros * (middle / deviation) ** 3
        return cls(n, middle, deviation / math.sqrt(n), third / n / math.sqrt(n))


def student(sample: Sample) -> Interval | None:
    """Return the t interval, mean ± t_{0.975, n−1} · s/√n; None for a single user.

    Source: Student 1908.
    """
    if sample.n < 2:
        return None
    half = _t_quantile(1 - LEVEL / 2, sample.n - 1) * sample.error
    return sample.mean - half, sample.mean + half


def percentile(resampled: Floats) -> Interval:
    """Return the ends between which 95 % of the resampled means lie, (B,).

    Source: Efron 1979, the percentile method.
    """
    low, high = np.quantile(resampled, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def skewed(values: Floats, low: float = -math.inf, high: float = math.inf) -> Interval | None:
    """Return the interval of a mean of skewed values that lie from `low` to `high`.

    Most users score 0 and a few score high, so the t statistic of a mean leans to the left, and
    Student's interval misses the truth more often than it says (7 to 17 % for 50 to 10 hits).
    Hall's transformation of the statistic takes the skewness out.

    Returns
    -------
    (float, float) or None
        Within `low` and `high`; None for a single user, and where all have one value in between,
        which show no spread.

    Notes
    -----
    Source: Hall 1992, On the removal of skewness by transformation, JRSS B 54: with T the t
    statistic and a = skewness/√n, g(T) = T + a·T²/3 + a²·T³/27 + a/6 is normal but for terms of
    1/n. Where every user has the lowest (or highest) value there is, the other end is that of a
    share of which none was seen: 1 − 0.025^(1/n) of the range (Clopper and Pearson 1934).

    Examples
    --------
    No hit among 100 users: up to 3.6 % could have one.

    >>> low, high = skewed(np.zeros(100), 0, 1)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    sample = Sample.of(values)
    if sample.n < 2:
        return None
    if sample.error == 0:
        return _of_one_value(sample, low, high)
    quantile = _t_quantile(1 - LEVEL / 2, sample.n - 1)
    ends = (sample.mean - sample.error * back(z, sample.skewness) for z in (quantile, -quantile))
    first, last = ends
    return max(first, low), min(last, high)


def _of_one_value(sample: Sample, low: float, high: float) -> Interval | None:
    reach = (high - low) * (1 - (LEVEL / 2) ** (1 / sample.n))
    if sample.mean not in (low, high) or not math.isfinite(reach):
        return None
    return (float(low), low + reach) if sample.mean == low else (high - reach, float(high))


def forth(t: float, skewness: float) -> float:
    """Return Hall's g(T), which is normal where T is the t statistic of a skewed mean."""
    return t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6


def back(z: float, skewness: float) -> float:
    """Return the T whose g(T) is z: 3((1 + a(z − a/6))^⅓ − 1)/a, without dividing by a small a."""
    step = z - skewness / 6
    root = math.cbrt(1 + skewness * step)
    return 3 * step / (root * root + root + 1)


def _t_quantile(share: float, freedom: int) -> float:
    from scipy import special  # slow to import

    return float(special.stdtrit(freedom, share))
