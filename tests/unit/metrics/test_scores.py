"""Scores by hand on two users, and means that no order of users changes."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.arrays import Ragged
from harness.metrics import Judgments, Metric, parse, scores
from harness.metrics.scores import ScoreTable, mean, score, user_scores
from harness.models.recommendations import Recommendations
from harness.protocol.evaluation_set import EvaluationSet


def ids(*texts: str) -> pl.Series:
    return pl.Series("id", texts, dtype=pl.String)


@pytest.fixture
def evaluation_set() -> EvaluationSet:
    """ann's truth is {0, 3}; bob's is {2} and one item that is no candidate."""
    return EvaluationSet(
        users=np.array([0, 1], np.int32),
        user_ids=ids("ann", "bob"),
        candidates=np.arange(4, dtype=np.int32),
        candidate_ids=ids("a", "b", "c", "d"),
        truth=Ragged(np.array([0, 2, 3]), np.array([0, 3, 2], np.int32)),
        relevant=np.array([2, 2]),
        outside_ids=ids("gone"),
        seen=None,
        k=3,
        funnel=(),
    )


def lists(*rows: list[int]) -> Recommendations:
    return Recommendations(np.array(rows, np.int32))


def test_scores_by_hand(evaluation_set: EvaluationSet) -> None:
    metrics = [parse(m) for m in ("MAP@3", "Recall@1", "Recall@3", "HitRate@2", "MRR@3")]
    table = score([lists([0, 1, 3], [1, -1, 2])], evaluation_set.judgments(), metrics)
    found = {str(m): values.tolist() for m, values in table.values.items()}
    assert found == {
        # ann hits at ranks 1 and 3: (1/1 + 2/3) / 2; bob at rank 3: (1/3) / 2
        "MAP@3": [[pytest.approx(5 / 6, abs=1e-15), pytest.approx(1 / 6, abs=1e-15)]],
        "Recall@1": [[0.5, 0.0]],
        "Recall@3": [[1.0, 0.5]],
        "HitRate@2": [[1.0, 0.0]],
        "MRR@3": [[1.0, pytest.approx(1 / 3, abs=1e-15)]],
    }


def test_repeats_are_rows_and_average_by_user_and_by_repeat(evaluation_set: EvaluationSet) -> None:
    recall = parse("Recall@3")
    repeats = [lists([0, 3, -1], [2, -1, -1]), lists([1, -1, -1], [-1] * 3)]
    table = score(repeats, evaluation_set.judgments(), [recall])
    assert table.repeats == 2
    assert table.values[recall].tolist() == [[1.0, 0.5], [0.0, 0.0]]
    assert table.of_users(recall).tolist() == [0.5, 0.25]
    assert table.of_repeats(recall) == [0.75, 0.0]


def test_metrics_keep_the_order_asked_for(evaluation_set: EvaluationSet) -> None:
    asked: list[Metric] = [parse(m) for m in ("Recall@3", "MAP@1", "Recall@2")]
    found = score([lists([0, 1, 2], [0, 1, 2])], evaluation_set.judgments(), asked)
    assert list(found.values) == asked


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_and_threads_change_nothing(
    evaluation_set: EvaluationSet, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    metrics = [parse(m) for m in ("MAP@3", "NDCG@2")]
    repeats = [lists([0, 1, 3], [1, -1, 2]), lists([3, 0, 1], [2, 0, 1])]
    whole = score(repeats, evaluation_set.judgments(), metrics)
    monkeypatch.setattr(scores, "BLOCK_USERS", 1)
    for repeat, recommendations in enumerate(repeats):
        judgments = Judgments(evaluation_set.truth, evaluation_set.relevant)
        parts = user_scores(recommendations.items, judgments, metrics, threads)
        for metric in metrics:
            assert parts[metric].tolist() == whole.values[metric][repeat].tolist()


def test_an_empty_list_scores_nothing(evaluation_set: EvaluationSet) -> None:
    metrics = [parse("MAP@3"), parse("NDCG@3")]
    table = score([lists([-1] * 3, [-1] * 3)], evaluation_set.judgments(), metrics)
    assert [values.tolist() for values in table.values.values()] == [[[0, 0]], [[0, 0]]]


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
def test_mean_is_the_exact_sum_whatever_the_order(values: list[float], chance: object) -> None:
    found = mean(np.array(values))
    exact = sum(map(Fraction, values), Fraction())
    assert found == float(exact) / len(values)
    assert math.isclose(found, exact / len(values), rel_tol=1e-15, abs_tol=5e-324)
    chance.shuffle(values)  # type: ignore[attr-defined]
    assert mean(np.array(values)) == found
