"""A config in, a task out: data, split and evaluation set, the same for every model."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from harness.config import Config, ModelConfig, SplitConfig
from harness.core.arrays import UInt64
from harness.core.errors import HarnessError, UsageError, counted, suggest
from harness.core.progress import Observer, stopwatch
from harness.data import loading
from harness.data.buckets import estimated_rows
from harness.data.dataset import Dataset, no_events
from harness.data.layout import Layout
from harness.data.naming import is_in_database, is_one_file
from harness.metrics import USUAL, Metric, each_once, parse
from harness.metrics.grades import refuse_grades
from harness.models.base import Train
from harness.protocol import strays
from harness.protocol.evaluation_set import EvaluationSet, build, highest_grade, left_out
from harness.protocol.k_core import core_of
from harness.protocol.split import Split, split

_log = logging.getLogger(__name__)

VALUES = "[data] value"  # where grades are from


@dataclass(frozen=True, eq=False)
class Task:
    """Data, split and evaluation set: what every model of a run gets."""

    config: Config
    data: Dataset
    split: Split
    evaluation_set: EvaluationSet
    left_out_set: EvaluationSet | None = None

    def __post_init__(self) -> None:
        for array in (self.evaluation_set.users, self.evaluation_set.candidates):
            array.setflags(write=False)  # one model must not change what the next one reads

    @cached_property
    def train(self) -> Train:
        """What models learn from."""
        candidates, cutoff = self.evaluation_set.candidates, self.split.cutoff
        return Train(self.data, self.split.train, candidates, cutoff)

    @cached_property
    def left_out(self) -> Task:
        """The task with the users whom the evaluation set leaves out, and a leaderboard counts."""
        users = self.left_out_set
        if users is None:
            users = left_out(self.evaluation_set, self.data, self.split, self.config.evaluation)
        return replace(self, evaluation_set=users, left_out_set=None)

    def without_events(self) -> Task:
        """Return the same for those who only tell of it: events fill most of the memory."""
        none, sizes = no_events(), self.split.n_events
        split = replace(self.split, train=none, valid=none, sizes=sizes)
        return replace(self, data=replace(self.data, events=none), split=split)

    @cached_property
    def hashes(self) -> UInt64:
        """What each evaluated user's draws start from, one entry a user of the data set."""
        hashes = np.zeros(len(self.data.user_ids), np.uint64)
        hashes[self.evaluation_set.users] = self.evaluation_set.user_hashes
        hashes.setflags(write=False)
        return hashes


def asked(config: Config) -> tuple[Metric, ...]:
    """Return the metrics of a config; without any, the usual ones at its k."""
    texts = config.evaluation.metrics or [f"{m}@{config.evaluation.k}" for m in USUAL]
    return each_once(parse(text, config.folder) for text in texts)


def model_of(config: Config, name: str, repeat: int = 0) -> ModelConfig:
    """Return the section of a config's model; UsageError where there is no such one or repeat."""
    model = config.by_name.get(name)
    if model is None:
        raise UsageError(f'{config.file}: no model "{name}"; {suggest(name, config.by_name)}')
    if not 0 <= repeat < model.repeats:
        last = model.repeats - 1
        raise UsageError(
            f'{config.file}: model "{name}" has no repeat {repeat}; the last is {last}'
        )
    return model


def make_task(config: Config) -> Task:
    """Read the data of a config, split it and make the evaluation set."""
    observer = Observer()
    with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
        return task_on(config, read_events(config, background, observer), observer)


def log_evaluation_set(evaluation_set: EvaluationSet, observer: Observer) -> None:
    """Tell the log what was made, and in which time."""
    users = counted(len(evaluation_set.users), "user")
    candidates = counted(len(evaluation_set.candidates), "candidate")
    seconds = observer.seconds["evaluation set"]
    observer.log(f"evaluation set: {users}, {candidates}, {seconds:.1f} s")


def task_on(config: Config, data: Dataset, observer: Observer) -> Task:
    """Split the events of a config that were read, and make the evaluation set."""
    with observer.step("evaluation set", "making the evaluation set"), noted(data):
        data = strays.checked(config, data)
        task = task_of(config, data, split(data, config.split))
    log_evaluation_set(task.evaluation_set, observer)
    return task


@contextmanager
def noted(data: Dataset) -> Iterator[None]:
    """Add what was odd in the data to what is raised, as it may be why."""
    try:
        yield
    except HarnessError as error:
        raise type(error)("\n".join([str(error), *data.notes])) from error


def task_of(config: Config, data: Dataset, parts: Split) -> Task:
    """Return the task that a split of the data makes."""
    evaluation_set = build(data, parts, config.evaluation)
    if config.graded:
        refuse_grades(asked(config), highest_grade(data, parts, config.evaluation), VALUES)
    return Task(config, data, parts, evaluation_set)


def read_events(
    config: Config, background: Executor, observer: Observer, inner: SplitConfig | None = None
) -> Dataset:
    """Return the data of a config; the cache is written in the `background`.

    `inner` says how train will be split again.
    """
    layout = config.layout(inner)
    refuse_rows_without_order(layout, config.split)
    took, rows = stopwatch(), None if layout.has_frames else estimated_rows(layout)
    with observer.step("read", "reading events", rows, " rows") as stage:
        if config.data.cache:
            dataset, kept = loading.cached(layout, stage.update, background)
        else:
            dataset, kept = loading.load(layout, stage.update), False
    where = " from the cache" if kept else ""
    _log.info("read %s%s, %s", counted(len(dataset.events), "event"), where, took())
    return core_of(dataset, *config.data.least)


def refuse_rows_without_order(layout: Layout, outer: SplitConfig) -> None:
    """Raise UsageError where rows are to be numbered and are in several files, or a database."""
    numbered = [table for table in layout.events if table.numbered]
    ordered = [t for t in numbered if t.remote or (is_one_file(t) and not is_in_database(t))]
    if len(numbered) > 1 or len(ordered) < len(numbered):
        where = "[split]" if getattr(outer, "ties", None) == "file" else "[tune] split,"
        names = " and ".join(table.name for table in numbered)
        raise UsageError(
            f'{where} ties = "file": the events are in {names}, and rows of several files or of a '
            'database have no order; write them to one file, or set ties = "shuffle"'
        )
