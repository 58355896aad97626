"""Figures of all users in, what a run found out: the same wherever users' scores are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.config import Config
from harness.core.errors import counted
from harness.data.dataset import Dataset
from harness.experiment.build import Factories
from harness.experiment.evaluate_model import EvaluatedModel
from harness.experiment.figures import Figures
from harness.experiment.record import Evaluation, ModelRecord, Tuned
from harness.experiment.result import Findings
from harness.metrics import Metric
from harness.protocol.leaderboard_estimate import LeaderboardEstimates
from harness.protocol.split import Split
from harness.stats.chance_moments import has_moments
from harness.stats.estimates import ModelEstimate, of_set
from harness.stats.fold_means import FEWEST


@dataclass(frozen=True)
class People:
    """The users whom a leaderboard may count.

    Attributes
    ----------
    examined, with_items : int
        Evaluated users, and those of them who have a true item.
    window, all_with_items : int
        Users with any event in the window, and those of them who have a true item.
    sample : int, optional
        Ids of a sample submission that a competition averages all of.
    """

    examined: int
    with_items: int
    window: int
    all_with_items: int
    sample: int | None


def findings_of(
    factories: Factories,
    metrics: tuple[Metric, ...],
    data: Dataset,
    split: Split,
    evaluation: Evaluation,
    people: People,
    figures: Figures,
    evaluated: Sequence[EvaluatedModel],
    unread: tuple[str, ...],
    seconds: Mapping[str, float],
) -> Findings:
    """Return what a run found, by its figures and what else is known of its models.

    Parameters
    ----------
    factories : Factories
        The classes of the config's models.
    unread : tuple of str
        What could not be read.
    """
    config = factories.config
    resolved = config.resolved()
    resolved["evaluation"]["metrics"] = [config.from_anywhere(str(metric)) for metric in metrics]
    resolved["evaluation"].setdefault("candidates", data.candidates)
    models = _records(factories, resolved, metrics, figures, evaluated)
    estimates = {one.name: one.leaderboard_estimate for one in evaluated}
    start = "given"
    if split.cutoff is not None:
        start = str(np.datetime64(split.cutoff, "us").astype("datetime64[D]"))
    return Findings(
        config=resolved,
        start=start,
        evaluation=evaluation,
        with_items=people.with_items,
        metrics=metrics,
        models=models,
        chance={str(metric): chance for metric, chance in figures.chance.items()},
        comparison=figures.comparison,
        shake_ups=figures.shake_ups,
        slices=figures.slices,
        leaderboard_estimates=LeaderboardEstimates(
            examined=people.examined,
            window=people.window,
            with_items=people.all_with_items,
            sample=people.sample,
            models={m.name: one for m in models if (one := estimates[m.name]) is not None},
        ),
        notes=(
            *_notes(config, data, split, evaluation, metrics),
            *(_left_out(split) if config.fold == 0 else ()),
            *unread,
            *(note for one in evaluated for note in one.notes),
        ),
        seconds=seconds,
    )


def _records(
    factories: Factories,
    resolved: Mapping[str, Any],
    metrics: Sequence[Metric],
    figures: Figures,
    evaluated: Sequence[EvaluatedModel],
) -> tuple[ModelRecord, ...]:
    """Return what is known of every model, best first by the first metric."""
    settings = factories.settings
    said = {model["name"]: model for model in resolved["models"]}
    records = [
        ModelRecord(
            name=one.name,
            use=said[one.name].get("use"),
            lists=tuple(factories.config.lists_of(one.name)),
            of=tuple(settings[one.name].base_models),
            params=factories.params(one.name),
            repeats=settings[one.name].repeats,
            metrics={str(m): _estimate(one, m, figures) for m in metrics},
            vs_random=figures.verdicts.get(one.name),
            curve=one.curve,
            described=one.described,
            seconds=one.seconds,
            tuned=Tuned(**dict(tuned)) if (tuned := settings[one.name].tuned) else None,
            reused=False,
        )
        for one in evaluated
    ]
    first, sign = str(metrics[0]), metrics[0].definition.sign
    return tuple(sorted(records, key=lambda model: sign * model.metrics[first].mean))


def _estimate(one: EvaluatedModel, metric: Metric, figures: Figures) -> ModelEstimate:
    values = one.of_set.get(metric)
    found = figures.estimates[one.name, metric] if values is None else of_set(values)
    # Repeats that are all the same have no spread.
    return found if one.random else replace(found, sd_repeats=None)


def _notes(
    config: Config, data: Dataset, split: Split, evaluation: Evaluation, metrics: Sequence[Metric]
) -> tuple[str, ...]:
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
    return tuple(notes)


def few_users(users: int) -> list[str]:
    """Return a note where so few users are evaluated that their figures tell little."""
    if users >= FEWEST:
        return []
    return [
        f"{counted(users, 'user is', 'users are')} evaluated: figures of fewer than {FEWEST} users "
        "tell little, and one user can turn any of them"
    ]


def _left_out(split: Split) -> tuple[str, ...]:
    if not split.held_back:
        return ()
    return (
        f"{counted(split.held_back, 'event lies', 'events lie')} in another window and "
        f"{'is' if split.held_back == 1 else 'are'} left out",
    )
