"""The distribution of a random ranking's mean score: its exact first three cumulants.

A score is a sum over the hits of a list: what a hit at rank i adds with h hits before it.
The first three moments of such a sum follow from a walk down the ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from harness.core.arrays import Floats, Int64
from harness.core.exact_sum import Exact, Sums
from harness.metrics import DIVISORS, LARGEST, Metric, discounts, ideal_dcg
from harness.stats import _kernels, chance_graded
from harness.stats.chance_graded import Grades
from harness.stats.chance_moments import Moments, checked, distinct, exact, has_moments


@dataclass(frozen=True, eq=False)
class Law(Moments):
    """A random ranking's score for each user, as far as tests need it; arrays of one shape.

    Attributes
    ----------
    third : float64 array
        The third cumulant, E[(score − mean)³].
    none : float64 array
        The chance of no hit at all.
    """

    third: Floats
    none: Floats

    def sums(self) -> Sums:
        """Return what `LawOfAll` is made of; those of parts of the users add up."""
        return {
            "users": np.array([self.mean.size]),
            "sure": np.array([np.count_nonzero(self.none == 0)]),
            **{name: Exact.of(getattr(self, name).ravel()) for name in ("mean", "var", "third")},
            "none": Exact.of(np.log(self.none[self.none > 0]).ravel()),
        }


@dataclass(frozen=True)
class LawOfAll:
    """The law of the mean over all users.

    Attributes
    ----------
    mean, var, third : float
        The users' cumulants, averaged.
    none : float
        The logarithm of the chance that no user has any hit.
    """

    users: int
    mean: float
    var: float
    third: float
    none: float

    @classmethod
    def of(cls, sums: Mapping[str, Any]) -> LawOfAll:
        """Return what the `Law.sums` of all users tell."""
        users = int(sums["users"][0])
        mean, var, third = (sums[name].total / users for name in ("mean", "var", "third"))
        none = -math.inf if sums["sure"][0] else sums["none"].total
        return cls(users, mean, var, third, none)

    def of_mean(self, repeats: float = 1) -> tuple[float, float, float]:
        """Return mean, standard deviation and skewness of the average over users and repeats.

        Cumulants of independent scores add up: κ_m of the average of n is their mean over n^(m−1).
        """
        n = self.users * repeats
        variance, third = self.var / n, self.third / n**2
        skewness = third / variance**1.5 if variance > 0 else 0.0
        return self.mean, math.sqrt(variance), skewness

    def of_no_hit(self, repeats: float = 1) -> float:
        """Return the chance that no user has any hit, in any repeat."""
        return math.exp(self.none * repeats)


def law(
    metric: Metric,
    n_candidates: ArrayLike,
    relevant_candidates: ArrayLike,
    relevant: ArrayLike,
    grades: Grades | None = None,
) -> Law | None:
    """Return the first three cumulants of a random ranking's scores.

    Parameters and errors are those of `exact`; None also where lower scores are better, or where
    `_RULES` has no rule of the metric: a verdict says how much higher than chance a score is.

    Examples
    --------
    One true item among four, a list of one: 1 with the chance p = 1/4. E[(x − p)³] is
    p(1 − p)(1 − 2p) = 3/32.

    >>> from harness.metrics import parse
    >>> found = law(parse("MAP@1"), 4, 1, 1)
    >>> float(found.third), float(found.none)
    (0.09375, 0.75)
    """
    moments = exact(metric, n_candidates, relevant_candidates, relevant, grades)
    if moments is None or not has_law(metric, graded=grades is not None):
        return None
    n, r, whole = checked(n_candidates, relevant_candidates, relevant)
    if metric.graded:
        assert grades is not None, "or there were no moments"  # noqa: S101
        third = chance_graded.ndcg(n, grades, metric.k or LARGEST, metric.settings["gain"]).third
    else:
        cases, case_of_user = distinct(n.ravel(), r.ravel(), whole.ravel())
        third = _third(metric, *cases)[case_of_user].reshape(n.shape)
    hit = exact(Metric("HitRate", metric.k or LARGEST), n, r, whole)
    assert hit is not None, "HitRate has a closed form"  # noqa: S101
    none = np.maximum(1 - hit.mean, 0.0)  # rounding must not make a chance negative
    return Law(moments.mean, moments.var, third, none)


def has_law(metric: Metric, *, graded: bool = False) -> bool:
    """Return whether `law` has a rule of a metric, where true items have grades or none."""
    known = has_moments(metric, graded=graded) and metric.name in _RULES
    return known and metric.definition.better == "higher"


def _third(metric: Metric, n: Int64, r: Int64, relevant: Int64) -> Floats:
    """Return the third cumulant of every case."""
    k = LARGEST if metric.k is None else metric.k
    places = np.minimum(k, n)
    rule = _RULES[metric.name]
    seen = np.minimum(places, relevant) if rule.early else places
    at_rank = rule.at_rank(int(places.max(initial=0)), metric)
    at_hit = rule.at_hit(int(np.minimum(places, r).max(initial=0)))
    third = np.empty(len(n))
    held = np.empty((4, len(at_hit) + 1))
    _kernels.walk(n, r, seen, at_rank, at_hit, held, third)
    return np.asarray(third * rule.scale(relevant, k, places, metric) ** 3, np.float64)


@dataclass(frozen=True)
class _Rule:
    """A score is scale · Σ over hits of at_rank[i] · at_hit[h], h = hits before it."""

    scale: Callable[[Int64, int, Int64, Metric], Any]
    at_rank: Callable[[int, Metric], Floats] = lambda places, _: np.ones(places)
    at_hit: Callable[[int], Floats] = np.ones
    early: bool = False
    """Whether only the first R ranks count."""


def _ranks(places: int) -> Floats:
    return np.arange(1, places + 1, dtype=np.float64)


def _first_alone(hits: int) -> Floats:
    found = np.zeros(max(hits, 1))
    found[0] = 1.0
    return found


def _divisor(relevant: Int64, k: int, places: Int64, metric: Metric) -> Floats:
    convention = DIVISORS[metric.settings["divisor"]]
    divisor = np.maximum(convention.value(relevant, k, places, relevant), 1)
    return np.asarray(1 / divisor, np.float64)


def _one(*_: Any) -> float:
    return 1.0


_RULES = {
    "MAP": _Rule(_divisor, lambda places, _: 1 / _ranks(places), _ranks),
    "Precision": _Rule(lambda relevant, k, places, _: 1 / k),
    "Recall": _Rule(lambda relevant, k, places, _: 1 / np.maximum(relevant, 1)),
    "F1": _Rule(lambda relevant, k, places, _: 2 / (relevant + k)),
    "SetF1": _Rule(lambda relevant, k, places, _: 2 / np.maximum(relevant + places, 1)),
    "HitRate": _Rule(_one, at_hit=_first_alone),
    "MRR": _Rule(_one, lambda places, _: 1 / _ranks(places), _first_alone),
    "NDCG": _Rule(
        lambda relevant, k, places, _: 1 / ideal_dcg(relevant, k),
        lambda places, _: discounts(places),
    ),
    "RPrecision": _Rule(lambda relevant, k, places, _: 1 / np.maximum(relevant, 1), early=True),
    "pFound": _Rule(
        _one,
        lambda places, m: np.asarray((1 - m.settings["p_break"]) ** (_ranks(places) - 1)),
        _first_alone,
    ),
}
