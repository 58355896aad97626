"""A log larger than memory: the same evaluation, a bucket of users at a time.

What is global is added up over the buckets: the events of every item, the cut-off of a split per
user, and what models learn from. Then each bucket has its part of the evaluation set, and every
model is asked for the lists of its users, which are scored together.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.core.arrays import Int64
from harness.core.errors import UsageError, counted
from harness.core.progress import Observer
from harness.core.steps import of_parts
from harness.data.buckets import Buckets, estimated_rows, prepared
from harness.data.dataset import Dataset
from harness.evaluation import memory
from harness.evaluation.answers import Answers
from harness.evaluation.fold import Evaluator, Fold
from harness.evaluation.folds import require_windows
from harness.evaluation.memory import Limit
from harness.evaluation.plan import Learner, learn, of_all_events
from harness.metrics import Metric
from harness.models.item_stats import Catalogue
from harness.models.recommendations import Recommendations
from harness.protocol.evaluation_set import EvaluationSet, merged, refuse_empty, without_seen
from harness.protocol.task import Task, log_evaluation_set, noted, refuse_rows_without_order
from harness.protocol.users import of_events

_log = logging.getLogger(__name__)


class InBuckets(Evaluator):
    """What asks the models of a fold: each learns from sums, and is asked a bucket at a time.

    Files of lists are read for all users. The task has no events; positions of users are those
    among themselves.
    """

    def __init__(self, fold: Fold, buckets: Buckets) -> None:
        self._datasets = partial(_datasets, buckets, fold.observer)
        self._answers = defaultdict[tuple[str, int], list[Answers]](list)
        self._plan, learners = learn(fold, buckets.empty(), of_parts(self._datasets))
        evaluated, left_out, profiles = list[EvaluationSet](), list[EvaluationSet](), []
        with fold.observer.step("recommend"):
            for data in self._datasets():
                task = self._plan.task(data)
                self._ask(fold, learners, task)
                evaluated.append(without_seen(task.evaluation_set))
                left_out.append(without_seen(task.left_out.evaluation_set))
                profiles.append(of_events(task))
            super().__init__(fold, self._merged(evaluated, left_out))
        self.events = max(buckets.known.events)
        self._profile = pl.concat(profiles)[self._order]
        for learner in learners:  # its memory is free again; files of lists are asked later
            del fold.models[learner.repeat][learner.name]
        seconds = fold.observer.seconds["recommend"]
        fold.observer.log(f"recommend in {counted(len(buckets), 'bucket')}, {seconds:.1f} s")
        log_evaluation_set(self.task.evaluation_set, fold.observer)

    def profile(self) -> pl.DataFrame:
        """Return what is known of the evaluated users."""
        return self._profile

    def catalogue(self, metrics: Sequence[Metric]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""
        return self._plan.catalogue(metrics, of_parts(self._datasets))

    def answers(self, settings: ModelConfig) -> list[Answers]:
        """Return every repeat's answers for all users, in the order of the evaluation set."""
        if settings.use is None:
            return super().answers(settings)
        return [
            self._of_all_users(self._answers.pop((settings.name, repeat)))
            for repeat in range(settings.repeats)
        ]

    def _ask(self, fold: Fold, learners: Sequence[Learner], task: Task) -> None:
        """Ask every model for the lists of a bucket's users."""
        for learner in learners:
            name = learner.name
            if name not in fold.failures.errors:
                with fold.failures.caught(name), fold.clocks[name].step("recommend"):
                    self._answers[name, learner.repeat].append(learner.ask(task))

    def _merged(
        self, evaluated: Sequence[EvaluationSet], left_out: Sequence[EvaluationSet]
    ) -> Task:
        """Return the task of all users by the sets of the buckets; note how users move."""
        config, data, split = self._plan.config, self._plan.data, self._plan.split
        every, self._order = merged(evaluated)
        beyond, self._left_out_order = merged(left_out)
        with noted(data):
            rule = config.evaluation.candidates or data.candidates
            refuse_empty(every.funnel, len(every.candidates), rule, split)
        return Task(config, replace(data, user_ids=every.user_ids), split, every, beyond)

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


def _datasets(buckets: Buckets, observer: Observer) -> Iterator[Dataset]:
    """Yield the buckets, one at a time."""
    with observer.bar("reading buckets", len(buckets), " buckets") as bar:
        for data in buckets.datasets():
            yield data
            bar.update()


def _stacked(lists: Sequence[Recommendations], order: Int64) -> Recommendations:
    """Return the lists of all buckets' users in another order."""
    width = max(part.items.shape[1] for part in lists)
    rows = [part.items for part in lists if part.items.shape[1] == width]  # none has no columns
    return Recommendations(np.concatenate(rows)[order])


@contextmanager
def in_buckets(
    config: Config, folds: Sequence[Fold], limit: Limit
) -> Iterator[Callable[[Fold], Evaluator]]:
    """Yield what makes the evaluator of a fold; buckets are made, or kept from before."""
    layout, observer = folds[0].config.layout(), folds[0].observer
    refused = of_all_events([models for fold in folds for models in fold.models])
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
        _log.warning("%s: users are evaluated in %s", needed, counted(len(buckets), "bucket"))
        n_events = counted(sum(buckets.known.events), "event")
        observer.log(f"read {n_events} into buckets, {observer.seconds['read']:.1f} s")
        require_windows(config, buckets.empty())
        yield partial(InBuckets, buckets=buckets)
