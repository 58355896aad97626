"""The main job: a config in, every model evaluated on one set, a `Result` out."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from harness import config as config_
from harness import metrics
from harness.config import Config, TunedRecord
from harness.core.errors import HarnessError
from harness.core.progress import Clock
from harness.data.dataset import Dataset
from harness.experiment.answer import Chance, ModelResult
from harness.experiment.build import Factories
from harness.experiment.evaluate_model import EvaluatedModel, describing, evaluate_model
from harness.experiment.result import Result
from harness.metrics import Metric
from harness.models.base import Recommender
from harness.models.item_stats import of_train
from harness.protocol.evaluation_set import EvaluationSet, left_out
from harness.protocol.leaderboard_estimate import Population, population, with_items
from harness.protocol.split import Split
from harness.protocol.task import asked as asked_of
from harness.protocol.task import make_task, of_users
from harness.protocol.users import profile
from harness.stats import chance, chance_law, chance_moments
from harness.stats.estimates import Estimate, bootstrap, estimates
from harness.stats.pairwise import Comparison, Rules, compare
from harness.stats.shakeup import ShakeUp, shake_up
from harness.stats.slices import Slice, slices

if TYPE_CHECKING:
    from harness.submission.keys import Known


class Standings(NamedTuple):
    """How the models of a run stand, to chance and to each other."""

    models: tuple[ModelResult, ...]
    comparison: Comparison | None
    shake_ups: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]


def standings(
    evaluated: Sequence[EvaluatedModel],
    asked: Sequence[Metric],
    evaluation_set: EvaluationSet,
    users: pl.DataFrame,
    config: Config,
) -> Standings:
    """Return every model's figures, and the comparisons that the config asks for.

    Parameters
    ----------
    asked : sequence of Metric
        The first is the one that models are compared by.
    users : polars.DataFrame
        `harness.protocol.users` of the exam's users.
    """
    first, wanted, seed = asked[0], config.compare, config.evaluation.seed
    tables = {evaluated.name: evaluated.scores for evaluated in evaluated}
    resampled = bootstrap(tables, asked, wanted.resamples, seed)
    law = chance_law.law(
        first.up_to(evaluation_set.k),
        evaluation_set.n_candidates,
        evaluation_set.truth.sizes,
        evaluation_set.relevant,
    )
    found = estimates(tables, resampled)
    tuned = {model.name: model.tuned for model in config.models}
    models = [_model(s, found[s.name], first, law, tuned[s.name]) for s in evaluated]
    several = first.definition.of == "user" and min(len(tables), len(evaluation_set.users)) > 1
    rules = Rules(wanted.baseline, wanted.correction, wanted.resamples, seed)
    shares = wanted.public_shares if several else ()
    return Standings(
        tuple(sorted(models, key=lambda m: first.definition.sign * m.metrics[str(first)].mean)),
        compare(tables, first, rules, resampled[first]) if several else None,
        tuple(shake_up(tables, first, share, seed) for share in shares),
        slices(tables, first, users),
    )


def _model(
    evaluated: EvaluatedModel,
    found: dict[Metric, Estimate],
    first: Metric,
    law: chance_law.Law | None,
    tuned: TunedRecord | None,
) -> ModelResult:
    scores = evaluated.scores
    return ModelResult(
        name=evaluated.name,
        repeats=scores.repeats,
        metrics={
            str(metric): estimate if evaluated.random else replace(estimate, sd_repeats=None)
            for metric, estimate in found.items()
        },
        verdict=None if law is None else chance.against_chance(scores, first, law),
        curve=evaluated.curve,
        described=evaluated.described,
        seconds=evaluated.seconds,
        scores=scores,
        tuned=tuned,
        leaderboard_estimate=evaluated.leaderboard_estimate,
    )


def run(config: config_.Config | str | Path, *, progress: bool = False) -> Result:
    """Let every model of a config sit the exam it sets.

    Parameters
    ----------
    config : Config or path of a TOML file
    progress : bool
        Show bars on standard error for steps that take longer than a second.

    Raises
    ------
    HarnessError
        Anything a person can mend: the config, a file, an empty exam, a model that breaks its
        contract.
    """
    if not isinstance(config, config_.Config):
        config = config_.read(Path(config))
    asked = asked_of(config)
    factories = Factories(config)
    models = [factories.made(r) for r in range(max(model.repeats for model in config.models))]
    with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
        return _run(config, asked, factories, models, background, progress)


def _run(
    config: config_.Config,
    asked: tuple[metrics.Metric, ...],
    factories: Factories,
    models: list[dict[str, Recommender]],
    background: Executor,
    progress: bool,
) -> Result:
    clock = Clock()
    task = make_task(config, background=background, clock=clock, progress=progress)
    evaluation_set = task.evaluation_set
    with clock.step("chance"):
        catalogue = of_train(task.train, metrics.needs((*asked, *describing(evaluation_set.k))))
        floors = {m: _floor(m, evaluation_set) for m in asked}
    with clock.step("users"):
        users = profile(task, config.compare.slices)
        others = of_users(task, left_out(evaluation_set, task.data, task.parts, config.evaluation))
        sample, unread = _sample(config)
    evaluated = [
        evaluate_model(
            # Taken out, so that a model's memory is free again unless it is a part of a later one.
            (of_repeat.pop(model.name) for of_repeat in models[: model.repeats]),
            model,
            task,
            catalogue,
            asked,
            progress,
            # Nothing can be said for others of a metric that is not 0 for users without hits.
            others=others if asked[0].definition.zero_without_hits else None,
            seeded=factories.seeded(model.name),
        )
        for model in config.models
    ]
    with clock.step("compare"):
        found = standings(evaluated, asked, evaluation_set, users, config)
    return Result(
        config=_resolved(config, task.data, asked),
        layout=task.data.layout,
        window=task.parts.summary(),
        start=_start(task.parts),
        evaluation_set=evaluation_set,
        metrics=asked,
        chance={str(m): _chance(f) for m, f in floors.items() if f is not None},
        population=_population(evaluation_set, others.evaluation_set, sample),
        users=users,
        notes=(
            *_notes(task.data, task.parts, evaluation_set, floors),
            *unread,
            *(note for evaluated in evaluated for note in evaluated.notes),
        ),
        seconds=clock.seconds,
        **found._asdict(),
    )


def _population(
    evaluation_set: EvaluationSet, others: EvaluationSet, sample: Known | None
) -> Population:
    """Return whom a leaderboard may count, with the ids of `sample` where it counts all of them."""
    if not sample:
        return population(evaluation_set, others)
    return population(
        evaluation_set, others, len(sample), sample.has(with_items(evaluation_set, others))
    )


def _sample(config: config_.Config) -> tuple[Known | None, tuple[str, ...]]:
    """Return the ids that a leaderboard averages with or without true items, and what to know.

    A sample submission that cannot be read costs its figure, not the run.
    """
    from harness.experiment.terms import averaged_ids

    try:
        return averaged_ids(config), ()
    except HarnessError as error:
        return None, (f"no score over the sample submission: {error}",)


def _resolved(
    config: config_.Config, data: Dataset, asked: tuple[metrics.Metric, ...]
) -> dict[str, Any]:
    """Return the config with what the layout and the defaults decided written out."""
    values = config.resolved()
    values["evaluation"]["metrics"] = [config.from_anywhere(str(metric)) for metric in asked]
    values["evaluation"].setdefault("candidates", data.candidates)
    return values


def _floor(metric: metrics.Metric, evaluation_set: EvaluationSet) -> chance_moments.Moments | None:
    return chance_moments.exact(
        metric.up_to(evaluation_set.k),
        evaluation_set.n_candidates,
        evaluation_set.truth.sizes,
        evaluation_set.relevant,
    )


def _chance(moments: chance_moments.Moments) -> Chance:
    return Chance(*chance_moments.of_set(moments))


def _start(parts: Split) -> str:
    """Return the date the window starts, for the run's name."""
    if parts.cutoff is None:
        return "given"
    return str(np.datetime64(parts.cutoff, "us").astype("datetime64[D]"))


def _notes(
    data: Dataset,
    parts: Split,
    evaluation_set: EvaluationSet,
    floors: dict[metrics.Metric, chance_moments.Moments | None],
) -> tuple[str, ...]:
    notes = [*data.notes, *parts.notes]
    if evaluation_set.k > len(evaluation_set.candidates):
        n = len(evaluation_set.candidates)
        notes.append(f"k = {evaluation_set.k:,} is more than the {n:,} candidates")
    unknown = [str(metric) for metric, floor in floors.items() if floor is None]
    if unknown:
        notes.append(f"no exact chance value is known for {', '.join(unknown)}")
    if parts.held_back:
        notes.append(f"{parts.held_back:,} events lie in another window and are left out")
    return tuple(notes)
