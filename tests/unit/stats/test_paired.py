"""Paired tests against scipy, and by hand."""

from typing import Any

import numpy as np
import pytest
from conftest import hashes
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.stats.intervals import Sample
from harness.stats.resampling import randomized
from harness.stats.tests import (
    effect_size,
    minimum_detectable_difference,
    randomization_test,
    t_test,
)

user_scores = st.lists(
    st.tuples(*[st.sampled_from([0.0, 0.0, 1 / 12, 0.25, 0.5, 1.0])] * 2), min_size=3, max_size=60
).filter(lambda rows: len({a - b for a, b in rows}) > 1)


@given(user_scores)
def test_the_t_test_equals_scipys(rows: list[tuple[float, float]]) -> None:
    one, other = np.array(rows).T
    expected = stats.ttest_rel(one, other).pvalue
    found = t_test(Sample.of(one - other))
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("values", "p"), [([0, 0, 0], 1), ([0.5], 1), ([0.1, 0.1, 0.1], 0)])
def test_differences_without_spread(values: list[float], p: float) -> None:
    assert t_test(Sample.of(np.array(values, np.float64))) == p


def p_of(differences: Any, flipped: Any) -> float:
    return randomization_test(differences.sum(), np.abs(differences).sum(), flipped)


def test_the_randomisation_test_equals_scipys_on_the_same_signs() -> None:
    """scipy draws B times the signs through its generator; ours are given to it."""
    rng = np.random.default_rng(1)
    differences = np.round(rng.normal(0.1, 1, 30), 2)
    signs = rng.integers(0, 2, (999, 30)) * 2 - 1
    extreme = np.sum(np.abs(signs @ differences) >= abs(differences.sum()) * (1 - 1e-14))
    found = p_of(differences, signs @ differences)
    assert found == pytest.approx((extreme + 1) / 1000, abs=1e-12)


def test_the_randomisation_test_is_near_the_exact_one() -> None:
    """All 2^8 choices of signs, as scipy enumerates them; 20,000 drawn ones lie within 1.5 %."""
    differences = np.array([0.5, 0.25, -0.1, 1.0, 0.3, 0.05, -0.2, 0.6])
    exact = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    user_scores = np.column_stack([differences, np.zeros(8)])
    flipped = randomized(user_scores, hashes(8), 20_000, seed=1)
    found = p_of(differences, flipped[:, 0] - flipped[:, 1])
    assert found == pytest.approx(exact, abs=0.015)


def test_sums_that_differ_by_rounding_alone_are_ties() -> None:
    """0.1 + 0.2 is not 0.3 in floating point; 3 of 4 sums reach 0.3, and the signs as they are."""
    flipped = np.array([0.3, -0.3, 0.1 + 0.2, 0.1])
    assert randomization_test(0.1 + 0.2, 0.1 + 0.2, flipped) == 4 / 5


def test_no_p_value_is_zero() -> None:
    assert randomization_test(2.0, 2.0, np.array([0.0, 0.0])) == 1 / 3


def test_what_could_be_detected() -> None:
    """Error 1/2 of 0 and 1: with one degree of freedom, 12.7062 + 1.3764 halves."""
    assert minimum_detectable_difference(Sample.of(np.array([0.0, 1.0]))) == pytest.approx(
        7.0413, abs=1e-4
    )
    assert minimum_detectable_difference(Sample.of(np.array([0.5, 0.5]))) is None


def test_an_effect_size_by_hand() -> None:
    """Differences 1 and 0: mean 1/2, deviation 1/√2."""
    assert effect_size(Sample.of(np.array([1.0, 0.0]))) == pytest.approx(0.5 * 2**0.5)
    assert effect_size(Sample.of(np.array([1.0, 1.0]))) is None
