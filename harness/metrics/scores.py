"""Lists and judgments in, one value per user, metric and repeat out; and the mean at every k."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.core.arrays import Floats, Int32, Int64
from harness.core.exact_sum import Exact, Sums
from harness.metrics import Block, Judgments, Metric, per_user
from harness.models.recommendations import Recommendations

BLOCK_USERS = 1 << 14
"""Users scored at a time: what is counted of them stays in the processor's cache meanwhile."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The per-user values of one model, (repeats, n users) for each metric.

    Users stand in the evaluation set's order, which is id order. A metric of all lists together
    (coverage, Gini) has one value a repeat, (repeats, 1).
    """

    values: Mapping[Metric, Floats]

    @property
    def repeats(self) -> int:
        """How often the model was evaluated."""
        return len(next(iter(self.values.values())))

    def of_users(self, metric: Metric) -> Floats:
        """Return each user's value (or the one of all lists), the mean over repeats."""
        return over_repeats(self.values[metric])

    def of_repeats(self, metric: Metric) -> list[float]:
        """Return the mean over users of each repeat."""
        return [mean(values) for values in self.values[metric]]


def over_repeats(values: Floats) -> Floats:
    """Return the mean over repeats, (n,), of (repeats, n) values."""
    first: Floats
    first, *later = values
    if not later:
        return first
    # What later ones differ by is averaged, so that equal values have a mean equal to them. One
    # repeat after the other: NumPy adds up a single user's in another order than many users'.
    differences = np.zeros_like(first)
    for repeat in later:
        differences += repeat - first
    return first + differences / len(values)


def mean(values: Floats) -> float:
    """Return the mean, rounded once, so that neither order nor blocks of users change a bit."""
    return Exact.of(values).total / len(values)


def score(
    repeats: Sequence[Recommendations], judgments: Judgments, metrics: Sequence[Metric]
) -> ScoreTable:
    """Score the lists of every repeat under every metric, once for each cut-off.

    Judgments' positions are the candidates'; those of ids that nobody knows are added to its
    catalogue.
    """
    judgments = _with_strange(repeats, judgments)
    n = len(judgments.relevant)
    values = {m: np.empty((len(repeats), n if m.definition.of == "user" else 1)) for m in metrics}
    for repeat, recommendations in enumerate(repeats):
        for m, scores in user_scores(recommendations.items, judgments, metrics).items():
            values[m][repeat] = scores
    return ScoreTable(values)


def _with_strange(repeats: Sequence[Recommendations], judgments: Judgments) -> Judgments:
    """Return judgments whose catalogue has the items, too, that nobody but the lists knows."""
    beyond = max(len(recommendations.strange) for recommendations in repeats)
    return replace(judgments, catalogue=judgments.catalogue and judgments.catalogue.wider(beyond))


def user_scores(
    items: Int32,
    judgments: Judgments,
    metrics: Sequence[Metric],
    threads: int | None = None,
    block: int = BLOCK_USERS,
) -> dict[Metric, Floats]:
    """Return the values of every metric: one a user, (n,), or one of all lists together, (1,).

    Lists are (n, K), best first, −1 = empty. Threads, one a processor by default, score blocks of
    users; the result depends on neither, to the last bit.
    """
    n = len(items)
    of_users = [metric for metric in metrics if metric.definition.of == "user"]
    values = {m: np.empty(n) for m in of_users}

    def score_block(start: int) -> None:
        users = slice(start, min(start + block, n))
        blocks = _blocks(items[users], judgments.rows(users.start, users.stop), of_users)
        for metric in of_users:
            values[metric][users] = per_user(metric, blocks[metric.k])

    if n <= block:
        score_block(0)
    else:
        with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            list(pool.map(score_block, range(0, n, block)))
    whole = _blocks(items, judgments, [m for m in metrics if m not in values])
    return {m: values[m] if m in values else per_user(m, whole[m.k]) for m in metrics}


def set_sums(
    repeats: Sequence[Recommendations], judgments: Judgments, metrics: Sequence[Metric]
) -> Sums:
    """Return what metrics of all lists together add up over parts of the users, by repeat."""
    judgments = _with_strange(repeats, judgments)
    return {
        number: sums_of_lists(repeat.items, judgments, metrics)
        for number, repeat in enumerate(repeats)
    }


def sums_of_lists(
    items: Int32, judgments: Judgments, metrics: Sequence[Metric]
) -> dict[int, Int64]:
    """Return what metrics of all lists together add up over parts of the users, by number."""
    blocks = _blocks(items, judgments, metrics)
    return {n: m.definition.formula(blocks[m.k], m.settings) for n, m in enumerate(metrics)}


def _blocks(
    items: Int32, judgments: Judgments, metrics: Sequence[Metric]
) -> dict[int | None, Block]:
    """Return the lists cut at every k there is; without a cut-off they are as long as they are."""
    longest = max(items.shape[1], 1)
    return {k: Block(items, judgments, longest if k is None else k) for k in {m.k for m in metrics}}


_POINTS = 20


def curve_sums(
    repeats: Sequence[Recommendations], judgments: Judgments, scores: ScoreTable, metric: Metric
) -> Sums:
    """Return what `curve` is made of, by repeat; those of parts of the users add up.

    Lists without a hit at the last cut-off have none at an earlier one, so only the others are
    scored again.
    """
    if metric.k is None or not metric.definition.zero_without_hits:
        return {}
    asked = [replace(metric, k=k) for k in _cut_offs(metric.k)]
    sums: dict[str | int, Sums] = {}
    for number, (repeat, values) in enumerate(zip(repeats, scores.values[metric], strict=True)):
        hit = values > 0
        scored = user_scores(repeat.items[hit], judgments.pick(hit), asked)
        at_k = {str(metric.k): Exact.of(scored[metric]) for metric in asked}
        sums[number] = {"hits": np.array([np.count_nonzero(hit)]), **at_k}
    return sums


def curve(sums: Mapping[Any, Any], metric: Metric, users: int) -> dict[int, float]:
    """Return the mean at cut-offs up to the metric's own, about twenty where there are many.

    `sums` are the `curve_sums` of all users.
    """
    if metric.k is None or not sums:
        return {}
    means = {}
    for k in _cut_offs(metric.k):
        total = 0.0
        for repeat in range(len(sums)):
            hits = int(sums[repeat]["hits"][0])
            total += sums[repeat][str(k)].total / hits * hits / users if hits > 0 else 0.0
        means[k] = total / len(sums)
    return means


def _cut_offs(k: int) -> list[int]:
    if k <= _POINTS:
        return list(range(1, k + 1))
    return sorted({round(x) for x in np.geomspace(1, k, _POINTS).tolist()})
