"""R-precision, graded NDCG and MicroRecall by hand and independently; test_golden.py has pFound."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import log2
from typing import Any

import numpy as np
import pytest
from conftest import ragged
from hypothesis import given
from hypothesis import strategies as st

from harness import evaluate
from harness.metrics import Block, Judgments, parse, per_user
from harness.metrics.kernels import ranks

Grades = Mapping[int, float]


def matrix(lists: Sequence[Sequence[int]]) -> Any:
    """Return lists filled up to one width."""
    width = max(map(len, lists))
    rows = [[*row, *[-1] * (width - len(row))] for row in lists]
    return np.array(rows, np.int32).reshape(len(lists), width)


def values(
    name: str, lists: Sequence[Sequence[int]], truths: Sequence[Grades], k: int, more: int = 0
) -> list[float]:
    """Return one graded metric of several lists; `more` true items have no position."""
    rows = ragged(truths)
    grades = np.array([truth[item] for truth in truths for item in sorted(truth)], np.float64)
    judgments = Judgments(rows, rows.sizes + more, grades)
    return per_user(parse(name), Block(matrix(lists), judgments, k)).tolist()


def gains_by_rank(ranked: Sequence[int], truth: Grades, k: int) -> list[float]:
    """Return the grade at each of the first k ranks; that of a repetition is 0."""
    return [truth.get(p, 0.0) if p not in ranked[:i] else 0.0 for i, p in enumerate(ranked[:k])]


def naive_ndcg(ranked: Sequence[int], truth: Grades, k: int, gain: str, ideal: str) -> float:
    def gained(grade: float) -> float:
        return {"binary": float(grade > 0), "linear": grade, "exponential": 2**grade - 1}[gain]

    def dcg(gains: Sequence[float]) -> float:
        return sum(g / log2(i + 1) for i, g in enumerate(gains[:k], start=1))

    listed = [gained(g) for g in gains_by_rank(ranked, truth, k)]
    pool = listed if ideal == "retrieved" else [gained(g) for g in truth.values()]
    best = dcg(sorted(pool, reverse=True))
    return dcg(listed) / best if best else 0.0


cuts = st.integers(1, 12)
ranked = st.lists(st.integers(-1, 9), max_size=10)


def evaluation_sets(grades: st.SearchStrategy[float]) -> st.SearchStrategy[list[Any]]:
    """Return up to four users, each a list and a graded truth."""
    truth = st.dictionaries(st.integers(0, 9), grades, max_size=6)
    return st.lists(st.tuples(ranked, truth), min_size=1, max_size=4)


GRADED = {1: 1.0, 2: 3.0, 3: 2.0}
"""The list 1, 9, 2 has the grades 1, 0, 3."""


@pytest.mark.parametrize(
    ("name", "row", "truth", "expected"),
    [
        ("RPrecision@4", [1, 8, 9, 2], GRADED, 1 / 3),  # rank 4 comes after R = 3
        ("RPrecision@2", [1, 2, 3, 4], dict.fromkeys(range(1, 5), 1.0), 2 / 4),  # cut before R = 4
        ("pFound@3", [1, 1, 2], {1: 0.5, 2: 0.5}, 0.5 + 0.5 * 0.85**2 * 0.5),
    ],
)
def test_a_list_by_hand(name: str, row: list[int], truth: Grades, expected: float) -> None:
    result = values(name, [row], [truth], int(name.rpartition("@")[2]))
    assert result == [pytest.approx(expected, abs=1e-15)]


def test_p_found_without_a_cut_off_looks_at_lists_as_long_as_they_are() -> None:
    lists = {"ann": [*map(str, range(30)), "a"], "bob": ["a"]}
    result = evaluate(lists, {"ann": ["a"], "bob": ["a"]}, ["pFound", "pFound@30"], per_user=True)
    assert result["pFound"].tolist() == [pytest.approx(0.85**30, rel=1e-12), 1.0]
    assert result["pFound@30"].tolist() == [0.0, 1.0]


NDCG = list(product(["binary", "linear", "exponential"], ["relevant", "retrieved"]))


GRADES = st.sampled_from([0.5, 1.0, 2.0, 3.0])
TRUTHS = st.dictionaries(st.integers(0, 9), st.floats(0.01, 9), min_size=1)


@given(evaluation_set=evaluation_sets(GRADES), truth=TRUTHS, k=cuts)
def test_ndcg_is_what_plain_python_says_and_exactly_1_in_the_order_of_grades(
    evaluation_set: list[Any], truth: Grades, k: int
) -> None:
    best_first = sorted(truth, key=lambda item: -truth[item])
    lists, truths = [row[0] for row in evaluation_set], [row[1] for row in evaluation_set]
    for gain, ideal in NDCG:
        name = f"NDCG(gain={gain},ideal={ideal})@{k}"
        expected = [naive_ndcg(row, truth, k, gain, ideal) for row, truth in evaluation_set]
        assert values(name, lists, truths, k) == pytest.approx(expected, rel=0, abs=1e-12), name
        assert values(name, [best_first + lists[0]], [truth], k) == [1.0], name


def test_the_highest_grades_whose_gains_a_number_holds() -> None:
    for gain, grade in (("exponential", 1000), ("linear", 1e300)):
        graded = {"ann": dict.fromkeys("abc", grade)}
        for ideal in ("relevant", "retrieved"):
            name = f"NDCG(gain={gain},ideal={ideal})@3"
            assert evaluate({"ann": ["a", "b", "c"]}, graded, name).iloc[0] == 1


def test_micro_recall_adds_up_hits_and_true_items_before_it_divides() -> None:
    """The mean of the users' recalls is another figure: (1/3 + 1/4) / 2."""
    result = values("MicroRecall@2", [[4, 9], [7]], [{4: 1.0}, {7: 1.0, 8: 1.0}], 2, more=2)
    assert result == [(1 + 1) / (3 + 4)]


users = st.tuples(ranked, st.sets(st.integers(0, 9)).map(sorted))


@given(evaluation_set=st.lists(users, min_size=1, max_size=5), k=cuts)
def test_ranks_are_first_places_within_the_cut(evaluation_set: list[Any], k: int) -> None:
    lists, truths = [row[0] for row in evaluation_set], [row[1] for row in evaluation_set]
    expected = [
        row[:k].index(item) + 1 if item in row[:k] else 0
        for row, true in evaluation_set
        for item in true
    ]
    assert ranks(matrix(lists), ragged(truths), k).tolist() == expected
