"""Scores as a leaderboard counts them: also over users whom the evaluation set leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Bool, Floats
from harness.core.exact_sum import exact_sum
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, mean, score
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol.evaluation_set import EvaluationSet


@dataclass(frozen=True, eq=False)
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
    in_sample : bool array, (with_items,), optional
        Which users with true items are among them: the evaluation set's, then the others.
    """

    examined: int
    window: int
    with_items: int
    sample: int | None = None
    in_sample: Bool | None = None

    def over_sample(self, found: LeaderboardEstimate) -> float | None:
        """Return a model's mean over all ids of the sample submission."""
        return (
            None if self.sample is None else exact_sum(found.values[self.in_sample]) / self.sample
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds of it."""
        return {name: value for name, value in vars(self).items() if name != "in_sample"}


@dataclass(frozen=True, eq=False)
class LeaderboardEstimate:
    """One model's score over all users of the window who have a true item.

    Attributes
    ----------
    values : float64 array
        Each user's, the mean over repeats: the evaluation set's, then the others'.
    at_least : bool
        Whether the model has no lists for users outside the evaluation set, who then count as 0.
    """

    values: Floats
    at_least: bool

    @property
    def mean(self) -> float:
        """The mean over users, 0 without any."""
        return mean(self.values) if len(self.values) > 0 else 0.0

    def to_dict(self, population: Population) -> dict[str, Any]:
        """Return what JSON holds of it."""
        sample = population.over_sample(self)
        return {"window": self.mean, "sample": sample, "at_least": self.at_least}


def with_items(evaluation_set: EvaluationSet, others: EvaluationSet) -> pl.Series:
    """Return the ids of the users who have a true item: the evaluation set's, then the others."""
    return pl.concat([evaluation_set.user_ids.filter(evaluation_set.relevant > 0), others.user_ids])


def population(
    evaluation_set: EvaluationSet,
    others: EvaluationSet,
    sample: int | None = None,
    in_sample: Bool | None = None,
) -> Population:
    """Return how many users there are.

    Parameters
    ----------
    sample : int, optional
        Ids of the sample submission, where a competition averages all of them.
    in_sample : bool array, optional
        Which of `with_items` are among them.
    """
    users = len(with_items(evaluation_set, others))
    return Population(
        len(evaluation_set.users), evaluation_set.funnel[0].users, users, sample, in_sample
    )


def leaderboard_estimate(
    metric: Metric,
    scores: ScoreTable,
    evaluation_set: EvaluationSet,
    others: EvaluationSet,
    lists: Sequence[Recommendations] | None,
    catalogue: Catalogue | None,
) -> LeaderboardEstimate:
    """Return a model's estimate.

    Parameters
    ----------
    metric : Metric
        One that is 0 for users without a hit.
    scores : ScoreTable
        The model's, over the evaluation set.
    others : EvaluationSet
        The users of the window with true items whom the evaluation set leaves out.
    lists : sequence of Recommendations, optional
        Each repeat's lists for `others`; None where the model has none.
    """
    values = scores.of_users(metric)[evaluation_set.relevant > 0]
    beyond = np.zeros(len(others.users))
    if lists is not None and len(beyond) > 0:
        beyond = score(lists, others.judgments(catalogue), [metric]).of_users(metric)
    return LeaderboardEstimate(np.concatenate((values, beyond)), lists is None)
