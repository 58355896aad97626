"""One evaluation set of a config, and its models: the n-th of all folds, and what asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import polars as pl

from harness.config import Config, ModelConfig
from harness.core.errors import EmptyEvaluationSetError, HarnessError, printable
from harness.core.progress import Clock, Observer
from harness.data.dataset import Dataset
from harness.experiment.answers import Answers, ask_in_turn
from harness.experiment.build import Factories
from harness.experiment.evaluate_part import Asked
from harness.experiment.failures import Failures
from harness.experiment.finished import Finished
from harness.experiment.learn import Models
from harness.metrics import Metric, needs
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.evaluation_set import left_out
from harness.protocol.task import Task, of_users, task_on
from harness.protocol.users import of_events


@dataclass(frozen=True, eq=False)
class FoldModels:
    """What one evaluation set is made and asked by: the n-th of all folds.

    Attributes
    ----------
    models : sequence of dict of name to Recommender
        Of each repeat those that are to be asked.
    """

    number: int
    n_folds: int
    config: Config
    factories: Factories
    models: Models
    observer: Observer
    failures: Failures
    finished: Finished

    @classmethod
    def made(
        cls,
        config: Config,
        number: int,
        n_folds: int,
        failures: Failures,
        finished: Callable[[Config], Finished],
        *,
        bars: bool = False,
    ) -> FoldModels:
        """Return a fold with its models, which have learnt nothing yet."""
        factories, before = Factories(config), finished(config)
        repeats = range(max(model.repeats for model in config.models))
        models = [factories.made(repeat, without=before.answers) for repeat in repeats]
        of_fold = failures if n_folds == 1 else failures.in_fold(number)
        observer = Observer(bars=bars, label=label(number, n_folds))
        return cls(number, n_folds, config, factories, models, observer, of_fold, before)

    def named(self) -> AbstractContextManager[None]:
        """Say of what is raised in which fold it was."""
        return named(self.number, self.n_folds)

    def log_model(self, clocks: dict[str, Clock], name: str, clock: Clock) -> None:
        """Keep the clock of a model that is evaluated, and log how long each step took."""
        clocks[name] = clock
        names = [model.name for model in self.config.models]
        number = f"{names.index(name) + 1} of {len(names)}"
        steps = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in clock.seconds.items())
        how = "taken from an earlier run" if name in self.finished.answers else steps
        self.observer.log(f"{printable(name)} ({number}): {how}")

    def ask(self, evaluator: Evaluator, model: ModelConfig) -> Asked:
        """Return what a model answers, and keep it for later runs."""
        answers, clock = evaluator.answers(model)
        self.finished.keep(model.name, evaluator.task, answers, clock)
        return answers, clock


class Evaluator(Protocol):
    """What asks the models of a fold, with all events in memory or a bucket at a time.

    Attributes
    ----------
    task : Task
        With the evaluation set of all users.
    events : int
        How many are in memory at once.
    """

    fold: FoldModels
    task: Task
    events: int

    @property
    def left_out(self) -> Task:
        """The task with the users whom the evaluation set leaves out."""

    @property
    def profile(self) -> pl.DataFrame:
        """What is known of the evaluated users (`harness.protocol.users.of_events`)."""

    def catalogue(self, metrics: Sequence[Metric]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""

    def answers(self, settings: ModelConfig) -> tuple[list[Answers], Clock]:
        """Return every repeat's answers for all users, and the seconds that they took."""


class InMemory:
    """The models of a fold, fitted and asked one repeat after the other: an `Evaluator`."""

    def __init__(self, fold: FoldModels, data: Dataset) -> None:
        self.fold, self.events = fold, len(data.events)
        self.task = task_on(fold.config, data, fold.observer)

    @cached_property
    def left_out(self) -> Task:
        """The task with the users whom the evaluation set leaves out."""
        task = self.task
        rules = task.config.evaluation
        return of_users(task, left_out(task.evaluation_set, task.data, task.split, rules))

    @cached_property
    def profile(self) -> pl.DataFrame:
        """What is known of the evaluated users."""
        return of_events(self.task)

    def catalogue(self, metrics: Sequence[Metric]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""
        return of_train(self.task.train, needs(metrics))

    def answers(self, settings: ModelConfig) -> tuple[list[Answers], Clock]:
        """Return every repeat's answers, and the seconds that they took."""
        # Taken out, so that a model's memory is free again unless others are made of it.
        repeats = (models.pop(settings.name) for models in self.fold.models[: settings.repeats])
        observer = Observer(bars=self.fold.observer.bars)
        return ask_in_turn(repeats, settings, self.task, self.left_out, observer), observer


def label(number: int, folds: int) -> str:
    """Return what words of one fold begin with, nothing where there are no others."""
    return f"fold {number} of {folds}: " if folds > 1 else ""


@contextmanager
def named(number: int, folds: int) -> Iterator[None]:
    """Say of what is raised in which fold it was, where there are several."""
    try:
        yield
    except HarnessError as error:
        if folds > 1:  # in place: an error may hold more than its words
            first, *more = str(error).split("\n")
            if isinstance(error, EmptyEvaluationSetError) and number < folds:
                first += ", or ask for fewer folds"
            error.args = ("\n".join([f"{label(number, folds)}{first}", *more]),)
        raise
