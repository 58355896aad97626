"""A model's values against a random ranking's: the lift, and whether it is more than luck."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from harness.core.arrays import Floats
from harness.core.exact_sum import exact_sum
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean
from harness.stats.chance_law import Law
from harness.stats.intervals import LEVEL, Sample, forth

Word = Literal["better", "not distinguishable", "worse"]

_WIDER = 2.3263  # standard errors: a random ranking's scores look wider in 1 % of evaluation sets


@dataclass(frozen=True)
class Verdict:
    """A model against chance.

    Attributes
    ----------
    lift : float, optional
        Its mean over the exact mean of a random ranking; None where that is 0.
    z : float
        How many standard deviations of a random ranking's mean it lies from its mean.
    p : float
        Two-sided: the chance that a random ranking lies as far out.
    verdict : str
        ``better``, ``worse`` or ``not distinguishable``.
    """

    lift: float | None
    z: float
    p: float
    verdict: str


def against_chance(table: ScoreTable, metric: Metric, law: Law) -> Verdict:
    """Return whether a model's mean is one that a uniformly random ranking would have.

    The mean of random rankings has an exact mean, standard deviation and skewness; its tails are
    those of the gamma distribution that has the same three (Pearson's type III), but the lower one
    is never less than the chance of no hit at all.

    A model that is not random may have the same mean and yet vary more from user to user, so that
    its mean is less certain. Where its scores are spread more widely than chance would spread them,
    the larger of two p values holds: this one, or that of their own spread (`_of_spread`).

    Examples
    --------
    Two users, chance 1/2 each with variance 1/4; the model scores 1 and 1/2: 1/4 above the mean,
    the standard deviation is √(2 · 1/4)/2, so z = 0.707, which normal tails reach in 48 %.

    >>> import numpy as np
    >>> from harness.stats.chance import Law
    >>> from harness.metrics import parse
    >>> table = ScoreTable({parse("MAP@1"): np.array([[1.0, 0.5]])})
    >>> half = np.array([0.5, 0.5])
    >>> verdict = against_chance(table, parse("MAP@1"), Law(half, half / 2, 0 * half, half))
    >>> round(verdict.lift, 2), round(verdict.z, 3), round(verdict.p, 2), verdict.verdict
    (1.5, 0.707, 0.48, 'not distinguishable')
    """
    values = table.of_users(metric)
    repeats = _independent(table.values[metric], values, law)
    floor, deviation, skewness = law.of_mean(repeats)
    difference = mean(values - law.mean)
    z = difference / deviation if deviation > 0 else 0.0
    p = _two_sided(z, skewness, law.of_no_hit(repeats)) if deviation > 0 else 1.0
    if _wider(values, law, repeats):
        p = max(p, _of_spread(values - law.mean))
    return Verdict(mean(values) / floor if floor > 0 else None, z, p, _word(difference, p))


def _word(difference: float, p: float) -> Word:
    if p >= LEVEL:
        return "not distinguishable"
    return "better" if difference > 0 else "worse"


def _two_sided(z: float, skewness: float, none: float) -> float:
    """Return twice the smaller tail of Pearson's type III distribution at z.

    With skewness γ and s = 4/γ², s + z·√s is gamma distributed with shape s; γ < 0 is its mirror.
    """
    from scipy import special  # slow to import

    if abs(skewness) < 1e-6:  # too many hits to tell from a normal distribution
        below, above = float(special.ndtr(z)), float(special.ndtr(-z))
    else:
        shape = 4 / skewness**2
        at = max(shape + math.copysign(z, z * skewness) * math.sqrt(shape), 0.0)
        below, above = float(special.gammainc(shape, at)), float(special.gammaincc(shape, at))
        if skewness < 0:
            below, above = above, below
    return min(1.0, 2 * min(max(below, none), above))


def _independent(values: Floats, averages: Floats, law: Law) -> float:
    """Return how many independent repeats would be averaged as well as these.

    If repeats are independent, the squares of users' averages are those of single scores divided by
    the number of repeats; repeats that are all alike count as one.
    """
    repeats = len(values)
    single = mean(((values - law.mean) ** 2).ravel())
    averaged = mean((averages - law.mean) ** 2)
    return min(max(single / averaged, 1.0), float(repeats)) if averaged > 0 else float(repeats)


def _wider(values: Floats, law: Law, repeats: float) -> bool:
    """Return whether scores are spread more than a random ranking's of the same mean would be.

    Their mean square over their mean grows with the spread, and hardly depends on how many hits
    there are; its standard error is that of a ratio of means.
    """
    total = exact_sum(values)
    if total <= 0 or len(values) < 2:
        return False
    ratio = exact_sum(values**2) / total
    expected = exact_sum(law.var / repeats + law.mean**2) / exact_sum(law.mean)
    error = math.sqrt(exact_sum((values**2 - ratio * values) ** 2)) / total
    return ratio - expected > _WIDER * error


def _of_spread(differences: Floats) -> float:
    """Return the two-sided p value of the t statistic, its skewness taken out by Hall's g."""
    from scipy import special  # slow to import

    sample = Sample.of(differences)
    if sample.error == 0:
        return 1.0
    g = forth(sample.mean / sample.error, sample.skewness)
    return float(2 * special.stdtr(sample.n - 1, -abs(g)))


_AGAINST_CHANCE = {
    "not distinguishable": "no better than chance",
    "worse": "worse than chance",
}


def chance_word(verdict: str) -> str:
    """Return a verdict against chance as readers are shown it.

    Examples
    --------
    >>> chance_word("better"), chance_word("worse"), chance_word("not distinguishable")
    ('better', 'worse than chance', 'no better than chance')
    """
    return _AGAINST_CHANCE.get(verdict, verdict)
