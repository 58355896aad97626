"""Models compared pair by pair: which is really better, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from pydantic import NonNegativeInt

from harness.core.arrays import Floats, Int32, UInt64
from harness.core.errors import UsageError, counted, printable, suggest
from harness.core.exact_sum import Exact, Largest, Sums
from harness.core.steps import Steps, found, of_one, one_step, side_by_side
from harness.core.table import (
    Column,
    Sheet,
    Shown,
    digits_of,
    ends,
    low_high,
    number,
    p_value,
    percent,
    signed,
)
from harness.metrics import Metric
from harness.stats import resampling, tests
from harness.stats.estimates import Key, ScoredUsers, Tables, bootstrap_steps, keys_of
from harness.stats.intervals import (
    LEVEL,
    Interval,
    Sample,
    percentile,
    sample_and_more_steps,
    student,
)
from harness.stats.shakeup import FEW, RankFlip, ShakeUp
from harness.stats.tests import CORRECTIONS

_ROUNDING = 1e-12
Word = Literal["better", "not distinguishable", "worse", "higher", "lower"]


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


@dataclass(frozen=True)
class Pair:
    """One model's per-user values less another's, over the same users.

    Attributes
    ----------
    difference : float
        The mean of `one` less that of `other`.
    ci95, ci95_bootstrap : (float, float), optional
        Intervals of the difference: Student's, and the percentile bootstrap's. Not corrected for
        the number of pairs.
    relative : float, optional
        The difference as a share of the other's mean (of its size, if that is negative).
    effect_size : float, optional
        The mean difference in standard deviations of the differences (Cohen's d_z).
    p_t, p_sign_flip : float
        Of the paired t test, and of the randomization test.
    p_adjusted : float
        That of the randomization test, corrected for the number of pairs.
    wins, ties, losses : int
        Users whom `one` serves better, alike and worse.
    detectable : float, optional
        The minimum detectable difference: the smallest true one that an evaluation set like this
        finds with a chance of 80 %.
    verdict : str
        ``better`` or ``worse`` if the adjusted p value is below 0.05 (``higher`` or ``lower`` where
        the metric calls neither better); else ``not distinguishable``.
    """

    one: str
    other: str
    difference: float
    ci95: Interval | None
    ci95_bootstrap: Interval
    relative: float | None
    effect_size: float | None
    p_t: float
    p_sign_flip: float
    p_adjusted: float
    wins: NonNegativeInt
    ties: NonNegativeInt
    losses: NonNegativeInt
    detectable: float | None
    verdict: Word


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Shown):
    """All pairs under one metric; the better of two stands first.

    Attributes
    ----------
    baseline, correction, resamples, seed
        The rules that it was made by.
    means : mapping of model to float
        Best first.
    flips : int
        How often the randomization test drew the users' signs: B times, or more where the
        correction for many pairs needs smaller p values.
    any_hit : mapping of model to float
        The share of users whose value is not 0, the mean over repeats.
    """

    metric: str
    users: NonNegativeInt
    baseline: str | None
    correction: str
    resamples: int
    seed: int
    flips: int
    means: Mapping[str, float] = field(default_factory=dict)  # the first runs wrote none
    any_hit: Mapping[str, float]
    pairs: tuple[Pair, ...]

    def sheets(self) -> list[Sheet]:
        """Return the table of pairs."""
        return [pair_table(self)]

    def records(self, shaken: Sequence[ShakeUp] = ()) -> list[dict[str, object]]:
        """Return one record a pair, with all digits."""
        return [_record(pair, shaken) for pair in self.pairs]


def compare(tables: Tables, users: UInt64, metric: Metric, rules: Rules = Rules()) -> Comparison:
    """Compare every two models, or each with the baseline.

    Parameters
    ----------
    tables : mapping of model to ScoreTable
        All of one evaluation set, users in one order.
    users : uint64 array, (n,)
        `harness.core.random.id_hashes` of these users.

    Raises
    ------
    UsageError
        Fewer than two models, no such baseline, or a metric with one value for all lists.
    """
    steps = compare_steps(list(tables), metric, rules)
    both = side_by_side(
        [steps, bootstrap_steps(keys_of(tables, [metric]), rules.resamples, rules.seed)]
    )
    paired, resampled = found(both, of_one(ScoredUsers(users, tables)))
    return comparison_of(paired, resampled, metric, rules)


@dataclass(frozen=True, eq=False)
class Paired:
    """What all users' values tell of pairs of models, before p values are corrected.

    Attributes
    ----------
    pairs : sequence of (str, str)
    facts : sequence of _Facts
        Of each pair.
    """

    users: int
    flips: int
    means: dict[str, float]
    any_hit: dict[str, float]
    pairs: Sequence[tuple[str, str]]
    facts: Sequence[_Facts]


@dataclass(frozen=True, eq=False)
class _Facts:
    sample: Sample
    wins: int
    losses: int
    p: float


def compare_steps(names: Sequence[str], metric: Metric, rules: Rules) -> Steps[ScoredUsers, Paired]:
    """Yield four steps; return what `comparison_of` makes a comparison of.

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
    pairs = _pairs(order, rules.baseline)
    # The smallest p value there can be, times the number of pairs, must lie below the level.
    flips = max(rules.resamples, math.ceil(2 * len(pairs) / LEVEL))
    drawn = _Flips(order, metric, resampling.exponents(size, users), flips, rules.seed)
    columns = partial(_columns, pairs, metric)
    (samples, outcomes), flipped = yield from side_by_side(
        [sample_and_more_steps(columns, _outcomes), one_step(drawn)]
    )
    signed = dict(zip(order, np.ldexp(flipped["sums"].T, drawn.grid), strict=True))
    facts = []
    for at, (one, other) in enumerate(pairs):
        wins, losses = outcomes[at]["counts"].tolist()
        absolute = outcomes[at]["absolute"].total
        flipped_sums = signed[one] - signed[other]
        p = tests.randomization_test(samples[at].total, absolute, flipped_sums)
        facts.append(_Facts(samples[at], wins, losses, p))
    return Paired(
        users,
        flips,
        {name: means[name] for name in order},
        {name: float(hits[name]) for name in order},
        pairs,
        facts,
    )


def comparison_of(
    paired: Paired, resampled: Mapping[Key, Floats], metric: Metric, rules: Rules
) -> Comparison:
    """Return a comparison: pairs with intervals, corrected p values and verdicts.

    Parameters
    ----------
    resampled : mapping of (model, metric) to float64 array, (B,)
        What `harness.stats.estimates.bootstrap_steps` returns.
    """
    several = [
        _pair(
            *pair,
            facts,
            paired.means[pair[1]],
            percentile(resampled[pair[0], metric] - resampled[pair[1], metric]),
        )
        for pair, facts in zip(paired.pairs, paired.facts, strict=True)
    ]
    return Comparison(
        metric=str(metric),
        users=paired.users,
        **vars(rules),
        flips=paired.flips,
        means=paired.means,
        any_hit=paired.any_hit,
        pairs=tuple(_with_verdicts(several, rules.correction, metric.definition.better)),
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


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def _columns(
    pairs: Sequence[tuple[str, str]], metric: Metric, part: ScoredUsers
) -> list[Callable[[], Floats]]:
    """Return the differences of every pair."""
    names = {name for pair in pairs for name in pair}
    values = {name: part.tables[name].of_users(metric) for name in names}
    return [partial(_differences, values[one], values[other]) for one, other in pairs]


def _differences(one: Floats, other: Floats) -> Floats:
    """Return the users' differences; values that differ by rounding alone are equal."""
    found = one - other
    at = np.flatnonzero(found)
    size = np.maximum(np.abs(one[at]), np.abs(other[at]))
    found[at[np.abs(found[at]) <= _ROUNDING * size]] = 0.0
    return found


def _outcomes(differences: Floats) -> Sums:
    """Return how many users each of two serves better, and the sum of all sizes."""
    others = differences[differences != 0]
    wins = int(np.count_nonzero(others > 0))
    counts = np.array([wins, len(others) - wins])
    return {"counts": counts, "absolute": Exact.of(np.abs(others))}


def _pair(one: str, other: str, facts: _Facts, level: float, bounds: Interval) -> Pair:
    sample = facts.sample
    return Pair(
        one=one,
        other=other,
        difference=sample.mean,
        ci95=student(sample),
        ci95_bootstrap=bounds,
        relative=sample.mean / abs(level) if level != 0 else None,
        effect_size=tests.effect_size(sample),
        p_t=tests.t_test(sample),
        p_sign_flip=facts.p,
        p_adjusted=facts.p,
        wins=facts.wins,
        ties=sample.n - facts.wins - facts.losses,
        losses=facts.losses,
        detectable=tests.minimum_detectable_difference(sample),
        verdict="not distinguishable",
    )


def _with_verdicts(found: Sequence[Pair], correction: str, better: str) -> Iterator[Pair]:
    """Yield the pairs with p values corrected for their number, and what follows from them."""
    adjusted = CORRECTIONS[correction]([pair.p_sign_flip for pair in found])
    for pair, p in zip(found, map(float, adjusted), strict=True):
        if better == "lower":  # fewer is a win
            pair = replace(pair, wins=pair.losses, losses=pair.wins)
        yield replace(pair, p_adjusted=p, verdict=_word(pair.difference, p, better))


def _word(difference: float, adjusted: float, better: str) -> Word:
    if adjusted >= LEVEL:
        return "not distinguishable"
    if better == "neither":
        return "higher" if difference > 0 else "lower"
    return "better" if (difference > 0) == (better == "higher") else "worse"


STYLES = {
    **dict.fromkeys(("best", "better"), "green"),
    **dict.fromkeys(("worse", "worse than chance"), "red"),
    "no better than chance": "yellow",
}
"""Colours of verdicts on a terminal."""


def pair_word(verdict: str) -> str:
    """Return a verdict on two models as readers are shown it.

    Examples
    --------
    >>> pair_word("worse"), pair_word("not distinguishable")
    ('worse', 'tied')
    """
    return verdict.replace("not distinguishable", "tied")


CORRECTED = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def pair_table(
    comparison: Comparison, shaken: Sequence[ShakeUp] = (), shown: Sequence[Pair] | None = None
) -> Sheet:
    """Return the table of pairs, those `shown` or all."""
    corrected = CORRECTED[comparison.correction]
    digits = digits_of(comparison.means.values())
    heading = (
        f"pairs  {comparison.metric} · randomization test, {comparison.flips:,} draws, "
        f"{corrected} over {counted(len(comparison.pairs), 'pair')} · seed {comparison.seed}"
    )
    columns: list[Column[Pair]] = [
        Column("model", lambda p: printable(p.one), "name"),
        Column("against", lambda p: printable(p.other), "name"),
        Column("difference", lambda p: signed(p.difference, digits)),
        Column("verdict", lambda p: pair_word(p.verdict), "name"),
        Column(f"p ({corrected})", lambda p: p_value(p.p_adjusted)),
        Column("95 % interval", lambda p: ends(p.ci95, digits)),
        Column("relative", lambda p: "" if p.relative is None else f"{100 * p.relative:+.1f} %"),
        Column("effect", lambda p: signed(p.effect_size, 3)),
        Column("wins/ties/losses", lambda p: f"{p.wins:,}/{p.ties:,}/{p.losses:,}"),
        Column("p randomization", lambda p: p_value(p.p_sign_flip)),
        Column("p t", lambda p: p_value(p.p_t)),
        Column("min. detectable", lambda p: number(p.detectable, digits)),
        *(
            Column(f"rank flips at {100 * one.share:g} %", partial(_rank_flips, one))
            for one in shaken
            if not one.few
        ),
    ]
    return Sheet.of(
        comparison.pairs if shown is None else shown,
        columns,
        heading=[heading],
        footing=list(map(_leaderboard, shaken)),
        styles=STYLES,
    )


def _leaderboard(shaken: ShakeUp) -> str:
    """Return how often a public leaderboard's first is not the private one's."""
    users = f"{shaken.public:,} of {counted(shaken.users, 'user')}"
    public = f"{100 * shaken.share:g} % public ({users})"
    if shaken.few:
        return f"leaderboards  {public}: not shown, as fewer than {FEW} users tell nothing"
    return (
        f"leaderboards  {public}: nobody is first on both, the public and the private one, in "
        f"{percent(shaken.leader_falls)} of {shaken.times:,} splits"
    )


def _rank_flips(shaken: ShakeUp, pair: Pair) -> str:
    """Return how often the two change their order between the leaderboards."""
    flip = _flip_of(pair, shaken)
    return percent(flip.changes) + (f", tied in {percent(flip.ties)}" if flip.ties else "")


def _flip_of(pair: Pair, shaken: ShakeUp) -> RankFlip:
    return next(s for s in shaken.pairs if {s.one, s.other} == {pair.one, pair.other})


def _record(pair: Pair, shaken: Sequence[ShakeUp]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in vars(pair).items():
        if name.startswith("ci95"):
            found |= low_high(value, f"{name} ")
        else:
            found[name] = value
    for one in shaken:
        flip = _flip_of(pair, one)
        found[f"swaps at {one.share:g}"], found[f"level at {one.share:g}"] = flip.changes, flip.ties
    return found
