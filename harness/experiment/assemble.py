"""A run put together of figures of all its users: the same wherever users' scores are."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.config import Config
from harness.core.errors import counted
from harness.data.dataset import Dataset
from harness.experiment.build import Factories
from harness.experiment.evaluate_model import EvaluatedModel
from harness.experiment.figures import Figures
from harness.metrics import Metric
from harness.protocol.leaderboard_estimate import LeaderboardEstimates
from harness.protocol.split import Split
from harness.results.record import (
    Direction,
    Evaluation,
    FailedModel,
    ModelRecord,
    RunRecord,
    Tuned,
)
from harness.results.run import Run
from harness.stats.chance_moments import has_moments
from harness.stats.estimates import ModelEstimate, of_set
from harness.stats.fold_means import FEWEST


def assemble(
    factories: Factories,
    *,
    metrics: tuple[Metric, ...],
    data: Dataset,
    split: Split,
    evaluation: Evaluation,
    users: LeaderboardEstimates,
    figures: Figures,
    evaluated: Sequence[EvaluatedModel],
    unread: Sequence[str],
    seconds: Mapping[str, float],
    failed: tuple[FailedModel, ...] = (),
    reused: Container[str] = (),
) -> Run:
    """Return a run, of which only the tables are missing.

    Parameters
    ----------
    factories : Factories
        The classes of the config's models.
    users : LeaderboardEstimates
        The users whom a leaderboard may count; the models' estimates are added.
    unread : sequence of str
        What could not be read.
    reused : container of str
        Models that an earlier run finished.
    """
    config = factories.config
    resolved = config.resolved()
    resolved["evaluation"]["metrics"] = [config.from_anywhere(str(metric)) for metric in metrics]
    resolved["evaluation"].setdefault("candidates", data.candidates)
    models = _models(factories, resolved, metrics, figures, evaluated, reused)
    estimates = {
        model.name: model.leaderboard_estimate
        for model in evaluated
        if model.leaderboard_estimate is not None
    }
    start = "given"
    if split.cutoff is not None:
        start = str(np.datetime64(split.cutoff, "us").astype("datetime64[D]"))
    record = RunRecord(
        evaluation=evaluation,
        metrics={str(metric): Direction.of(metric) for metric in metrics},
        models=models,
        failed=failed,
        chance={str(metric): chance for metric, chance in figures.chance.items()},
        comparison=figures.comparison,
        shake_up=figures.shake_ups,
        slices=figures.slices,
        bridge=replace(
            users, models={m.name: estimates[m.name] for m in models if m.name in estimates}
        ),
        notes=(
            *_notes(config, data, split, evaluation, metrics),
            *unread,
            *(note for model in evaluated for note in model.notes),
        ),
        seconds=dict(seconds),
        folds=(),
    )
    return Run(record=record, resolved=resolved, start=start)


def _models(
    factories: Factories,
    resolved: Mapping[str, Any],
    metrics: Sequence[Metric],
    figures: Figures,
    evaluated: Sequence[EvaluatedModel],
    reused: Container[str],
) -> tuple[ModelRecord, ...]:
    """Return what is known of every model, best first by the first metric."""
    settings = factories.settings
    sections = {model["name"]: model for model in resolved["models"]}
    records = [
        ModelRecord(
            name=model.name,
            use=sections[model.name].get("use"),
            lists=tuple(factories.config.lists_of(model.name)),
            of=tuple(settings[model.name].base_models),
            params=factories.params(model.name),
            repeats=settings[model.name].repeats,
            metrics={str(metric): _estimate(model, metric, figures) for metric in metrics},
            vs_random=figures.verdicts.get(model.name),
            curve=model.curve,
            described=model.described,
            seconds=model.seconds,
            tuned=Tuned(**dict(tuned)) if (tuned := settings[model.name].tuned) else None,
            reused=model.name in reused,
        )
        for model in evaluated
    ]
    return best_first(records, metrics[0])


def best_first(models: Sequence[ModelRecord], metric: Metric) -> tuple[ModelRecord, ...]:
    """Return models in the order of their means."""
    sign, name = metric.definition.sign, str(metric)
    return tuple(sorted(models, key=lambda model: sign * model.metrics[name].mean))


def _estimate(model: EvaluatedModel, metric: Metric, figures: Figures) -> ModelEstimate:
    values = model.of_set.get(metric)
    estimate = figures.estimates[model.name, metric] if values is None else of_set(values)
    # Repeats that are all the same have no spread.
    return estimate if model.random else replace(estimate, sd_repeats=None)


def _notes(
    config: Config, data: Dataset, split: Split, evaluation: Evaluation, metrics: Sequence[Metric]
) -> list[str]:
    notes = [*data.notes, *split.notes(config.evaluation.seen_items)]
    assert evaluation.candidates is not None, "of one evaluation set"  # noqa: S101
    if evaluation.k > evaluation.candidates:
        n = counted(evaluation.candidates, "candidate")
        notes.append(f"k = {evaluation.k:,} is more than the {n}")
    graded = "grades" in evaluation.fields
    notes += few_users(evaluation.users)
    unknown = [str(metric) for metric in metrics if not has_moments(metric, graded=graded)]
    if unknown:
        notes.append(f"no exact chance value is known for {', '.join(unknown)}")
    if split.held_back and config.fold == 0:
        notes.append(
            f"{counted(split.held_back, 'event lies', 'events lie')} in another window and "
            f"{'is' if split.held_back == 1 else 'are'} left out"
        )
    return notes


def few_users(users: int) -> list[str]:
    """Return a note where so few users are evaluated that their figures tell little."""
    if users >= FEWEST:
        return []
    return [
        f"{counted(users, 'user is', 'users are')} evaluated: figures of fewer than {FEWEST} users "
        "tell little, and one user can turn any of them"
    ]
