"""A model's marks against chance: the lift, and whether it is more than luck."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness.metrics import Floats, Metric
from harness.scoring import ScoreTable, mean

if TYPE_CHECKING:
    from harness.chance import Moments

Word = Literal["better", "not distinguishable", "worse"]

LEVEL = 0.05
"""Verdicts are two-sided at this level; intervals cover 1 − LEVEL."""


@dataclass(frozen=True)
class Verdict:
    """How a model stands against chance.

    Attributes
    ----------
    lift : float
        Its mean over the exact mean of a random ranking; NaN where that is 0.
    z : float
        The mean paired difference from each user's chance value, in standard errors.
    p : float
        Two-sided, from Student's t with n − 1 degrees of freedom.
    """

    lift: float
    z: float
    p: float
    word: Word


def against_chance(table: ScoreTable, metric: Metric, chance: Moments) -> Verdict:
    """Return the paired verdict on a model against each user's exact chance value.

    The difference of a user is their mean over repeats less their chance value. Its standard
    error is the larger of two: the one observed over users, and the exact one of a random
    ranking. The first alone calls a model with no hit at all significantly bad, however few hits
    chance would have had; the second alone knows nothing of how the model's own marks vary.

    Examples
    --------
    Two users, chance 1/2 each; the model earns 1 and 1/2: the mean difference is 1/4, with
    standard error max(√(1/8 / 2), √(2 · 1/4) / 2) = 0.354.

    >>> import numpy as np
    >>> from harness.chance import Moments
    >>> from harness.metrics import parse
    >>> table = ScoreTable({parse("MAP@1"): np.array([[1.0, 0.5]])})
    >>> chance = Moments(np.array([0.5, 0.5]), np.array([0.25, 0.25]))
    >>> verdict = against_chance(table, parse("MAP@1"), chance)
    >>> round(verdict.lift, 2), round(verdict.z, 3), verdict.word
    (1.5, 0.707, 'not distinguishable')
    """
    values = table.of_users(metric)
    difference = mean(values - chance.mean)
    observed = standard_error(values - chance.mean)
    exact = math.sqrt(math.fsum(chance.var.tolist()) / table.repeats) / len(values)
    error = max(observed, exact)
    z = difference / error if error > 0 else 0.0
    p = two_sided_p(z, len(values))
    floor = mean(chance.mean)
    return Verdict(mean(values) / floor if floor > 0 else math.nan, z, p, _word(difference, p))


def _word(difference: float, p: float) -> Word:
    if p >= LEVEL:
        return "not distinguishable"
    return "better" if difference > 0 else "worse"


def standard_error(values: Floats) -> float:
    """Return the standard error of the mean over users; 0 for a single user."""
    n = len(values)
    if n < 2:
        return 0.0
    centred = values - mean(values)
    return math.sqrt(math.fsum((centred * centred).tolist()) / (n - 1) / n)


def two_sided_p(z: float, n: int) -> float:
    """Return the chance of a t statistic at least as far from 0 as `z`, n − 1 degrees of freedom.

    A single user shows no spread, so nothing can be told: 1.
    """
    from scipy import special  # slow to import

    return 1.0 if n < 2 else float(2 * special.stdtr(n - 1, -abs(z)))


def interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % t interval of the mean over users.

    Source: Student 1908; mean ± t_{0.975, n−1} · s/√n.
    """
    middle, n = mean(values), len(values)
    if n < 2:
        return middle, middle
    from scipy import special  # slow to import

    half = float(special.stdtrit(n - 1, 1 - LEVEL / 2)) * standard_error(values)
    return middle - half, middle + half
