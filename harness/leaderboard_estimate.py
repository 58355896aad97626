"""Scores as a leaderboard counts them: also over users whom the evaluation set leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.evaluation import EvaluationSet
from harness.metrics import Catalogue, Metric
from harness.recommendations import Recommendations
from harness.scoring import ScoreTable, mean, score


@dataclass(frozen=True)
class Population:
    """The users whom a leaderboard may count.

    Attributes
    ----------
    examined : int
        Users of the evaluation set.
    window : int
        Users with any event in the window.
    with_items : int
        Those of them who have a true item: competitions average these.
    sample : int, optional
        Ids of the sample submission, where the competition averages all of them: those without
        true items score 0.
    """

    examined: int
    window: int
    with_items: int
    sample: int | None = None

    def over_sample(self, mean: float) -> float | None:
        """Return the mean over all ids of the sample submission, of one over `with_items`."""
        return None if self.sample is None else mean * self.with_items / self.sample


@dataclass(frozen=True)
class Estimate:
    """One model's score over all users of the window who have a true item.

    Attributes
    ----------
    mean : float
        The mean over users, and over repeats.
    at_least : bool
        Whether the model could not be asked for users outside the evaluation set, who count as 0.
    """

    mean: float
    at_least: bool

    def to_dict(self, population: Population) -> dict[str, Any]:
        """Return what JSON holds of it."""
        sample = population.over_sample(self.mean)
        return {"window": self.mean, "sample": sample, "at_least": self.at_least}


def population(exam: EvaluationSet, others: EvaluationSet, sample: int | None) -> Population:
    """Return how many users there are, of `sample` ids where a competition counts them all."""
    with_items = int((exam.relevant > 0).sum()) + len(others.users)
    return Population(len(exam.users), exam.funnel[0].users, with_items, sample)


def estimate(
    metric: Metric,
    scores: ScoreTable,
    exam: EvaluationSet,
    others: EvaluationSet,
    lists: Sequence[Recommendations] | None,
    catalogue: Catalogue | None,
) -> Estimate | None:
    """Return a model's estimate, None of a metric that is not 0 for users without a hit.

    Parameters
    ----------
    scores : ScoreTable
        The model's, over the evaluation set.
    others : EvaluationSet
        The users of the window with true items whom the evaluation set leaves out.
    lists : sequence of Recommendations, optional
        Each repeat's lists for `others`; None where the model cannot be asked for them.
    """
    if not metric.definition.earned:
        return None
    values = scores.of_users(metric)[exam.relevant > 0]
    beyond = np.zeros(len(others.users))
    if lists is not None and len(beyond) > 0:
        beyond = score(lists, others, [metric], catalogue).of_users(metric)
    every = np.concatenate((values, beyond))
    return Estimate(mean(every) if len(every) > 0 else 0.0, lists is None)
