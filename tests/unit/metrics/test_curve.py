"""The first metric at every cut-off, by hand."""

from typing import Any

import numpy as np
import pytest

from harness.core.arrays import Ragged
from harness.core.exact_sum import Sums, add
from harness.metrics import Judgments, parse
from harness.metrics.scores import ScoreTable, curve, curve_sums, has_curve, score
from harness.models.recommendations import Recommendations

JUDGMENTS = Judgments(
    Ragged(np.array([0, 1, 3, 4]), np.array([0, 1, 2, 3], np.int32)), np.array([1, 2, 1])
)
LISTS = Recommendations(np.array([[9, 0, 8], [1, 9, 2], [7, 8, 9]], np.int32))


def curve_of(metric: Any, *repeats: Recommendations) -> dict[int, float]:
    """Return the curve, added up over the users one by one."""
    total: Sums = {}
    for user in range(3):
        own = [Recommendations(repeat.items[user : user + 1]) for repeat in repeats]
        judgments = JUDGMENTS.rows(user, user + 1)
        total = add(total, curve_sums(own, judgments, score(own, judgments, (metric,)), metric))
    return curve(total, metric, users=3)


def test_the_curve_by_hand() -> None:
    """AP@1: 0, 1, 0; AP@2: 1/2, 1/2, 0; AP@3: 1/2, (1 + 2/3)/2, 0."""
    metric = parse("MAP@3")
    found = curve_of(metric, LISTS)
    assert found == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 4 / 9}, rel=1e-12)


def test_repeats_are_averaged_and_no_hit_is_zero() -> None:
    metric = parse("MAP@2")
    none = Recommendations(np.full((3, 3), 9, np.int32))
    found = curve_of(metric, LISTS, none)
    assert found == pytest.approx({1: 1 / 6, 2: 1 / 6}, rel=1e-12)


def test_long_lists_have_about_twenty_points() -> None:
    metric = parse("MAP@1000")
    found = curve_of(metric, LISTS)
    assert 15 <= len(found) <= 20
    assert (min(found), max(found)) == (1, 1000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("MAP@5", True), ("NDCG@5", True), ("MRR", False), ("Novelty@5", False), ("Gini@5", False)],
)
def test_which_metrics_have_one(name: str, expected: bool) -> None:
    metric = parse(name)
    assert has_curve(metric) is expected
    if not expected and metric.definition.of == "user":
        assert curve(curve_sums([LISTS], JUDGMENTS, ScoreTable({}), metric), metric, 3) == {}
