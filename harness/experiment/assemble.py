"""A run put together of figures of all its users: the same wherever the users are."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from harness.config import Config, ModelConfig
from harness.core import steps
from harness.core.errors import counted
from harness.core.exact_sum import Sums
from harness.core.progress import Clock
from harness.core.steps import Total
from harness.data.dataset import Dataset
from harness.experiment.build import Factories
from harness.experiment.evaluate_part import EvaluatedPart, describing, set_values
from harness.experiment.failures import Failures
from harness.experiment.figures import Figures, figure_steps
from harness.metrics import Metric
from harness.metrics.scores import curve
from harness.protocol.leaderboard_estimate import (
    LeaderboardEstimate,
    LeaderboardEstimates,
    leaderboard_estimate,
)
from harness.protocol.split import Split
from harness.protocol.users import OWN
from harness.results.record import (
    Direction,
    Evaluation,
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
    total: Total[EvaluatedPart],
    clocks: Mapping[str, Clock],
    clock: Clock,
    failures: Failures,
    reused: Container[str] = (),
) -> Run:
    """Return the run that the users of all parts make, of which only the tables are missing.

    Parameters
    ----------
    factories : Factories
        The classes of the config's models.
    total : function of a step
        Adds a function of a part up over all parts (`harness.core.steps`).
    clocks : mapping of model to Clock
        What each of them took.
    failures : Failures
        To which models are added that failed in any part.
    reused : container of str
        Models that an earlier run finished.

    Raises
    ------
    HarnessError
        No model is left.
    """
    config, sums = factories.config, cast("Any", total(_sums_of))
    failures.add_parts(sums["failed"])
    failures.sort([model.name for model in config.models])
    failures.require_others(config)
    left, users = failures.without(config), evaluation.users
    sample = int(sums["sample"].values[0]) or None
    evaluated = [
        EvaluatedModel.of(
            sums["models"][model.name],
            model,
            metrics,
            config.evaluation.k,
            clocks[model.name].seconds,
            seeded=factories.seeded(model.name),
            sample_ids=sample,
        )
        for model in left.models
    ]
    with clock.step("compare"):
        columns = [*OWN, *dict.fromkeys(config.compare.slices)]
        figures = steps.found(figure_steps(left, metrics, columns, users), total)
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
        failed=failures.told,
        chance={str(metric): chance for metric, chance in figures.chance.items()},
        comparison=figures.comparison,
        shake_up=figures.shake_ups,
        slices=figures.slices,
        bridge=LeaderboardEstimates(
            examined=users,
            window=evaluation.in_window,
            with_items=int(sums["with_items"][0]),
            sample=sample,
            models={m.name: estimates[m.name] for m in models if m.name in estimates},
        ),
        notes=(
            *_notes(config, data, split, evaluation, metrics),
            *failures.notes(config),
            *sums["unread"],
            *(note for model in evaluated for note in model.notes),
        ),
        seconds=dict(clock.seconds),
        folds=(),
    )
    with_items = int(sums["set"]["with_items"][0])
    return Run(record=record, resolved=resolved, start=start, evaluated_with_items=with_items)


def compared(run: Run) -> str:
    """Return what the log says of the comparison."""
    pairs = len(run.comparison.pairs) if run.comparison else 0
    return f"compared {counted(pairs, 'pair')}, {run.record.seconds['compare']:.1f} s"


def _sums_of(part: EvaluatedPart) -> Sums:
    return part.sums


@dataclass(frozen=True, eq=False)
class EvaluatedModel:
    """What all users' lists of one model tell beside each user's values.

    Attributes
    ----------
    of_set : mapping of Metric to list of float
        Metrics of all lists together, one value a repeat.
    random : bool
        Whether repeats may differ: the model, or one that it is made of, has a seed, or takes
        numbers from its draws.
    curve : mapping of cut-off to float
        The first metric's mean at each.
    described : mapping of text to float
        Coverage and popularity at the evaluation set's k, whether they were asked for or not.
    leaderboard_estimate : LeaderboardEstimate, optional
        The first metric as a leaderboard would count it, where users were left out to ask for.
    notes : tuple of str
        What looks odd about its lists.
    """

    name: str
    of_set: dict[Metric, list[float]]
    random: bool
    seconds: dict[str, float]
    curve: dict[int, float]
    described: dict[str, float]
    leaderboard_estimate: LeaderboardEstimate | None
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        sums: Mapping[Any, Any],
        settings: ModelConfig,
        metrics: Sequence[Metric],
        k: int,
        seconds: dict[str, float],
        *,
        seeded: bool,
        sample_ids: int | None,
    ) -> EvaluatedModel:
        """Return what the sums of all users tell.

        Parameters
        ----------
        k : int
            The evaluation set's.
        seeded : bool
            Whether the model has seeds of its own.
        sample_ids : int, optional
            How many ids a leaderboard averages that averages all of a sample submission.
        """
        users, of_set = int(sums["users"][0]), set_values(sums["set"], metrics, k)
        coverage, popularity = describing(k)
        random = seeded or bool(sums["drawn"][0])
        notes = [*_notes_of_lists(sums, settings)]
        if not random and sums["differ"][0]:
            random = True
            notes.append(
                f'model "{settings.name}": its repeats differ, though it has no seed and takes '
                "nothing from draws; its scores cannot be repeated: give it a parameter seed, or "
                "take random numbers from draws"
            )
        elif not random and settings.repeats > 1:
            notes.append(
                f'model "{settings.name}": its {settings.repeats} repeats are all the same: it has '
                "no seed and takes nothing from draws; leave repeats out, or take random numbers "
                "from draws"
            )
        refused = "leaderboard without others" if sums["refused"] else "leaderboard"
        leaderboard = sums.get(refused)
        return cls(
            name=settings.name,
            of_set=of_set,
            random=random,
            seconds=seconds,
            curve=curve(sums["curve"], metrics[0], users),
            described={
                str(coverage): sum(of_set[coverage]) / settings.repeats,
                str(popularity): sums["popularity"].total / users,
            },
            leaderboard_estimate=leaderboard and leaderboard_estimate(leaderboard, sample_ids),
            notes=tuple(dict.fromkeys(notes)),  # a run that is scored again has its notes already
        )


def _notes_of_lists(sums: Mapping[Any, Any], settings: ModelConfig) -> Iterator[str]:
    """Yield what is odd about a model's lists, and whether others have none."""
    if settings.use is not None:
        n, empty = int(sums["users"][0]), int(sums["empty"][0])
        if 2 * empty > n:
            which = "all" if empty == n else f"{empty:,} of"
            lists = "1 list is" if n == 1 else f"{n:,} lists are"
            yield f'model "{settings.name}": {which} {lists} empty, and score 0'
    yield from sums["notes"]
    yield from sorted(sums["changes"])[:1]
    if sums["refused"]:
        users = counted(int(sums["left_out"][0]), "user")
        yield (
            f'model "{settings.name}" gives no lists for the {users} whom the evaluation set '
            f"leaves out; they count as 0 in its leaderboard estimate ({min(sums['refused'])})"
        )


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
