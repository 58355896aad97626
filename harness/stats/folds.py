"""Several evaluation sets as one whose unit is the user: users recur, and each has one value.

A user's value is the sum over folds of value / (F · n), F folds of n users each, times the number
of different users: its mean is the mean of the folds' means. A user has one sign and one weight,
however many folds it is in, as values of one user are alike.

The number of users of a fold is random, too. So intervals are made of the users' shares in the
means' errors, the sum over folds of (value − the fold's mean) / (F · n). Source: Woodruff 1971, A
simple method for approximating the variance of a complicated estimate, JASA 66. Degrees of freedom
are Satterthwaite's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int64, UInt64
from harness.core.exact_sum import Exact, Sums, Total
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean, over_repeats
from harness.stats.chance_law import Law

Tables = Mapping[str, ScoreTable]
"""The scores of several models on one evaluation set, by name."""
Key = tuple[str, Metric]
"""A column of a table: a model's values under a metric of users."""


@dataclass(frozen=True, eq=False)
class ScoredUsers:
    """Users of a part and their scores, which statistics of all users are added up from.

    `hashes` are `harness.core.random.id_hashes` in the order of the tables. Of several folds
    `there`, (F, n), is 1 where a user is in a fold, else 0. `law` is what a random ranking would
    score for each user, where it is known.
    """

    hashes: UInt64
    tables: Tables
    there: Floats | None = field(default=None, kw_only=True)
    law: Law | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class ScoredFold(ScoredUsers):
    """Users of a part and of one fold, and their scores."""

    ids: pl.Series


FEWEST = 10
"""Users of a fold, below which its spread cannot be known."""


@dataclass(frozen=True, eq=False)
class Folds:
    """What of all folds every part must know.

    How many different users there are, how many of them every two folds have in `common`, (F, F),
    a fold with itself all of its users, and each fold's means.
    """

    users: int
    common: Sequence[Sequence[int]]
    means: Sequence[Mapping[Key, Floats]]

    @property
    def sizes(self) -> list[int]:
        """Users of each fold."""
        return [row[fold] for fold, row in enumerate(self.common)]

    @property
    def freedom(self) -> float:
        """Degrees of freedom of a mean's standard error; 0 where a fold has a single user.

        A user's share in the error has a variance w, which is the sum of 1/n² over the user's
        folds of n users if scores vary alike: (Σ w)² / Σ w² − 1. Of one fold that is n − 1.

        Source: Satterthwaite 1946, An approximate distribution of estimates of variance
        components, Biometrics Bulletin 2.
        """
        if min(self.sizes) < 2:
            return 0.0
        total = sum(Fraction(1, n) for n in self.sizes)
        squares = sum(
            Fraction(common, n**2 * m**2)
            for n, row in zip(self.sizes, self.common, strict=True)
            for m, common in zip(self.sizes, row, strict=True)
        )
        return float(total**2 / squares - 1)

    @property
    def shares(self) -> list[float]:
        """What the value of a user of each fold is multiplied by."""
        return _shares_of(self.users, self.sizes)

    def of_repeats(self, key: Key) -> Floats:
        """Return the mean over folds of each repeat, (repeats,)."""
        return np.array([mean(means) for means in np.array([fold[key] for fold in self.means]).T])

    def offsets(self, key: Key) -> Floats:
        """Return each fold's mean times its `shares`, of each repeat, (F, repeats)."""
        folds = zip(self.shares, self.means, strict=True)
        return np.array([share * means[key] for share, means in folds])

    def means_of(self, models: Iterable[str], metric: Metric) -> list[dict[str, float]]:
        """Return the means of some models in each fold, over repeats as well."""
        return [
            {name: float(over_repeats(means[name, metric][:, None])[0]) for name in models}
            for means in self.means
        ]

    def mean(self, key: Key) -> float:
        """Return the mean over folds and repeats."""
        return mean(self.of_repeats(key))


Part = Sequence[ScoredFold]
"""A part of the users: of each fold those whom it has."""


def folds_of(total: Total[Part]) -> Folds:
    """Return what every part must know of all folds."""
    sums: Any = total(_sums)
    common = sums["common"].tolist()
    means = [
        {
            key: np.array([repeats[r].total / common[fold][fold] for r in range(len(repeats))])
            for key, repeats in keys.items()
        }
        for fold, keys in sums["folds"].items()
    ]
    return Folds(int(sums["users"][0]), common, means)


def _sums(part: Part) -> Sums:
    folds = {
        number: {
            (name, metric): {repeat: Exact.of(row) for repeat, row in enumerate(values)}
            for name, table in fold.tables.items()
            for metric, values in table.values.items()
            if metric.definition.of == "user"
        }
        for number, fold in enumerate(part)
    }
    rows, n = _rows_of([fold.ids for fold in part])
    there = np.zeros((len(part), n), np.int64)
    for fold, users in zip(there, rows, strict=True):
        fold[users] = 1
    return {"users": np.array([n]), "common": there @ there.T, "folds": folds}


def folded(folds: Folds, part: Part, laws: Sequence[Law] | None = None) -> ScoredUsers:
    """Return the different users of a part, each with one value; `laws` are of folds' users."""
    rows, n = _rows_of([fold.ids for fold in part])
    hashes, there = np.zeros(n, np.uint64), np.zeros((len(part), n))
    for number, (fold, users) in enumerate(zip(part, rows, strict=True)):
        hashes[users], there[number, users] = fold.hashes, 1.0
    tables = {}
    for name, first in part[0].tables.items():
        of_users = [metric for metric in first.values if metric.definition.of == "user"]
        by_fold = {m: [fold.tables[name].values[m] for fold in part] for m in of_users}
        tables[name] = ScoreTable(
            {metric: _summed(values, rows, folds.shares, n) for metric, values in by_fold.items()}
        )
    if laws is None:
        return ScoredUsers(hashes, tables, there=there)
    law = Law(np.zeros(n), np.zeros(n), np.zeros(n), np.ones(n))
    for of_fold, users, share in zip(laws, rows, folds.shares, strict=True):
        law.mean[users] += share * of_fold.mean  # draws of folds are independent
        law.var[users] += share**2 * of_fold.var
        law.third[users] += share**3 * of_fold.third
        law.none[users] *= of_fold.none
    return ScoredUsers(hashes, tables, there=there, law=law)


def values_of(by_fold: Sequence[Floats], ids: Sequence[pl.Series]) -> Floats:
    """Return values of the different users in the order of ids, by those of each fold, (n,).

    Examples
    --------
    Ann 2 / (2 · 2) · 1, Bob 2 / (2 · 2) · 0 + 2 / (2 · 1) · 1/4.

    >>> by_fold = [np.array([1.0, 0.0]), np.array([0.25])]
    >>> values_of(by_fold, [pl.Series(["ann", "bob"]), pl.Series(["bob"])]).tolist()
    [0.5, 0.25]
    """
    rows, n = _rows_of(ids)
    return _summed(by_fold, rows, _shares_of(n, [len(users) for users in ids]), n)


def errors(part: ScoredUsers, key: Key, folds: Folds | None) -> Floats:
    """Return users' values, (n,); of several folds the mean plus each user's share in its error."""
    name, metric = key
    values = part.tables[name].of_users(metric)
    if folds is None or part.there is None:
        return values
    offset = np.zeros_like(values)
    for of_fold, there in zip(over_repeats(folds.offsets(key).T), part.there, strict=True):
        offset += of_fold * there
    return values - offset + folds.mean(key)


def _shares_of(users: int, sizes: Sequence[int]) -> list[float]:
    return [users / (len(sizes) * n) for n in sizes]


def _rows_of(folds: Sequence[pl.Series]) -> tuple[list[Int64], int]:
    """Return the place of each fold's users among the different ones, and how many these are."""
    ids = pl.concat([users.cast(pl.String) for users in folds])
    ranks = ids.rank("dense").to_numpy().astype(np.int64) - 1
    ends = np.cumsum([len(users) for users in folds])[:-1]
    return np.split(ranks, ends), int(ranks.max(initial=-1)) + 1


def _summed(
    by_fold: Sequence[Floats], rows: Sequence[Int64], shares: Sequence[float], n: int
) -> Floats:
    """Return the sum over folds of users' values, the last axis, times what they count."""
    total = np.zeros((*by_fold[0].shape[:-1], n))
    for values, users, share in zip(by_fold, rows, shares, strict=True):
        total[..., users] += share * values
    return total
