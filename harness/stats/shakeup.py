"""Public and private boards: how often the order of models would change between the two."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from harness.core.arrays import Bool, Floats
from harness.core.errors import UsageError
from harness.metrics import Metric
from harness.stats import resampling
from harness.stats.estimates import Tables

TIMES = 10_000
"""How many ways of dividing the users are tried."""
FEW = 30
"""A public leaderboard of fewer users says so little that no table shows it; JSON and CSV do."""


@dataclass(frozen=True)
class RankFlip:
    """Two models on both boards.

    Attributes
    ----------
    changes : float
        How often the one that leads on the public board is behind on the private one.
    ties : float
        How often they stand level on either board, so that it tells nothing.
    """

    one: str
    other: str
    changes: float
    ties: float


@dataclass(frozen=True)
class ShakeUp:
    """What becomes of the public board's order when a share of the users, drawn at random, is it.

    Attributes
    ----------
    share : float
        Of the users; `public` of `users`, at least 1.
    leader_falls : float
        How often nobody is first on both boards, ties for the first place included.
    """

    metric: str
    share: float
    public: int
    users: int
    times: int
    seed: int
    leader_falls: float
    pairs: tuple[RankFlip, ...]

    @property
    def few(self) -> bool:
        """Whether the public leaderboard has too few users to be shown."""
        return self.public < FEW

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds of it."""
        return {**vars(self), "pairs": [vars(pair) for pair in self.pairs]}


def shake_up(
    tables: Tables, metric: Metric, share: float, seed: int = 42, times: int = TIMES
) -> ShakeUp:
    """Divide the users at random, again and again, and see whose order changes.

    Parameters
    ----------
    tables : mapping of model to ScoreTable
    share : float
        Of users on the public board, between 0 and 1.

    Raises
    ------
    UsageError
        A share that leaves a board empty, or a metric that is one figure of all lists.
    """
    if metric.definition.of == "set":
        raise UsageError(f"metric {metric} is one figure of all lists: no board divides it")
    names = sorted(tables)
    user_scores = np.column_stack([tables[name].of_users(metric) for name in names])
    user_scores *= metric.definition.sign
    public = _public(len(user_scores), share)
    boards = resampling.boards(user_scores, public, times, seed)
    # Rounded, so that means that are equal are so however they were added up.
    ours, theirs = (np.round(board, 12) for board in boards)
    best_first = np.argsort(user_scores.mean(axis=0), kind="stable")
    return ShakeUp(
        metric=str(metric),
        share=share,
        public=public,
        users=len(user_scores),
        times=times,
        seed=seed,
        leader_falls=float((~(_firsts(ours) & _firsts(theirs)).any(axis=1)).mean()),
        pairs=tuple(
            _rank_flip(names[i], names[j], ours[:, i] - ours[:, j], theirs[:, i] - theirs[:, j])
            for i, j in combinations(best_first, 2)
        ),
    )


def _public(users: int, share: float) -> int:
    if not 0 < share < 1 or users < 2:
        raise UsageError(
            f"a public share of {share:g} leaves a board of {users:,} users empty; name one "
            "between 0 and 1, such as 0.3"
        )
    return min(max(round(users * share), 1), users - 1)


def _firsts(board: Floats) -> Bool:
    """Return who is first in every division, alone or with others."""
    return np.asarray(board == board.min(axis=1, keepdims=True))


def _rank_flip(one: str, other: str, ours: Floats, theirs: Floats) -> RankFlip:
    product = np.sign(ours) * np.sign(theirs)
    return RankFlip(one, other, float((product < 0).mean()), float((product == 0).mean()))
