"""Leaderboards divided at random, against what combinations say."""

from math import comb
from typing import Any

import numpy as np
import pytest
from conftest import hashes

from harness.core.errors import UsageError
from harness.core.exact_sum import of_one
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.figures import results_of
from harness.stats.folds import ScoredUsers
from harness.stats.shakeup import ShakeUp, ShakeUps

METRIC = parse("MAP@2")


def shaken(scores: dict[str, Any], share: float, times: int = 20_000, seed: int = 1) -> ShakeUp:
    tables = {name: ScoreTable({METRIC: np.array([v], float)}) for name, v in scores.items()}
    part = ScoredUsers(hashes(len(next(iter(scores.values())))), tables)
    ((result,),) = results_of([ShakeUps(list(tables), METRIC, [share], seed, times)], of_one(part))
    return result


def test_how_often_by_combinations() -> None:
    """`a` is ahead on users 1 to 6 of 10, `b` on 7 to 10, by as much; each is public or private.

    With i of the six and j of the four public, `a` leads there by i − j, and privately by
    6 − i − (4 − j) = 2 − (i − j): opposite signs for i − j below 0 or above 2, tied at 0 and 2.
    """
    result = shaken({"a": [1] * 6 + [0] * 4, "b": [0] * 6 + [1] * 4}, 0.5)
    ways = {(i, j): comb(6, i) * comb(4, j) / 2**10 for i in range(7) for j in range(5)}
    changes = sum(chance for (i, j), chance in ways.items() if not 0 <= i - j <= 2)
    ties = sum(chance for (i, j), chance in ways.items() if i - j in (0, 2))
    (pair,) = result.pairs
    assert (result.public, result.users, pair.one, pair.other) == (5, 10, "a", "b")
    assert result.leader_falls == pair.changes == pytest.approx(changes, abs=0.015)
    assert pair.ties == pytest.approx(ties, abs=0.015)


def test_level_models_and_level_boards() -> None:
    """`a` is first with `b` on one board, before it on the other, or level with it on both.

    Of the second two, only the first user tells them apart, and is on one leaderboard alone.
    """
    assert shaken({"a": [1, 1, 0, 0], "b": [1, 0, 0, 0]}, 0.25).leader_falls == 0
    (pair,) = shaken({"a": [1, 0, 0, 0], "b": [0, 0, 0, 0]}, 0.25).pairs
    assert (pair.ties, pair.changes) == (1, 0)


def test_seeds_order_and_how_many_are_public() -> None:
    rng = np.random.default_rng(3)
    scores = {name: rng.random(60) for name in "abc"}
    result = shaken(scores, 0.3, 500)
    assert result == shaken(dict(reversed(scores.items())), 0.3, 500)
    assert result != shaken(scores, 0.3, 500, seed=2)
    assert [shaken(scores, share, 10).public for share in (0.001, 0.5, 0.999)] == [1, 30, 59]


def test_what_is_refused() -> None:
    for share in (0, 1, -0.1, 2):
        with pytest.raises(UsageError, match="between 0 and 1"):
            shaken({"a": [1, 0], "b": [1, 0]}, share)
