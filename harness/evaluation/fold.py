"""One evaluation set of a config, and its models: the n-th of all folds, and what asks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import polars as pl

from harness.config import Config, ModelConfig
from harness.core.errors import EmptyEvaluationSetError, HarnessError, printable
from harness.core.progress import Observer
from harness.evaluation.answers import Answers, ask_in_turn
from harness.evaluation.build import Factories
from harness.evaluation.failures import Failures
from harness.evaluation.finished import Finished
from harness.metrics import Metric, needs
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.task import Task
from harness.protocol.users import of_events

Models = Sequence[dict[str, Recommender]]
"""Of each repeat, the models that have so many, by name."""


class Fold:
    """One evaluation set of a config, the n-th of all folds, and its models.

    `models` are those to be asked, without the finished ones; they have learnt nothing yet. A clock
    of `clocks` hears of each.
    """

    def __init__(
        self,
        config: Config,
        metrics: tuple[Metric, ...],
        failures: Failures,
        observer: Observer,
        finished: Finished,
        *,
        n_folds: int = 1,
    ) -> None:
        self.config, self.metrics, self.finished = config, metrics, finished
        self.number, self.n_folds, self.observer = n_folds - config.fold, n_folds, observer
        self.failures = failures if n_folds == 1 else replace(failures, fold=self.number)
        self.factories = Factories(config)
        models = [model for model in config.models if model.name not in finished.answers]
        self.models: Models = [
            self.factories.make([m.name for m in models if m.repeats > repeat], repeat)
            for repeat in range(max((model.repeats for model in models), default=0))
        ]
        self.clocks = {model.name: Observer(bars=observer.bars) for model in config.models}

    def log_model(self, name: str) -> None:
        """Log how long each step of a model took that has not failed."""
        if name in self.failures.errors:
            return
        names = [model.name for model in self.config.models]
        number = f"{names.index(name) + 1} of {len(names)}"
        seconds = self.clocks[name].seconds
        steps = ", ".join(f"{step} {took:.1f} s" for step, took in seconds.items())
        how = "taken from an earlier run" if name in self.finished.answers else steps
        self.observer.log(f"{printable(name)} ({number}): {how}")


class Evaluator:
    """What asks the models of a fold: each learns from all events, one repeat after the other.

    `events` is how many events are in memory at once.
    """

    def __init__(self, fold: Fold, task: Task) -> None:
        self.fold, self.task, self.events = fold, task, len(task.data.events)

    def profile(self) -> pl.DataFrame:
        """Return what is known of the evaluated users (`harness.protocol.users.of_events`)."""
        return of_events(self.task)

    def catalogue(self, metrics: Sequence[Metric]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""
        return of_train(self.task.train, needs(metrics))

    def answers(self, settings: ModelConfig) -> list[Answers]:
        """Return every repeat's answers for all users."""
        # Taken out, so that a model's memory is free again unless others are made of it.
        repeats = (models.pop(settings.name) for models in self.fold.models[: settings.repeats])
        observer = self.fold.clocks[settings.name]
        return ask_in_turn(repeats, settings, self.task, observer)


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
