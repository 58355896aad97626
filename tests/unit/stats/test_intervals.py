"""Intervals against scipy and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.stats.intervals import Sample, percentile, skewed, student

scores = st.floats(0, 1).map(lambda x: round(x, 4))
user_scores = st.lists(scores, min_size=2, max_size=40).filter(lambda values: len(set(values)) > 1)


@given(user_scores)
def test_t_intervals_equal_scipys(values: list[float]) -> None:
    sample = Sample.of(np.array(values))
    expected = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert student(sample) == pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert sample.error == pytest.approx(stats.sem(values), rel=1e-9)
    third = stats.skew(values) * (1 - 1 / len(values)) ** 1.5
    assert sample.skewness == pytest.approx(third / math.sqrt(len(values)), rel=1e-6, abs=1e-9)


def test_the_formula_of_hall() -> None:
    """Back as Hall 1992 writes it, 3((1 + a(z − a/6))^⅓ − 1)/a, for 0, 0, 0, 1."""
    values = np.array([0.0, 0.0, 0.0, 1.0])
    error, q = stats.sem(values), stats.t.ppf(0.975, 3)
    a = np.mean((values - 0.25) ** 3) / np.std(values, ddof=1) ** 3 / 2  # γ / √n
    ends = [0.25 - error * 3 * (np.cbrt(1 + a * (z - a / 6)) - 1) / a for z in (q, -q)]
    assert skewed(Sample.of(values)) == pytest.approx(ends, rel=1e-9)
    for size in (1e-300, 1e-110, 1e80):  # it may be too small to have a spread
        result = skewed(Sample.of(np.array([0.0, size, 0.0])))
        assert result is None or result[0] < size / 3 < result[1]
    even = Sample.of(np.array([0.1, 0.3, 0.5, 0.7, 0.9]))  # without skewness it is Student's
    assert skewed(even) == pytest.approx(student(even), rel=1e-9)


@given(user_scores)
def test_intervals_stay_where_values_can_be(values: list[float]) -> None:
    result = skewed(Sample.of(np.array(values)), 0, 1)
    assert result is not None
    assert 0 <= result[0] <= np.mean(values) <= result[1] <= 1


@pytest.mark.parametrize(("value", "ends"), [(0.0, (0, 1)), (1.0, (-1, 0))])
def test_what_none_of_the_users_had(value: float, ends: tuple[int, int]) -> None:
    """Of 100 users none had it: the exact upper limit of Clopper and Pearson."""
    limit = stats.beta.ppf(0.975, 1, 100)
    expected = [value + end * limit for end in ends]
    assert skewed(Sample.of(np.full(100, value)), 0, 1) == pytest.approx(expected, rel=1e-9)


def test_values_that_are_alike_and_a_single_user_show_no_spread() -> None:
    assert skewed(Sample.of(np.full(9, 0.25)), 0, 1) is None
    assert skewed(Sample.of(np.zeros(9))) is None
    assert skewed(Sample.of(np.array([0.25])), 0, 1) is None
    assert student(Sample.of(np.array([0.25]))) is None


def test_percentiles_of_resampled_means() -> None:
    """0 to 1,000: 95 % lie from 25 to 975."""
    assert percentile(np.arange(1001.0)) == (25, 975)
