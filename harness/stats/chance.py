"""A model's values against a random ranking's: the lift, and whether it is more than luck."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from harness.core.exact_sum import Exact, Sums
from harness.metrics import Metric
from harness.stats.chance_law import LawOfAll
from harness.stats.folds import Folds
from harness.stats.intervals import LEVEL, Sample, forth, in_threads, moments

Word = Literal["better", "no better than chance", "worse than chance"]

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
        ``better`` or ``worse than chance`` if p is below 0.05; else ``no better than chance``.
    """

    lift: float | None
    z: float
    p: float
    verdict: Word


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Whether models' means are such as a random ranking would have.

    The mean of random rankings has an exact mean, standard deviation and skewness; its tails are
    those of the gamma distribution that has the same three (Pearson's type III), but the lower one
    is never less than the chance of no hit at all.

    A model that is not random may have the same mean and yet vary more from user to user, so that
    its mean is less certain. Where its scores are spread more widely than chance would spread them,
    the larger of two p values holds: this one, or that of their own spread (`_of_spread`).

    Parts have tables, and the `law` of each user's score under the metric.

    Examples
    --------
    Two users, chance 1/2 each with variance 1/4; the model scores 1 and 1/2: 1/4 above the mean,
    the standard deviation is √(2 · 1/4)/2, so z = 0.707, which normal tails reach in 48 %.

    >>> from types import SimpleNamespace
    >>> from harness.core.steps import of_one
    >>> from harness.metrics import parse
    >>> from harness.metrics.scores import ScoreTable
    >>> from harness.stats.chance_law import Law
    >>> from harness.stats.figures import results_of
    >>> table = ScoreTable({parse("MAP@1"): np.array([[1.0, 0.5]])})
    >>> half = np.array([0.5, 0.5])
    >>> users = SimpleNamespace(tables={"m": table}, law=Law(half, half / 2, 0 * half, half))
    >>> (verdicts,) = results_of([Verdicts(["m"], parse("MAP@1"))], of_one(users))
    >>> verdict = verdicts["m"]
    >>> round(verdict.lift, 2), round(verdict.z, 3), round(verdict.p, 2), verdict.verdict
    (1.5, 0.707, 0.48, 'no better than chance')
    """

    models: Sequence[str]
    metric: Metric
    folds: Folds | None = None

    def first(self, part: Any) -> Sums:
        """Return the sums of the law, and of each model's scores and how far they are from it."""
        law = part.law.sums()  # before threads ask for it
        return {"law": law, **in_threads(partial(self._sums_of, part), self.models)}

    def _sums_of(self, part: Any, name: str) -> Sums:
        mean, table = part.law.mean, part.tables[name]
        values, repeats = table.of_users(self.metric), table.values[self.metric]
        return {
            "scores": np.array([repeats.size]),
            "single": Exact.of(((repeats - mean) ** 2).ravel()),
            "total": Exact.of(values),
            "squares": Exact.of(values**2),
            "above": moments(values - mean),
        }

    def second(self, part: Any, first: Any) -> Sums:
        """Return what tells whether scores are spread more than chance's."""
        sums, mean, var = {}, part.law.mean, part.law.var
        for number, name in enumerate(self.models):
            values = part.tables[name].of_users(self.metric)
            model = _Standing.of(first, number)
            sums[number] = {
                "expected": Exact.of(var / model.repeats + mean**2),
                "error": Exact.of((values**2 - model.ratio * values) ** 2),
            }
        return sums

    def result(self, first: Any, second: Any) -> dict[str, Verdict]:
        """Return the verdict on each model."""
        freedom = None if self.folds is None else self.folds.freedom
        verdicts = {}
        for number, name in enumerate(self.models):
            model = _Standing.of(first, number)
            sample = Sample.of_moments(first[number]["above"], freedom=freedom)
            verdicts[name] = _verdict(model, sample, wider=model.wider(second[number]))
        return verdicts


@dataclass(frozen=True)
class _Standing:
    """What is known of a model's scores.

    Attributes
    ----------
    repeats : float
        How many independent repeats would be averaged as well as these. If repeats are
        independent, the squares of users' averages are those of single scores divided by the
        number of repeats; repeats that are all alike count as one.
    difference : float
        Its mean less that of random rankings.
    total, ratio : float
        The sum of its values, and that of their squares over it.
    """

    law: LawOfAll
    repeats: float
    difference: float
    total: float
    ratio: float

    @classmethod
    def of(cls, first: Mapping[Any, Any], number: int) -> _Standing:
        """Return what the sums of all users tell of a model."""
        sums, law = first[number], LawOfAll.of(first["law"])
        total, above, scores = sums["total"].total, sums["above"], int(sums["scores"][0])
        single, averaged = sums["single"].total / scores, above[2].total / law.users
        repeats = scores / law.users
        if averaged > 0:
            repeats = min(max(single / averaged, 1.0), repeats)
        ratio = sums["squares"].total / total if total > 0 else 0.0
        return cls(law, repeats, above[1].total / law.users, total, ratio)

    def wider(self, sums: Mapping[str, Any]) -> bool:
        """Return whether scores are spread more than a random ranking's of the same mean would be.

        Their mean square over their mean grows with the spread, and hardly depends on how many hits
        there are; its standard error is that of a ratio of means.
        """
        if self.total <= 0 or self.law.users < 2:
            return False
        expected = sums["expected"].total / (self.law.mean * self.law.users)
        error = math.sqrt(sums["error"].total) / self.total
        return bool(self.ratio - expected > _WIDER * error)


def _verdict(model: _Standing, sample: Sample, *, wider: bool) -> Verdict:
    floor, deviation, skewness = model.law.of_mean(model.repeats)
    z = model.difference / deviation if deviation > 0 else 0.0
    none = model.law.of_no_hit(model.repeats)
    p = _two_sided(z, skewness, none) if deviation > 0 else 1.0
    if wider:
        p = max(p, _of_spread(sample))
    lift = model.total / model.law.users / floor if floor > 0 else None
    if p >= LEVEL:
        return Verdict(lift, z, p, "no better than chance")
    return Verdict(lift, z, p, "better" if model.difference > 0 else "worse than chance")


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


def _of_spread(sample: Sample) -> float:
    """Return the two-sided p value of the t statistic, its skewness taken out by Hall's g."""
    from scipy import special  # slow to import

    if sample.freedom <= 0 or sample.error == 0:
        return 1.0
    g = forth(sample.mean / sample.error, sample.skewness)
    return float(2 * special.stdtr(sample.freedom, -abs(g)))
