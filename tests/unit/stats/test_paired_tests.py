"""Paired tests and their corrections, against scipy and statsmodels, and by hand."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import hashes
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from harness.stats import tests
from harness.stats.intervals import Sample
from harness.stats.resampling import exponents, randomized_sums
from harness.stats.tests import effect_size, minimum_detectable_difference, randomization_test

scores = st.sampled_from([0.0, 0.0, 1 / 12, 0.25, 0.5, 1.0])


@given(st.lists(st.tuples(scores, scores), min_size=3, max_size=60))
def test_the_t_test_equals_scipys(rows: list[tuple[float, float]]) -> None:
    first, second = np.array(rows).T
    assume(len(set(first - second)) > 1)
    expected = stats.ttest_rel(first, second).pvalue
    assert tests.t_test(Sample.of(first - second)) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_the_randomisation_test_is_near_the_exact_one() -> None:
    """All 2^8 choices of signs, as scipy enumerates them; 20,000 drawn ones lie within 1.5 %."""
    d = np.array([0.5, 0.25, -0.1, 1.0, 0.3, 0.05, -0.2, 0.6])
    exact = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf)
    grid = exponents(1.0, 8)
    flipped = randomized_sums(np.column_stack([d, 0 * d]), hashes(8), grid, 20_000, seed=1)
    sums = np.ldexp(flipped[:, 0] - flipped[:, 1], grid)
    result = randomization_test(d.sum(), np.abs(d).sum(), sums)
    assert result == pytest.approx(exact.pvalue, abs=0.015)


def test_sums_that_differ_by_rounding_alone_are_ties() -> None:
    """0.1 + 0.2 is not 0.3 in floating point; 3 of 4 sums reach 0.3, and the signs as they are."""
    flipped = np.array([0.3, -0.3, 0.1 + 0.2, 0.1])
    assert randomization_test(0.1 + 0.2, 0.1 + 0.2, flipped) == 4 / 5
    assert randomization_test(2.0, 2.0, np.array([0.0, 0.0])) == 1 / 3  # no p-value is 0


def test_differences_without_spread() -> None:
    for values, p in (([0.0, 0.0, 0.0], 1), ([0.5], 1), ([0.1, 0.1, 0.1], 0)):
        assert tests.t_test(Sample.of(np.array(values))) == p


def test_effects_by_hand() -> None:
    """Differences 0 and 1: mean 1/2, deviation 1/√2, error 1/2; 12.7062 + 1.3764 halves of it."""
    sample, flat = Sample.of(np.array([0.0, 1.0])), Sample.of(np.array([0.5, 0.5]))
    assert minimum_detectable_difference(sample) == pytest.approx(7.0413, abs=1e-4)
    assert effect_size(sample) == pytest.approx(0.5 * 2**0.5)
    assert (minimum_detectable_difference(flat), effect_size(flat)) == (None, None)


@pytest.fixture(scope="module", autouse=True)
def _no_collection() -> Iterator[None]:
    """Let statsmodels not collect garbage in each call: a third of a second among many tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)
        yield


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(p_values)
def test_corrections_equal_those_of_statsmodels_and_scipy(p: list[float]) -> None:
    before = np.array(p)
    for result, expected in (
        (tests.CORRECTIONS["holm"](before), multipletests(p, method="holm")[1]),
        (tests.CORRECTIONS["bh"](before), multipletests(p, method="fdr_bh")[1]),
        (tests.CORRECTIONS["bh"](before), stats.false_discovery_control(p)),
    ):
        assert result == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert before.tolist() == p


@pytest.mark.parametrize("pairs", [1, 66, 378])
def test_draws_that_can_decide_are_as_few_as_can(pairs: int) -> None:
    """None of so many is as far from 0: p is below its level for certain; of one less it is not."""
    draws, risk, level = tests.deciding_draws(pairs), 0.01 / pairs / 2, 0.05 / pairs
    assert (1 - level) ** draws <= risk < (1 - level) ** (draws - 1)


def test_bounds_of_a_p_value_are_those_of_clopper_and_pearson() -> None:
    """None of 10: 0 to 1 − (0.01/2)^(1/10); 5 of 10, at 99 %: R's binom.test, 0.128 to 0.872."""
    low, high = tests.bounds(np.array([1 / 11, 6 / 11]), 10, pairs=1)
    assert low == pytest.approx([0, 0.1283], abs=1e-4)
    assert high == pytest.approx([1 - 0.005**0.1, 0.8717], abs=1e-4)
