"""Chance by hand and of published sizes; test_chance_law.py enumerates every list there is."""

import math
from typing import Any

import numpy as np
import pytest
from conftest import refusal
from enumeration import EXACT

from harness.metrics import parse
from harness.stats.chance_law import Law, law
from harness.stats.chance_moments import Moments, exact, moment_sums, of_mean


def moments(name: str, n: Any, r: Any, relevant: Any, k: int) -> Law:
    result = law(parse(f"{name}@{k}"), n, r, relevant)
    assert result is not None
    return result


def test_one_true_item_by_hand() -> None:
    """One of four candidates is true, the list has two ranks: AP is 1, 1/2, 0 or 0."""
    result = moments("MAP", 4, 1, 1, 2)
    assert float(result.mean) == pytest.approx(3 / 8, abs=1e-15)
    assert float(result.var) == pytest.approx((1 + 1 / 4) / 4 - (3 / 8) ** 2, abs=1e-15)


@pytest.mark.parametrize(
    ("n", "r", "relevant", "k", "mean", "sd"),
    [  # golden values: Ponpare, Ponpare with truth outside, H&M, a full ranking
        (358, 1, 1, 10, 0.008181475569743727, 0.06528417572754507),
        (358, 4, 6, 10, 0.005564969625342378, 0.022320838595200405),
        (105542, 3, 3, 12, 2.9404211330124e-05, 0.0022232955767327155),
        (20, 5, 5, 20, 0.3525423548872506, 0.1275504979616704),
    ],
)
def test_average_precision_of_published_sizes(
    n: int, r: int, relevant: int, k: int, mean: float, sd: float
) -> None:
    result = moments("MAP", n, r, relevant, k)
    assert float(result.mean) == pytest.approx(mean, rel=0, abs=1e-12)
    assert math.sqrt(result.var) == pytest.approx(sd, rel=0, abs=1e-12)


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
    assert result.mean == pytest.approx(1, rel=0, abs=1e-12)
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
    together = moments(name, n, r, relevant, 4)
    alone = [moments(name, *sizes, 4) for sizes in zip(n, r, relevant, strict=True)]
    assert together.mean.tolist() == [float(one.mean) for one in alone]
    assert together.var.tolist() == [float(one.var) for one in alone]
    assert together.third.tolist() == [float(one.third) for one in alone]
    assert moments(name, [[7], [9]], [1, 2, 3], 3, 4).mean.shape == (2, 3)
    none = np.empty(0, np.int64)
    assert moments(name, 10, none, none, 5).mean.shape == (0,)


@pytest.mark.parametrize("name", ["MAP(divisor=hits)", "NDCG(ideal=retrieved)"])
def test_what_has_no_closed_form_is_left_to_simulation(name: str) -> None:
    assert exact(parse(f"{name}@10"), 100, 3, 3) is None


def test_the_mean_over_users_has_their_mean_and_the_root_of_summed_variances() -> None:
    mean, sd = of_mean(moment_sums(Moments(np.array([0.2, 0.4]), np.array([0.09, 0.16]))))
    assert [mean, sd] == pytest.approx([0.3, 0.5 / 2])


@pytest.mark.parametrize(
    ("given_", "named"),
    [
        ((10, 11, 12), ["user 0", "n_candidates 10", "relevant_candidates 11"]),
        ((10, 3, [3, 2]), ["user 1", "relevant_candidates 3", "relevant 2"]),
        ((10, -1, 3), ["relevant_candidates -1", "from 0"]),
        ((10, 1.5, 3), ["relevant_candidates", "whole", "float64"]),
        (([10, 10], [1, 1, 1], 3), ["broadcast"]),
    ],
)
def test_what_is_refused_and_named(given_: tuple[Any, Any, Any], named: list[str]) -> None:
    with refusal(ValueError, *named):
        exact(parse("MAP@10"), *given_)
