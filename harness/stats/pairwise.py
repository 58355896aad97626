"""Models compared pair by pair: which is really better, and how sure that is."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
from pydantic import NonNegativeInt

from harness.core.arrays import Floats, UInt64
from harness.core.errors import UsageError, counted, printable, suggest
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
from harness.metrics.scores import mean
from harness.stats import resampling, tests
from harness.stats.estimates import Tables, bootstrap
from harness.stats.intervals import LEVEL, Interval, Sample, percentile, student
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


def compare(
    tables: Tables,
    users: UInt64,
    metric: Metric,
    rules: Rules = Rules(),
    resampled: Mapping[str, Floats] | None = None,
) -> Comparison:
    """Compare every two models, or each with the baseline.

    Parameters
    ----------
    tables : mapping of model to ScoreTable
        All of one evaluation set, users in one order.
    users : uint64 array, (n,)
        `harness.core.random.id_hashes` of these users.
    resampled : mapping of model to float64 array, (B,), optional
        The metric's part of `harness.stats.estimates.bootstrap` with the same rules, if at hand.

    Raises
    ------
    UsageError
        Fewer than two models, no such baseline, or a metric with one value for all lists.
    """
    names = _in_order(tables, metric, rules.baseline)
    user_scores = np.column_stack([tables[name].of_users(metric) for name in names])
    if resampled is None:
        resampled = bootstrap(tables, users, [metric], rules.resamples, rules.seed)[metric]
    two = _pairs(names, rules.baseline)
    # The smallest p value there can be, times the number of pairs, must lie below the level.
    flips = max(rules.resamples, math.ceil(2 * len(two) / LEVEL))
    randomized = resampling.randomized(user_scores, users, flips, rules.seed)
    columns = dict(zip(names, np.ascontiguousarray(user_scores.T), strict=True))
    signed = dict(zip(names, randomized.T, strict=True))
    means = {name: mean(values) for name, values in columns.items()}

    def compared(pair: tuple[str, str]) -> Pair:
        one, other = pair
        differences = _differences(columns[one], columns[other])
        bounds = percentile(resampled[one] - resampled[other])
        return _pair(one, other, differences, means[other], bounds, signed[one] - signed[other])

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy lets go of Python's lock
        found = list(pool.map(compared, two))
    return Comparison(
        metric=str(metric),
        users=len(user_scores),
        **vars(rules),
        flips=flips,
        means=means,
        any_hit={name: float((tables[name].values[metric] != 0).mean()) for name in names},
        pairs=tuple(_with_verdicts(found, rules.correction, metric.definition.better)),
    )


def _in_order(tables: Tables, metric: Metric, baseline: str | None) -> list[str]:
    """Return the models' names, best first."""
    if metric.definition.of == "set":
        raise UsageError(f"metric {metric} has one value for all lists: no users to compare by")
    if len(tables) < 2:
        raise UsageError("only one model: two are needed for a comparison")
    if baseline is not None and baseline not in tables:
        raise UsageError(
            f'no model "{baseline}" to compare with; {suggest(baseline, list(tables))}'
        )
    means = {name: mean(table.of_users(metric)) for name, table in tables.items()}
    return sorted(tables, key=lambda name: metric.definition.sign * means[name])


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def _differences(one: Floats, other: Floats) -> Floats:
    """Return the users' differences; values that differ by rounding alone are equal."""
    found = one - other
    at = np.flatnonzero(found)
    size = np.maximum(np.abs(one[at]), np.abs(other[at]))
    found[at[np.abs(found[at]) <= _ROUNDING * size]] = 0.0
    return found


def _pair(
    one: str, other: str, differences: Floats, level: float, bounds: Interval, randomized: Floats
) -> Pair:
    sample = Sample.of(differences)
    p = tests.randomization_test(differences, randomized)
    return Pair(
        one=one,
        other=other,
        difference=sample.mean,
        ci95=student(sample),
        ci95_bootstrap=bounds,
        relative=sample.mean / abs(level) if level != 0 else None,
        effect_size=tests.effect_size(sample),
        p_t=tests.t_test(sample),
        p_sign_flip=p,
        p_adjusted=p,
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
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
