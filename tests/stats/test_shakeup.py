"""Leaderboards divided at random, against what combinations say."""

from math import comb
from typing import Any

import numpy as np
import pytest

from harness.core.errors import UsageError
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.shakeup import ShakeUp, shake_up

METRIC = parse("MAP@2")


def shaken(
    user_scores: dict[str, Any], share: float, times: int = 20_000, seed: int = 1
) -> ShakeUp:
    tables = {name: ScoreTable({METRIC: np.array([v], float)}) for name, v in user_scores.items()}
    return shake_up(tables, METRIC, share, seed, times)


def test_one_lucky_user_decides() -> None:
    """`a` has 1 from the first of 10 users, `b` 0.05 from the nine others.

    With 3 public: the first is public in 3/10 of splits, and the order changes in every split.
    """
    found = shaken({"a": [1] + [0] * 9, "b": [0] + [0.05] * 9}, 0.3)
    (pair,) = found.pairs
    assert (found.public, found.users, pair.one, pair.other) == (3, 10, "a", "b")
    assert (pair.changes, pair.ties, found.leader_falls) == (1, 0, 1)


def test_a_clear_leader_never_falls() -> None:
    found = shaken({"a": [1] * 10, "b": [0.5] * 10, "c": [0.4] * 10}, 0.3)
    assert [(p.changes, p.ties) for p in found.pairs] == [(0, 0)] * 3
    assert found.leader_falls == 0


def test_how_often_by_combinations() -> None:
    """`a` is ahead on users 1 to 6 of 10, `b` on 7 to 10, by as much; 5 are public.

    With i of the six public, `a` leads there by 2i − 5 and privately by 2(6 − i) − 5 = 7 − 2i:
    opposite signs for i ≤ 2 or i ≥ 4, none level.
    """
    found = shaken({"a": [1] * 6 + [0] * 4, "b": [0] * 6 + [1] * 4}, 0.5)
    ways = {i: comb(6, i) * comb(4, 5 - i) / comb(10, 5) for i in range(1, 6)}
    expected = sum(chance for i, chance in ways.items() if i != 3)
    assert found.pairs[0].changes == pytest.approx(expected, abs=0.015)


def test_who_is_level_with_the_first_is_first() -> None:
    """Of four users one is public. `a` has 1 from two of them, `b` from one of these.

    One public: who has 1 there is first. The first user public (both 1): privately `a` leads, and
    was level first. The second (`a` alone): privately both are level. The others: level in public.
    """
    found = shaken({"a": [1, 1, 0, 0], "b": [1, 0, 0, 0]}, 0.25)
    assert found.leader_falls == 0


def test_level_boards_tell_nothing() -> None:
    """One public user of four; only the first tells the two apart: level in 3 of 4 splits."""
    found = shaken({"a": [1, 0, 0, 0], "b": [0, 0, 0, 0]}, 0.25)
    assert found.pairs[0].ties == 1  # where the first user is public, they tie in private
    assert found.pairs[0].changes == 0


@pytest.mark.parametrize(("share", "public"), [(0.001, 1), (0.5, 5), (0.999, 9)])
def test_no_board_is_empty(share: float, public: int) -> None:
    assert shaken({"a": [1] * 10, "b": [0] * 10}, share, 10).public == public


def test_seeds_and_order() -> None:
    rng = np.random.default_rng(3)
    user_scores = {name: rng.random(60) for name in "abc"}
    one = shaken(user_scores, 0.3, 500)
    assert one == shaken(dict(reversed(user_scores.items())), 0.3, 500)
    assert one != shaken(user_scores, 0.3, 500, seed=2)


@pytest.mark.parametrize("share", [0, 1, -0.1, 2])
def test_shares_that_leave_a_board_empty(share: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        shaken({"a": [1, 0], "b": [0, 0]}, share)


def test_a_single_user_cannot_be_divided() -> None:
    with pytest.raises(UsageError, match="of 1 user empty"):
        shaken({"a": [1], "b": [0]}, 0.5)
