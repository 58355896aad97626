"""Recommendations and an exam in, one value per user, metric and repeat out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.evaluation import EvaluationSet
from harness.metrics import Metric, Tally, per_user
from harness.recommendations import Recommendations

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The marks of one model.

    Attributes
    ----------
    values : mapping of Metric to float64 array, (repeats, n users)
        Users stand in the evaluation set's order, which is id order.
    """

    values: Mapping[Metric, Floats]

    @property
    def repeats(self) -> int:
        """How often the model sat the exam."""
        return len(next(iter(self.values.values())))

    def of_users(self, metric: Metric) -> Floats:
        """Return each user's value, the mean over repeats."""
        values = self.values[metric]
        mean_of_repeats: Floats = values.mean(axis=0)
        return values[0] if len(values) == 1 else mean_of_repeats

    def of_repeats(self, metric: Metric) -> list[float]:
        """Return the mean over users of each repeat."""
        return [mean(values) for values in self.values[metric]]


def mean(values: Floats) -> float:
    """Return the mean, rounded once, so that neither order nor blocks of users change a bit."""
    return math.fsum(values.tolist()) / len(values)


def score(
    repeats: Sequence[Recommendations], exam: EvaluationSet, metrics: Sequence[Metric]
) -> ScoreTable:
    """Mark the lists of every repeat under every metric.

    Parameters
    ----------
    repeats : sequence of Recommendations, each (n users, k)
    metrics : sequence of Metric
        Cut-offs may differ; the lists are read once for each.
    """
    values: dict[Metric, list[Floats]] = {metric: [] for metric in metrics}
    for recommendations in repeats:
        for k in sorted({metric.k for metric in metrics}):
            tally = mark(recommendations, exam, k)
            for metric in metrics:
                if metric.k == k:
                    values[metric].append(per_user(metric, tally))
    return ScoreTable({metric: np.stack(rows) for metric, rows in values.items()})


def mark(recommendations: Recommendations, exam: EvaluationSet, k: int) -> Tally:
    """Return what each user's list earns at cut-off `k`."""
    from harness import kernels

    return kernels.tally(
        recommendations.items,
        exam.truth.indptr,
        exam.truth.indices,
        k,
        relevant=exam.relevant,
    )
