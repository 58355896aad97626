"""How often the order of models would change between a public and a private leaderboard."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from pydantic import NonNegativeInt

from harness.core.arrays import Bool, Floats
from harness.core.errors import UsageError, counted
from harness.metrics import Metric
from harness.metrics.scores import mean
from harness.stats import resampling
from harness.stats.estimates import Tables

TIMES = 10_000
"""How many ways of dividing the users are tried."""
FEW = 30
"""A public leaderboard of fewer users says so little that no table shows it; JSON and CSV do."""


@dataclass(frozen=True)
class RankFlip:
    """Two models on both leaderboards.

    Attributes
    ----------
    changes : float
        How often the one ahead on the public leaderboard is behind on the private one.
    ties : float
        How often they are tied on either leaderboard, so that their order tells nothing.
    """

    one: str
    other: str
    changes: float
    ties: float


@dataclass(frozen=True)
class ShakeUp:
    """What becomes of the order of a public leaderboard over a share of the users drawn at random.

    Attributes
    ----------
    share : float
        Of the users; `public` of `users`, at least 1.
    leader_falls : float
        How often no model is first on both leaderboards, ties for first included.
    """

    metric: str
    share: float
    public: NonNegativeInt
    users: NonNegativeInt
    times: NonNegativeInt
    seed: int
    leader_falls: float
    pairs: tuple[RankFlip, ...]

    @property
    def few(self) -> bool:
        """Whether the public leaderboard has too few users to be shown."""
        return self.public < FEW


def shake_up(
    tables: Tables, metric: Metric, share: float, seed: int = 42, times: int = TIMES
) -> ShakeUp:
    """Divide the users at random, many times, and count which pairs change their order.

    Parameters
    ----------
    tables : mapping of model to ScoreTable
    share : float
        Of users on the public leaderboard, between 0 and 1.

    Raises
    ------
    UsageError
        A share that leaves a leaderboard empty, or a metric with one value for all lists.
    """
    if metric.definition.of == "set":
        raise UsageError(f"metric {metric} has one value for all lists: no leaderboard divides it")
    names = sorted(tables)
    user_scores = np.column_stack([tables[name].of_users(metric) for name in names])
    user_scores *= metric.definition.sign
    public = _public(len(user_scores), share)
    # Rounded, so that means that are equal are so however they were added up.
    both = [np.round(m, 12) for m in resampling.public_private(user_scores, public, times, seed)]
    first_on_both = _firsts(both[0]) & _firsts(both[1])
    best_first = np.argsort([mean(scores) for scores in user_scores.T], kind="stable")
    return ShakeUp(
        metric=str(metric),
        share=share,
        public=public,
        users=len(user_scores),
        times=times,
        seed=seed,
        leader_falls=float((~first_on_both.any(axis=1)).mean()),
        pairs=tuple(
            _rank_flip(names[i], names[j], *(means[:, i] - means[:, j] for means in both))
            for i, j in combinations(best_first, 2)
        ),
    )


def _public(users: int, share: float) -> int:
    if not 0 < share < 1 or users < 2:
        raise UsageError(
            f"a public share of {share:g} leaves a leaderboard of {counted(users, 'user')} empty; "
            "name one between 0 and 1, such as 0.3"
        )
    return min(max(round(users * share), 1), users - 1)


def _firsts(means: Floats) -> Bool:
    """Return who is first in every division, alone or with others."""
    return np.asarray(means == means.min(axis=1, keepdims=True))


def _rank_flip(one: str, other: str, on_public: Floats, on_private: Floats) -> RankFlip:
    product = np.sign(on_public) * np.sign(on_private)
    return RankFlip(one, other, float((product < 0).mean()), float((product == 0).mean()))
