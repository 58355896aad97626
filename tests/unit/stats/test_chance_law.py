"""A random ranking's cumulants against every list there is, and the law of means by hand."""

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from conftest import exactly
from hypothesis import given
from hypothesis import strategies as st

from harness.core.arrays import Ragged
from harness.metrics import Block, Judgments, parse, per_user
from harness.stats.chance_law import Grades, Law, has_law, law, law_of_mean


def of_all_lists(
    name: str, n: int, r: int, relevant: int, k: int, inside: Any = None, outside: Any = None
) -> Any:
    """Return a metric's values of all ordered lists of min(k, n) candidates, r of n true.

    With the grades of true items that are candidates, and of those that are none.
    """
    lists = np.array(list(permutations(range(n), min(k, n))), np.int32)
    count = len(lists)
    truth = Ragged(np.arange(count + 1) * r, np.tile(np.arange(r, dtype=np.int32), count))
    grades = [None if row is None else np.tile(row, count) * 1.0 for row in (inside, outside)]
    judgments = Judgments(truth, np.full(count, relevant), grades[0], grades[1])
    return per_user(parse(f"{name}@{k}"), Block(lists, judgments, k))


def enumerated(name: str, n: int, r: int, relevant: int, k: int) -> list[float]:
    """Return the first three cumulants and the chance of 0, over all ordered lists of min(k, n)."""
    values, hits = (of_all_lists(m, n, r, relevant, k) for m in (name, "HitRate"))
    mean = math.fsum(values) / len(values)
    var, third = (math.fsum((values - mean) ** power) / len(values) for power in (2, 3))
    return [mean, var, third, 1 - math.fsum(hits) / len(hits)]


EXACT = [
    *("MAP", "MAP(divisor=trec)", "MAP(divisor=k)", "MAP(divisor=retrieved)"),
    *("Precision", "Recall", "F1", "HitRate", "MRR", "NDCG", "RPrecision"),
    *("pFound", "pFound(p_break=0.5)", "SetF1"),
]
SIZES = [  # candidates, relevant ones, all relevant items, k
    *((1, 1, 1, 12), (1, 0, 0, 1), (2, 1, 1, 1), (3, 2, 5, 2), (5, 2, 2, 3), (5, 5, 6, 3)),
    *((5, 4, 4, 10), (6, 3, 4, 6), (7, 2, 3, 4), (7, 6, 6, 5), (8, 3, 3, 5), (4, 0, 3, 2)),
    *((6, 2, 9, 8), (6, 6, 9, 1), (6, 5, 5, 7)),
]


def moments(name: str, n: Any, r: Any, relevant: Any, k: int) -> Law:
    result = law(parse(f"{name}@{k}"), n, r, relevant)
    assert result is not None
    return result


def cumulants(name: str, n: int, r: int, relevant: int, k: int) -> list[float]:
    """Return what `enumerated` does, by the formulas."""
    result = moments(name, n, r, relevant, k)
    return [float(value) for value in (result.mean, result.var, result.third, result.none)]


@pytest.mark.parametrize("name", EXACT)
def test_equals_the_enumeration_of_lists(name: str) -> None:
    for n, r, relevant, k in SIZES:
        expected = exactly(enumerated(name, n, r, relevant, k))
        assert cumulants(name, n, r, relevant, k) == expected, (n, r, relevant, k)


@pytest.mark.parametrize("name", EXACT)
def test_where_all_lists_earn_the_same_the_variance_is_exactly_0(name: str) -> None:
    """All candidates are true, so that each list has as many hits as places; or none is."""
    n = np.arange(60)
    for k in (1, 2, 7, 39):
        every, no = moments(name, n, n, n + 1, k), moments(name, n, 0, 3, k)
        assert not every.var.any()
        assert (every.mean[k:] > 0).all() or k == 1  # a metric may leave the first place out
        assert not no.mean.any()
        assert not no.var.any()


def test_a_hit_that_cannot_be_missed_has_variance_0_and_a_rare_one_keeps_its_digits() -> None:
    n = np.arange(12, 200)
    result = moments("HitRate", n, n - 10, n, 11)  # 10 others, 11 ranks
    assert not result.var.any()
    assert result.mean == exactly(1)
    assert law_of_mean(result.sums()).none == 0.0
    rare = moments("HitRate", 10**9, 1, 1, 12)
    assert float(rare.mean) == pytest.approx(12e-9, rel=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_millions_of_candidates_overflow_nothing(name: str) -> None:
    result = moments(name, 2_000_000_000, 1_000_000, 1_000_000, 1000)
    assert 0 < float(result.mean) < 0.5
    assert 0 < float(result.var) < 0.5


def test_users_are_worked_out_each_and_scalars_are_shared() -> None:
    """Also where some users have fewer candidates than places."""
    n, r = np.array([9, 9, 9, 9, 3, 100]), np.array([0, 3, 1, 3, 2, 1])
    relevant = np.array([1, 4, 1, 3, 2, 1], np.int32)
    together = vars(moments("MAP", n, r, relevant, 4))
    alone = [vars(moments("MAP", n[user], r[user], relevant[user], 4)) for user in range(len(n))]
    for fact in ("mean", "var", "third"):
        assert together[fact].tolist() == [float(facts[fact]) for facts in alone]
    assert moments("MAP", [[7], [9]], [1, 2, 3], 3, 4).mean.shape == (2, 3)


def test_cumulants_of_a_mean_by_hand() -> None:
    """Two users with variance 1/4 and third cumulant 1/8, two repeats: 4 scores.

    Variance 4 · 1/4 / 4² = 1/16, third 4 · 1/8 / 4³ = 1/128; skewness (1/128)/(1/16)^1.5 = 1/2.
    """
    of_users = Law(np.array([0.2, 0.4]), np.full(2, 1 / 4), np.full(2, 1 / 8), np.array([0.5, 0.8]))
    result = law_of_mean(of_users.sums(), repeats=2)
    assert result == pytest.approx((0.3, 1 / 4, 1 / 2, 0.16), rel=1e-12)


GRADES = st.sampled_from([0.25, 1.0, 2.0, 3.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[float], list[float], int]:
    """Draw N, the grades of true candidates and of other true items, and k."""
    n = draw(st.integers(1, 6))
    inside = draw(st.lists(GRADES, max_size=n))
    outside = draw(st.lists(GRADES, min_size=0 if inside else 1, max_size=2))
    return n, inside, outside, draw(st.integers(1, 7))


@given(case=cases(), gain=st.sampled_from(["linear", "exponential"]))
def test_graded_cumulants_are_those_of_all_lists(case: Any, gain: str) -> None:
    """Of a user beside another one, of whose two candidates the first, of grade 1, is true."""
    n, inside, outside, k = case
    r, metric = len(inside), parse(f"NDCG(gain={gain})@{k}")
    relevant = r + len(outside)
    values = of_all_lists(f"NDCG(gain={gain})", n, r, relevant, k, inside, outside)
    every = np.array([*inside, *outside])
    users = np.array([0] + [1] * len(every))
    are_candidates = np.array([True, *(np.arange(len(every)) < r)])
    grades = Grades(users, np.append(1, every), are_candidates)
    result = law(metric, np.array([2, n]), np.array([1, r]), np.array([1, len(every)]), grades)
    assert result is not None
    assert result.mean[1] == exactly(values.mean())
    assert result.var[1] == exactly(values.var())
    assert result.third[1] == exactly(np.mean((values - values.mean()) ** 3))
    assert result.mean[0] == exactly(1 / 2 if k == 1 else (1 + 1 / np.log2(3)) / 2)


@pytest.mark.parametrize(
    ("text", "graded", "known"),
    [
        ("NDCG(gain=linear)@3", True, True),
        ("NDCG(gain=linear)@3", False, False),
        ("pFound@3", False, True),
        ("pFound@3", True, False),
        ("NDCG(gain=linear,ideal=retrieved)@3", True, False),
        ("NDCG(ideal=retrieved)@5", False, False),
        ("MAP(divisor=hits)@5", False, False),
        ("Novelty@5", False, False),
    ],
)
def test_what_has_no_closed_form_says_so(text: str, graded: bool, known: bool) -> None:
    assert has_law(parse(text), graded=graded) is known
    assert graded or (law(parse(text), 10, 2, 2) is not None) is known
