"""A model's values against a random ranking's: the lift, and whether it is more than luck."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from harness.core.arrays import Floats
from harness.core.exact_sum import Exact, Sums
from harness.core.steps import Steps, side_by_side
from harness.metrics import Metric
from harness.stats.chance_law import Law, LawOfAll
from harness.stats.estimates import Tables, freedom_of
from harness.stats.fold_means import Folds
from harness.stats.intervals import LEVEL, Sample, forth, sample_steps

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


class JudgedUsers(Protocol):
    """Scored users of a part, and what a random ranking would score for each."""

    @property
    def tables(self) -> Tables:
        """Their scores under every model."""

    @property
    def law(self) -> Law:
        """Under the metric of the verdicts."""


def chance_steps(
    models: Sequence[str], metric: Metric, folds: Folds | None = None
) -> Steps[JudgedUsers, dict[str, Verdict]]:
    """Yield three steps; return whether models' means are such as a random ranking would have.

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

    >>> from types import SimpleNamespace
    >>> from harness.core.steps import found, of_one
    >>> from harness.metrics import parse
    >>> from harness.metrics.scores import ScoreTable
    >>> table = ScoreTable({parse("MAP@1"): np.array([[1.0, 0.5]])})
    >>> half = np.array([0.5, 0.5])
    >>> users = SimpleNamespace(tables={"m": table}, law=Law(half, half / 2, 0 * half, half))
    >>> verdict = found(chance_steps(["m"], parse("MAP@1")), of_one(users))["m"]
    >>> round(verdict.lift, 2), round(verdict.z, 3), round(verdict.p, 2), verdict.verdict
    (1.5, 0.707, 0.48, 'no better than chance')
    """
    verdicts, samples = yield from side_by_side(
        [
            _verdict_steps(models, metric),
            sample_steps(partial(_differences, models, metric), freedom_of(folds)),
        ],
        threads=True,
    )
    return {
        name: _verdict(standing, wider, sample)
        for name, (standing, wider), sample in zip(models, verdicts, samples, strict=True)
    }


def _differences(
    models: Sequence[str], metric: Metric, part: JudgedUsers
) -> list[Callable[[], Floats]]:
    def above(name: str) -> Floats:
        return part.tables[name].of_users(metric) - part.law.mean

    return [partial(above, name) for name in models]


def _verdict_steps(
    models: Sequence[str], metric: Metric
) -> Steps[JudgedUsers, list[tuple[_Standing, bool]]]:
    """Return where each model stands, and whether its scores are spread more than chance's."""
    first: Any = yield partial(_first_sums, models, metric)
    law = LawOfAll.of(first["law"])
    standing = [_Standing.of(first[at], law) for at in range(len(models))]
    second: Any = yield partial(_second_sums, models, metric, standing)
    return [(one, one.wider(second[at])) for at, one in enumerate(standing)]


def _first_sums(models: Sequence[str], metric: Metric, part: JudgedUsers) -> Sums:
    law, held = part.law, dict[int, Sums]()
    for at, name in enumerate(models):
        values = part.tables[name].of_users(metric)
        raw = part.tables[name].values[metric]
        held[at] = {
            "scores": np.array([raw.size]),
            "single": Exact.of(((raw - law.mean) ** 2).ravel()),
            "averaged": Exact.of((values - law.mean) ** 2),
            "difference": Exact.of(values - law.mean),
            "total": Exact.of(values),
            "squares": Exact.of(values**2),
        }
    return {"law": law.sums(), **held}


def _second_sums(
    models: Sequence[str], metric: Metric, standing: Sequence[_Standing], part: JudgedUsers
) -> Sums:
    held = {}
    for at, (name, one) in enumerate(zip(models, standing, strict=True)):
        values = part.tables[name].of_users(metric)
        held[at] = {
            "expected": Exact.of(part.law.var / one.repeats + part.law.mean**2),
            "error": Exact.of((values**2 - one.ratio * values) ** 2),
        }
    return held


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
    def of(cls, sums: Mapping[str, Any], law: LawOfAll) -> _Standing:
        """Return what sums of all users tell."""
        single, averaged, difference, of_all, squares = (
            sums[name].total for name in ("single", "averaged", "difference", "total", "squares")
        )
        users, scores = law.users, int(sums["scores"][0])
        single, averaged, repeats = single / scores, averaged / users, scores / users
        independent = min(max(single / averaged, 1.0), repeats) if averaged > 0 else repeats
        ratio = squares / of_all if of_all > 0 else 0.0
        return cls(law, independent, difference / users, of_all, ratio)

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


def _verdict(one: _Standing, wider: bool, sample: Sample) -> Verdict:
    floor, deviation, skewness = one.law.of_mean(one.repeats)
    z = one.difference / deviation if deviation > 0 else 0.0
    none = one.law.of_no_hit(one.repeats)
    p = _two_sided(z, skewness, none) if deviation > 0 else 1.0
    if wider:
        p = max(p, _of_spread(sample))
    lift = one.total / one.law.users / floor if floor > 0 else None
    if p >= LEVEL:
        return Verdict(lift, z, p, "no better than chance")
    return Verdict(lift, z, p, "better" if one.difference > 0 else "worse than chance")


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
