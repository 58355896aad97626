"""Counts of candidates and true items in, a random ranking's mean score and its variance out.

A user has N candidates, r true items among them and R true items in all; a random list holds
k' = min(k, N) of the candidates, every ordered choice equally likely. Then d given ranks are
all hits with the chance f_d = falling(r, d)/falling(N, d), and all else here follows from it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.core.arrays import Floats, Int64
from harness.core.exact_sum import Exact, Sums
from harness.metrics import DIVISORS, LARGEST, Metric, discounts, ideal_dcg
from harness.stats import chance_graded
from harness.stats.chance_graded import Grades


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of a metric for each user, float64, of one shape."""

    mean: Floats
    var: Floats


@dataclass(frozen=True, eq=False)
class _Case:
    """The different users there are: N, r and R, each of shape (cases,), and k."""

    n: Int64
    r: Int64
    relevant: Int64
    k: int

    @property
    def filled(self) -> Int64:
        """k', the length of a random list."""
        return np.minimum(self.k, self.n)

    def all_hits(self, places: int) -> Floats:
        """f_d, the chance that d given ranks are all hits; 0 where there are not so many."""
        chance = np.ones(len(self.n))
        for taken in range(places):
            chance *= np.maximum(self.r - taken, 0) / np.maximum(self.n - taken, 1)
        return chance


def exact(
    metric: Metric,
    n_candidates: ArrayLike,
    relevant_candidates: ArrayLike,
    relevant: ArrayLike,
    grades: Grades | None = None,
) -> Moments | None:
    """Return mean and variance of each user's score under a uniformly random ranking.

    Parameters
    ----------
    metric : Metric
        Any; the cut-off is taken from it.
    n_candidates, relevant_candidates, relevant : integers that broadcast
        N, r and R of each user: 0 <= r <= N and r <= R.
    grades : Grades, optional
        Where true items have grades; N is an array of users then.

    Returns
    -------
    Moments or None
        Of the broadcast shape; None where there is no closed form here: where the divisor depends
        on the list, ``MAP(divisor=hits)`` and ``NDCG(ideal=retrieved)``, and pFound of grades.

    Raises
    ------
    ValueError
        For numbers that are not whole, do not broadcast, or are no such N, r and R.

    Examples
    --------
    One true item among four candidates, a list of two: with the chance 1/4 each it is at rank 1,
    which gives 1, or at rank 2, which gives 1/2; the mean is 1/4 + 1/8 and the variance
    1/4 + 1/16 - 9/64.

    >>> from harness.metrics import parse
    >>> moments = exact(parse("MAP@2"), 4, 1, 1)
    >>> float(moments.mean), float(moments.var)
    (0.375, 0.171875)
    """
    if not has_moments(metric, graded=grades is not None):
        return None
    moments = _MOMENTS[metric.name]
    n, r, relevant = checked(n_candidates, relevant_candidates, relevant)
    if metric.graded:
        assert grades is not None, "such a metric has moments with grades alone"  # noqa: S101
        found = chance_graded.ndcg(n, grades, metric.k or LARGEST, metric.settings["gain"])
        return Moments(found.mean, found.var)
    cases, case_of_user = distinct(n.ravel(), r.ravel(), relevant.ravel())
    case = _Case(cases[0], cases[1], cases[2], LARGEST if metric.k is None else metric.k)
    mean, var = moments(case, metric)
    # Where every or no candidate is a hit all lists score the same; rounding must not hide it.
    var = np.where((case.r == 0) | (case.r == case.n), 0.0, np.maximum(var, 0.0))
    return Moments(mean[case_of_user].reshape(n.shape), var[case_of_user].reshape(n.shape))


def has_moments(metric: Metric, *, graded: bool = False) -> bool:
    """Return whether there is a closed form for a metric.

    Parameters
    ----------
    graded : bool
        Whether true items have grades.
    """
    settings = metric.settings
    if metric.name not in _MOMENTS:
        return False
    # What a hit adds depends on how many others the list has.
    if settings.get("divisor") == "hits" or settings.get("ideal") == "retrieved":
        return False
    return graded or not metric.graded if metric.name != "pFound" else not graded


def moment_sums(moments: Moments) -> Sums:
    """Return what `of_mean` is made of; those of parts of the users add up."""
    sums = {name: Exact.of(getattr(moments, name).ravel()) for name in ("mean", "var")}
    return {"users": np.array([moments.mean.size]), **sums}


def of_mean(sums: Mapping[str, Any]) -> tuple[float, float]:
    """Return mean and standard deviation of the average over n users: sd = sqrt(Σ var)/n.

    Parameters
    ----------
    sums : mapping
        The `moment_sums` of all users, of whom there is one or more.

    Examples
    --------
    >>> of_mean(moment_sums(Moments(np.array([0.25, 0.75]), np.array([0.16, 0.20]))))
    (0.5, 0.3)
    """
    users = int(sums["users"][0])
    return sums["mean"].total / users, math.sqrt(sums["var"].total) / users


def _average_precision(case: _Case, metric: Metric) -> tuple[Floats, Floats]:
    """E[AP] = (f₁·H + f₂·(k' - H))/D and E[AP²] = Σ_d c_d·f_d/D².

    H = Σ_{i≤k'} 1/i. AP·D = Σ_i (1/i) Σ_{j≤i} [ranks j and i are hits], so the square sums
    1/(i·i') over (j ≤ i), (j' ≤ i'), each with the chance f_d of its d different ranks; c_d is
    the weight of those with d. Mean: Bestgen 2015; both checked by enumeration (tests).
    """
    f1, f2, f3, f4 = (case.all_hits(places) for places in (1, 2, 3, 4))
    harmonic, *c = _pair_weights(case.filled)
    mean = f1 * harmonic + f2 * (case.filled - harmonic)
    square = c[0] * f1 + c[1] * f2 + c[2] * f3 + c[3] * f4
    # A random list has no gaps, so L = k'; D never needs the hits here.
    convention = DIVISORS[metric.settings["divisor"]]
    divisor = np.maximum(convention.value(case.relevant, case.k, case.filled, case.r), 1)
    return mean / divisor, (square - mean**2) / divisor**2


def _pair_weights(filled: Int64) -> tuple[Floats, ...]:
    """Return H and c₁ … c₄ for every k'.

    For i' = i the ranks {j, j', i} number 1 in 1 way, 2 in 3(i-1), 3 in (i-1)(i-2) ways, at
    1/i² each. For i < i', counted twice, at 1/(i·i') each: with j = i, j' makes 2 ranks in 2
    ways and 3 in i'-2; with one of i-1 smaller j, it makes 3 in 3 ways and 4 in i'-3. Over i,
    1/i adds to h = H(i'-1) and (i-1)/i to g = i'-1-h.
    """
    i = np.arange(1, int(filled.max(initial=0)) + 1, dtype=np.float64)
    h = np.cumsum(1 / i) - 1 / i
    g = i - 1 - h
    steps = (
        1 / i,
        1 / i**2,
        3 * (i - 1) / i**2 + 2 * (2 * h) / i,
        (i - 1) * (i - 2) / i**2 + 2 * ((i - 2) * h + 3 * g) / i,
        2 * (i - 3) * g / i,
    )
    return tuple(np.concatenate(([0.0], np.cumsum(step)))[filled] for step in steps)


def _hits(case: _Case, m: Int64) -> tuple[Floats, Floats]:
    """Hits among m ranks: E = m·r/N, Var = m·(r/N)·(1 - r/N)·(N - m)/(N - 1) (hypergeometric)."""
    share = case.all_hits(1)
    mean = m * share
    return mean, mean * (1 - share) * (case.n - m) / np.maximum(case.n - 1, 1)


def _scaled_hits(
    scale: Callable[[_Case], NDArray[Any] | float],
) -> Callable[[_Case, Metric], tuple[Floats, Floats]]:
    """Return the moments of hits · scale."""

    def moments(case: _Case, _: Metric) -> tuple[Floats, Floats]:
        mean, var = _hits(case, case.filled)
        factor = scale(case)
        return mean * factor, var * factor**2

    return moments


def _r_precision(case: _Case, _: Metric) -> tuple[Floats, Floats]:
    """Hits among the first m = min(R, k') ranks are hypergeometric too; they are divided by R."""
    mean, var = _hits(case, np.minimum(case.relevant, case.filled))
    divisor = np.maximum(case.relevant, 1)
    return mean / divisor, var / divisor**2


def _hit_rate(case: _Case, _: Metric) -> tuple[Floats, Floats]:
    """E = p = Σ_i P(first hit at i) = 1 - C(N-r, k')/C(N, k'), Var = p·(1 - p)."""
    chance, _square, none = _first_hit(case, lambda i: 1.0)
    return chance, chance * none


def _reciprocal_rank(case: _Case, _: Metric) -> tuple[Floats, Floats]:
    """E = Σ_i P(first hit at i)/i and E[RR²] = Σ_i P(first hit at i)/i²."""
    mean, square, _none = _first_hit(case, lambda i: 1.0 / i)
    return mean, square - mean**2


def _p_found(case: _Case, metric: Metric) -> tuple[Floats, Floats]:
    """With pRel = 1 nobody looks beyond the first hit: E = Σ_i P(first hit at i)·(1-pBreak)^(i-1).

    That of the square has (1-pBreak)^(2(i-1)).
    """
    stay = 1.0 - metric.settings["p_break"]
    mean, square, _none = _first_hit(case, lambda i: float(stay ** (i - 1)))
    return mean, square - mean**2


def _first_hit(case: _Case, worth: Callable[[int], float]) -> tuple[Floats, Floats, Floats]:
    """Return Σ P(i)·w(i), Σ P(i)·w(i)² and the chance of no hit, P(i): the first hit is at i."""
    none = np.ones(len(case.n))  # as a product of ratios: binomial coefficients would overflow
    sums = np.zeros((2, len(case.n)))
    for i in range(1, int(case.filled.max(initial=0)) + 1):
        # Beyond the last candidate nothing is added: r = 0, or a hit has come and none is 0.
        left = np.maximum(case.n - i + 1, 1)
        here = none * case.r / left
        none *= np.maximum(case.n - case.r - i + 1, 0) / left
        sums += here * np.array([[worth(i)], [worth(i) ** 2]])
    return sums[0], sums[1], none


def _ndcg(case: _Case, metric: Metric) -> tuple[Floats, Floats]:
    """E = f₁·W/ideal and E[NDCG²] = (f₁·V + f₂·(W² - V))/ideal², W = Σ_{i≤k'} w_i, V = Σ w_i²."""
    weights = discounts(int(case.filled.max(initial=0)))
    w, v = (np.concatenate(([0.0], np.cumsum(x)))[case.filled] for x in (weights, weights**2))
    mean = case.all_hits(1) * w
    square = case.all_hits(1) * v + case.all_hits(2) * (w**2 - v)
    ideal = ideal_dcg(case.relevant, case.k)
    return mean / ideal, (square - mean**2) / ideal**2


_MOMENTS: dict[str, Callable[[_Case, Metric], tuple[Floats, Floats]]] = {
    "MAP": _average_precision,
    "Precision": _scaled_hits(lambda case: 1 / case.k),
    "Recall": _scaled_hits(lambda case: 1 / np.maximum(case.relevant, 1)),
    "F1": _scaled_hits(lambda case: 2 / (case.relevant + case.k)),
    "SetF1": _scaled_hits(lambda case: 2 / np.maximum(case.relevant + case.filled, 1)),
    "HitRate": _hit_rate,
    "MRR": _reciprocal_rank,
    "NDCG": _ndcg,
    "RPrecision": _r_precision,
    "pFound": _p_found,
}


def checked(*given: ArrayLike) -> tuple[Int64, Int64, Int64]:
    """Return N, r and R of one shape."""
    arrays = [np.asarray(numbers) for numbers in given]
    for name, array in zip(_NAMES, arrays, strict=True):
        if not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"{name} must be whole numbers, got {array.dtype}")
    n, r, relevant = np.broadcast_arrays(*(array.astype(np.int64) for array in arrays))
    wrong = (r < 0) | (r > n) | (r > relevant)
    if wrong.any():
        user = int(wrong.ravel().argmax())
        found = ", ".join(
            f"{name} {array.ravel()[user]}"
            for name, array in zip(_NAMES, (n, r, relevant), strict=True)
        )
        raise ValueError(
            f"user {user} has {found}; relevant_candidates must be from 0 and above neither other"
        )
    return n, r, relevant


_NAMES = ("n_candidates", "relevant_candidates", "relevant")


def distinct(*columns: Int64) -> tuple[list[Int64], Int64]:
    """Return the different rows as columns, and for each given row the number of its like.

    Millions of users share a few thousand rows, and only these are worked out.
    """
    place: Int64 = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        code = _ranked(column)
        place = _ranked(place * (int(code.max(initial=0)) + 1) + code)
    first = np.empty(int(place.max(initial=-1)) + 1, np.int64)
    first[place] = np.arange(len(place))
    return [column[first] for column in columns], place


def _ranked(numbers: Int64) -> Int64:
    """Return how many smaller numbers there are, each counted once, for every number."""
    low, high = int(numbers.min(initial=LARGEST)), int(numbers.max(initial=0))
    if not 0 <= low <= high < 4 * len(numbers):
        return np.unique(numbers, return_inverse=True)[1]
    there = np.zeros(high + 1, np.int64)  # marks are set and added up sooner than numbers sorted
    there[numbers] = 1
    return (np.cumsum(there) - 1)[numbers]
