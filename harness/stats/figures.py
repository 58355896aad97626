"""Everything that is said of the scores of all users, in two passes over the parts of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.core.exact_sum import Sums, Total
from harness.core.progress import doing
from harness.metrics import Metric
from harness.stats.chance import Verdict, Verdicts
from harness.stats.estimates import Estimates, ModelEstimate, keys_of
from harness.stats.folds import Folds, Key
from harness.stats.paired import Pairs, Rules
from harness.stats.pairwise import Comparison
from harness.stats.shakeup import ShakeUp, ShakeUps
from harness.stats.slices import Slice, Slices


class Statistic(Protocol):
    """What follows from sums over users; those of parts of the users add up."""

    def first(self, part: Any) -> Sums:
        """Return the sums of the users of a part."""

    def second(self, part: Any, first: Any) -> Sums:
        """Return sums that depend on the first ones of all users."""

    def result(self, first: Any, second: Any) -> Any:
        """Return what the sums of all users tell."""


def results_of(statistics: Sequence[Statistic], total: Total[Any]) -> list[Any]:
    """Return the results of statistics, which share both passes over the parts.

    Source: the summation form of Chu, Kim, Lin, Yu, Bradski, Ng and Olukotun, Map-Reduce for
    Machine Learning on Multicore, NIPS 2006.
    """
    numbered = list(enumerate(statistics))
    first: Any = total(lambda part: {number: s.first(part) for number, s in numbered})
    second: Any = total(lambda part: {n: s.second(part, first[n]) for n, s in numbered})
    return [statistic.result(first[number], second[number]) for number, statistic in numbered]


@dataclass(frozen=True, eq=False)
class Figures:
    """What the scores of all users tell; estimates are of metrics of users alone."""

    estimates: Mapping[Key, ModelEstimate]
    verdicts: Mapping[str, Verdict]
    comparison: Comparison | None
    shake_ups: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]


@doing("comparing models")
def figures_of(
    total: Total[Any],
    names: Sequence[str],
    metrics: Sequence[Metric],
    rules: Rules,
    *,
    folds: Folds | None = None,
    pairs: bool = True,
    shares: Sequence[float] = (),
    columns: Sequence[str] = (),
    against_chance: bool = False,
) -> Figures:
    """Return all figures of some models, which are compared and judged by the first metric.

    Parts are `ScoredUsers`, `ProfiledUsers` where there are `columns` to slice them by; to be
    judged `against_chance` they have a `law`. UsageError where models cannot be compared, or users
    not be divided, as asked for.
    """
    keys, metric = keys_of(names, metrics), metrics[0]
    statistics: dict[str, Statistic] = {}
    if keys:
        statistics["estimates"] = Estimates(keys, rules.resamples, rules.seed, folds)
    if against_chance:
        statistics["verdicts"] = Verdicts(names, metric, folds)
    if pairs:
        statistics["pairs"] = Pairs(names, metric, rules, folds)
    if shares:
        statistics["shake-ups"] = ShakeUps(names, metric, shares, rules.seed)
    if columns and metric.definition.of == "user":
        statistics["slices"] = Slices(names, metric, columns)
    results = dict(zip(statistics, results_of([*statistics.values()], total), strict=True))
    estimates, resampled = results.get("estimates", ({}, {}))
    compared = results.get("pairs")
    return Figures(
        estimates=estimates,
        verdicts=results.get("verdicts", {}),
        comparison=compared and compared(resampled),
        shake_ups=results.get("shake-ups", ()),
        slices=results.get("slices", ()),
    )
