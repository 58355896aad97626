"""A random ranking's NDCG where true items have grades: its exact first three cumulants.

A user has N candidates, among them true items of gains g₁ … g_r; all others gain 0. A random list
holds k' = min(k, N) of the candidates, every ordered choice equally likely, and rank i weighs
w_i = 1/log2(i + 1). Any d given ranks hold any d given items with the chance 1/falling(N, d).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.core.arrays import Bool, Floats, Int64
from harness.metrics import discounts
from harness.metrics.ranking import gains_of, ideal_gains


class Grades(NamedTuple):
    """The grades of all users' true items, one entry each.

    Attributes
    ----------
    user : int64 array
        The place of the item's user among all.
    grade : float64 array
    candidate : bool array
        Whether it is a candidate.
    """

    user: Int64
    grade: Floats
    candidate: Bool


class Cumulants(NamedTuple):
    """Mean, variance and third cumulant of each user's score, float64."""

    mean: Floats
    var: Floats
    third: Floats


def ndcg(n_candidates: Int64, grades: Grades, k: int, gain: str) -> Cumulants:
    """Return the cumulants of each user's NDCG@k, (users,).

    With S_m = Σ g^m over the true candidates, W = Σ w, V = Σ w², U = Σ w³ over k' ranks, and
    f_d = 1/falling(N, d), ranks and items that differ are counted by inclusion and exclusion:

    E[DCG] = f₁·W·S₁;
    E[DCG²] = f₁·V·S₂ + f₂·(W² − V)·(S₁² − S₂);
    E[DCG³] = f₁·U·S₃ + 3·f₂·(V·W − U)·(S₂·S₁ − S₃)
    + f₃·(W³ − 3·V·W + 2·U)·(S₁³ − 3·S₂·S₁ + 2·S₃).

    Examples
    --------
    Two candidates, one of grade 3, a list of one: NDCG is 1 or 0, with the chance 1/2 each.

    >>> one = Grades(np.array([0]), np.array([3.0]), np.array([True]))
    >>> ndcg(np.array([2]), one, 1, "exponential")
    Cumulants(mean=array([0.5]), var=array([0.25]), third=array([0.]))
    """
    users, gains = len(n_candidates), gains_of(grades.grade, gain)
    ideal = ideal_gains(grades.user, gains, users, k)
    # Divided by the ideal first: powers of gains themselves may be too large for a number.
    own, among = gains / ideal[grades.user], grades.user[grades.candidate]
    s1, s2, s3 = (
        np.bincount(among, own[grades.candidate] ** power, minlength=users) for power in (1, 2, 3)
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
    return Cumulants(mean, var, cube - 3 * square * mean + 2 * mean**3)
