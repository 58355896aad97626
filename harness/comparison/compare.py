"""Models of one or several runs compared: `harness compare`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from harness.comparison.compare_plan import (
    Plan,
    columns_by,
    opened_runs,
    planned,
    unknown_sources,
    versions,
)
from harness.core.errors import UsageError, counted, printable
from harness.core.progress import stopwatch
from harness.core.random import id_hashes
from harness.core.steps import of_one
from harness.core.table import Column, Sheet, Shown, digits_of, ends, number, percent
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.results.folder import PER_USER
from harness.results.record import Evaluation
from harness.results.run import Run
from harness.results.tables import other_users
from harness.stats.estimates import ModelEstimate
from harness.stats.figures import figures_of
from harness.stats.folds import Folds, ScoredFold, folded, folds_of
from harness.stats.paired import Rules
from harness.stats.pairwise import Comparison, pair_table
from harness.stats.shakeup import ShakeUp
from harness.stats.slices import ProfiledUsers, Slice, column_title

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ComparedModel:
    """A model that was compared: the folders of its runs, and its estimate by the metric."""

    name: str
    run: str
    metrics: dict[str, ModelEstimate]


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Shown):
    """What a comparison of runs found; names are the keys of its JSON.

    Attributes
    ----------
    evaluation : Evaluation
        What the first run says of the evaluation set.
    metric : str
    models : tuple of ComparedModel
        Best first.
    comparison : Comparison
    shake_up : tuple of ShakeUp, one a public share
    slices : tuple of Slice
        Of the columns asked for.
    notes : tuple of str
        What is not known of the figures.
    """

    evaluation: Evaluation
    metric: str
    models: tuple[ComparedModel, ...]
    comparison: Comparison
    shake_up: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]
    notes: tuple[str, ...] = ()

    def sheets(self) -> list[Sheet]:
        """Return the tables that are printed."""
        found = [_models(self), pair_table(self.comparison, self.shake_up)]
        columns = dict.fromkeys(part.by for part in self.slices)
        return found + [
            sliced([part for part in self.slices if part.by == by], self) for by in columns
        ]

    def records(self) -> list[dict[str, object]]:
        """Return one record a pair, in full precision."""
        return self.comparison.records(self.shake_up)


def compare(
    *of: Path | str | Run,
    metric: str | None = None,
    models: Sequence[str] = (),
    baseline: str | None = None,
    all_pairs: bool = False,
    correction: str | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    public_shares: Sequence[float] | None = None,
    slices: Sequence[str] = (),
) -> Compared:
    """Compare the models of runs on one evaluation set.

    What is not named is as ``[compare]`` of the first run has it, and its seed.

    Parameters
    ----------
    *of : path of a run's folder, or Run
        One or more. A model that several runs have, with the same scores, counts once; where the
        scores differ, it is shown with its run.
    metric : str, optional
        One of the runs' metrics, as text; by default the first.
    models : sequence of str
        Only these; all by default. p values are corrected for the pairs that there are.
    baseline : str, optional
        The model that all others are compared with.
    all_pairs : bool
        Compare every two models, whatever baseline the run has.
    correction : str
        ``holm`` (any error at all) or ``bh`` (the share of errors), over all pairs.
    resamples : int
        B, of the bootstrap and of the randomization test.
    public_shares : sequence of float
        Shares of the users on the public leaderboard.
    slices : sequence of str
        Columns to slice the users by: ``activity``, ``truth``, ``repeats``, or what
        ``[compare] slices`` of the run named.

    Raises
    ------
    UsageError
        No such run, metric, model or column; runs on different evaluation sets (the message lists
        the fields that differ); fewer than two models.
    DataError
        A run folder that was changed or damaged.
    """
    took, opened = stopwatch(), opened_runs(of)
    folds = [[run.folds[at] for run in opened] for at in range(len(opened[0].folds))]
    for fold in folds:
        for run in fold[1:]:
            if not run.user_ids.equals(fold[0].user_ids):
                raise other_users(run.folder / PER_USER)
    plan = planned(
        opened,
        versions(opened, partial(_equal, folds)),
        metric=metric,
        models=models,
        baseline=baseline,
        all_pairs=all_pairs,
        correction=correction,
        resamples=resamples,
        seed=seed,
        public_shares=public_shares,
    )
    evaluation = opened[0].record.evaluation
    parts = [_scored(fold, plan) for fold in folds]
    runs, users = counted(len(opened), "run"), counted(evaluation.users, "user")
    _log.info("read the scores of %s, %s, %s", runs, users, took())
    notes = unknown_sources(opened, plan.metric)
    if len(folds) == 1:
        first = folds[0][0]
        columns = columns_by(first, slices) if slices else []
        profile = first.users.select(columns) if slices else pl.DataFrame()
        one = ProfiledUsers(parts[0].hashes, parts[0].tables, profile)
        return replace(_compared(plan, evaluation, columns, one), notes=notes)
    if slices:
        raise UsageError(
            f"{opened[0].folder}: has {counted(len(folds), 'fold')}, and users are in other slices "
            "in each; its result.json has the slices of every fold"
        )
    return replace(_over_folds(plan, evaluation, parts), notes=notes)


def _scored(fold: Sequence[Run], plan: Plan) -> ScoredFold:
    """Return the users of an evaluation set, and their scores under the metric asked for."""
    found = {
        name: ScoreTable({plan.metric: fold[of.run].scores[of.model].values[plan.metric]})
        for name, of in plan.models.items()
    }
    ids = fold[0].user_ids
    return ScoredFold(id_hashes(ids), found, ids)


def _over_folds(plan: Plan, evaluation: Evaluation, folds: Sequence[ScoredFold]) -> Compared:
    """Return a comparison of the means over folds, and in which folds a model is better."""
    of = folds_of(of_one(folds))
    users = folded(of, folds)
    part = ProfiledUsers(users.hashes, users.tables, pl.DataFrame(), there=users.there)
    found = _compared(plan, evaluation, (), part, of)
    means = [of.means_of(plan.models, plan.metric, fold) for fold in range(len(folds))]
    models = [
        replace(model, metrics={m: replace(e, mean=of.mean((model.name, plan.metric)))})
        for model in found.models
        for m, e in model.metrics.items()
    ]
    comparison = found.comparison.over_folds(means, plan.metric)
    return replace(found, models=tuple(models), comparison=comparison)


def _equal(folds: Sequence[Sequence[Run]], model: str, at: int, other: int) -> bool:
    """Return whether a model has the same scores in two runs, under all metrics of both."""
    return all(_equal_in(fold[at], fold[other], model) for fold in folds)


def _equal_in(one: Run, another: Run, model: str) -> bool:
    scores, others = one.scores[model].values, another.scores[model].values
    common = [
        metric
        for metric in scores.keys() & others.keys()
        if len({one.digest_of(metric), another.digest_of(metric)} - {None}) < 2  # one source
    ]
    return bool(common) and all(np.array_equal(scores[m], others[m]) for m in common)


def _compared(
    plan: Plan,
    evaluation: Evaluation,
    columns: Sequence[str],
    users: ProfiledUsers,
    folds: Folds | None = None,
) -> Compared:
    """Return a comparison over some users, sliced by `columns` of their profile."""
    took, metric = stopwatch(), plan.metric
    estimates, comparison, shaken, slices = compare_users(
        users, list(plan.models), metric, plan.rules, plan.shares, columns, folds
    )
    _log.info("compared %s, %s", counted(len(comparison.pairs), "pair"), took())
    return Compared(
        evaluation=evaluation,
        metric=str(metric),
        models=tuple(
            ComparedModel(
                name, ", ".join(plan.models[name].folders), {str(metric): estimates[name]}
            )
            for name in comparison.means
        ),
        comparison=comparison,
        shake_up=shaken,
        slices=slices,
    )


def compare_users(
    users: ProfiledUsers,
    names: Sequence[str],
    metric: Metric,
    rules: Rules,
    shares: Sequence[float] = (),
    columns: Sequence[str] = (),
    folds: Folds | None = None,
) -> tuple[dict[str, ModelEstimate], Comparison, tuple[ShakeUp, ...], tuple[Slice, ...]]:
    """Return estimates by model, all pairs, a shake-up for each share, and slices by columns."""
    figures = figures_of(
        of_one(users), names, [metric], rules, folds=folds, shares=shares, columns=columns
    )
    assert figures.comparison is not None, "pairs are asked for"  # noqa: S101
    estimates = {name: figures.estimates[name, metric] for name in names}
    return estimates, figures.comparison, figures.shake_ups, figures.slices


def _models(compared: Compared) -> Sheet:
    digits, hits = _digits(compared), compared.comparison.any_hit

    def of(model: ComparedModel) -> ModelEstimate:
        return model.metrics[compared.metric]

    columns: list[Column[ComparedModel]] = [
        Column("model", lambda m: printable(m.name), "name"),
        Column(compared.metric, lambda m: number(of(m).mean, digits)),
        Column("95 % interval", lambda m: ends(of(m).ci95, digits)),
        Column("Student's", lambda m: ends(of(m).ci95_t, digits)),
        Column("bootstrap", lambda m: ends(of(m).ci95_bootstrap, digits)),
        Column("users above 0", lambda m: percent(hits[m.name])),
        Column("run", lambda m: printable(m.run), "words"),
    ]
    evaluation = compared.evaluation
    which = [part for part in (evaluation.layout, evaluation.window) if part]
    parts = [*which, f"k = {evaluation.k}", counted(compared.comparison.users, "user")]
    heading = [f"evaluation set  {' · '.join(parts)} · {evaluation.fingerprint[:6]}"]
    heading += [f"note  {printable(note)}" for note in compared.notes]
    return Sheet.of(compared.models, columns, heading=heading, kept=3)


def _digits(compared: Compared) -> int:
    return digits_of(model.metrics[compared.metric].mean for model in compared.models)


def sliced(parts: Sequence[Slice], compared: Compared) -> Sheet:
    """Return the table of one column's slices, a column a model."""
    digits, by = _digits(compared), parts[0].by
    columns: list[Column[Slice]] = [
        Column(by, lambda part: printable(part.label), "words"),
        Column("users", lambda part: f"{part.users:,}"),
        Column("", lambda part: "few" if part.small else ""),
        *(Column(printable(m.name), partial(_mean, m.name, digits)) for m in compared.models),
    ]
    heading = [f"slices  {compared.metric} by {printable(column_title(by))}"]
    few = ["few    under 100 users, or under 10 with any: too few to tell models apart"]
    footing = few if any(part.small for part in parts) else []
    return Sheet.of(parts, columns, heading=heading, footing=footing, kept=4)


def _mean(name: str, digits: int, part: Slice) -> str:
    estimate = part.models[name]
    bounds = "" if estimate.ci95 is None else f" ({ends(estimate.ci95, digits)})"
    return number(estimate.mean, digits) + bounds
