"""A log larger than memory: the same evaluation, a bucket of users at a time.

What is global is added up over the buckets: the events of every item, the cut-off of a split per
user, and what models learn from. Then each bucket has its part of the evaluation set, and every
model is asked for its users' lists, which wait on disk until those of all users are scored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.config import Config, ModelConfig
from harness.core import steps as steps_
from harness.core.arrays import Int64
from harness.core.errors import UsageError, counted
from harness.core.io import scratch_folder, told_if_full
from harness.core.progress import Clock, steps, stopwatch
from harness.core.steps import of_parts
from harness.data.buckets import Buckets, estimated_rows, more_room, prepared
from harness.data.dataset import Dataset
from harness.experiment import memory
from harness.experiment.answers import Answers, ask
from harness.experiment.build import itself
from harness.experiment.failures import Failures
from harness.experiment.file_model import PrecomputedLists
from harness.experiment.in_parts import (
    Models,
    ask_part,
    fit,
    in_parts,
    of_all_events,
    plan_steps,
    unseen,
)
from harness.experiment.memory import Limit, require_memory
from harness.models import item_stats
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue, TrainCounts
from harness.models.recommendations import Recommendations
from harness.protocol import evaluation_set, users
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.task import Task, noted, refuse_rows_without_order

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Bucket:
    """What is kept of a bucket when its events are let go."""

    evaluated: EvaluationSet
    others: EvaluationSet
    users: pl.DataFrame


class InBuckets:
    """The models of a config, fitted and asked a bucket of users at a time.

    Parameters
    ----------
    models : sequence of mapping of name to Recommender
        Of each repeat; they fit in parts or are files of lists.
    folder : Path
        Where lists wait; the caller's.
    failures : Failures
        Models that fail are added; those that failed before are not asked.

    Attributes
    ----------
    task : Task
        With the evaluation set of all users, whose positions are those among themselves. It has
        no events.
    others : Task
        The same with the users whom the evaluation set leaves out.
    profile : polars.DataFrame
        What `harness.protocol.users.of_events` returns, of all users.

    Raises
    ------
    HarnessError
        An empty evaluation set, a model that breaks its contract, a full disk.
    """

    task: Task
    others: Task
    profile: pl.DataFrame

    def __init__(
        self,
        config: Config,
        buckets: Buckets,
        models: Models,
        folder: Path,
        clock: Clock,
        failures: Failures,
        progress: bool,
    ) -> None:
        self.config, self.buckets, self.models = config, buckets, models
        self._folder, self._failures, self._progress = folder, failures, progress
        self._clocks = {model.name: Clock() for model in config.models}
        self._parts: dict[tuple[str, int], list[Answers]] = {}
        self._total, data = of_parts(self._datasets), buckets.empty()
        with clock.step("evaluation set"), noted(data):
            self._plan = steps_.found(plan_steps(config, data), self._total)
        self._in_parts: list[tuple[int, str, Recommender]] = []
        if len(self._plan.candidates) > 0:  # else it is told when the users are known, too
            self._in_parts = [m for m in in_parts(models) if m[1] not in failures.found]
            if self._in_parts:
                self._plan.refuse_slices(self._total)
            took = stopwatch()
            with clock.step("fit"):
                fit(self._plan, self._in_parts, self._total, self._clocks, failures)
            _log.info("fit on %s, %s", counted(len(buckets), "bucket"), took())
        took = stopwatch()
        with clock.step("recommend"):
            self._merge([self._ask(*self._plan.tasks(data)) for data in self._datasets()])
        _log.info("recommend in %s, %s", counted(len(buckets), "bucket"), took())

    def catalogue(self, needs: Set[str]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""

        def counts() -> TrainCounts:
            return self._plan.train_counts(self._total)

        return item_stats.of_candidates(self.task.train, needs, counts)

    def answers(self, settings: ModelConfig) -> tuple[list[Answers], Clock]:
        """Return every repeat's answers for all users, in the order of the evaluation set."""
        name, clock = settings.name, self._clocks[settings.name]
        repeats = [
            self._of_all(name, models[name], repeat, clock)
            for repeat, models in enumerate(self.models)
            if name in models
        ]
        return repeats, clock

    def _datasets(self) -> Iterator[Dataset]:
        """Yield the buckets, one at a time."""
        with steps("reading buckets", len(self.buckets), " buckets", self._progress) as bar:
            for data in self.buckets.datasets():
                yield data
                bar.update()

    def _ask(self, task: Task, others: Task) -> _Bucket:
        """Ask every model for the lists of a bucket's users."""
        for repeat, name, model in self._in_parts:
            answers = None
            if name not in self._failures.found:
                with self._failures.caught(name), self._clocks[name].step("recommend"):
                    answers = ask_part(name, model, task, others, repeat)
            if answers is not None:
                self._keep(name, repeat, answers)
        sets = task.evaluation_set, others.evaluation_set
        kept, left_out = map(evaluation_set.without_seen, sets)
        return _Bucket(kept, left_out, users.of_events(task))

    def _keep(self, name: str, repeat: int, answers: Answers) -> None:
        """Write the lists of a bucket's users, and keep what else was answered."""
        parts = self._parts.setdefault((name, repeat), [])
        at = len(parts)
        with told_if_full(self._folder, more_room(self.buckets.variable)):
            np.save(self._file(name, repeat, at), answers.lists.items, allow_pickle=False)
            if answers.others is not None:
                other = self._file(name, repeat, at, "others")
                np.save(other, answers.others.items, allow_pickle=False)
        parts.append(replace(answers, lists=_NONE, others=answers.others and _NONE))

    def _file(self, name: str, repeat: int, bucket: int, whose: str = "lists") -> Path:
        number = [model.name for model in self.config.models].index(name)
        return self._folder / f"{whose}-{number}-{repeat}-{bucket}.npy"

    def _merge(self, buckets: Sequence[_Bucket]) -> None:
        found, self._order = evaluation_set.merged([bucket.evaluated for bucket in buckets])
        others, self._others_order = evaluation_set.merged([bucket.others for bucket in buckets])
        data = self._plan.data
        with noted(data):
            rule = self.config.evaluation.candidates or data.candidates
            evaluation_set.refuse_empty(found.funnel, len(found.candidates), rule, self._plan.split)
        self.profile = pl.concat([bucket.users for bucket in buckets])[self._order]
        self.task, self.others = self._plan.task_of(found), self._plan.task_of(others)

    def _of_all(self, name: str, model: Recommender, repeat: int, clock: Clock) -> Answers:
        if isinstance(itself(model), PrecomputedLists):
            with clock.step("recommend"):
                return ask(name, model, self.task, self.others, repeat, unseen, again=False)
        parts = self._parts[name, repeat]
        others = None
        if all(part.others is not None for part in parts):
            others = self._lists(name, repeat, "others", self._others_order)
        return Answers(
            self._lists(name, repeat, "lists", self._order),
            others,
            drawn=any(part.drawn for part in parts),
            refusal=min((one.refusal for one in parts if one.refusal is not None), default=None),
            changes=min((one.changes for one in parts if one.changes is not None), default=None),
        )

    def _lists(self, name: str, repeat: int, whose: str, order: Int64) -> Recommendations:
        parts: list[npt.NDArray[np.int32]] = [
            np.load(self._file(name, repeat, at, whose), allow_pickle=False)
            for at in range(len(self._parts[name, repeat]))
        ]
        width = max(part.shape[1] for part in parts)
        filled = [part for part in parts if part.shape[1] == width]  # of no users it may have none
        return Recommendations(np.concatenate(filled)[order])


_NONE = Recommendations(np.empty((0, 0), np.int32))


@contextmanager
def opened(
    config: Config, models: Models, limit: Limit, clock: Clock, progress: bool
) -> Iterator[Buckets]:
    """Yield the buckets of a config's events, which are made, or kept from before.

    Parameters
    ----------
    models : sequence of mapping of name to Recommender
        Of all folds.

    Raises
    ------
    HarnessError
        A model that learns from all events at once, a bucket that is larger than the memory, a
        full disk.
    """
    layout, refused = config.layout(), of_all_events(models)
    needed = f"all events need about {memory.shown(memory.needed(layout))} of memory; {limit.says}"
    if refused:
        raise UsageError(
            f"{needed}, and {counted(len(refused), 'model learns', 'models learn')} from all "
            f"events at once: {', '.join(refused)}; allow more (--memory, in Python memory=), "
            "leave out such models, or use ones that learn by sums"
        )
    refuse_rows_without_order(layout, config.split)
    total = 2 * estimated_rows(layout)  # each is read, and then put into a bucket
    with ExitStack() as stack:
        took = stopwatch()
        with clock.step("read"), steps("making buckets", total, " rows", progress) as bar:
            making = prepared(layout, bar.update, kept=config.data.cache)
            buckets = stack.enter_context(making)
        events = max(buckets.known.events)
        size = memory.BASE + memory.AN_EVENT * events
        if size > limit.size:
            raise UsageError(
                f"the largest bucket of users has {events:,} events and needs {memory.shown(size)} "
                f"of memory; {limit.says}: allow more with --memory"
            )
        _log.warning("%s: users are evaluated in %s", needed, counted(len(buckets), "bucket"))
        _log.info("read %s into buckets, %s", counted(sum(buckets.known.events), "event"), took())
        yield buckets


@contextmanager
def evaluated(
    config: Config,
    buckets: Buckets,
    models: Models,
    clock: Clock,
    failures: Failures,
    progress: bool,
    limit: Limit,
) -> Iterator[InBuckets]:
    """Yield the models of a config, fitted and asked on buckets; raises what `InBuckets` does."""
    with scratch_folder(buckets.folder.with_name("lists")) as folder:
        found = InBuckets(config, buckets, models, folder, clock, failures, progress)
        users, events = len(found.task.evaluation_set.users), max(buckets.known.events)
        candidates = len(found.task.evaluation_set.candidates)
        require_memory(config, users, events, candidates, limit)
        yield found
