"""Several evaluation sets as one whose unit is the user: users recur, and each has one value.

A user's value is the sum over folds of value / (F · n), F folds of n users each, times the number
of different users: its mean over these is the mean of the folds' means. A user has one sign in the
randomization test and one weight in the bootstrap, in how many folds it may be: values of one user
are alike, so tests that took them for those of several users would call differences real that are
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int64
from harness.core.random import id_hashes
from harness.core.steps import of_one
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean, over_repeats
from harness.stats.chance_law import Law
from harness.stats.estimates import Estimate, ScoredUsers, errors, estimate, estimate_of
from harness.stats.fold_means import Folds, Part, ScoredFold, folds_of, rows_of, shares_of
from harness.stats.intervals import Sample


@dataclass(frozen=True, eq=False)
class FoldedUsers(ScoredUsers):
    """The different users of a part, and their scores over all folds.

    Attributes
    ----------
    law : Law, optional
        What a random ranking would score for each, where that was asked for.
    """

    law: Law | None


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
    >>> users = folded(folds_of(of_one(part)), part)
    >>> users.tables["m"].of_users(parse("MAP@1")).tolist()  # their mean is (1 + 1/4) / 2
    [1.0, 0.25]
    """
    rows, n = rows_of([fold.ids for fold in part])
    hashes, there = np.zeros(n, np.uint64), np.zeros((len(part), n))
    for fold, at, own in zip(part, rows, there, strict=True):
        hashes[at], own[at] = fold.hashes, 1.0
    shares, tables = of.shares(), {}
    for name, first in part[0].tables.items():
        values = {}
        for metric in first.values:
            if metric.definition.of == "user":
                several = [fold.tables[name].values[metric] for fold in part]
                values[metric] = _summed(several, rows, shares, n)
        tables[name] = ScoreTable(values)
    if laws is None:
        return FoldedUsers(hashes, tables, None, there=there)
    sums = Law(np.zeros(n), np.zeros(n), np.zeros(n), np.ones(n))
    for law, row, share in zip(laws, rows, shares, strict=True):  # draws of folds are independent
        sums.mean[row] += share * law.mean
        sums.var[row] += share**2 * law.var
        sums.third[row] += share**3 * law.third
        sums.none[row] *= law.none
    return FoldedUsers(hashes, tables, sums, there=there)


def values_of(several: Sequence[Floats], ids: Sequence[pl.Series]) -> Floats:
    """Return the values of the different users, in the order of their ids.

    Parameters
    ----------
    several : sequence of float64 array, (n,)
        One model's values of the users of each fold.
    ids : sequence of polars.Series of str, (n,)
        The users of each fold.

    Examples
    --------
    Ann 2 / (2 · 2) · 1, Bob 2 / (2 · 2) · 0 + 2 / (2 · 1) · 1/4.

    >>> several = [np.array([1.0, 0.0]), np.array([0.25])]
    >>> values_of(several, [pl.Series(["ann", "bob"]), pl.Series(["bob"])]).tolist()
    [0.5, 0.25]
    """
    rows, n = rows_of(ids)
    return _summed(several, rows, shares_of(n, [len(own) for own in ids]), n)


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
    of = folds_of(of_one(part))
    own = Sample.of(errors(folded(of, part), ("", metric), of))
    own = replace(own, freedom=of.freedom)
    return replace(estimate_of(metric, own), mean=of.mean(("", metric)))


def _summed(
    several: Sequence[Floats], rows: Sequence[Int64], shares: Sequence[float], n: int
) -> Floats:
    """Return the sum over folds of users' values, the last axis, times what they count."""
    found = np.zeros((*several[0].shape[:-1], n))
    for own, at, share in zip(several, rows, shares, strict=True):
        found[..., at] += share * own
    return found
