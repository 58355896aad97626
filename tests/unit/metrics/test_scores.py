"""Scores by hand on two users, means that no order of users changes, and the mean at every k."""

import numpy as np
import pytest
from conftest import ragged

from harness.core.exact_sum import Sums, add
from harness.metrics import Judgments, parse
from harness.metrics.scores import ScoreTable, curve, curve_sums, score, user_scores
from harness.models.item_stats import Catalogue, item_counts
from harness.models.recommendations import Recommendations

TWO = Judgments(ragged([[0, 3], [2]]), np.array([2, 2]))
"""Of the second user a true item is no candidate."""


def lists(*rows: list[int]) -> Recommendations:
    return Recommendations(np.array(rows, np.int32))


def test_repeats_are_rows_and_average_by_user_and_by_repeat() -> None:
    recall, hit_rate = parse("Recall@3"), parse("HitRate@1")
    repeats = [lists([0, 3, -1], [2, -1, -1]), lists([1, -1, -1], [-1] * 3)]
    table = score(repeats, TWO, [recall, hit_rate])
    assert (table.repeats, list(table.values)) == (2, [recall, hit_rate])
    assert table.values[recall].tolist() == [[1.0, 0.5], [0.0, 0.0]]
    assert table.of_users(recall).tolist() == [0.5, 0.25]
    assert table.of_repeats(recall) == [0.75, 0.0]
    many = ScoreTable({recall: np.random.default_rng(3).random((19, 50))})
    alone = [ScoreTable({recall: many.values[recall][:, [user]]}) for user in range(50)]
    assert many.of_users(recall).tolist() == [
        table_of_user.of_users(recall).item() for table_of_user in alone
    ]


@pytest.mark.parametrize(("threads", "block"), [(1, 2), (2, 1), (2, 3)])
def test_blocks_of_users_and_threads_change_no_bit(threads: int, block: int) -> None:
    """Of seven users, with grades, true items that are no candidates, and counts of items."""
    draw = np.random.default_rng(7)
    truth = ragged(draw.choice(20, size, replace=False) for size in (3, 0, 5, 1, 4, 2, 2))
    sizes = truth.sizes.tolist()
    grades, outside = draw.random(sum(sizes)), draw.random(7)
    counts = item_counts(np.arange(20), lambda: np.arange(20) / 40, np.arange(20))
    catalogue = Catalogue(np.ones(20, np.bool_), counts, None)
    judgments = Judgments(truth, truth.sizes + 1, grades, outside, catalogue)
    items = draw.integers(-1, 20, (7, 9)).astype(np.int32)
    metrics = [parse(f"{m}@5") for m in ("MAP", "NDCG(gain=linear)", "pFound", "Novelty", "Gini")]
    whole = user_scores(items, judgments, metrics)
    parts = user_scores(items, judgments, metrics, threads, block)
    for metric in metrics:
        assert parts[metric].tolist() == whole[metric].tolist(), metric


THREE = Judgments(ragged([[0], [1, 2], [3]]), np.array([1, 2, 1]))
OF_THREE = lists([9, 0, 8], [1, 9, 2], [7, 8, 9])


def curve_of(name: str, *repeats: Recommendations) -> dict[int, float]:
    metric = parse(name)
    total: Sums = {}
    for user in range(3):
        rows = [Recommendations(repeat.items[user : user + 1]) for repeat in repeats]
        judgments = THREE.rows(user, user + 1)
        total = add(total, curve_sums(rows, judgments, score(rows, judgments, (metric,)), metric))
    return curve(total, metric, users=3)


def test_the_curve_by_hand() -> None:
    """AP@1: 0, 1, 0; AP@2: 1/2, 1/2, 0; AP@3: 1/2, (1 + 2/3)/2, 0."""
    assert curve_of("MAP@3", OF_THREE) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 4 / 9}, rel=1e-12)
    none = lists(*[[9, 9, 9]] * 3)
    assert curve_of("MAP@2", OF_THREE, none) == pytest.approx({1: 1 / 6, 2: 1 / 6}, rel=1e-12)
    long = curve_of("MAP@1000", OF_THREE)
    assert (15 <= len(long) <= 20, min(long), max(long)) == (True, 1, 1000)


def test_metrics_without_a_cut_off_or_of_other_kinds_have_no_curve() -> None:
    for metric in map(parse, ("MRR", "Novelty@5", "Gini@5")):
        assert curve(curve_sums([OF_THREE], THREE, ScoreTable({}), metric), metric, 3) == {}
