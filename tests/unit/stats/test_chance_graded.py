"""A random ranking's graded NDCG, against every list that there is."""

from typing import Any

import numpy as np
from conftest import exactly
from enumeration import of_all_lists
from hypothesis import given
from hypothesis import strategies as st

from harness.metrics import parse
from harness.stats.chance_law import Grades, has_law, law

GRADES = st.sampled_from([0.25, 1.0, 2.0, 3.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[float], list[float], int]:
    """Draw N, the grades of true candidates and of other true items, and k."""
    n = draw(st.integers(1, 6))
    inside = draw(st.lists(GRADES, max_size=n))
    outside = draw(st.lists(GRADES, min_size=0 if inside else 1, max_size=2))
    return n, inside, outside, draw(st.integers(1, 7))


@given(case=cases(), gain=st.sampled_from(["linear", "exponential"]))
def test_the_cumulants_are_those_of_all_lists(case: Any, gain: str) -> None:
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
    third = np.mean((values - values.mean()) ** 3)
    assert result.mean[1] == exactly(values.mean())
    assert result.var[1] == exactly(values.var())
    assert result.third[1] == exactly(third)
    assert result.mean[0] == exactly(1 / 2 if k == 1 else (1 + 1 / np.log2(3)) / 2)


def test_what_has_no_closed_form_says_so() -> None:
    assert has_law(parse("NDCG(gain=linear)@3"), graded=True)
    assert not has_law(parse("NDCG(gain=linear)@3"))
    assert has_law(parse("pFound@3"))
    assert not has_law(parse("pFound@3"), graded=True)
    assert not has_law(parse("NDCG(gain=linear,ideal=retrieved)@3"), graded=True)
