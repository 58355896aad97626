"""Score tables in, every model's estimates out: means, intervals, the spread over repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.core.arrays import Floats, UInt64
from harness.core.random import generator
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean
from harness.stats import intervals, resampling
from harness.stats.intervals import Interval, Sample

Tables = Mapping[str, ScoreTable]
"""The scores of several models on one evaluation set, by name."""


@dataclass(frozen=True)
class Estimate:
    """One metric's mean.

    A metric of all lists together (coverage, Gini) has no interval, nor has a single user's score.

    Attributes
    ----------
    mean : float
        Over users, and over repeats.
    ci95 : (float, float), optional
        The interval that allows for skewness (`harness.stats.intervals.skewed`).
    """

    mean: float
    ci95: Interval | None


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
    of_users = metric.definition.of == "user"
    bounds = intervals.skewed(values, *metric.definition.range) if of_users else None
    return Estimate(mean(values), bounds)


def estimates(
    tables: Tables, resampled: Mapping[Metric, Mapping[str, Floats]]
) -> dict[str, dict[Metric, ModelEstimate]]:
    """Return every model's estimates, by model and metric.

    Parameters
    ----------
    resampled : mapping of Metric to mapping of model to float64 array, (B,)
        What `bootstrap` returns.
    """
    return {
        name: {
            metric: _estimate(table, metric, resampled.get(metric, {}).get(name))
            for metric in table.values
        }
        for name, table in tables.items()
    }


def bootstrap(
    tables: Tables, users: UInt64, metrics: Sequence[Metric], resamples: int, seed: int
) -> dict[Metric, dict[str, Floats]]:
    """Return the mean of every model under every metric of users in each of B resamples, (B,).

    The users drawn are the same for all models, so their differences are paired. Each resample also
    draws, with replacement, as many repeats of a model as it has.

    Parameters
    ----------
    users : uint64 array, (n,)
        `harness.core.random.id_hashes` of the tables' users.
    """
    own = [metric for metric in metrics if metric.definition.of == "user"]
    if not own:
        return {}
    columns = [tables[name].values[metric] for metric in own for name in tables]
    means = resampling.bootstrap(np.concatenate(columns).T, users, resamples, seed)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    parts = iter(np.split(means, ends, axis=1))
    return {m: {name: _over_repeats(next(parts), seed) for name in tables} for m in own}


def _over_repeats(means: Floats, seed: int) -> Floats:
    """Return the average of repeats drawn with replacement, (B,), of (B, repeats) means."""
    resamples, repeats = means.shape
    if repeats == 1:
        return means[:, 0]
    drawn = generator(seed, "repeats").integers(repeats, size=(resamples, repeats))
    return np.asarray(np.take_along_axis(means, drawn, axis=1).mean(axis=1))


def _estimate(table: ScoreTable, metric: Metric, resampled: Floats | None) -> ModelEstimate:
    values, repeats = table.of_users(metric), table.of_repeats(metric)
    found = estimate(metric, values)
    spread = float(np.std(repeats, ddof=1)) if len(repeats) > 1 else None
    if resampled is None or len(values) < 2:
        return ModelEstimate(found.mean, found.ci95, spread)
    bounds = intervals.percentile(resampled)
    student = intervals.student(Sample.of(values))
    return ModelEstimate(found.mean, found.ci95, spread, student, bounds)
