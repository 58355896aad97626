"""Several evaluation sets as one whose unit is the user: users recur, and each has one value.

A user's value is the sum over folds of value / (F · n), F folds of n users each, times the number
of different users: its mean over these is the mean of the folds' means. A user has one sign in the
randomization test and one weight in the bootstrap, in how many folds it may be: values of one user
are alike, so tests that took them for those of several users would call differences real that are
none.

The mean of a fold is one of those users whom the fold has, whose number would be another in another
sample. So intervals are made of the user's shares in the means' errors, the sum over folds of
(value − the fold's mean) / (F · n). Source: Woodruff 1971, A simple method for approximating the
variance of a complicated estimate, JASA 66. A fold of few users weighs each of them more, and their
spread is known from these few: degrees of freedom are Satterthwaite's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int64
from harness.core.exact_sum import Exact, Sums
from harness.core.random import id_hashes
from harness.core.steps import Steps, found, of_one
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean, over_repeats
from harness.stats.chance_law import Law
from harness.stats.estimates import Estimate, ScoredUsers, Tables, estimate, estimate_of
from harness.stats.intervals import Sample


@dataclass(frozen=True, eq=False)
class ScoredFold(ScoredUsers):
    """Users of a part and of one fold, and their scores.

    Attributes
    ----------
    ids : polars.Series of str, (n,)
    """

    ids: pl.Series


@dataclass(frozen=True, eq=False)
class FoldedUsers(ScoredUsers):
    """The different users of a part, and their scores over all folds.

    Attributes
    ----------
    law : Law, optional
        What a random ranking would score for each, where that was asked for.
    """

    law: Law | None


@dataclass(frozen=True, eq=False)
class Folds:
    """What of all folds every part must know.

    Attributes
    ----------
    users : int
        Different ones.
    common : sequence of sequence of int
        How many users every two of F folds have in common; a fold with itself, all of its users.
    means : sequence of mapping of (model, metric) to float64 array, (repeats,)
        Of each fold.
    """

    users: int
    common: Sequence[Sequence[int]]
    means: Sequence[Mapping[tuple[str, Metric], Floats]]

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

        Examples
        --------
        Of 4 users two are in a second fold: w is 1/16 of two, and 1/16 + 1/4 of two. The sum is
        3/4, that of squares 2/256 + 2 · 25/256 = 52/256; 9/16 · 256/52 = 36/13.

        >>> round(Folds(4, [[4, 2], [2, 2]], ()).freedom, 6), round(36 / 13 - 1, 6)
        (1.769231, 1.769231)
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

    def shares(self) -> list[float]:
        """Return what the value of a user of each fold is multiplied by."""
        return [self.users / (len(self.sizes) * n) for n in self.sizes]

    def of_repeats(self, key: tuple[str, Metric]) -> Floats:
        """Return the mean over folds of each repeat, (repeats,)."""
        by_fold = np.array([means[key] for means in self.means])
        return np.array([mean(own) for own in by_fold.T])

    def means_of(self, models: Iterable[str], metric: Metric, fold: int) -> dict[str, float]:
        """Return the mean of some models in a fold, over repeats as well."""
        return {
            name: float(over_repeats(self.means[fold][name, metric][:, None])[0]) for name in models
        }

    def mean(self, key: tuple[str, Metric]) -> float:
        """Return the mean over folds and repeats."""
        return mean(self.of_repeats(key))


Part = Sequence[ScoredFold]
"""A part of the users: of each fold those whom it has."""


def fold_steps() -> Steps[Part, Folds]:
    """Yield a step; return what every part must know of all folds."""
    sums: Any = yield _sums
    common = sums["common"].tolist()
    means = [
        {
            key: np.array([of[r].total / common[fold][fold] for r in range(len(of))])
            for key, of in keys.items()
        }
        for fold, keys in sums["folds"].items()
    ]
    return Folds(int(sums["users"][0]), common, means)


def _sums(part: Part) -> Sums:
    held = {
        number: {
            key: {repeat: Exact.of(values) for repeat, values in enumerate(own)}
            for key, own in _columns(fold.tables)
        }
        for number, fold in enumerate(part)
    }
    rows, n = _rows(part)
    there = np.zeros((len(part), n), np.int64)
    for fold, at in zip(there, rows, strict=True):
        fold[at] = 1
    return {"users": np.array([n]), "common": there @ there.T, "folds": held}


def _columns(tables: Tables) -> list[tuple[tuple[str, Metric], Floats]]:
    return [
        ((name, metric), values)
        for name, table in tables.items()
        for metric, values in table.values.items()
        if metric.definition.of == "user"
    ]


def _rows(part: Part) -> tuple[list[Int64], int]:
    """Return the place of each fold's users among the different ones, and how many these are."""
    ids = pl.concat([fold.ids.cast(pl.String) for fold in part])
    ranks = ids.rank("dense").to_numpy().astype(np.int64) - 1
    ends = np.cumsum([len(fold.ids) for fold in part])[:-1]
    return np.split(ranks, ends), int(ranks.max(initial=-1)) + 1


def folded(of: Folds, part: Part, laws: Sequence[Law] | None = None) -> FoldedUsers:
    """Return the different users of a part, each with one value.

    Parameters
    ----------
    laws : sequence of Law, optional
        Of each fold's users, under the metric that models are judged by.

    Examples
    --------
    Two folds: ann scores 1 and 0, bob 1/2 in the second alone. The means are 1 and 1/4. Of ann's
    scores the first counts 2 / (2 · 1), those of the second fold 2 / (2 · 2).

    >>> from harness.metrics import parse
    >>> def fold(*scores):
    ...     ids = pl.Series(["ann", "bob"][: len(scores)])
    ...     table = ScoreTable({parse("MAP@1"): np.array([scores])})
    ...     return ScoredFold(id_hashes(ids), {"m": table}, ids)
    >>> part = [fold(1.0), fold(0.0, 0.5)]
    >>> users = folded(found(fold_steps(), of_one(part)), part)
    >>> users.tables["m"].of_users(parse("MAP@1")).tolist()  # their mean is (1 + 1/4) / 2
    [1.0, 0.25]
    """
    rows, n = _rows(part)
    hashes = np.zeros(n, np.uint64)
    for fold, at in zip(part, rows, strict=True):
        hashes[at] = fold.hashes
    names = list(part[0].tables)
    tables = {
        name: _table(of, [fold.tables[name] for fold in part], name, rows, n) for name in names
    }
    return FoldedUsers(hashes, tables, None if laws is None else _law(of, laws, rows, n))


def over_folds(metric: Metric, tables: Sequence[ScoreTable], ids: Sequence[pl.Series]) -> Estimate:
    """Return mean and interval of one model's scores in several folds.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Of each fold.
    ids : sequence of polars.Series of str
        The users of each fold, in the order of its table.
    """
    if len(tables) == 1:
        return estimate(metric, tables[0].of_users(metric))
    if metric.definition.of == "set":
        means = [float(over_repeats(table.values[metric])[0]) for table in tables]
        return Estimate(mean(np.array(means)), None)
    part = [
        ScoredFold(id_hashes(own), {"": table}, own) for table, own in zip(tables, ids, strict=True)
    ]
    of = found(fold_steps(), of_one(part))
    errors = folded(of, part).tables[""].for_intervals(metric)
    own = replace(Sample.of(over_repeats(errors)), freedom=of.freedom)
    return replace(estimate_of(metric, own), mean=of.mean(("", metric)))


def _table(
    of: Folds, tables: Sequence[ScoreTable], name: str, rows: Sequence[Int64], n: int
) -> ScoreTable:
    values, errors = {}, {}
    for metric, first in tables[0].values.items():
        if metric.definition.of != "user":
            continue
        key, shape = (name, metric), (len(first), n)
        values[metric], errors[metric] = np.zeros(shape), np.zeros(shape)
        for table, at, share, means in zip(tables, rows, of.shares(), of.means, strict=True):
            own = table.values[metric]
            values[metric][:, at] += share * own
            errors[metric][:, at] += share * (own - means[key][:, None])
        errors[metric] += of.of_repeats(key)[:, None]
    return ScoreTable(values, errors)


def _law(of: Folds, laws: Sequence[Law], rows: Sequence[Int64], n: int) -> Law:
    """Return the law of a user's value: draws of different folds are independent."""
    all_folds = Law(np.zeros(n), np.zeros(n), np.zeros(n), np.ones(n))
    for law, at, share in zip(laws, rows, of.shares(), strict=True):
        all_folds.mean[at] += share * law.mean
        all_folds.var[at] += share**2 * law.var
        all_folds.third[at] += share**3 * law.third
        all_folds.none[at] *= law.none
    return all_folds
