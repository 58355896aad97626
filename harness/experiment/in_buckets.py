"""A log larger than memory: the same evaluation, a bucket of users at a time.

What is global is added up over the buckets: the events of every item, the cut-off of a split per
user, and what models learn from. Then each bucket has its part of the evaluation set, and every
model is asked for its users' lists, which wait on disk until those of all users are scored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.config import Config, ModelConfig
from harness.core.arrays import Int32, Int64
from harness.core.errors import RecommenderError, UsageError, counted
from harness.core.exact_sum import Sums
from harness.core.io import scratch_folder, told_if_full
from harness.core.progress import Clock, steps
from harness.core.steps import Ended, after, of_parts
from harness.data.buckets import Buckets, estimated_rows, more_room, prepared
from harness.data.dataset import Dataset
from harness.data.interactions import counts_of
from harness.experiment import memory
from harness.experiment.answers import Answers, ask
from harness.experiment.build import itself
from harness.experiment.evaluate_model import asked_in_turn
from harness.experiment.file_model import PrecomputedLists
from harness.experiment.memory import Limit
from harness.models import guard, item_stats
from harness.models.base import Recommender, Train
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.models.sums import FromSums, Step, Steps, fit_all, fits_in_parts, without_events
from harness.protocol import evaluation_set, split, users
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.split import Split
from harness.protocol.task import Task, asked, make_task, noted, of_users, refuse_rows_without_order

Models = Sequence[dict[str, Recommender]]
"""Of each repeat, the models that have so many, by name."""


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
        Of each repeat.
    kept : sequence of str
        Those that learn from all events at once, and have them in memory; the others fit in parts
        or are files of lists.
    folder : Path
        Where lists wait; the caller's.

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
        kept: Sequence[str],
        folder: Path,
        clock: Clock,
        progress: bool,
    ) -> None:
        self.config, self.buckets, self.models, self.kept = config, buckets, models, kept
        self._folder, self._progress = folder, progress
        self._clocks = {model.name: Clock() for model in config.models}
        self._parts: dict[tuple[str, int], list[Answers]] = {}
        self._item_counts = np.zeros(len(buckets.items.ids), np.int64)
        self._data = buckets.empty()
        with clock.step("evaluation set"), noted(self._data):
            self._split = self._count()
            self._candidates = self._find_candidates()
        if len(self._candidates) > 0:  # else it is told when the users are known, too
            with clock.step("fit"):
                self._fit()
        with clock.step("recommend"):
            self._merge([self._ask(task) for task in self._tasks()])

    def catalogue(self, needs: Set[str]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""

        def counts() -> item_stats.TrainCounts:
            return item_stats.candidate_counts(self._item_counts, self._candidates, self._having)

        return item_stats.of_candidates(self.task.train, needs, counts)

    def answers(self, settings: ModelConfig) -> tuple[list[Answers], Clock]:
        """Return every repeat's answers for all users, in the order of the evaluation set."""
        name, clock = settings.name, self._clocks[settings.name]
        if name in self.kept:  # taken out: a model's memory is free again when it was asked
            own = (models.pop(name) for _, models in self._with(name))
            return asked_in_turn(own, settings, *self._whole, clock, self._progress), clock
        repeats = [self._of_all(name, models[name], r, clock) for r, models in self._with(name)]
        return repeats, clock

    @cached_property
    def _whole(self) -> tuple[Task, Task]:
        """The task with all events in memory, and that of the users whom it leaves out."""
        task = make_task(self.config, progress=self._progress)
        rules = self.config.evaluation
        others = evaluation_set.left_out(task.evaluation_set, task.data, task.split, rules)
        return task, of_users(task, others)

    def _in_parts(self) -> Iterator[tuple[int, str, Recommender]]:
        """Yield the models that are fitted and asked a bucket at a time, with their repeat."""
        for repeat, models in enumerate(self.models):
            for name, model in models.items():
                if name not in self.kept and not isinstance(itself(model), PrecomputedLists):
                    yield repeat, name, model

    def _with(self, name: str) -> Iterator[tuple[int, dict[str, Recommender]]]:
        return ((r, models) for r, models in enumerate(self.models) if name in models)

    def _divided(self) -> Iterator[tuple[Dataset, Split]]:
        """Yield the buckets, one at a time, each divided as the config says."""
        with steps("reading buckets", len(self.buckets), " buckets", self._progress) as bar:
            for data in self.buckets.datasets():
                yield data, split.divided(data, self.config.split)
                bar.update()

    def _count(self) -> Split:
        """Return the split of all buckets; count every item's training events."""
        parts = []
        for _, part in self._divided():
            self._item_counts += counts_of(part.train.item, len(self._item_counts))
            parts.append(split.without_events(part))
        found = split.merged(parts)
        split.refuse_empty(found, self._data)
        return found

    def _find_candidates(self) -> Int32:
        rule = self.config.evaluation.candidates or self._data.candidates
        in_train = self._item_counts > 0
        return evaluation_set.candidates_of(self._data, self._split, rule, lambda: in_train)

    def _trains(self) -> Iterator[Train]:
        """Yield the training events of each bucket; in it each item may be a candidate."""
        every = np.arange(len(self._item_counts), dtype=np.int32)
        for data, part in self._divided():
            yield Train(data, part.train, every, self._split.cutoff)

    def _having(self) -> tuple[Int64, int]:
        found, total = np.zeros(len(self._item_counts), np.int64), 0
        for train in self._trains():
            having, n_users = item_stats.users_having(train)
            found, total = found + having, total + n_users
        return found, total

    def _fit(self) -> None:
        given = without_events(
            Train(self._data, self._data.events, self._candidates, self._split.cutoff)
        )
        waiting = [
            _timed(guard.fit_steps(name, model, given), self._clocks[name])
            for _, name, model in self._in_parts()
        ]
        try:
            fit_all(waiting, of_parts(self._trains))
        except (TypeError, ValueError) as error:  # what models raise has been told
            raise RecommenderError(
                f"the sums of a model's parts do not add up to one: {error}; each part must "
                "return the same keys and shapes"
            ) from error

    def _tasks(self) -> Iterator[Task]:
        """Yield each bucket's part of the task."""
        rules = self.config.evaluation
        for data, part in self._divided():
            part = replace(part, cutoff=self._split.cutoff)
            found = evaluation_set.of_candidates(data, part, rules, self._candidates)
            train = Train(data, part.train, self._candidates, part.cutoff)
            yield of_users(Task(self.config, data, part, found, train), found)

    def _ask(self, task: Task) -> _Bucket:
        """Ask every model for the lists of a bucket's users."""
        left_out = evaluation_set.left_out(
            task.evaluation_set, task.data, task.split, self.config.evaluation
        )
        others = of_users(task, left_out)
        for repeat, name, model in self._in_parts() if len(self._candidates) > 0 else ():
            with self._clocks[name].step("recommend"):
                self._keep(name, repeat, _asked(name, model, task, others, repeat))
        of = task.evaluation_set
        kept, left_out = map(evaluation_set.without_seen, (of, left_out))
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
        rule = self.config.evaluation.candidates or self._data.candidates
        with noted(self._data):
            evaluation_set.refuse_empty(found, rule)
        self.profile = pl.concat([bucket.users for bucket in buckets])[self._order]
        self.task, self.others = self._task(found), self._task(others)

    def _task(self, found: EvaluationSet) -> Task:
        data = replace(self._data, user_ids=found.user_ids)
        train = Train(data, data.events, self._candidates, self._split.cutoff)
        return of_users(Task(self.config, data, self._split, found, train), found)

    def _of_all(self, name: str, model: Recommender, repeat: int, clock: Clock) -> Answers:
        if isinstance(itself(model), PrecomputedLists):
            with clock.step("recommend"):
                return ask(name, model, self.task, self.others, repeat, _unseen, again=False)
        parts = self._parts[name, repeat]
        others = None
        if all(part.others is not None for part in parts):
            others = self._lists(name, repeat, "others", self._others_order)
        return Answers(
            self._lists(name, repeat, "lists", self._order),
            others,
            any(part.drawn for part in parts),
            next((part.notes for part in parts if part.notes), ()),
            next((part.refusal for part in parts if part.refusal is not None), None),
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


def _unseen(users: int) -> None:
    """Take progress that is not shown."""


@contextmanager
def opened(
    config: Config, models: Models, limit: Limit, whole: str, clock: Clock, progress: bool
) -> Iterator[InBuckets]:
    """Yield the models of a config, fitted and asked on buckets that are made, or kept from before.

    Parameters
    ----------
    whole : str
        Whether models that must learn from all events at once are to ``keep``, or ``refuse``.

    Raises
    ------
    HarnessError
        Such a model, a bucket that is larger than the memory, and what `InBuckets` raises.
    """
    layout, kept = config.layout(), _of_all_events(models)
    needed = f"all events need about {memory.shown(memory.needed(layout))} of memory; {limit.says}"
    if kept and whole == "refuse":
        raise UsageError(
            f"{needed}, and {counted(len(kept), 'model learns', 'models learn')} from all events "
            f"at once: {', '.join(kept)}; leave out such models, allow more (--memory), or let "
            'them alone have all events in memory: --whole keep (in Python, whole="keep")'
        )
    refuse_rows_without_order(layout, config.split)
    with ExitStack() as stack:
        total = 2 * estimated_rows(layout)  # each is read, and then put into a bucket
        with clock.step("read"), steps("making buckets", total, " rows", progress) as bar:
            given = prepared(layout, bar.update, kept=config.data.cache)
            buckets = stack.enter_context(given)
        _refuse_larger(max(buckets.known.events), limit)
        say = f"{needed}: users are evaluated in {counted(len(buckets), 'bucket')}"
        print(say, file=sys.stderr)
        folder = stack.enter_context(scratch_folder(buckets.folder.with_name("lists")))
        found = InBuckets(config, buckets, models, kept, folder, clock, progress)
        _say_of_users(found, limit)
        yield found


def _say_of_users(found: InBuckets, limit: Limit) -> None:
    """Say where the evaluated users need more memory than there is."""
    config, n = found.config, len(found.task.evaluation_set.users)
    lists = sum(model.repeats for model in config.models)
    needed = memory.BASE + memory.of_users(n, lists, config.evaluation.k, len(asked(config)))
    if needed > limit.size:
        print(
            f"{counted(n, 'evaluated user')} with {counted(lists, 'list')} each need about "
            f"{memory.shown(needed)} of memory; {limit.says}: ask for fewer repeats or metrics if "
            "that is too much",
            file=sys.stderr,
        )


def _of_all_events(models: Models) -> list[str]:
    """Return the models that can only learn from all events at once."""
    found = {
        name: None
        for of_repeat in models
        for name, model in of_repeat.items()
        if not isinstance(itself(model), PrecomputedLists) and not fits_in_parts(model)
    }
    return list(found)


def _refuse_larger(events: int, limit: Limit) -> None:
    needed = memory.BASE + memory.AN_EVENT * events
    if needed > limit.size:
        raise UsageError(
            f"the largest bucket of users has {events:,} events and needs {memory.shown(needed)} "
            f"of memory; {limit.says}: allow more with --memory"
        )


def _asked(name: str, model: Recommender, task: Task, others: Task, repeat: int) -> Answers:
    own = task.evaluation_set
    again = repeat == 0 and len(own.users) > 0
    told: FromSums = model  # type: ignore[assignment]
    model = guard.guarded(name, "for_users", lambda: told.for_users(task.train))
    return ask(name, model, task, others, repeat, _unseen, again=again)


def _timed(waiting: Steps, clock: Clock) -> Steps:
    """Yield the steps of a model, whose seconds are counted."""
    with clock.step("fit"):
        step = after(waiting)
    while not isinstance(step, Ended):
        total = yield partial(_in_time, step, clock)
        with clock.step("fit"):
            step = after(waiting, total)


def _in_time(step: Step, clock: Clock, part: Train) -> Sums:
    with clock.step("fit"):
        return step(part)
