"""One evaluation set of a config, the n-th of all folds: its models, those that fail, its users."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
import polars as pl

from harness.config import Config, GivenSplit, ModelConfig, TimeSplit
from harness.core.errors import (
    DataError,
    EmptyEvaluationSetError,
    HarnessError,
    RecommenderError,
    UsageError,
    counted,
    printable,
)
from harness.core.progress import Observer
from harness.data.dataset import DAY_US, Dataset
from harness.data.naming import parts_of
from harness.evaluation.answers import Answers, ask_in_turn
from harness.evaluation.build import Factories, with_models
from harness.evaluation.finished import Finished
from harness.metrics import Metric
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.split import end_of
from harness.protocol.task import Task, read_events, task_on
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


def require_windows(config: Config, data: Dataset) -> None:
    """Raise UsageError where the events of a time split are too few days for its folds."""
    if isinstance(config.split, TimeSplit):
        require_room(config.split, data, end_of(data, config.split), f"{config.file}: [split]")


def require_room(rule: TimeSplit, data: Dataset, end: int, key: str) -> None:
    """Raise UsageError where the days up to `end` are too few for the folds of the split `key`."""
    days, held_back = rule.valid_days * DAY_US, rule.test_days * DAY_US
    most = max((end - held_back - data.times[0] - 1) // days, 0)
    if rule.folds == 1 or rule.folds <= most:
        return
    start, last = (str(np.datetime64(t, "us").astype("datetime64[D]")) for t in data.times)
    windows = f"{counted(most, 'window')} of {counted(rule.valid_days, 'day')}"
    behind = f" and with {counted(rule.test_days, 'test day')} after them" if rule.test_days else ""
    raise UsageError(
        f"{key} folds = {rule.folds}: the events run from {start} to {last}, with room for "
        f"{windows} after other events{behind}; use fewer folds or days, or more events"
    )


def require_files(config: Config) -> None:
    """Raise DataError where a file of a fold is not there, before the first of them is read."""
    folds = config.folds() if isinstance(config.split, GivenSplit) and config.n_folds > 1 else ()
    for number, fold in enumerate(folds, 1):
        tables = zip(("[data] events", "[split] valid"), fold.layout().events, strict=True)
        for key, events in tables:
            try:
                _ = events.remote or parts_of(events)
            except DataError as error:
                where = f"{config.file}: {key}, fold {number} of {len(folds)}"
                raise DataError(f"{where}: {error}") from error


def tasks(config: Config) -> Iterator[Task]:
    """Yield the task of every fold; events that several have in common are read once."""
    folds = config.folds()
    for _, same in groupby(enumerate(folds, 1), key=lambda pair: pair[1].layout()):
        alike = list(same)
        with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
            data = read_events(alike[0][1], background, Observer())
        require_windows(config, data)
        for number, fold in alike:
            with named(number, len(folds)):
                task = task_on(fold, data, Observer(label(number, len(folds))))
            yield task


class HeldOut:
    """What the folds of a given split hold out; `overlaps` are notes on folds that share some."""

    def __init__(self, config: Config) -> None:
        self._given = isinstance(config.split, GivenSplit) and config.n_folds > 1
        self._pairs: list[pl.DataFrame] = []
        self.overlaps: list[str] = []

    def add(self, fold: EvaluationSet) -> None:
        """Add the next fold; raise UsageError where it holds out just what an earlier one does."""
        if not self._given:
            return
        users = fold.user_ids.gather(np.repeat(np.arange(len(fold.users)), fold.truth.sizes))
        items = fold.candidate_ids.gather(fold.truth.indices)
        pairs = pl.DataFrame({"user": users, "item": items})
        for number, earlier in enumerate(self._pairs, 1):
            both = len(earlier.join(pairs, on=pairs.columns, how="semi"))
            if both == len(earlier) == len(pairs) > 0:
                raise UsageError(
                    "[split] valid: its file holds out the same items of the same users as that "
                    f"of fold {number}; name files with different events, or remove one"
                )
            if both:
                self.overlaps.append(
                    f"folds {number} and {len(self._pairs) + 1} overlap: {both:,} of the "
                    f"{counted(len(earlier), 'true item')} of fold {number} "
                    f"{'is' if both == 1 else 'are'} true in both"
                )
        self._pairs.append(pairs)

    def notes(self, folds: Sequence[Sequence[str]]) -> list[str]:
        """Return what is odd about folds together, what all say once, other notes with a fold."""
        common = [note for note in folds[0] if all(note in notes for notes in folds)]
        single = [
            f"fold {number}: {note}"
            for number, notes in enumerate(folds, 1)
            for note in notes
            if note not in common
        ]
        return [*self.overlaps, *common, *single]
