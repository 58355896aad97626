"""A model's values against a random ranking's: the lift, and whether it is more than luck."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from harness.core.exact_sum import Exact, Sums
from harness.metrics import Metric
from harness.stats.chance_law import law_of_mean
from harness.stats.folds import Folds
from harness.stats.intervals import LEVEL, Sample, forth, in_threads, moments

Word = Literal["better", "no better than chance", "worse than chance"]

_WIDER = 2.3263  # standard errors: a random ranking's scores look wider in 1 % of evaluation sets


@dataclass(frozen=True)
class Verdict:
    """A model against chance."""

    lift: float | None
    """Its mean over the exact mean of a random ranking; None where that is 0."""
    z: float
    """How many standard deviations of a random ranking's mean it lies from its mean."""
    p: float
    """Two-sided: the chance that a random ranking lies as far out."""
    verdict: Word
    """``better`` or ``worse than chance`` if p is below 0.05; else ``no better than chance``."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Whether models' means are such as a random ranking would have.

    Tails are those of Pearson's type III distribution with the exact mean, standard deviation and
    skewness of a random ranking's mean; the lower is at least the chance of no hit at all. Where a
    model's scores are spread more widely than chance would spread them, p is at least that of
    their own spread. Parts have tables, and the `law` of each user's score under the metric.
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
        hits, several = values[values != 0], repeats if len(repeats) > 1 else repeats[:0]
        return {
            "scores": np.array([repeats.size]),
            "single": Exact.of(((several - mean) ** 2).ravel()),
            "total": Exact.of(hits),
            "squares": Exact.of(hits**2),
            "above": moments(values - mean),
        }

    def second(self, part: Any, first: Any) -> Sums:
        """Return what tells whether scores are spread more than chance's."""
        sums, mean, var = {}, part.law.mean, part.law.var
        for number, name in enumerate(self.models):
            values = part.tables[name].of_users(self.metric)
            hits = values[values != 0]
            sums[number] = {
                "expected": Exact.of(var / _repeats(first, number) + mean**2),
                "error": Exact.of((hits**2 - _ratio(first[number]) * hits) ** 2),
            }
        return sums

    def result(self, first: Any, second: Any) -> dict[str, Verdict]:
        """Return the verdict on each model."""
        models = enumerate(self.models)
        return {name: self._verdict(first, second, number) for number, name in models}

    def _verdict(self, first: Any, second: Any, number: int) -> Verdict:
        law, sums = law_of_mean(first["law"], _repeats(first, number)), first[number]
        users, total, above = int(first["law"]["users"][0]), sums["total"].total, sums["above"]
        difference = above[1].total / users
        z, p = 0.0, 1.0
        if law.sd > 0:
            z = difference / law.sd
            p = _two_sided(z, law.skewness, law.none)
        if _wider(sums, second[number], law.mean * users, users):
            freedom = None if self.folds is None else self.folds.freedom
            p = max(p, _of_spread(Sample.of_moments(above, freedom=freedom)))
        word: Word = "better" if difference > 0 else "worse than chance"
        return Verdict(
            lift=total / users / law.mean if law.mean > 0 else None,
            z=z,
            p=p,
            verdict="no better than chance" if p >= LEVEL else word,
        )


def _repeats(first: Any, number: int) -> float:
    """Return how many independent repeats vary as little as a model's; those all alike are one."""
    sums, users = first[number], int(first["law"]["users"][0])
    scores = int(sums["scores"][0])
    single, averaged = sums["single"].total / scores, sums["above"][2].total / users
    return min(max(single / averaged, 1.0), scores / users) if averaged > 0 else scores / users


def _ratio(sums: Any) -> float:
    """Return the sum of a model's squared values over that of its values."""
    total: float = sums["total"].total
    return sums["squares"].total / total if total > 0 else 0.0


def _wider(sums: Any, spread: Any, of_chance: float, users: int) -> bool:
    """Return whether scores' mean square over their mean is more than chance's, by its error."""
    total = sums["total"].total
    if total <= 0 or users < 2:
        return False
    error = math.sqrt(spread["error"].total) / total
    return bool(_ratio(sums) - spread["expected"].total / of_chance > _WIDER * error)


def _two_sided(z: float, skewness: float, none: float) -> float:
    """Return twice the smaller tail at z: with s = 4/γ², s + z·√s is gamma distributed."""
    from scipy import special  # slow to import

    if abs(skewness) < 1e-6:  # too many hits to tell from a normal distribution
        below, above = float(special.ndtr(z)), float(special.ndtr(-z))
    else:
        shape = 4 / skewness**2
        x = max(shape + math.copysign(z, z * skewness) * math.sqrt(shape), 0.0)
        below, above = float(special.gammainc(shape, x)), float(special.gammaincc(shape, x))
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
