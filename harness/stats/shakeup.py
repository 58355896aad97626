"""How often the order of models would change between a public and a private leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from pydantic import NonNegativeInt

from harness.core.arrays import Bool, Floats, Int32, Int64
from harness.core.errors import UsageError, counted
from harness.core.exact_sum import Exact, Largest, Sums
from harness.core.steps import Steps
from harness.metrics import Metric
from harness.stats import resampling
from harness.stats.estimates import ScoredUsers

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
        Of the users; `public` of `users` on average.
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


def shake_up_steps(
    models: Sequence[str], metric: Metric, share: float, seed: int, times: int = TIMES
) -> Steps[ScoredUsers, ShakeUp]:
    """Yield two steps; return how often models change their order where users are divided.

    Each user is on the public leaderboard with the chance `share`, whoever else is: a function of
    seed, division and the user's id. Where nobody is on a leaderboard, all models are tied on it.

    Parameters
    ----------
    share : float
        Of users on the public leaderboard, between 0 and 1.

    Raises
    ------
    UsageError
        A share that leaves a leaderboard empty, or a metric with one value for all lists.
    """
    if metric.definition.of == "set":
        raise UsageError(f"metric {metric} has one value for all lists: no leaderboard divides it")
    names = sorted(models)
    first: Any = yield partial(_sizes, names, metric)
    users = int(first["users"][0])
    public = public_users(users, share)
    grid = resampling.exponents(first["largest"].values, users)
    sums: Any = yield partial(_divided, names, metric, grid, share, seed, times)
    both = [metric.definition.sign * means for means in _means(sums["sums"], sums["drawn"], grid)]
    first_on_both = _firsts(both[0]) & _firsts(both[1])
    means = [metric.definition.sign * first[at].total / users for at in range(len(names))]
    best_first = np.argsort(means, kind="stable")
    return ShakeUp(
        metric=str(metric),
        share=share,
        public=public,
        users=users,
        times=times,
        seed=seed,
        leader_falls=float((~first_on_both.any(axis=1)).mean()),
        pairs=tuple(
            _rank_flip(names[i], names[j], *(means[:, i] - means[:, j] for means in both))
            for i, j in combinations(best_first, 2)
        ),
    )


def _sizes(names: Sequence[str], metric: Metric, part: ScoredUsers) -> Sums:
    values = [part.tables[name].of_users(metric) for name in names]
    largest = Largest(np.array([np.abs(own).max(initial=0.0) for own in values]))
    sums = {at: Exact.of(own) for at, own in enumerate(values)}
    return {"users": np.array([len(part.hashes)]), "largest": largest, **sums}


def _divided(
    names: Sequence[str],
    metric: Metric,
    grid: Int32,
    share: float,
    seed: int,
    times: int,
    part: ScoredUsers,
) -> Sums:
    values = np.column_stack([part.tables[name].of_users(metric) for name in names])
    weights = resampling.once(share)
    given = values, part.hashes, grid, times, seed
    sums, drawn = resampling.resampled_sums(*given, weights=weights)
    return {"sums": sums, "drawn": drawn}


def _means(sums: Int64, drawn: Int64, grid: Int32) -> Iterator[Floats]:
    """Yield the means of those drawn in each division, and of the others: 0 where nobody is."""
    for of, users in ((sums[:-1], drawn[:-1]), (sums[-1] - sums[:-1], drawn[-1] - drawn[:-1])):
        means = np.ldexp(of / np.maximum(users, 1)[:, None], grid)
        yield np.round(means, 12)  # so that equal means are equal however they were added up


def public_users(users: int, share: float) -> int:
    """Return how many users are on the public leaderboard, where users are drawn on average.

    Raises
    ------
    UsageError
        A share that leaves a leaderboard empty, or a single user.
    """
    if users < 2:
        raise UsageError(
            f"{counted(users, 'user')} cannot be divided between a public and a private "
            "leaderboard, whatever the share; evaluate at least 2"
        )
    if not 0 < share < 1:
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
