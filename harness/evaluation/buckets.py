"""A log larger than memory: the same evaluation, a bucket of users at a time.

What is global is added up over the buckets: the events of every item, the cut-off of a split per
user, and what models learn from. Then each bucket has its part of the evaluation set, and every
model is asked for the lists of its users, which wait on disk until those of all are scored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.core.arrays import Int64
from harness.core.errors import UsageError, counted
from harness.core.io import told_if_full
from harness.core.progress import Observer
from harness.core.steps import of_parts
from harness.data.buckets import Buckets, estimated_rows, prepared
from harness.data.dataset import Dataset
from harness.evaluation import memory
from harness.evaluation.answers import Answers, ask
from harness.evaluation.fold import Fold, Models
from harness.evaluation.learn import Learner, ask_part, learn, of_all_events
from harness.evaluation.memory import Limit
from harness.metrics import Metric
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol import evaluation_set, users
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.task import Task, log_evaluation_set, noted, refuse_rows_without_order

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Bucket:
    """What is kept of a bucket when its events are let go."""

    evaluated: EvaluationSet
    left_out: EvaluationSet
    users: pl.DataFrame


class InBuckets:
    """The models of a fold, fitted and asked a bucket of users at a time: an `Evaluator`.

    They fit in parts or are files of lists. Its task has no events; positions of users are those
    among themselves.

    Parameters
    ----------
    folder : Path
        Where lists wait; the caller's.

    Raises
    ------
    HarnessError
        An empty evaluation set, a model that breaks its contract, a full disk.
    """

    task: Task
    profile: pl.DataFrame

    def __init__(self, fold: Fold, buckets: Buckets, folder: Path) -> None:
        self.fold, self.events = fold, max(buckets.known.events)
        self._buckets, self._folder, self._numbers = buckets, folder, count()
        self._answers: dict[tuple[str, int], list[Answers]] = {}
        self._total = of_parts(self._datasets)
        self._plan, learners = learn(fold, buckets.empty(), self._total)
        with fold.observer.step("recommend"):
            asked = [self._ask(learners, self._plan.task(part)) for part in self._datasets()]
            self._merge(asked)
        for learner in learners:  # its memory is free again; files of lists are asked later
            del fold.models[learner.repeat][learner.name]
        seconds = fold.observer.seconds["recommend"]
        fold.observer.log(f"recommend in {counted(len(buckets), 'bucket')}, {seconds:.1f} s")
        log_evaluation_set(self.task.evaluation_set, fold.observer)

    def catalogue(self, metrics: Sequence[Metric]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""
        return self._plan.catalogue(metrics, self._total)

    def answers(self, settings: ModelConfig) -> list[Answers]:
        """Return every repeat's answers for all users, in the order of the evaluation set."""
        name = settings.name
        repeats = list[Answers]()
        for repeat, models in enumerate(self.fold.models[: settings.repeats]):
            if name in models:  # a file of lists
                with self.fold.clocks[name].step("recommend"):
                    answers = ask(name, models[name], self.task, repeat)
            else:
                answers = self._of_all_users(self._answers.pop((name, repeat)))
            repeats.append(answers)
        return repeats

    def _datasets(self) -> Iterator[Dataset]:
        """Yield the buckets, one at a time."""
        with self.fold.observer.bar("reading buckets", len(self._buckets), " buckets") as bar:
            for data in self._buckets.datasets():
                yield data
                bar.update()

    def _ask(self, learners: Sequence[Learner], task: Task) -> _Bucket:
        """Ask every model for the lists of a bucket's users."""
        failures = self.fold.failures
        for learner in learners:
            name = learner.name
            if name not in failures.errors:
                with failures.caught(name), self.fold.clocks[name].step("recommend"):
                    answers = ask_part(learner, task)
                    answers = replace(
                        answers,
                        lists=self._on_disk(answers.lists),
                        left_out=answers.left_out and self._on_disk(answers.left_out),
                    )
                    self._answers.setdefault((name, learner.repeat), []).append(answers)
        sets = task.evaluation_set, task.left_out.evaluation_set
        evaluated, beyond = map(evaluation_set.without_seen, sets)
        return _Bucket(evaluated, beyond, users.of_events(task))

    def _on_disk(self, lists: Recommendations) -> Recommendations:
        """Return the same lists, which need memory when they are looked at."""
        if lists.items.size == 0:
            return lists
        path = self._folder / f"{next(self._numbers)}.npy"
        place = "HARNESS_CACHE_DIR=FOLDER (TMPDIR=FOLDER where nothing is kept)"
        cure = f"make room, or name a folder on another disk: {place} harness run …"
        with told_if_full(self._folder, cure):
            np.save(path, lists.items, allow_pickle=False)
        return Recommendations(np.load(path, mmap_mode="r", allow_pickle=False))

    def _merge(self, buckets: Sequence[_Bucket]) -> None:
        """Make the task of all users of those of the buckets."""
        evaluated, self._order = evaluation_set.merged([b.evaluated for b in buckets])
        left_out, self._left_out_order = evaluation_set.merged([b.left_out for b in buckets])
        config, data, split = self._plan.config, self._plan.data, self._plan.split
        with noted(data):
            rule = config.evaluation.candidates or data.candidates
            evaluation_set.refuse_empty(evaluated.funnel, len(evaluated.candidates), rule, split)
        self.profile = pl.concat([bucket.users for bucket in buckets])[self._order]
        self.task = self._plan.task_of(evaluated, left_out)

    def _of_all_users(self, buckets: Sequence[Answers]) -> Answers:
        """Return the answers for all users by those for each bucket's."""
        left_out = [bucket.left_out for bucket in buckets if bucket.left_out is not None]
        whole = len(left_out) == len(buckets)
        return Answers(
            _stacked([bucket.lists for bucket in buckets], self._order),
            _stacked(left_out, self._left_out_order) if whole else None,
            drawn=any(bucket.drawn for bucket in buckets),
            refusal=min((b.refusal for b in buckets if b.refusal is not None), default=None),
            changes=min((b.changes for b in buckets if b.changes is not None), default=None),
        )


def _stacked(lists: Sequence[Recommendations], order: Int64) -> Recommendations:
    """Return the lists of all buckets' users in another order."""
    width = max(part.items.shape[1] for part in lists)
    rows = [part.items for part in lists if part.items.shape[1] == width]  # none has no columns
    return Recommendations(np.concatenate(rows)[order])


@contextmanager
def opened(config: Config, models: Models, limit: Limit, observer: Observer) -> Iterator[Buckets]:
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
        with observer.step("read"), observer.bar("making buckets", total, " rows") as bar:
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
        n_events = counted(sum(buckets.known.events), "event")
        observer.log(f"read {n_events} into buckets, {observer.seconds['read']:.1f} s")
        yield buckets
