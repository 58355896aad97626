"""Figures of models: means, three intervals, and repeats that are resampled too."""

import numpy as np
import pytest
from conftest import hashes

from harness.core.arrays import Floats
from harness.core.exact_sum import of_one
from harness.metrics import Metric, parse
from harness.metrics.scores import ScoreTable
from harness.stats.estimates import Estimates, ModelEstimate, estimate, keys_of, of_set
from harness.stats.figures import results_of
from harness.stats.folds import Key, ScoredUsers

MAP, RECALL, COVERAGE = (parse(name) for name in ("MAP@2", "Recall@2", "Coverage@2"))
RNG = np.random.default_rng(8)
ONE = ScoreTable({MAP: RNG.random((1, 200)), RECALL: RNG.random((1, 200))})
FIVE = ScoreTable({MAP: RNG.random((5, 200)), RECALL: RNG.random((5, 200))})


def estimated(
    tables: dict[str, ScoreTable], metrics: list[Metric], resamples: int, seed: int
) -> tuple[dict[Key, ModelEstimate], dict[Key, Floats]]:
    """Return estimates and resampled means of every model of users u0, u1, …"""
    users = len(next(iter(next(iter(tables.values())).values.values()))[0])
    estimates = Estimates(keys_of(list(tables), metrics), resamples, seed)
    (result,) = results_of([estimates], of_one(ScoredUsers(hashes(users), tables)))
    return result


def bootstrap(
    tables: dict[str, ScoreTable], metrics: list[Metric], resamples: int, seed: int
) -> dict[Key, Floats]:
    return estimated(tables, metrics, resamples, seed)[1]


def test_every_interval_of_every_metric() -> None:
    tables = {"one": ONE, "five": FIVE}
    result, _ = estimated(tables, [MAP, RECALL], 4000, seed=1)
    for name, table in tables.items():
        for metric in (MAP, RECALL):
            values = table.of_users(metric)
            got = result[name, metric]
            mean, error = values.mean(), values.std(ddof=1) / np.sqrt(200)
            assert got.mean == pytest.approx(mean, rel=1e-12)
            assert got.ci95_t == pytest.approx((mean - 1.972 * error, mean + 1.972 * error), 1e-3)
            assert got.ci95 == pytest.approx(got.ci95_t, abs=error / 5)
            assert got.ci95_bootstrap is not None
            assert got.ci95_bootstrap[0] < got.mean < got.ci95_bootstrap[1]
    assert result["one", MAP].sd_repeats is None
    repeats = FIVE.values[MAP].mean(axis=1)
    assert result["five", MAP].sd_repeats == pytest.approx(repeats.std(ddof=1))


def test_repeats_are_resampled_too() -> None:
    """Repeats of 0, …, 4 for all users: only which repeats are drawn varies, by √2/√5."""
    table = ScoreTable({MAP: np.repeat(np.arange(5.0)[:, None], 30, axis=1)})
    means = bootstrap({"r": table}, [MAP], 20_000, seed=1)["r", MAP]
    assert means.mean() == pytest.approx(2, abs=0.02)
    assert means.std() == pytest.approx(2**0.5 / 5**0.5, rel=0.02)


def test_one_figure_of_all_lists_and_a_single_user_have_no_interval() -> None:
    assert keys_of(["a"], [COVERAGE]) == []
    got = of_set([0.25, 0.75])
    assert (got.mean, got.ci95, got.ci95_t, got.ci95_bootstrap) == (0.5, None, None, None)
    assert got.sd_repeats == pytest.approx(0.5**1.5)
    alone = estimate(MAP, np.array([0.5]))
    assert (alone.mean, alone.ci95) == (0.5, None)
