"""A random ranking's graded NDCG, against every list that there is."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.arrays import Ragged
from harness.metrics import Block, Judgments, parse, per_user
from harness.stats.chance_graded import Grades
from harness.stats.chance_law import law
from harness.stats.chance_moments import exact, has_moments

GRADES = st.sampled_from([0.25, 1.0, 2.0, 3.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[float], list[float], int]:
    """Draw N, the grades of true candidates and of other true items, and k."""
    n = draw(st.integers(1, 6))
    inside = draw(st.lists(GRADES, max_size=n))
    outside = draw(st.lists(GRADES, min_size=0 if inside else 1, max_size=2))
    return n, inside, outside, draw(st.integers(1, 7))


@given(case=cases(), gain=st.sampled_from(["linear", "exponential"]))
def test_the_cumulants_are_those_of_all_lists(
    case: tuple[int, list[float], list[float], int], gain: str
) -> None:
    n, inside, outside, k = case
    r, metric = len(inside), parse(f"NDCG(gain={gain})@{k}")
    lists = np.array(list(permutations(range(n), min(k, n))), np.int32)
    count = len(lists)
    truth = Ragged(np.arange(count + 1) * r, np.tile(np.arange(r, dtype=np.int32), count))
    judgments = Judgments(
        truth,
        np.full(count, r + len(outside)),
        np.tile(inside, count).astype(np.float64),
        np.tile(outside, count).astype(np.float64),
    )
    values = per_user(metric, Block(lists, judgments, k))
    every = np.array([*inside, *outside])
    grades = Grades(np.zeros(len(every), np.int64), every, np.arange(len(every)) < r)
    result = law(metric, np.array([n]), np.array([r]), np.array([len(every)]), grades)
    assert result is not None
    third = np.mean((values - values.mean()) ** 3)
    assert result.mean[0] == pytest.approx(values.mean(), abs=1e-12)
    assert result.var[0] == pytest.approx(values.var(), abs=1e-12)
    assert result.third[0] == pytest.approx(third, abs=1e-12)


def test_users_are_worked_out_each_alone() -> None:
    """Two candidates, one true: 1 or 0 for the first; the second's other item has the same gain."""
    grades = Grades(np.array([0, 1, 1]), np.array([3.0, 1.0, 1.0]), np.array([True, True, False]))
    given_ = np.array([2, 2]), np.array([1, 1]), np.array([1, 2])
    result = exact(parse("NDCG(gain=linear)@1"), *given_, grades)
    assert result is not None
    assert result.mean.tolist() == [0.5, 0.5]
    assert result.var.tolist() == [0.25, 0.25]


def test_what_has_no_closed_form_says_so() -> None:
    assert has_moments(parse("NDCG(gain=linear)@3"), graded=True)
    assert not has_moments(parse("NDCG(gain=linear)@3"))
    assert has_moments(parse("pFound@3"))
    assert not has_moments(parse("pFound@3"), graded=True)
    assert not has_moments(parse("NDCG(gain=linear,ideal=retrieved)@3"), graded=True)
