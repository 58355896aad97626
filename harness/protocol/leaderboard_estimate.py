"""Scores as a leaderboard counts them: also over users whom the evaluation set leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from pydantic import NonNegativeInt

from harness.core.arrays import Bool
from harness.core.exact_sum import Exact, Sums
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, score
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol.evaluation_set import EvaluationSet


@dataclass(frozen=True)
class LeaderboardEstimate:
    """One model's score as a leaderboard would count it."""

    window: float | None
    """The mean over all users of the window who have a true item, 0 without any."""
    sample: float | None
    """The mean over all ids of the sample submission, where a competition averages them."""
    at_least: bool = True
    """Whether the model has no lists for users outside the evaluation set, who then count as 0."""


@dataclass(frozen=True, kw_only=True)
class LeaderboardEstimates:
    """Every model's estimate, and the users whom a leaderboard may count."""

    examined: NonNegativeInt
    """Users of the evaluation set."""
    examined_with_items: NonNegativeInt | None = None
    """Those of them who have a true item. Runs of earlier versions do not say it."""
    window: NonNegativeInt
    """Users with any event in the window."""
    with_items: NonNegativeInt | None = None
    """Those of them who have a true item: competitions average these. Early runs do not say it."""
    sample: NonNegativeInt | None
    """Ids of the sample submission, where the competition averages all of them: those without
    true items score 0."""
    models: Mapping[str, LeaderboardEstimate]
    """Empty where nothing can be said for other users."""


@dataclass(frozen=True, eq=False)
class Sample:
    """How many ids a sample submission has, and which of `with_items` are among them."""

    ids: int
    has: Bool


def with_items(evaluation_set: EvaluationSet, left_out: EvaluationSet) -> pl.Series:
    """Return the ids of the users who have a true item: the evaluation set's, then the others."""
    return pl.concat(
        [evaluation_set.user_ids.filter(evaluation_set.relevant > 0), left_out.user_ids]
    )


def leaderboard_sums(
    metric: Metric,
    scores: ScoreTable,
    evaluation_set: EvaluationSet,
    left_out: EvaluationSet,
    lists: Sequence[Recommendations] | None,
    catalogue: Catalogue | None,
    sample: Sample | None = None,
) -> Sums:
    """Return what `leaderboard_estimate` is made of; those of parts of the users add up.

    `lists` are each repeat's for the users `left_out`, None where the model has none.
    """
    values = scores.of_users(metric)[evaluation_set.relevant > 0]
    beyond = np.zeros(len(left_out.users))
    if lists is not None and len(beyond) > 0:
        beyond = score(lists, left_out.judgments(catalogue), [metric]).of_users(metric)
    n = len(values)
    has = np.zeros(n + len(beyond), np.bool_) if sample is None else sample.has
    return {
        "sizes": np.array([n + len(beyond), lists is None]),
        "window": {"examined": Exact.of(values), "others": Exact.of(beyond)},
        "sample": {"examined": Exact.of(values[has[:n]]), "others": Exact.of(beyond[has[n:]])},
    }


def leaderboard_estimate(sums: Mapping[Any, Any], ids: int | None) -> LeaderboardEstimate:
    """Return a model's estimate by the `leaderboard_sums` of all users and the sample's `ids`."""
    users, without_lists = sums["sizes"].tolist()

    def total(values: Mapping[str, Exact]) -> float:
        """Return the sum over all users; the others count as 0 where any part has no lists."""
        examined = values["examined"]
        return (examined if without_lists else examined + values["others"]).total

    window = total(sums["window"]) / users if users > 0 else 0.0
    sample = None if ids is None else total(sums["sample"]) / ids
    return LeaderboardEstimate(window, sample, without_lists > 0)
