"""How often the order of models would change between a public and a private leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from pydantic import NonNegativeInt

from harness.core.arrays import Floats, Int32, Int64
from harness.core.errors import UsageError, counted
from harness.core.exact_sum import Exact, Largest, Sums
from harness.metrics import Metric
from harness.stats import resampling
from harness.stats.folds import ScoredUsers

TIMES = 10_000
"""How many ways of dividing the users are tried."""
FEW = 30
"""A public leaderboard of fewer users says so little that no table shows it; JSON and CSV do."""


@dataclass(frozen=True)
class RankFlip:
    """Two models on both leaderboards."""

    one: str
    other: str
    changes: float
    """How often the one ahead on the public leaderboard is behind on the private one."""
    ties: float
    """How often they are tied on either leaderboard, so that their order tells nothing."""


@dataclass(frozen=True)
class ShakeUp:
    """What becomes of the order of a public leaderboard over a share of users drawn at random."""

    metric: str
    share: float
    """Of the users; `public` of `users` on average."""
    public: NonNegativeInt
    users: NonNegativeInt
    times: NonNegativeInt
    seed: int
    leader_falls: float
    """How often no model is first on both leaderboards, ties for first included."""
    pairs: tuple[RankFlip, ...]

    @property
    def few(self) -> bool:
        """Whether the public leaderboard has too few users to be shown."""
        return self.public < FEW

    def flip_of(self, first: str, second: str) -> RankFlip:
        """Return what becomes of two models."""
        return next(pair for pair in self.pairs if {pair.one, pair.other} == {first, second})


@dataclass(frozen=True, eq=False)
class ShakeUps:
    """How often models change their order where users are divided, for each of some shares.

    Each user is on the public leaderboard with the chance of the share, between 0 and 1: a function
    of seed, division and the user's id. Where nobody is on a leaderboard, all models tie on it.
    """

    models: Sequence[str]
    metric: Metric
    shares: Sequence[float]
    seed: int
    times: int = TIMES

    def __post_init__(self) -> None:
        """Refuse a metric that has no value of a user, and a share that leaves nobody."""
        if self.metric.definition.of == "set":
            raise UsageError(
                f"metric {self.metric} has one value for all lists, none per user, so it has no "
                "public and private part"
            )
        for share in self.shares:
            _refuse_share(share)

    def _values(self, part: ScoredUsers) -> Floats:
        """Return a column a model, in the order of their names."""
        tables = [part.tables[name] for name in sorted(self.models)]
        return np.column_stack([table.of_users(self.metric) for table in tables])

    def first(self, part: ScoredUsers) -> Sums:
        """Return how many users there are, and the sum and the largest value of each model."""
        values = self._values(part)
        return {
            "users": np.array([len(values)]),
            "largest": Largest(np.abs(values).max(axis=0, initial=0.0)),
            **{number: Exact.of(column) for number, column in enumerate(values.T)},
        }

    def _grid(self, first: Any) -> Int32:
        return resampling.exponents(first["largest"].values, int(first["users"][0]))

    def second(self, part: ScoredUsers, first: Any) -> Sums:
        """Return the sums of values on public leaderboards, and how many users these have."""
        sums, drawn = resampling.resampled_sums(
            self._values(part),
            part.hashes,
            self._grid(first),
            self.times,
            self.seed,
            weights=resampling.once(self.shares),
        )
        return {"sums": sums, "drawn": drawn}

    def result(self, first: Any, second: Any) -> tuple[ShakeUp, ...]:
        """Return what becomes of the models' order, for each share."""
        users, sign = int(first["users"][0]), self.metric.definition.sign
        names, shaken = sorted(self.models), []
        means = [sign * first[number].total / users for number in range(len(names))]
        best_first = np.argsort(means, kind="stable")
        for number, share in enumerate(self.shares):
            sums, drawn = second["sums"][number], second["drawn"][number]
            public, private = (sign * means for means in _means(sums, drawn, self._grid(first)))
            first_on_both = np.logical_and(
                *(means == means.min(axis=1, keepdims=True) for means in (public, private))
            )
            pairs = []
            for i, j in combinations(best_first, 2):
                product = np.sign(public[:, i] - public[:, j])
                product *= np.sign(private[:, i] - private[:, j])
                changes, ties = float((product < 0).mean()), float((product == 0).mean())
                pairs.append(RankFlip(names[i], names[j], changes, ties))
            shaken.append(
                ShakeUp(
                    metric=str(self.metric),
                    share=share,
                    public=public_users(users, share),
                    users=users,
                    times=self.times,
                    seed=self.seed,
                    leader_falls=float((~first_on_both.any(axis=1)).mean()),
                    pairs=tuple(pairs),
                )
            )
        return tuple(shaken)


def _means(sums: Int64, drawn: Int64, grid: Int32) -> Iterator[Floats]:
    """Yield the means of those drawn in each division, and of the others: 0 where nobody is."""
    public, private = (sums[:-1], drawn[:-1]), (sums[-1] - sums[:-1], drawn[-1] - drawn[:-1])
    for total, users in (public, private):
        means = np.ldexp(total / np.maximum(users, 1)[:, None], grid)
        yield np.round(means, 12)  # so that equal means are equal however they were added up


def _refuse_share(share: float) -> None:
    if not 0 < share < 1:  # so it is where one is NaN
        raise UsageError(
            f"a public share of {share:g} leaves a leaderboard empty; name one between 0 and 1, "
            "such as 0.3"
        )


def public_users(users: int, share: float) -> int:
    """Return how many users are on the public leaderboard, where users are drawn on average."""
    if users < 2:
        raise UsageError(
            f"{counted(users, 'user')} cannot be divided between a public and a private "
            "leaderboard; evaluate at least 2"
        )
    _refuse_share(share)
    return min(max(round(users * share), 1), users - 1)
