"""The models of a config on one evaluation set, and what asks them with all events in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from harness.config import Config, ModelConfig
from harness.core.errors import printable
from harness.core.progress import Clock
from harness.data.dataset import Dataset
from harness.experiment.answers import Answers, ask_in_turn
from harness.experiment.build import Factories
from harness.experiment.evaluate_part import Asked
from harness.experiment.failures import Failures
from harness.experiment.finished import Finished
from harness.experiment.folds import label, named
from harness.experiment.in_buckets import InBuckets
from harness.experiment.in_parts import Models
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.evaluation_set import left_out
from harness.protocol.task import Task, of_users, task_on
from harness.protocol.users import of_events

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FoldModels:
    """What one evaluation set is made and asked by: the n-th of all folds.

    Attributes
    ----------
    models : sequence of dict of name to Recommender
        Of each repeat those that are to be asked.
    """

    number: int
    of: int
    config: Config
    factories: Factories
    models: Models
    clock: Clock
    failures: Failures
    finished: Finished

    @classmethod
    def made(
        cls,
        config: Config,
        number: int,
        of: int,
        failures: Failures,
        finished: Callable[[Config], Finished],
    ) -> FoldModels:
        """Return a fold with its models, which have learnt nothing yet."""
        factories, before = Factories(config), finished(config)
        repeats = range(max(model.repeats for model in config.models))
        models = [factories.made(repeat, without=before.answers) for repeat in repeats]
        own = failures if of == 1 else failures.in_fold(number)
        return cls(number, of, config, factories, models, Clock(), own, before)

    def named(self) -> AbstractContextManager[None]:
        """Say of what is raised in which fold it was."""
        return named(self.number, self.of)

    def log(self, told: str) -> None:
        """Tell the log what was done, and in which of several folds."""
        _log.info("%s%s", label(self.number, self.of), told)

    def log_model(self, clocks: dict[str, Clock], name: str, clock: Clock) -> None:
        """Keep the clock of a model that is evaluated, and log how long each step took."""
        clocks[name] = clock
        names = [model.name for model in self.config.models]
        number = f"{names.index(name) + 1} of {len(names)}"
        steps = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in clock.seconds.items())
        told = "taken from an earlier run" if name in self.finished.answers else steps
        self.log(f"{printable(name)} ({number}): {told}")

    def ask(self, found: InMemory | InBuckets, model: ModelConfig) -> Asked:
        """Return what a model answers, and keep it for later runs."""
        answers, clock = found.answers(model)
        self.finished.keep(model.name, found.task, answers, clock)
        return answers, clock


class InMemory:
    """The models of a config, fitted and asked with all events in memory: as `InBuckets`."""

    def __init__(self, fold: FoldModels, data: Dataset, progress: bool) -> None:
        self._models, self._progress = fold.models, progress
        self.task = task_on(fold.config, data, fold.clock, progress=progress)

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
        answers = ask_in_turn(models, settings, self.task, self.others, clock, self._progress)
        return answers, clock
