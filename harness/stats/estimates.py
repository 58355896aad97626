"""Score tables in, every model's estimates out: means, intervals, the spread over repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int32
from harness.core.exact_sum import Exact, Largest, Sums, of_one
from harness.core.random import generator, id_hashes
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean, over_repeats
from harness.stats import intervals, resampling
from harness.stats.folds import Folds, Key, ScoredFold, ScoredUsers, errors, folded, folds_of
from harness.stats.intervals import Interval, Sample, in_threads, moments


@dataclass(frozen=True)
class Estimate:
    """One metric's mean.

    A metric of all lists together (coverage, Gini) has no interval, nor has a single user's score.
    """

    mean: float
    """Over users, and over repeats."""
    ci95: Interval | None
    """The interval that allows for skewness (`harness.stats.intervals.skewed`)."""


@dataclass(frozen=True)
class ModelEstimate(Estimate):
    """One metric of one model.

    Attributes
    ----------
    sd_repeats : float, optional
        The standard deviation of the repeats' means (n − 1).
    ci95_t, ci95_bootstrap : (float, float), optional
        Student's, and the percentile bootstrap's, which resamples users and repeats.
    """

    sd_repeats: float | None = None
    ci95_t: Interval | None = None
    ci95_bootstrap: Interval | None = None


def estimate(metric: Metric, values: Floats) -> Estimate:
    """Return mean and interval of values, (n,), or (1,) of a metric of all lists."""
    if metric.definition.of == "set":
        return Estimate(mean(values), None)
    return estimate_of(metric, Sample.of(values))


def estimate_of(metric: Metric, sample: Sample) -> Estimate:
    """Return mean and interval of users' values, of whom a sample tells."""
    return Estimate(sample.mean, intervals.skewed(sample, *metric.definition.range))


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of some columns, and the mean of each in each of B resamples of the users.

    The users drawn are the same for all columns; a model's repeats are drawn with replacement, too.
    Of several folds, means are of the users' `errors`: a column a fold says who is there.
    """

    keys: Sequence[Key]
    resamples: int
    seed: int
    folds: Folds | None = None

    def first(self, part: ScoredUsers) -> Sums:
        """Return how many users there are, and the sums of every column."""
        columns = in_threads(partial(self._sums_of, part), self.keys)
        return {"users": np.array([len(part.hashes)]), **columns}

    def _sums_of(self, part: ScoredUsers, key: Key) -> Sums:
        repeats = _repeats(part, key)
        return {
            "repeats": {number: Exact.of(values) for number, values in enumerate(repeats)},
            "largest": Largest(np.abs(repeats).max(axis=1, initial=0.0)),
            "moments": moments(errors(part, key, self.folds)),
        }

    def second(self, part: ScoredUsers, first: Any) -> Sums:
        """Return the sums of resamples."""
        there = [] if self.folds is None or part.there is None else [part.there]
        values = np.concatenate([_repeats(part, key) for key in self.keys] + there).T
        sums, drawn = resampling.resampled_sums(
            values, part.hashes, self._grid(first), self.resamples, self.seed
        )
        return {"sums": sums, "drawn": drawn}

    def _grid(self, first: Any) -> Int32:
        largest = [first[number]["largest"].values for number in range(len(self.keys))]
        if self.folds is not None:
            largest.append(np.ones(len(self.folds.sizes)))  # of being there
        return resampling.exponents(np.concatenate(largest), int(first["users"][0]))

    def result(self, first: Any, second: Any) -> tuple[dict[Key, ModelEstimate], dict[Key, Floats]]:
        """Return the estimates, and the resampled means, (B,)."""
        means = resampling.resampled_means(second["sums"], second["drawn"], self._grid(first))
        users, start = int(first["users"][0]), 0
        folds, freedom = self.folds, None if self.folds is None else self.folds.freedom
        estimates, resampled = {}, {}
        for number, key in enumerate(self.keys):
            repeats = first[number]["repeats"]
            resample = means[:, start : start + len(repeats)]
            start += len(repeats)
            if folds is not None:
                there = means[:, -len(folds.sizes) :]
                resample = resample - there @ folds.offsets(key) + folds.of_repeats(key)
            resampled[key] = _over_drawn_repeats(resample, self.seed)
            sample = Sample.of_moments(first[number]["moments"], freedom=freedom)
            student = intervals.student(sample)
            estimates[key] = ModelEstimate(
                mean=sample.mean if folds is None else folds.mean(key),
                ci95=estimate_of(key[1], sample).ci95,
                sd_repeats=_spread([repeats[r].total / users for r in range(len(repeats))]),
                ci95_t=student,
                ci95_bootstrap=None if student is None else intervals.percentile(resampled[key]),
            )
        return estimates, resampled


def _repeats(part: ScoredUsers, key: Key) -> Floats:
    name, metric = key
    return part.tables[name].values[metric]


def of_set(values: Sequence[float]) -> ModelEstimate:
    """Return the estimate of a metric of all lists by its value in each repeat."""
    return ModelEstimate(float(over_repeats(np.array(values)[:, None])[0]), None, _spread(values))


def _spread(means: Sequence[float]) -> float | None:
    return float(np.std(means, ddof=1)) if len(means) > 1 else None


def over_folds(metric: Metric, tables: Sequence[ScoreTable], ids: Sequence[pl.Series]) -> Estimate:
    """Return mean and interval of one model's scores, by the table and users' ids of each fold."""
    if len(tables) == 1:
        return estimate(metric, tables[0].of_users(metric))
    if metric.definition.of == "set":
        means = [float(over_repeats(table.values[metric])[0]) for table in tables]
        return Estimate(mean(np.array(means)), None)
    part = [
        ScoredFold(id_hashes(users), {"": table}, users)
        for table, users in zip(tables, ids, strict=True)
    ]
    folds, key = folds_of(of_one(part)), ("", metric)
    sums = moments(errors(folded(folds, part), key, folds))
    sample = Sample.of_moments(sums, freedom=folds.freedom)
    return replace(estimate_of(metric, sample), mean=folds.mean(key))


def keys_of(models: Sequence[str], metrics: Sequence[Metric]) -> list[Key]:
    """Return the columns of some models under those of some metrics that are of users."""
    of_users = [metric for metric in metrics if metric.definition.of == "user"]
    return [(name, metric) for metric in of_users for name in models]


def _over_drawn_repeats(means: Floats, seed: int) -> Floats:
    """Return the average of repeats drawn with replacement, (B,), of (B, repeats) means."""
    resamples, repeats = means.shape
    if repeats == 1:
        return means[:, 0]
    drawn = generator(seed, "repeats").integers(repeats, size=(resamples, repeats))
    return np.asarray(np.take_along_axis(means, drawn, axis=1).mean(axis=1))
