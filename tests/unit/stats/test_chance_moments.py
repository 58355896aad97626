"""Chance of special sizes; test_chance_law.py enumerates every list, test_golden.py has figures."""

from typing import Any

import numpy as np
import pytest
from conftest import exactly
from enumeration import EXACT

from harness.metrics import parse
from harness.stats.chance_law import Law, law


def moments(name: str, n: Any, r: Any, relevant: Any, k: int) -> Law:
    result = law(parse(f"{name}@{k}"), n, r, relevant)
    assert result is not None
    return result


@pytest.mark.parametrize("name", EXACT)
def test_where_all_lists_earn_the_same_the_variance_is_exactly_0(name: str) -> None:
    n = np.arange(60)
    for k in (1, 2, 7, 39):
        every, no = moments(name, n, n, n + 1, k), moments(name, n, 0, 3, k)
        assert not every.var.any()
        assert every.mean[1:].all()
        assert not no.mean.any()
        assert not no.var.any()


def test_a_hit_that_cannot_be_missed_has_variance_0_and_a_rare_one_keeps_its_digits() -> None:
    n = np.arange(12, 200)
    result = moments("HitRate", n, n - 10, n, 11)  # 10 others, 11 ranks
    assert not result.var.any()
    assert result.mean == exactly(1)
    rare = moments("HitRate", 10**9, 1, 1, 12)
    assert float(rare.mean) == pytest.approx(12e-9, rel=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_millions_of_candidates_overflow_nothing(name: str) -> None:
    result = moments(name, 2_000_000_000, 1_000_000, 1_000_000, 1000)
    assert 0 < float(result.mean) < 0.5
    assert 0 < float(result.var) < 0.5


@pytest.mark.parametrize("name", EXACT)
def test_users_are_worked_out_each_and_scalars_are_shared(name: str) -> None:
    """Also where some users have fewer candidates than places."""
    n, r = np.array([9, 9, 9, 9, 3, 100]), np.array([0, 3, 1, 3, 2, 1])
    relevant = np.array([1, 4, 1, 3, 2, 1], np.int32)
    together = vars(moments(name, n, r, relevant, 4))
    alone = [
        vars(moments(name, candidates, true, largest, 4))
        for candidates, true, largest in zip(n, r, relevant, strict=True)
    ]
    for fact in ("mean", "var", "third"):
        assert together[fact].tolist() == [float(facts[fact]) for facts in alone]
    assert moments(name, [[7], [9]], [1, 2, 3], 3, 4).mean.shape == (2, 3)
