"""The main job: a config in, every model evaluated on one set, a `Result` out."""

from __future__ import annotations

from collections.abc import Iterator, Set
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig, read
from harness.core import steps as steps_
from harness.core.errors import UsageError
from harness.core.progress import Clock
from harness.core.steps import of_one
from harness.experiment import in_buckets
from harness.experiment import memory as memory_
from harness.experiment.answers import Answers
from harness.experiment.build import Factories
from harness.experiment.competition import sample_of_users
from harness.experiment.evaluate_model import EvaluatedModel, asked_in_turn, describing, scored
from harness.experiment.figures import EvaluatedUsers, cases_of, figure_steps, grades_of
from harness.experiment.findings import People, findings_of
from harness.experiment.in_buckets import InBuckets
from harness.experiment.in_parts import Models
from harness.experiment.record import Evaluation
from harness.experiment.result import ModelResult, Result
from harness.metrics import Metric, needs
from harness.metrics.scores import ScoreTable
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.evaluation_set import in_window, left_out
from harness.protocol.leaderboard_estimate import Sample, with_items
from harness.protocol.task import Task, asked, make_task, of_users
from harness.protocol.users import of_events, with_attributes
from harness.stats.slices import USER


def run(
    config: Config | str | Path,
    *,
    memory: str | None = None,
    whole: Literal["refuse", "keep"] = "refuse",
    progress: bool = False,
) -> Result:
    """Evaluate every model of a config on the evaluation set that it makes, and compare them.

    Parameters
    ----------
    config : Config or path of a TOML file
    memory : str, optional
        How much may be used, such as ``4GB``: where all events need more, they are read once into
        buckets of users on disk, and these are evaluated one after the other, with the same
        results. By default what the system has free.
    whole : {"refuse", "keep"}
        What becomes then of models that must learn from all events at once: the run is refused,
        or they are kept, and have all events in memory.
    progress : bool
        Show bars on standard error for steps that take longer than a second.

    Raises
    ------
    HarnessError
        Anything a person can mend: the config, a file, an empty evaluation set, a model that
        breaks its contract, a full disk.
    """
    if not isinstance(config, Config):
        config = read(Path(config))
    if whole not in ("refuse", "keep"):
        raise UsageError(f'whole is {whole!r}; expected "refuse" or "keep"')
    metrics, clock = asked(config), Clock()
    factories = Factories(config)
    models = [factories.made(r) for r in range(max(model.repeats for model in config.models))]
    with _evaluation(config, models, memory, whole, clock, progress) as found:
        task = found.task
        with clock.step("users"):
            others = found.others
            users = with_attributes(found.profile, task, config.compare.slices)
            sample, unread = sample_of_users(config, task.evaluation_set, others.evaluation_set)
            catalogue = found.catalogue(needs((*metrics, *describing(task.evaluation_set.k))))
        evaluated = dict(_evaluated(found, factories, metrics, catalogue, sample))
        with clock.step("compare"):
            hashes = task.hashes[task.evaluation_set.users]
            tables = {one.name: table for one, table in evaluated.items()}
            cases, k = cases_of(task.evaluation_set), task.evaluation_set.k
            grades = grades_of(task.evaluation_set)
            part = EvaluatedUsers(hashes, tables, users, cases, k, metrics[0], grades)
            columns = [column for column in users.columns if column != USER]
            steps = figure_steps(config, metrics, columns, len(hashes))
            figures = steps_.found(steps, of_one(part))
    of, left_out = task.evaluation_set, others.evaluation_set
    people = People(
        examined=len(of.users),
        with_items=int((of.relevant > 0).sum()),
        window=in_window(of.funnel),
        all_with_items=len(with_items(of, left_out)),
        sample=None if sample is None else sample.ids,
    )
    evaluation = Evaluation.of(of, task.data.layout, task.split.summary())
    shared = config, metrics, task.data, task.split, evaluation, people, figures, list(evaluated)
    findings = findings_of(*shared, unread, clock.seconds)
    results = tuple(ModelResult(**dict(m), scores=tables[m.name]) for m in findings.models)
    own: dict[str, Any] = {"models": results, "evaluation_set": of, "users": users}
    return Result(**vars(findings) | own)


class _InMemory:
    """The models of a config, fitted and asked with all events in memory: as `InBuckets`."""

    def __init__(
        self, config: Config, models: Models, background: Executor, clock: Clock, progress: bool
    ) -> None:
        self._models, self._progress = models, progress
        self.task = make_task(config, background=background, clock=clock, progress=progress)

    @cached_property
    def others(self) -> Task:
        """The task with the users whom the evaluation set leaves out."""
        task = self.task
        rules = task.config.evaluation
        return of_users(task, left_out(task.evaluation_set, task.data, task.split, rules))

    @cached_property
    def profile(self) -> pl.DataFrame:
        """What is known of the evaluated users."""
        return of_events(self.task)

    def catalogue(self, needs: Set[str]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""
        return of_train(self.task.train, needs)

    def answers(self, settings: ModelConfig) -> tuple[list[Answers], Clock]:
        """Return every repeat's answers, and the seconds that they took."""
        # Taken out, so that a model's memory is free again unless others are made of it.
        models = (of.pop(settings.name) for of in self._models[: settings.repeats])
        clock = Clock()
        given = settings, self.task, self.others, clock, self._progress
        return asked_in_turn(models, *given), clock


@contextmanager
def _evaluation(
    config: Config,
    models: Models,
    memory: str | None,
    whole: str,
    clock: Clock,
    progress: bool,
) -> Iterator[_InMemory | InBuckets]:
    """Yield the models' answers to come: with all events in memory, or a bucket at a time."""
    limit = memory_.limit(memory)
    if limit is None or memory_.needed(config.layout()) <= limit.size:
        with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
            yield _InMemory(config, models, background, clock, progress)
    else:
        with in_buckets.opened(config, models, limit, whole, clock, progress) as found:
            yield found


def _evaluated(
    found: _InMemory | InBuckets,
    factories: Factories,
    metrics: tuple[Metric, ...],
    catalogue: Catalogue | None,
    sample: Sample | None,
) -> Iterator[tuple[EvaluatedModel, ScoreTable]]:
    """Yield every model of the config, evaluated, and its scores."""
    # Nothing can be said for others of a metric that is not 0 for users without hits.
    others = found.others if metrics[0].definition.zero_without_hits else None
    k = found.task.evaluation_set.k
    for model in factories.config.models:
        answers, clock = found.answers(model)
        given = answers, model, found.task, catalogue, metrics, clock
        one = scored(*given, others=others, sample=sample)
        evaluated = EvaluatedModel.of(
            one.sums,
            model,
            metrics,
            k,
            clock.seconds,
            seeded=factories.seeded(model.name),
            sample_ids=None if sample is None else sample.ids,
        )
        of_set = {metric: np.array(own)[:, None] for metric, own in evaluated.of_set.items()}
        values = {**one.table.values, **of_set}
        yield evaluated, ScoreTable({metric: values[metric] for metric in metrics})
