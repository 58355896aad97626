"""Verdicts by hand, and intervals and p values against scipy.stats."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.chance import Moments, exact
from harness.comparison import Verdict, against_chance, interval, standard_error, two_sided_p
from harness.metrics import parse
from harness.scoring import ScoreTable

METRIC = parse("MAP@1")


def verdict(values: Any, mean: Any, var: Any) -> Verdict:
    """Return the verdict on marks (repeats, users), or on one repeat of marks (users,)."""
    marks = np.atleast_2d(np.array(values, np.float64))
    users = marks.shape[1]
    chance = Moments(
        np.broadcast_to(np.float64(mean), users), np.broadcast_to(np.float64(var), users)
    )
    return against_chance(ScoreTable({METRIC: marks}), METRIC, chance)


def test_the_users_spread_is_the_error_where_it_is_larger() -> None:
    """Differences 3/4, 3/4, −1/4, −1/4: mean 1/4, error √(1/3 / 4), so z = √3/2."""
    found = verdict([1, 1, 0, 0], mean=1 / 4, var=0)
    assert found.lift == 2
    assert found.z == pytest.approx(math.sqrt(3) / 2, rel=1e-12)
    assert found.p == pytest.approx(2 * stats.t.sf(math.sqrt(3) / 2, 3), rel=1e-12)
    assert found.word == "not distinguishable"


def test_the_spread_of_chance_is_the_error_where_it_is_larger() -> None:
    """Four variances of 1: error √4 / 4 = 1/2, so z = 1/4 over 1/2."""
    assert verdict([1, 1, 0, 0], mean=1 / 4, var=1).z == pytest.approx(1 / 2, rel=1e-12)


def test_repeats_are_averaged_and_shrink_the_spread_of_chance() -> None:
    """Four repeats of the same marks: √(4/4) / 4 = 1/4, now less than the users' √(1/12)."""
    found = verdict([[1, 1, 0, 0]] * 4, mean=1 / 4, var=1)
    assert found.z == pytest.approx(math.sqrt(3) / 2, rel=1e-12)
    turned = verdict([[1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1]], mean=1 / 4, var=0)
    # Users' means 1, 1/2, 0, 1/2: differences 3/4, 1/4, −1/4, 1/4; error √(1/2 / 3 / 4).
    assert turned.z == pytest.approx(1 / 4 / math.sqrt(1 / 24), rel=1e-12)


def test_each_user_is_compared_with_their_own_chance() -> None:
    found = verdict([0.5, 0.25, 0.75], mean=[0.5, 0.25, 0.75], var=0)
    assert (found.z, found.p, found.lift) == (0, 1, 1)
    assert found.word == "not distinguishable"


@pytest.mark.parametrize(("sign", "word"), [(1, "better"), (-1, "worse")])
def test_far_from_chance_is_better_or_worse(sign: int, word: str) -> None:
    found = verdict([0.5 + sign * 0.2, 0.5 + sign * 0.3] * 20, mean=0.5, var=0.01)
    assert found.word == word
    assert found.p < 1e-6
    assert math.copysign(1, found.z) == sign


@pytest.mark.parametrize(("z", "word"), [(1.98, "not distinguishable"), (1.99, "better")])
def test_the_level_is_five_per_cent_two_sided(z: float, word: str) -> None:
    """With 99 degrees of freedom, 1.984 is the limit; half the users sit 1 above the others."""
    marks = np.array([0.0, 1.0] * 50)
    error = standard_error(marks)
    assert verdict(marks, mean=0.5 - z * error, var=0).word == word


def of_random_lists(users: int, candidates: int) -> Moments:
    found = exact(METRIC, np.full(users, candidates), 1, 1)
    assert found is not None
    return found


def test_no_hits_are_not_worse_where_chance_expects_less_than_one() -> None:
    """1,000 users, 10,000 candidates, one place: 0.1 hits are expected."""
    table = ScoreTable({METRIC: np.zeros((1, 1000))})
    found = against_chance(table, METRIC, of_random_lists(1000, 10_000))
    assert found.lift == 0
    assert found.z == pytest.approx(-math.sqrt(0.1), rel=1e-3)
    assert found.word == "not distinguishable"


def test_no_hits_are_worse_where_chance_expects_a_hundred() -> None:
    table = ScoreTable({METRIC: np.zeros((1, 1000))})
    assert against_chance(table, METRIC, of_random_lists(1000, 10)).word == "worse"


def test_a_single_user_tells_nothing() -> None:
    found = verdict([1], mean=0.001, var=0.001)
    assert (found.p, found.word) == (1, "not distinguishable")
    assert found.lift == pytest.approx(1000)
    assert interval(np.array([0.25])) == (0.25, 0.25)
    assert standard_error(np.array([0.25])) == 0


def test_no_chance_at_all_has_no_lift() -> None:
    found = verdict([0, 0], mean=0, var=0)
    assert math.isnan(found.lift)
    assert (found.z, found.p, found.word) == (0, 1, "not distinguishable")


def test_an_interval_by_hand() -> None:
    """0 and 1: mean 1/2, error 1/2; t with 1 degree of freedom at 0.975 is 12.7062."""
    low, high = interval(np.array([0.0, 1.0]))
    assert (low, high) == pytest.approx((0.5 - 6.3531, 0.5 + 6.3531), abs=1e-4)


marks = st.lists(st.floats(0, 1).map(lambda x: round(x, 4)), min_size=2, max_size=40).filter(
    lambda values: len(set(values)) > 1
)


@given(marks)
def test_intervals_equal_scipys(values: list[float]) -> None:
    expected = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert interval(np.array(values)) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert standard_error(np.array(values)) == pytest.approx(stats.sem(values), rel=1e-9)


@given(st.floats(-30, 30), st.integers(2, 500))
def test_p_values_equal_scipys(z: float, n: int) -> None:
    assert two_sided_p(z, n) == pytest.approx(2 * stats.t.sf(abs(z), n - 1), rel=1e-9)


@given(marks, st.floats(0.05, 0.95))
def test_without_a_spread_of_chance_it_is_the_paired_t_test(
    values: list[float], level: float
) -> None:
    expected = stats.ttest_1samp(np.array(values) - level, 0)
    found = verdict(values, mean=level, var=0)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    assert found.z == pytest.approx(expected.statistic, rel=1e-6, abs=1e-9)
