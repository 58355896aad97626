"""Verdicts against chance, by hand and by exact distributions."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from harness.core.exact_sum import of_one
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.chance import Verdict, Verdicts
from harness.stats.chance_law import Law, law
from harness.stats.figures import results_of

METRIC = parse("MAP@1")


def against_chance(values: Any, known: Law) -> Verdict:
    """Return the verdict on scores (repeats, users), or on one repeat of scores (users,)."""
    table = ScoreTable({METRIC: np.atleast_2d(np.array(values, np.float64))})
    part: Any = SimpleNamespace(tables={"m": table}, law=known)
    (verdicts,) = results_of([Verdicts(["m"], METRIC)], of_one(part))
    return verdicts["m"]


def verdict(values: Any, mean: Any, var: Any, third: Any = 0.0, none: Any = 0.5) -> Verdict:
    users = np.shape(values)[-1]
    mean, var, third, none = (
        np.broadcast_to(np.float64(x), users) for x in (mean, var, third, none)
    )
    return against_chance(values, Law(mean, var, third, none))


def of_random_lists(users: int, candidates: int) -> Law:
    result = law(METRIC, np.full(users, candidates), 1, 1)
    assert result is not None
    return result


def test_z_is_in_standard_deviations_of_a_random_ranking() -> None:
    """Mean 1/2, chance 1/4, four variances of 1: √4 / 4 = 1/2, so z = 1/2."""
    result = verdict([1, 1, 0, 0], mean=1 / 4, var=1)
    assert (result.lift, result.z) == (2, 0.5)
    assert result.p == pytest.approx(2 * stats.norm.sf(0.5), rel=1e-12)
    assert result.verdict == "no better than chance"


def test_independent_repeats_shrink_the_deviation_and_equal_ones_do_not() -> None:
    """Four repeats of four users: √16 / 16 = 1/4; of the same lists √4 / 4 = 1/2, however often."""
    repeats = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    assert verdict(repeats, mean=1 / 4, var=1).z == pytest.approx(1, rel=1e-12)
    assert verdict([[1, 1, 0, 0]] * 50, mean=1 / 4, var=1).z == pytest.approx(1 / 2, rel=1e-12)
    result = against_chance(np.zeros((100, 1000)), of_random_lists(1000, 1000))
    assert result.verdict == "no better than chance"


def test_users_are_compared_with_their_own_chance_and_without_any_there_is_no_lift() -> None:
    result = verdict([0.5, 0.25, 0.75], mean=[0.5, 0.25, 0.75], var=0.1)
    assert (result.z, result.p, result.lift) == (0, 1, 1)
    result = verdict([0, 0], mean=0, var=0)
    assert (result.z, result.p, result.lift) == (0, 1, None)
    assert result.verdict == "no better than chance"


@pytest.mark.parametrize(("z", "skewness"), [(-1.2, 0.3), (2.5, -0.7), (2.5, 1.0)])
def test_tails_are_pearsons_type_three(z: float, skewness: float) -> None:
    """One user with variance 1 and that third cumulant."""
    tails = stats.pearson3(skewness).cdf(z), stats.pearson3(skewness).sf(z)
    result = verdict([z + 5], mean=5, var=1, third=skewness, none=0)
    assert result.p == pytest.approx(2 * min(tails), rel=1e-9)


def test_far_from_chance_is_better_or_worse_at_a_level_of_five_per_cent() -> None:
    """1.96 is the limit of a normal distribution."""
    for z, word in (
        (-1.97, "worse than chance"),
        (-1.95, "no better than chance"),
        (1.95, "no better than chance"),
        (1.97, "better"),
    ):
        assert verdict([0.5 + z * 0.01] * 100, mean=0.5, var=0.01).verdict == word


@pytest.mark.parametrize(
    ("candidates", "p", "word"),
    [
        (10_000, pytest.approx(0.9, abs=0.1), "no better than chance"),  # e^-0.1
        (250, pytest.approx(2 * (1 - 1 / 250) ** 1000, rel=1e-9), "worse than chance"),
    ],
)
def test_no_hits_are_as_likely_as_they_are(candidates: int, p: Any, word: str) -> None:
    """Of 1,000 users with one place each, none hits with the chance (1 − 1/candidates)^1000."""
    result = against_chance(np.zeros(1000), of_random_lists(1000, candidates))
    assert (result.lift, result.verdict, result.p) == (0, word, p)
    assert result.z == pytest.approx(-math.sqrt(1000 / candidates), rel=3e-3)


def test_values_that_vary_more_than_random_ones_are_less_certain() -> None:
    """Half the users get everything, half nothing; a random list would give all about 1/2.

    The mean, 0.55, is 10 deviations of a random ranking above chance, but is one of 100 coins.
    """
    result = verdict([1] * 55 + [0] * 45, mean=0.5, var=0.0025)
    assert result.z == pytest.approx(10)
    t = 0.05 / math.sqrt(0.55 * 0.45 / 99)
    assert result.p == pytest.approx(2 * stats.t.sf(t, 99), rel=0.05)
    assert result.verdict == "no better than chance"
