"""Corrections for several tests against statsmodels."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from harness.stats import tests
from harness.stats.tests import CORRECTIONS, benjamini_hochberg, holm


@pytest.fixture(scope="module", autouse=True)
def _no_collection() -> Iterator[None]:
    """Let statsmodels not collect garbage in each call: a third of a second among many tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)
        yield


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(p_values)
def test_corrections_equal_those_of_statsmodels_and_scipy(p: list[float]) -> None:
    for found, expected in (
        (holm(p), multipletests(p, method="holm")[1]),
        (benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1]),
        (benjamini_hochberg(p), stats.false_discovery_control(p)),
    ):
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("name", CORRECTIONS)
def test_one_test_needs_no_correction_and_the_order_of_several_stays(name: str) -> None:
    assert CORRECTIONS[name]([0.03]).tolist() == [0.03]
    p = np.array([0.5, 0.01, 0.2])
    assert CORRECTIONS[name](p).argsort().tolist() == [1, 2, 0]
    assert p.tolist() == [0.5, 0.01, 0.2]


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
