"""One evaluation set of a config, the n-th of all folds: its models, those that fail, its users."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import polars as pl

from harness.config import Config, ModelConfig
from harness.core.errors import EmptyEvaluationSetError, HarnessError, RecommenderError, printable
from harness.core.progress import Observer
from harness.evaluation.answers import Answers, ask_in_turn
from harness.evaluation.build import Factories, with_models
from harness.evaluation.finished import Finished
from harness.metrics import Metric
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue
from harness.protocol.task import Task
from harness.results.record import FailedModel

_log = logging.getLogger(__name__)

Models = Sequence[dict[str, Recommender]]  # of each repeat, the models that have so many, by name


@dataclass(frozen=True)
class Failures:
    """The models that failed so far, in any fold; none is asked again."""

    fail_fast: bool = False
    fold: int | None = None
    errors: dict[str, HarnessError] = field(default_factory=dict)  # what they raised
    failed: dict[str, FailedModel] = field(default_factory=dict)  # what the record says of them

    def copy(self) -> Failures:
        """Return failures that others are added to on their own, as those of a part are."""
        return replace(self, errors=self.errors.copy(), failed=self.failed.copy())

    @contextmanager
    def caught(self, name: str) -> Iterator[None]:
        """Keep what a model raises, unless the first failure ends the run."""
        try:
            yield
        except HarnessError as error:
            _log.debug("the traceback of a failure:", exc_info=error)
            if self.fail_fast:
                raise
            self.add(name, error)
            _log.info("failed: %s", printable(str(error).partition("\n")[0]))

    def add(self, name: str, error: HarnessError) -> None:
        """Add a model that raised, or is made of one that did."""
        text = str(error)
        if text.startswith('model "') and not text.startswith(f'model "{name}"'):
            text = f'model "{name}" needs a model that failed: {text}'
        self.errors[name] = error
        self.failed[name] = FailedModel(name=name, error=text, fold=self.fold)

    def require_others(self, config: Config) -> None:
        """Raise what the only model raised, or RecommenderError where all of several failed."""
        if len(self.errors) < len(config.models):
            return
        first = self.errors[config.models[0].name]
        if len(self.errors) == 1:
            raise first
        reasons = "\n".join(model.says for model in self.records(config))
        raise RecommenderError(f"all {len(self.errors)} models failed:\n{reasons}") from first

    def without(self, config: Config) -> Config:
        """Return a config of the models that are left, which may be made of one that failed."""
        return with_models(config, [m.name for m in config.models if m.name not in self.errors])

    def records(self, config: Config) -> tuple[FailedModel, ...]:
        """Return what the record says of the models that failed, in the config's order."""
        return tuple(self.failed[m.name] for m in config.models if m.name in self.failed)

    def notes(self, config: Config) -> tuple[str, ...]:
        """Return what becomes of the comparison without them."""
        baseline, n = config.compare.baseline, len(config.models) - len(self.errors)
        if baseline not in self.errors or n == 1:
            return ()
        return (
            f'the baseline "{baseline}" failed: the other {n} models are compared pair by pair',
        )


@dataclass(eq=False)
class Fold:
    """One evaluation set of a config, the n-th of all folds, and its models.

    `models` are those to be asked, without the finished ones; they have learnt nothing yet. A clock
    of `clocks` hears of each.
    """

    config: Config
    metrics: tuple[Metric, ...]
    failures: Failures
    observer: Observer
    finished: Finished
    n_folds: int = 1

    def __post_init__(self) -> None:
        self.number, config = self.n_folds - self.config.fold, self.config
        if self.n_folds > 1:
            self.failures = replace(self.failures, fold=self.number)
        self.factories = Factories(config)
        models = [model for model in config.models if model.name not in self.finished.answers]
        self.models: Models = [
            self.factories.make([m.name for m in models if m.repeats > repeat], repeat)
            for repeat in range(max((model.repeats for model in models), default=0))
        ]
        self.clocks = {
            name: Observer(f"{self.observer.label}{n} of {len(config.models)}  {printable(name)}  ")
            for n, name in enumerate((model.name for model in config.models), 1)
        }

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


@dataclass(frozen=True, eq=False)
class Users:
    """The evaluated users of a fold, in memory or in buckets, and what metrics need."""

    task: Task
    profile: pl.DataFrame  # that of `harness.protocol.users.of_events`
    catalogue: Catalogue | None
    ask: Callable[[ModelConfig], list[Answers]]  # every repeat's answers of a model, for all users


def ask_in_memory(fold: Fold, task: Task, settings: ModelConfig) -> list[Answers]:
    """Return every repeat's answers of a model that learns from all events of a task."""
    # Taken out, so that a model's memory is free again unless others are made of it.
    repeats = (models.pop(settings.name) for models in fold.models[: settings.repeats])
    return ask_in_turn(repeats, settings, task, fold.clocks[settings.name])


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
                first += ", or use fewer folds"
            error.args = ("\n".join([f"{label(number, folds)}{first}", *more]),)
        raise
