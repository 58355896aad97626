"""Recommendations and an exam in, one value per user, metric and repeat out."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.evaluation import EvaluationSet
from harness.metrics import Metric, Tally, per_user
from harness.recommendations import Recommendations

Floats = npt.NDArray[np.float64]

BLOCK_USERS = 1 << 14
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
    repeats: Sequence[Recommendations],
    exam: EvaluationSet,
    metrics: Sequence[Metric],
    threads: int | None = None,
) -> ScoreTable:
    """Mark the lists of every repeat under every metric, blocks of users in threads.

    Parameters
    ----------
    repeats : sequence of Recommendations, each (n users, k)
    metrics : sequence of Metric
        Cut-offs may differ; the lists are read once for each.
    threads : int, optional
        One a processor by default; the result does not depend on it, to the last bit.
    """
    n = len(exam.users)
    values = {metric: np.empty((len(repeats), n)) for metric in metrics}

    def mark_block(job: tuple[int, int]) -> None:
        repeat, start = job
        stop = min(start + BLOCK_USERS, n)
        for k in sorted({metric.k for metric in metrics}):
            tally = _tally(repeats[repeat], exam, start, stop, k)
            for metric in metrics:
                if metric.k == k:
                    values[metric][repeat, start:stop] = per_user(metric, tally)

    jobs = [(repeat, start) for repeat in range(len(repeats)) for start in range(0, n, BLOCK_USERS)]
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        list(pool.map(mark_block, jobs))
    return ScoreTable(values)


def _tally(repeat: Recommendations, exam: EvaluationSet, start: int, stop: int, k: int) -> Tally:
    from harness import kernels

    truth = exam.truth.rows(start, stop)
    return kernels.tally(
        repeat.items[start:stop],
        truth.indptr,
        truth.indices,
        k,
        relevant=exam.relevant[start:stop],
        threads=1,
    )
