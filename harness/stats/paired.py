"""Pairs of models: what all users' differences tell, added up over parts of the users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from harness.core.arrays import Floats, Int32
from harness.core.errors import UsageError, suggest
from harness.core.exact_sum import Exact, Largest, Sums
from harness.core.steps import Steps, one_step, side_by_side
from harness.metrics import Metric
from harness.stats import resampling, tests
from harness.stats.estimates import ScoredUsers, errors, freedom_of
from harness.stats.fold_means import Folds
from harness.stats.intervals import Sample, in_turn, sample_steps

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Rules:
    """How models are compared.

    Attributes
    ----------
    baseline : str, optional
        The model that all others are compared with; without it, every two are.
    correction : str
        ``holm`` or ``bh``: how p values are corrected for the number of pairs.
    resamples : int
        B, of the bootstrap and of the randomization test.
    """

    baseline: str | None = None
    correction: str = "holm"
    resamples: int = resampling.RESAMPLES
    seed: int = 42


@dataclass(frozen=True, eq=False)
class Paired:
    """What all users' values tell of pairs of models, before p values are corrected.

    Attributes
    ----------
    pairs : sequence of (str, str)
    facts : sequence of Facts
        Of each pair.
    """

    users: int
    flips: int
    means: dict[str, float]
    any_hit: dict[str, float]
    pairs: Sequence[tuple[str, str]]
    facts: Sequence[Facts]


@dataclass(frozen=True, eq=False)
class Facts:
    """What the users' differences of two models tell, p before it is corrected."""

    sample: Sample
    wins: int
    losses: int
    p: float


def compare_steps(
    names: Sequence[str], metric: Metric, rules: Rules, folds: Folds | None = None
) -> Steps[ScoredUsers, Paired]:
    """Yield four steps; return what `comparison_of` makes a comparison of.

    Parameters
    ----------
    folds : Folds, optional
        Where parts are of `harness.stats.folds.FoldedUsers`.

    Raises
    ------
    UsageError
        Fewer than two models, no such baseline, or a metric with one value for all lists.
    """
    _refuse(names, metric, rules.baseline)
    first: Any = yield partial(_sums, names, metric)
    users, size = int(first["users"][0]), first["largest"].values[0]
    means = {name: first[at]["sum"].total / users for at, name in enumerate(names)}
    hits = {name: first[at]["hits"][0] / first[at]["cells"][0] for at, name in enumerate(names)}
    order = sorted(names, key=lambda name: metric.definition.sign * means[name])
    if rules.baseline is None:
        pairs = list(combinations(order, 2))
    else:
        pairs = [(name, rules.baseline) for name in order if name != rules.baseline]
    flips = max(rules.resamples, tests.deciding_draws(len(pairs)))
    drawn = _Flips(order, metric, resampling.exponents(size, users), flips, rules.seed)
    samples, outcomes, flipped = yield from side_by_side(
        [
            sample_steps(partial(_columns, pairs, metric, folds), freedom_of(folds), users),
            one_step(partial(in_turn, _outcomes, partial(_columns, pairs, metric, None))),
            one_step(drawn),
        ],
        threads=True,
    )
    signed = dict(zip(order, np.ldexp(flipped["sums"].T, drawn.grid), strict=True))
    facts = []
    for at, (one, other) in enumerate(pairs):
        wins, losses = outcomes[at]["counts"].tolist()
        total, absolute = (outcomes[at][name].total for name in ("total", "absolute"))
        flipped_sums = signed[one] - signed[other]
        p = tests.randomization_test(total, absolute, flipped_sums)
        facts.append(Facts(samples[at], wins, losses, p))
    return Paired(
        users,
        flips,
        {name: means[name] for name in order},
        {name: float(hits[name]) for name in order},
        pairs,
        facts,
    )


def _refuse(names: Sequence[str], metric: Metric, baseline: str | None) -> None:
    if metric.definition.of == "set":
        raise UsageError(f"metric {metric} has one value for all lists: no users to compare by")
    if len(names) < 2:
        raise UsageError("only one model: two are needed for a comparison")
    if baseline is not None and baseline not in names:
        raise UsageError(f'no model "{baseline}" to compare with; {suggest(baseline, list(names))}')


def _sums(names: Sequence[str], metric: Metric, part: ScoredUsers) -> Sums:
    """Return the sums of models' values, in turn, and the largest of all."""
    held: dict[str | int, Any] = {"users": np.array([len(part.hashes)])}
    largest = 0.0
    for at, name in enumerate(names):
        values, raw = part.tables[name].of_users(metric), part.tables[name].values[metric]
        largest = max(largest, float(np.abs(values).max(initial=0.0)))
        sizes = {"hits": np.array([np.count_nonzero(raw)]), "cells": np.array([raw.size])}
        held[at] = {"sum": Exact.of(values), **sizes}
    return {**held, "largest": Largest(np.array([largest]))}


@dataclass(frozen=True, eq=False)
class _Flips:
    """A step: the sums of models' values under random signs."""

    names: Sequence[str]
    metric: Metric
    grid: Int32
    times: int
    seed: int

    def __call__(self, part: ScoredUsers) -> Sums:
        values = np.column_stack([part.tables[name].of_users(self.metric) for name in self.names])
        sums = resampling.randomized_sums(values, part.hashes, self.grid, self.times, self.seed)
        return {"sums": sums}


def _columns(
    pairs: Sequence[tuple[str, str]],
    metric: Metric,
    folds: Folds | None,
    part: ScoredUsers,
) -> list[Callable[[], Floats]]:
    """Return the differences of every pair, of values, or with folds of `errors`.

    Users who have 0 under all models are left out: they are most.
    """
    names = {name for pair in pairs for name in pair}
    values = {name: errors(part, (name, metric), folds) for name in names}
    rows = np.flatnonzero(np.any([own != 0 for own in values.values()], axis=0))
    values = {name: own[rows] for name, own in values.items()}
    return [partial(_differences, values[one], values[other]) for one, other in pairs]


def _differences(one: Floats, other: Floats) -> Floats:
    """Return the users' differences; values that differ by rounding alone are equal."""
    found = one - other
    at = np.flatnonzero(found)
    size = np.maximum(np.abs(one[at]), np.abs(other[at]))
    found[at[np.abs(found[at]) <= _ROUNDING * size]] = 0.0
    return found


def _outcomes(differences: Floats) -> Sums:
    """Return how many users each of two serves better, and the sums of all, and of their sizes."""
    others = differences[differences != 0]
    wins = int(np.count_nonzero(others > 0))
    counts = np.array([wins, len(others) - wins])
    absolute = Exact.of(np.abs(others))
    return {"counts": counts, "total": Exact.of(others), "absolute": absolute}
