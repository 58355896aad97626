"""`harness compare` on Spark: the scores of runs in parts that its workers hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
import polars as pl

from harness.core.arrays import Bool, Floats
from harness.core.errors import UsageError
from harness.core.exact_sum import Sums
from harness.experiment.compare import Compared, compared
from harness.experiment.compare_plan import Asked, Plan, opened_runs, planned, versions
from harness.experiment.run_folder import Run
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.spark.parts import Content, Parts
from harness.spark.scores import HASHES, PROFILE, SCORES, ScoredRuns, scored
from harness.spark.session import session
from harness.spark.travelling import travelling
from harness.stats.slices import ProfiledUsers


def compare(
    *of: Path | str | Run,
    slices: Sequence[str] = (),
    master: str | None = None,
    remote: str | None = None,
    buckets: int | None = None,
    **asked: Unpack[Asked],
) -> Compared:
    """Compare the models of runs on one evaluation set, on Spark: the record of a local compare.

    Parameters
    ----------
    *of, slices, **asked
        As `harness.experiment.compare.compare` takes them.
    master, remote : str, optional
        As `harness.spark.session.session` takes them.
    buckets : int, optional
        How many parts users are divided into, up to 4,096; by default as many as the scores ask
        for.

    Raises
    ------
    HarnessError
        Whatever the local compare raises, and what is wrong with Spark.
    """
    opened = opened_runs(of)
    folds = len(opened[0].record.folds)
    if folds:
        raise UsageError(
            f"{opened[0].folder}: has {folds} folds, which --engine spark does not compare: "
            "leave it out"
        )
    for run in opened:
        _ = run.metrics  # modules of a person's own are known from here on
    with (
        session(master, remote) as spark,
        travelling(),
        scored(spark, opened, slices, buckets) as runs,
    ):
        plan = planned(opened, versions(opened, _equal(opened, runs)), **asked)
        opened_as = partial(_opened, list(plan.models), plan.metric)
        parts = runs.kept(partial(_chosen, _places(opened, plan)), opened_as)
        try:
            runs.release()
            columns = list(dict.fromkeys(slices))
            return compared(plan, opened[0].record.evaluation, columns, parts.total)
        finally:
            parts.release()


class _Place(NamedTuple):
    """Where scores are in a part: numbers of the run, the model and the metric."""

    run: int
    model: int
    metric: int

    def of(self, part: ScoredRuns) -> Floats:
        """Return the scores, (repeats, n users)."""
        return part.scores[self.run][self.model][self.metric]


def _place(opened: Sequence[Run], run: int, model: str, metric: Metric) -> _Place:
    names = [of.name for of in opened[run].record.models]
    return _Place(run, names.index(model), list(opened[run].user_metrics).index(metric))


def _places(opened: Sequence[Run], plan: Plan) -> list[_Place]:
    """Return where the scores that are compared are, in the order of the models."""
    return [_place(opened, of.run, of.model, plan.metric) for of in plan.models.values()]


def _equal(opened: Sequence[Run], runs: Parts[ScoredRuns]) -> Callable[[str, int, int], bool]:
    """Return what tells whether two runs have the same scores of a model."""
    shared = list(_shared(opened))
    pairs = [_common(opened, *of) for of in shared]
    differ: Any = runs.total(partial(_differ, pairs)) if any(pairs) else {}
    same = {of for at, of in enumerate(shared) if pairs[at] and differ[at][0] == 0}

    def equal(model: str, one: int, other: int) -> bool:
        return (model, one, other) in same

    return equal


def _shared(opened: Sequence[Run]) -> Iterator[tuple[str, int, int]]:
    """Yield every model that two runs have, with the numbers of both."""
    names = [dict.fromkeys(model.name for model in run.record.models) for run in opened]
    for one, other in combinations(range(len(opened)), 2):
        yield from ((name, one, other) for name in names[one] if name in names[other])


def _common(opened: Sequence[Run], model: str, one: int, other: int) -> list[tuple[_Place, _Place]]:
    """Return where both runs have scores of a model by the same metric; none for other repeats."""
    if opened[one].repeats(model) != opened[other].repeats(model):
        return []
    common = [metric for metric in opened[one].user_metrics if metric in opened[other].user_metrics]
    return [(_place(opened, one, model, m), _place(opened, other, model, m)) for m in common]


def _differ(pairs: Sequence[Sequence[tuple[_Place, _Place]]], part: ScoredRuns) -> Sums:
    """Return of how many users scores differ, counted anew by each metric."""
    return {
        at: np.array([sum(_users(one.of(part) != other.of(part)) for one, other in common)])
        for at, common in enumerate(pairs)
        if common
    }


def _users(differ: Bool) -> int:
    return int(differ.any(axis=0).sum())


def _chosen(places: Sequence[_Place], part: ScoredRuns) -> Content:
    """Return what is kept of a part: the scores that are compared."""
    scores = {at: place.of(part) for at, place in enumerate(places)}
    profile = {PROFILE: part.profile} if part.profile.columns else {}
    return {HASHES: part.hashes, SCORES: scores, **profile}


def _opened(names: Sequence[str], metric: Metric, _: int, content: Content) -> ProfiledUsers:
    tables = {name: ScoreTable({metric: content[SCORES][at]}) for at, name in enumerate(names)}
    return ProfiledUsers(content[HASHES], tables, content.get(PROFILE, pl.DataFrame()))
