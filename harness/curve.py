"""The first metric at every cut-off: what a longer list would add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.evaluation import EvaluationSet
from harness.metrics import Key, Metric
from harness.recommendations import Recommendations
from harness.scoring import ScoreTable, marks, mean

_POINTS = 20


def has_curve(metric: Metric) -> bool:
    """Return whether a metric has a cut-off and is 0 for a list without hits."""
    return metric.k is not None and metric.definition.earned


def curve(
    repeats: Sequence[Recommendations], exam: EvaluationSet, scores: ScoreTable, metric: Metric
) -> dict[int, float]:
    """Return the mean at cut-offs up to the metric's own; about twenty where there are many.

    Lists without a hit at the last cut-off have none at an earlier one, so only the others are
    marked again.
    """
    if metric.k is None or not has_curve(metric):
        return {}
    asked = {k: replace(metric, k=k) for k in _cut_offs(metric.k)}
    sums = dict.fromkeys(asked, 0.0)
    n = len(exam.users)
    for repeat, values in zip(repeats, scores.values[metric], strict=True):
        hit = values > 0
        key = Key(exam.truth, exam.relevant).pick(hit)
        found = marks(repeat.items[hit], key, list(asked.values()))
        for k, at_k in asked.items():
            sums[k] += mean(found[at_k]) * int(hit.sum()) / n if hit.any() else 0.0
    return {k: total / len(repeats) for k, total in sums.items()}


def _cut_offs(k: int) -> list[int]:
    if k <= _POINTS:
        return list(range(1, k + 1))
    return sorted({round(x) for x in np.geomspace(1, k, _POINTS).tolist()})
