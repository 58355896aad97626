"""Scores by hand on two users, means that no order of users changes, and the mean at every k."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import ragged
from hypothesis import given
from hypothesis import strategies as st

from harness.core.exact_sum import Sums, add
from harness.metrics import Judgments, parse
from harness.metrics.scores import (
    ScoreTable,
    curve,
    curve_sums,
    has_curve,
    mean,
    score,
    user_scores,
)
from harness.models.item_stats import Catalogue, item_counts
from harness.models.recommendations import Recommendations

TWO = Judgments(ragged([[0, 3], [2]]), np.array([2, 2]))
"""Of the second user a true item is no candidate."""


def lists(*rows: list[int]) -> Recommendations:
    return Recommendations(np.array(rows, np.int32))


def test_scores_by_hand_in_the_order_asked_for() -> None:
    metrics = [parse(m) for m in ("MAP@3", "Recall@1", "Recall@3", "HitRate@2", "MRR@3")]
    table = score([lists([0, 1, 3], [1, -1, 2])], TWO, metrics)
    assert list(table.values) == metrics
    result = {str(m): values.tolist() for m, values in table.values.items()}
    assert result == {
        # hits at ranks 1 and 3: (1/1 + 2/3) / 2; a hit at rank 3: (1/3) / 2
        "MAP@3": [[pytest.approx(5 / 6, abs=1e-15), pytest.approx(1 / 6, abs=1e-15)]],
        "Recall@1": [[0.5, 0.0]],
        "Recall@3": [[1.0, 0.5]],
        "HitRate@2": [[1.0, 0.0]],
        "MRR@3": [[1.0, pytest.approx(1 / 3, abs=1e-15)]],
    }


def test_repeats_are_rows_and_average_by_user_and_by_repeat() -> None:
    recall = parse("Recall@3")
    repeats = [lists([0, 3, -1], [2, -1, -1]), lists([1, -1, -1], [-1] * 3)]
    table = score(repeats, TWO, [recall])
    assert table.repeats == 2
    assert table.values[recall].tolist() == [[1.0, 0.5], [0.0, 0.0]]
    assert table.of_users(recall).tolist() == [0.5, 0.25]
    assert table.of_repeats(recall) == [0.75, 0.0]


@pytest.mark.parametrize("block", [1, 2, 3, 6])
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_users_and_threads_change_no_bit(block: int, threads: int) -> None:
    """Of seven users, with grades, true items that are no candidates, and counts of items."""
    draw = np.random.default_rng(7)
    truth = ragged(draw.choice(20, size, replace=False) for size in (3, 0, 5, 1, 4, 2, 2))
    sizes = truth.sizes.tolist()
    grades, outside = draw.random(sum(sizes)), draw.random(7)
    counts = item_counts(np.arange(20), lambda: np.arange(20) / 40, np.arange(20))
    catalogue = Catalogue(np.ones(20, np.bool_), counts, None)
    judgments = Judgments(truth, truth.sizes + 1, grades, outside, catalogue)
    items = draw.integers(-1, 20, (7, 9)).astype(np.int32)
    names = "MAP@5", "MAP(divisor=hits)@8", "NDCG(gain=linear)@5", "pFound", "Novelty@5", "Gini@5"
    metrics = list(map(parse, names))
    whole = user_scores(items, judgments, metrics)
    parts = user_scores(items, judgments, metrics, threads, block)
    for metric in metrics:
        assert parts[metric].tolist() == whole[metric].tolist(), metric


def test_repeats_of_a_user_have_one_mean_whoever_stands_beside() -> None:
    metric, values = parse("MAP@3"), np.random.default_rng(3).random((19, 50))
    together = ScoreTable({metric: values}).of_users(metric)
    alone = [
        ScoreTable({metric: values[:, user : user + 1]}).of_users(metric) for user in range(50)
    ]
    assert np.array_equal(together, np.concatenate(alone))
    assert together == pytest.approx(values.mean(axis=0), rel=1e-12)


def test_mean_is_rounded_once() -> None:
    assert mean(np.full(10, 0.1)) == 0.1  # one after the other, the sum is 0.9999999999999999
    assert mean(np.array([1e16, 1.0, -1e16, 1.0])) == 0.5


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.randoms(use_true_random=False))
def test_mean_is_the_exact_sum_whatever_the_order(values: list[float], chance: Any) -> None:
    result = mean(np.array(values))
    exact = sum(map(Fraction, values), Fraction())
    assert result == float(exact) / len(values)
    assert math.isclose(result, exact / len(values), rel_tol=1e-15, abs_tol=5e-324)
    chance.shuffle(values)
    assert mean(np.array(values)) == result


THREE = Judgments(ragged([[0], [1, 2], [3]]), np.array([1, 2, 1]))
OF_THREE = lists([9, 0, 8], [1, 9, 2], [7, 8, 9])


def curve_of(name: str, *repeats: Recommendations) -> dict[int, float]:
    """Return the curve, added up over the users one by one."""
    metric = parse(name)
    total: Sums = {}
    for user in range(3):
        own = [Recommendations(repeat.items[user : user + 1]) for repeat in repeats]
        judgments = THREE.rows(user, user + 1)
        total = add(total, curve_sums(own, judgments, score(own, judgments, (metric,)), metric))
    return curve(total, metric, users=3)


def test_the_curve_by_hand() -> None:
    """AP@1: 0, 1, 0; AP@2: 1/2, 1/2, 0; AP@3: 1/2, (1 + 2/3)/2, 0."""
    assert curve_of("MAP@3", OF_THREE) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 4 / 9}, rel=1e-12)
    none = lists(*[[9, 9, 9]] * 3)
    assert curve_of("MAP@2", OF_THREE, none) == pytest.approx({1: 1 / 6, 2: 1 / 6}, rel=1e-12)


def test_long_lists_have_about_twenty_points() -> None:
    result = curve_of("MAP@1000", OF_THREE)
    assert 15 <= len(result) <= 20
    assert (min(result), max(result)) == (1, 1000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("MAP@5", True), ("NDCG@5", True), ("MRR", False), ("Novelty@5", False), ("Gini@5", False)],
)
def test_which_metrics_have_one(name: str, expected: bool) -> None:
    metric = parse(name)
    assert has_curve(metric) is expected
    if not expected and metric.definition.of == "user":
        assert curve(curve_sums([OF_THREE], THREE, ScoreTable({}), metric), metric, 3) == {}
