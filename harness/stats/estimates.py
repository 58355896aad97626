"""Score tables in, every model's estimates out: means, intervals, the spread over repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from harness.core.arrays import Floats, UInt64
from harness.core.exact_sum import Exact, Largest, Sums
from harness.core.random import generator
from harness.core.steps import Steps, side_by_side
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean, over_repeats
from harness.stats import intervals, resampling
from harness.stats.fold_means import Folds
from harness.stats.intervals import Interval, Sample, sample_steps

Tables = Mapping[str, ScoreTable]
"""The scores of several models on one evaluation set, by name."""
Key = tuple[str, Metric]
"""A column of a table: a model's values under a metric of users."""


@dataclass(frozen=True, eq=False)
class ScoredUsers:
    """Users of a part and their scores, which statistics of all users are added up from.

    Attributes
    ----------
    hashes : uint64 array, (n,)
        `harness.core.random.id_hashes` of the users, who stand in the order of the tables.
    there : float64 array, (F, n), optional
        Of several folds, 1 where a user is in a fold, else 0.
    """

    hashes: UInt64
    tables: Tables
    there: Floats | None = field(default=None, kw_only=True)


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
    if metric.definition.of == "set":
        return Estimate(mean(values), None)
    return estimate_of(metric, Sample.of(values))


def estimate_of(metric: Metric, sample: Sample) -> Estimate:
    """Return mean and interval of users' values, of whom a sample tells."""
    return Estimate(sample.mean, intervals.skewed(sample, *metric.definition.range))


def estimate_steps(
    keys: Sequence[Key], folds: Folds | None = None
) -> Steps[ScoredUsers, dict[Key, ModelEstimate]]:
    """Yield steps; return the estimates of some columns, without those of the bootstrap.

    Parameters
    ----------
    folds : Folds, optional
        Where parts are of `harness.stats.folds.FoldedUsers`.
    """
    samples, repeats = yield from side_by_side(
        [sample_steps(partial(_columns, keys, folds), freedom_of(folds)), _repeat_steps(keys)],
        threads=True,
    )
    found = {}
    for key, sample, means in zip(keys, samples, repeats, strict=True):
        own = estimate_of(key[1], sample)
        student = intervals.student(sample)
        found[key] = ModelEstimate(own.mean, own.ci95, _spread(means), student)
    return found


def of_set(values: Sequence[float]) -> ModelEstimate:
    """Return the estimate of a metric of all lists by its value in each repeat."""
    own = over_repeats(np.array(values)[:, None])
    return ModelEstimate(float(own[0]), None, _spread(values))


def _spread(means: Sequence[float]) -> float | None:
    return float(np.std(means, ddof=1)) if len(means) > 1 else None


def _columns(
    keys: Sequence[Key], folds: Folds | None, part: ScoredUsers
) -> list[Callable[[], Floats]]:
    return [partial(errors, part, key, folds) for key in keys]


def errors(part: ScoredUsers, key: Key, folds: Folds | None) -> Floats:
    """Return what the interval of a mean is made of, (n,), the mean over repeats.

    They are the users' values; of several folds the mean, plus the user's share in its error.
    """
    values = over_repeats(_raw(part, key))
    if folds is None or part.there is None:
        return values
    offset = np.zeros_like(values)
    for own, there in zip(over_repeats(folds.offsets(key).T), part.there, strict=True):
        offset += own * there
    return values - offset + folds.mean(key)


def freedom_of(folds: Folds | None) -> float | None:
    """Return the degrees of freedom, where they are not the users less one."""
    return None if folds is None else folds.freedom


def _repeat_steps(keys: Sequence[Key]) -> Steps[ScoredUsers, list[list[float]]]:
    """Yield a step; return the mean of each repeat of each column."""
    sums: Any = yield partial(_repeat_sums, keys)
    users = int(sums["users"][0])
    return [
        [own[repeat].total / users for repeat in range(len(own))]
        for own in (sums[at] for at in range(len(keys)))
    ]


def _repeat_sums(keys: Sequence[Key], part: ScoredUsers) -> Sums:
    held = {
        at: {repeat: Exact.of(values) for repeat, values in enumerate(_raw(part, key))}
        for at, key in enumerate(keys)
    }
    return {"users": np.array([len(part.hashes)]), **held}


def _raw(part: ScoredUsers, key: Key) -> Floats:
    name, metric = key
    return part.tables[name].values[metric]


def bootstrap_steps(
    keys: Sequence[Key], resamples: int, seed: int, folds: Folds | None = None
) -> Steps[ScoredUsers, dict[Key, Floats]]:
    """Yield two steps; return the mean of each column in each of B resamples of the users, (B,).

    The users drawn are the same for all columns, so their differences are paired. Each resample
    also draws, with replacement, as many repeats of a model as it has.

    Of several folds it is the mean of the users' `errors`: of their values, less the offset of
    each fold times the share of those drawn who are in it. So columns hold values, of which most
    are 0, and a column a fold who is there.
    """
    if not keys:
        return {}
    first: Any = yield partial(_sizes, keys)
    users, largest = int(first["users"][0]), [first[at].values for at in range(len(keys))]
    largest.append(np.ones(0 if folds is None else len(folds.sizes)))  # of being there
    grid = resampling.exponents(np.concatenate(largest), users)
    sums: Any = yield partial(_resampled, keys, folds, grid, resamples, seed)
    means = resampling.resampled_means(sums["sums"], sums["drawn"], grid)
    *parts, there = np.split(means, np.cumsum([len(own) for own in largest])[:-1], axis=1)
    if folds is not None:
        parts = [
            own - there @ folds.offsets(key) + folds.of_repeats(key)
            for own, key in zip(parts, keys, strict=True)
        ]
    return {key: _over_repeats(own, seed) for key, own in zip(keys, parts, strict=True)}


def _sizes(keys: Sequence[Key], part: ScoredUsers) -> Sums:
    largest = {
        at: Largest(np.abs(_raw(part, key)).max(axis=1, initial=0.0)) for at, key in enumerate(keys)
    }
    return {"users": np.array([len(part.hashes)]), **largest}


def _resampled(
    keys: Sequence[Key],
    folds: Folds | None,
    grid: Any,
    resamples: int,
    seed: int,
    part: ScoredUsers,
) -> Sums:
    there = [] if folds is None or part.there is None else [part.there]
    values = np.concatenate([_raw(part, key) for key in keys] + there).T
    sums, drawn = resampling.resampled_sums(values, part.hashes, grid, resamples, seed)
    return {"sums": sums, "drawn": drawn}


def with_bootstrap(own: ModelEstimate, means: Floats) -> ModelEstimate:
    """Return an estimate with the bootstrap's interval; of a single user there is none."""
    if own.ci95_t is None:
        return own
    return replace(own, ci95_bootstrap=intervals.percentile(means))


def keys_of(models: Sequence[str], metrics: Sequence[Metric]) -> list[Key]:
    """Return the columns of some models under those of some metrics that are of users."""
    own = [metric for metric in metrics if metric.definition.of == "user"]
    return [(name, metric) for metric in own for name in models]


def _over_repeats(means: Floats, seed: int) -> Floats:
    """Return the average of repeats drawn with replacement, (B,), of (B, repeats) means."""
    resamples, repeats = means.shape
    if repeats == 1:
        return means[:, 0]
    drawn = generator(seed, "repeats").integers(repeats, size=(resamples, repeats))
    return np.asarray(np.take_along_axis(means, drawn, axis=1).mean(axis=1))
