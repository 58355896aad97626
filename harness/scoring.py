"""Recommendations and an exam in, one value per user, metric and repeat out."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.dataset import Int32, Int64
from harness.evaluation import EvaluationSet, Ragged
from harness.metrics import Metric, Tally, per_user
from harness.recommendations import Recommendations

Floats = npt.NDArray[np.float64]

BLOCK_USERS = 1 << 16
"""Users marked at a time: what they earned stays in the cache until every metric is worked out."""


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
    values = np.empty((len(metrics), len(repeats), len(exam.users)))
    for repeat, recommendations in enumerate(repeats):
        values[:, repeat] = marks(recommendations.items, exam.truth, exam.relevant, metrics)
    return ScoreTable(dict(zip(metrics, values, strict=True)))


def marks(
    items: Int32,
    truth: Ragged,
    relevant: Int64,
    metrics: Sequence[Metric],
    threads: int | None = None,
) -> Floats:
    """Return the value of every metric for every user, a (metrics, n) matrix.

    Parameters
    ----------
    items : int32 array, (n, K)
        One list a row, best first, −1 = empty.
    truth : Ragged, n rows
    relevant : int64 array, (n,)
        R of each user.
    threads : int, optional
        One a processor by default; each marks blocks of users. The result does not depend on it,
        to the last bit.
    """
    n = len(items)
    values = np.empty((len(metrics), n))

    def mark(start: int) -> None:
        users = slice(start, min(start + BLOCK_USERS, n))
        for k in {metric.k for metric in metrics}:
            tally = _tally(items[users], truth.rows(users.start, users.stop), relevant[users], k)
            for row, metric in enumerate(metrics):
                if metric.k == k:
                    values[row, users] = per_user(metric, tally)

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        list(pool.map(mark, range(0, n, BLOCK_USERS)))
    return values


def _tally(items: Int32, truth: Ragged, relevant: Int64, k: int) -> Tally:
    from harness import kernels  # numba is slow to import, and only marking needs it

    return kernels.tally(items, truth.indptr, truth.indices, k, relevant=relevant)
