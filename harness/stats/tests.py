"""Tests of mean paired differences, minimum detectable differences, corrections for many tests."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from harness.core.arrays import Floats
from harness.stats.intervals import LEVEL, Sample

POWER = 0.8
RISK = 0.01
"""The chance that any verdict that is not called borderline would be another by all signs."""
_TIE = 1e-8  # of all that is summed: sums that differ by less differ as values were rounded


def t_test(sample: Sample) -> float:
    """Return the two-sided p value of Student's t test that the mean of differences is 0.

    Of differences that are all alike: 0, or 1 where they are 0 or there is no degree of freedom.
    """
    if sample.freedom <= 0 or sample.mean == 0:
        return 1.0
    if sample.error == 0:
        return 0.0
    from scipy import special  # slow to import

    return float(2 * special.stdtr(sample.freedom, -abs(sample.mean / sample.error)))


def randomization_test(total: float, absolute: float, flipped: Floats) -> float:
    """Return the two-sided p value of the randomization test that either sign is as likely.

    It is (b + 1)/(B + 1), b of the B sums under random signs, `flipped`, being at least as far from
    0 as the `total` of the users' differences; `absolute` is the sum of their sizes. Source: Fisher
    1935; the + 1 counts the signs as they are (Phipson and Smyth 2010).

    >>> randomization_test(1.5, 1.5, np.array([1.5, 0.5, -0.5, -1.5]))  # of 1 and 1/2
    0.6
    """
    reached = np.abs(flipped) >= abs(total) - _TIE * absolute
    return (int(reached.sum()) + 1) / (len(flipped) + 1)


def deciding_draws(pairs: int) -> int:
    """Return the fewest draws after which `bounds` can be below 0.05 over the number of pairs.

    >>> deciding_draws(1)  # (1 − 0.05)^104 = 0.0048, at most half of the risk of 0.01
    104
    """
    return math.ceil(math.log(RISK / pairs / 2) / math.log1p(-LEVEL / pairs))


def bounds(p: ArrayLike, draws: int, pairs: int) -> tuple[Floats, Floats]:
    """Return between what the p values of all assignments of signs lie, by those of some draws.

    Any of the intervals of all `pairs` misses with a chance of at most 0.01. Source: Clopper and
    Pearson 1934, of b of B, at a level of 1 − 0.01/pairs; Gandy 2009 decides a verdict where the
    interval lies on one side of the level.
    """
    from scipy import special  # slow to import

    reached = np.round(np.asarray(p, np.float64) * (draws + 1)) - 1
    tail, missed = RISK / pairs / 2, draws - reached
    low = np.where(reached > 0, special.betaincinv(np.maximum(reached, 1), missed + 1, tail), 0)
    high = np.where(missed > 0, special.betaincinv(reached + 1, np.maximum(missed, 1), 1 - tail), 1)
    return low, high


def minimum_detectable_difference(sample: Sample) -> float | None:
    """Return the smallest true difference that a t test at 5 % finds with a chance of 80 %.

    (t_{0.975} + t_{0.8}) · s/√n, n − 1 degrees of freedom; None without one, or without a spread.

    Source: Bloom 1995, Minimum detectable effects.
    """
    if sample.freedom <= 0 or sample.error == 0:
        return None
    from scipy import special  # slow to import

    quantiles = special.stdtrit(sample.freedom, [1 - LEVEL / 2, POWER])
    return float(quantiles.sum() * sample.error)


def effect_size(sample: Sample) -> float | None:
    """Return the mean in standard deviations (Cohen's d_z, 1988); None where there is no spread."""
    return sample.mean / (sample.error * math.sqrt(sample.n)) if sample.error > 0 else None


def holm(p: ArrayLike) -> Floats:
    """Return p values such that rejecting below α errs anywhere with a chance of at most α.

    Source: Holm 1979: the i-th smallest of m times m − i + 1, none below the one before it.
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    corrected = np.empty(len(values))
    corrected[order] = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1.0))
    return np.minimum(corrected, 1.0)


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Return p values such that of what is rejected below α, a share of α is false on average.

    Source: Benjamini and Hochberg 1995: the i-th smallest of m times m/i, none above the next.
    """
    from scipy import stats  # slow to import

    return np.asarray(stats.false_discovery_control(np.asarray(p, np.float64)), np.float64)


CORRECTIONS: dict[str, Callable[[ArrayLike], Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
}
