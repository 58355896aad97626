"""A random ranking's scores: their exact mean, variance, third cumulant and chance of no hit.

A user has N candidates, r true items among them and R true items in all; a random list holds
k' = min(k, N) of the candidates, every ordered choice equally likely. A score is a sum over the
hits of a list: what a hit at rank i adds with h hits before it. The first three moments of such a
sum follow from a walk down the ranks. Where true items have grades there are closed forms (`ndcg`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from harness.core.arrays import Bool, Floats, Int64
from harness.core.exact_sum import Exact, Sums
from harness.metrics import DIVISORS, LARGEST, Metric, discounts, ideal_dcg
from harness.metrics.ranking import gains_of, ideal_gains
from harness.stats import _kernels


class Grades(NamedTuple):
    """The grades of all users' true items, (items,): whose they are, and which are candidates."""

    user: Int64
    grade: Floats
    candidate: Bool


@dataclass(frozen=True, eq=False)
class Law:
    """A random ranking's score for each user, as float64 arrays of one shape.

    They are its first three cumulants, the third E[(score − mean)³], and the chance of no hit.
    """

    mean: Floats
    var: Floats
    third: Floats
    none: Floats

    def sums(self) -> Sums:
        """Return what `law_of_mean` is made of; those of parts of the users add up."""
        return {
            "users": np.array([self.mean.size]),
            "sure": np.array([np.count_nonzero(self.none == 0)]),
            **{name: Exact.of(getattr(self, name).ravel()) for name in ("mean", "var", "third")},
            "none": Exact.of(np.log(self.none[self.none > 0]).ravel()),
        }


class MeanLaw(NamedTuple):
    """The law of the average over users and repeats; `none` is the chance of no hit in any."""

    mean: float
    sd: float
    skewness: float
    none: float


def law_of_mean(sums: Mapping[str, Any], repeats: float = 1) -> MeanLaw:
    """Return the law of the average by the `Law.sums` of all users.

    Cumulants of independent scores add up: κ_m of the average of n is their mean over n^(m−1).
    """
    users = int(sums["users"][0])
    mean, var, third = (sums[name].total / users for name in ("mean", "var", "third"))
    n = users * repeats
    variance, third = var / n, third / n**2
    skewness = third / variance**1.5 if variance > 0 else 0.0
    none = 0.0 if sums["sure"][0] else math.exp(sums["none"].total * repeats)
    return MeanLaw(mean, math.sqrt(variance), skewness, none)


def law(
    metric: Metric,
    n_candidates: ArrayLike,
    relevant_candidates: ArrayLike,
    relevant: ArrayLike,
    grades: Grades | None = None,
) -> Law | None:
    """Return the law of each user's score under a uniformly random ranking; None if not `has_law`.

    The numbers are N, r and R of each user, 0 <= r <= N and r <= R, and broadcast; with grades N is
    an array of users. One true item among four candidates, a list of two: 1 at rank 1 and 1/2 at
    rank 2, with the chance 1/4 each.

    >>> from harness.metrics import parse
    >>> of_user = law(parse("MAP@2"), 4, 1, 1)  # 1/4 + 1/8, and 1/4 + 1/16 − 9/64
    >>> float(of_user.mean), float(of_user.var), float(of_user.none)
    (0.375, 0.171875, 0.5)
    """
    if not has_law(metric, graded=grades is not None):
        return None
    n, r, relevant = np.broadcast_arrays(
        np.asarray(n_candidates, np.int64),
        np.asarray(relevant_candidates, np.int64),
        np.asarray(relevant, np.int64),
    )
    users = pl.DataFrame([n.ravel(), r.ravel(), relevant.ravel()], schema=["n", "r", "relevant"])
    different = users.unique().with_row_index("case")  # a few thousand
    cases = [different[name].to_numpy() for name in users.columns]
    case_of_user = users.join(different, on=users.columns, how="left", maintain_order="left")[
        "case"
    ].to_numpy()
    k = LARGEST if metric.k is None else metric.k
    none = _walked(Metric("HitRate", k), k, cases)[3][case_of_user].reshape(n.shape)
    if metric.graded:
        assert grades is not None, "this metric has a chance value only with grades"  # noqa: S101
        mean, var, third = ndcg(n, grades, k, metric.settings["gain"])
    else:
        walked = _walked(metric, k, cases)[:3, case_of_user]
        mean, var, third = walked.reshape(3, *n.shape)
    return Law(mean, var, third, none)


def has_law(metric: Metric, *, graded: bool = False) -> bool:
    """Return whether `law` knows a metric, where true items have grades or none.

    It does not where the divisor depends on the list, ``MAP(divisor=hits)`` and
    ``NDCG(ideal=retrieved)``, and it does not know pFound of grades.
    """
    settings = metric.settings
    if metric.name not in _SCORES:
        return False
    if settings.get("divisor") == "hits" or settings.get("ideal") == "retrieved":
        return False
    return not graded if metric.name == "pFound" else graded or not metric.graded


def _walked(metric: Metric, k: int, cases: Sequence[Int64]) -> Floats:
    """Return mean, variance, third cumulant and the chance of no hit of every case, (4, cases)."""
    n, r, relevant = cases
    score, places = _SCORES[metric.name], np.minimum(k, n)
    seen = np.minimum(places, relevant) if score.early else places
    at_rank = score.at_rank(int(places.max(initial=0)), metric)
    at_hit = score.at_hit(int(np.minimum(places, r).max(initial=0)))
    result = np.empty((4, len(n)))
    _kernels.walk(n, r, seen, at_rank, at_hit, np.empty((4, len(at_hit) + 1)), result)
    scale = score.scale(relevant, k, places, metric)
    for power in (1, 2, 3):
        result[power - 1] *= scale**power
    return result


@dataclass(frozen=True)
class _Score:
    """A score is scale · Σ over hits of at_rank[i] · at_hit[h], h = hits before it."""

    scale: Callable[[Int64, int, Int64, Metric], Any]
    """Of R, k, k' and the metric."""
    at_rank: Callable[[int, Metric], Floats] = lambda places, _: np.ones(places)
    at_hit: Callable[[int], Floats] = np.ones
    early: bool = False
    """Whether only the first R ranks count."""


def _ranks(places: int) -> Floats:
    return np.arange(1, places + 1, dtype=np.float64)


def _first_alone(hits: int) -> Floats:
    return np.append(1.0, np.zeros(max(hits - 1, 0)))


def _per_divisor(relevant: Int64, k: int, places: Int64, metric: Metric) -> Floats:
    """Return 1/D; a random list has no gaps, so L = k', and D never needs the hits here."""
    convention = DIVISORS[metric.settings["divisor"]]
    return 1 / np.maximum(convention.value(relevant, k, places, relevant), 1.0)


_SCORES = {
    "MAP": _Score(_per_divisor, lambda places, _: 1 / _ranks(places), _ranks),
    "Precision": _Score(lambda relevant, k, places, _: 1 / k),
    "Recall": _Score(lambda relevant, k, places, _: 1 / np.maximum(relevant, 1)),
    "F1": _Score(lambda relevant, k, places, _: 2 / (relevant + k)),
    "SetF1": _Score(lambda relevant, k, places, _: 2 / np.maximum(relevant + places, 1)),
    "HitRate": _Score(lambda *_: 1.0, at_hit=_first_alone),
    "MRR": _Score(lambda *_: 1.0, lambda places, _: 1 / _ranks(places), _first_alone),
    "NDCG": _Score(
        lambda relevant, k, places, _: 1 / ideal_dcg(relevant, k),
        lambda places, _: discounts(places),
    ),
    "RPrecision": _Score(lambda relevant, k, places, _: 1 / np.maximum(relevant, 1), early=True),
    "pFound": _Score(
        lambda *_: 1.0,
        lambda places, metric: (1 - metric.settings["p_break"]) ** (_ranks(places) - 1),
        _first_alone,
    ),
}


def ndcg(n_candidates: Int64, grades: Grades, k: int, gain: str) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance and third cumulant of each user's NDCG@k of grades, (users,).

    True candidates have gains g₁ … g_r; all others gain 0. Rank i weighs w_i = 1/log2(i + 1), and
    any d given ranks hold any d given items with the chance f_d = 1/falling(N, d). With S_m = Σ g^m
    over the true candidates, W = Σ w, V = Σ w², U = Σ w³ over k' ranks, ranks and items that differ
    are counted by inclusion and exclusion:

    E[DCG] = f₁·W·S₁;
    E[DCG²] = f₁·V·S₂ + f₂·(W² − V)·(S₁² − S₂);
    E[DCG³] = f₁·U·S₃ + 3·f₂·(V·W − U)·(S₂·S₁ − S₃)
    + f₃·(W³ − 3·V·W + 2·U)·(S₁³ − 3·S₂·S₁ + 2·S₃).
    """
    users, gains = len(n_candidates), gains_of(grades.grade, gain)
    ideal = ideal_gains(grades.user, gains, users, k)
    # Divided by the ideal first: powers of gains themselves may be too large for a number.
    shares, user = gains / ideal[grades.user], grades.user[grades.candidate]
    s1, s2, s3 = (
        np.bincount(user, shares[grades.candidate] ** power, minlength=users) for power in (1, 2, 3)
    )
    filled = np.minimum(k, n_candidates)
    weights = discounts(int(filled.max(initial=0)))
    w, v, u = (np.append(0, np.cumsum(weights**power))[filled] for power in (1, 2, 3))
    f1 = 1 / np.maximum(n_candidates, 1)
    f2 = f1 / np.maximum(n_candidates - 1, 1)
    f3 = f2 / np.maximum(n_candidates - 2, 1)
    mean = f1 * w * s1
    square = f1 * v * s2 + f2 * (w**2 - v) * (s1**2 - s2)
    cube = f1 * u * s3 + 3 * f2 * (v * w - u) * (s2 * s1 - s3)
    cube += f3 * (w**3 - 3 * v * w + 2 * u) * (s1**3 - 3 * s2 * s1 + 2 * s3)
    var = np.maximum(square - mean**2, 0.0)
    return mean, var, cube - 3 * square * mean + 2 * mean**3
