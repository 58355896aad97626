"""Three cumulants against the enumeration of every list, and the law of means by hand."""

import numpy as np
import pytest
from conftest import exactly
from enumeration import EXACT, SIZES, cumulants, enumerated

from harness.metrics import parse
from harness.stats.chance_law import Law, law, law_of_mean


@pytest.mark.parametrize("name", EXACT)
def test_equals_the_enumeration_of_lists(name: str) -> None:
    for n, r, relevant, k in SIZES:
        expected = exactly(enumerated(name, n, r, relevant, k))
        assert cumulants(name, n, r, relevant, k) == expected, (n, r, relevant, k)


def test_cumulants_of_a_mean_by_hand() -> None:
    """Two users with variance 1/4 and third cumulant 1/8, two repeats: 4 scores.

    Variance 4 · 1/4 / 4² = 1/16, third 4 · 1/8 / 4³ = 1/128; skewness (1/128)/(1/16)^1.5 = 1/2.
    """
    of_users = Law(np.array([0.2, 0.4]), np.full(2, 1 / 4), np.full(2, 1 / 8), np.array([0.5, 0.8]))
    result = law_of_mean(of_users.sums(), repeats=2)
    assert result == pytest.approx((0.3, 1 / 4, 1 / 2, 0.16), rel=1e-12)


def test_no_law_where_the_divisor_depends_on_the_list() -> None:
    for name in ("MAP(divisor=hits)@5", "NDCG(ideal=retrieved)@5"):
        assert law(parse(name), 10, 2, 2) is None


def test_where_a_hit_cannot_be_missed_no_hit_has_no_chance() -> None:
    result = law(parse("MAP@3"), [5, 5], [5, 5], [5, 5])
    assert result is not None
    assert law_of_mean(result.sums()).none == 0.0
