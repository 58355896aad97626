"""Users in buckets of a log larger than memory, or in parts that no process has all of."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.core.arrays import Int64
from harness.core.errors import UsageError, counted
from harness.core.exact_sum import Sums, of_parts
from harness.core.progress import Observer, doing
from harness.data.buckets import Buckets, estimated_rows, prepared
from harness.data.dataset import Dataset
from harness.evaluation import memory
from harness.evaluation.answers import Answers
from harness.evaluation.assemble import assemble
from harness.evaluation.finished import Finished
from harness.evaluation.fold import Failures, Fold, Models, Users, ask_in_memory
from harness.evaluation.folds import require_windows
from harness.evaluation.memory import Limit, require_memory
from harness.evaluation.part import Content, EvaluatedPart, describing, evaluate_part
from harness.evaluation.plan import Learner, learn, of_all_events
from harness.models.recommendations import Recommendations
from harness.protocol.evaluation_set import EvaluationSet, merged, refuse_empty, without_seen
from harness.protocol.task import Task, asked, log_evaluation_set, noted, refuse_rows_without_order
from harness.protocol.users import of_events, with_attributes
from harness.results.run import Run
from harness.stats.slices import USER

_log = logging.getLogger(__name__)

Part = TypeVar("Part", covariant=True)
Other = TypeVar("Other")


def _ask_in_buckets(buckets: Buckets, limit: Limit, fold: Fold, held: int) -> Users:
    """Ask models, which learn from sums, for the lists of each bucket's users; return all users."""
    # Files of lists are read later, for all users. The task has no events; positions of users are
    # those among themselves.
    observer, failures = fold.observer, fold.failures

    def datasets() -> Iterator[Dataset]:
        with doing("bucket", len(buckets)) as stage:
            for data in buckets.datasets():
                yield data
                stage.update()

    total = of_parts(datasets)
    plan, learners = learn(fold, buckets.shared, total)
    answers = defaultdict[str, list[list[Answers]]](lambda: [[] for _ in fold.models])
    evaluated, left_out, profiles = list[EvaluationSet](), list[EvaluationSet](), []
    with observer.step("recommend", "recommending"):
        for data in datasets():
            task = plan.task(data)
            for learner in learners:
                name = learner.name
                if name not in failures.errors:
                    with failures.caught(name), fold.clocks[name].step("recommend", "recommending"):
                        answers[name][learner.repeat].append(learner.ask(task))
            evaluated.append(without_seen(task.evaluation_set))
            left_out.append(without_seen(task.left_out.evaluation_set))
            profiles.append(of_events(task))
        every, order = merged(evaluated)
        left_out_set, left_out_order = merged(left_out)
    for learner in learners:  # its memory is free again
        del fold.models[learner.repeat][learner.name]
    config, data = plan.config, replace(plan.data, user_ids=every.user_ids)
    with noted(data):
        rule = config.evaluation.candidates or data.candidates
        refuse_empty(every.funnel, len(every.candidates), rule, plan.split)
    seconds = observer.seconds["recommend"]
    observer.log(f"recommend in {counted(len(buckets), 'bucket')}, {seconds:.1f} s")
    log_evaluation_set(every, observer)
    require_memory(fold.config, every, held, max(buckets.events), limit)
    all_users = Task(config, data, plan.split, every, left_out_set)

    def ask(settings: ModelConfig) -> list[Answers]:
        if settings.use is None:
            return ask_in_memory(fold, all_users, settings)
        repeats = answers.pop(settings.name)[: settings.repeats]
        return [_of_all_users(repeat, order, left_out_order) for repeat in repeats]

    with observer.step("users", "counting users"):
        catalogue = plan.catalogue((*fold.metrics, *describing(every.k)), total)
    profile = pl.concat(profiles)[order]
    return Users(all_users, profile, catalogue, ask)


def _of_all_users(buckets: Sequence[Answers], order: Int64, left_out_order: Int64) -> Answers:
    """Return the answers for all users by those for each bucket's."""
    left_out = [bucket.left_out for bucket in buckets if bucket.left_out is not None]
    whole = len(left_out) == len(buckets)
    return Answers(
        _stacked([bucket.lists for bucket in buckets], order),
        _stacked(left_out, left_out_order) if whole else None,
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
def in_buckets(
    config: Config, folds: Sequence[Fold], limit: Limit
) -> Iterator[Callable[[Fold, int], Users]]:
    """Yield what returns the users of a fold; buckets are made, or kept from before."""
    layout, observer = folds[0].config.layout(), folds[0].observer
    needed = f"all events need about {memory.shown(memory.needed(layout))} of memory; {limit.says}"
    if refused := of_all_events([models for fold in folds for models in fold.models]):
        raise UsageError(
            f"{needed}, and {refused}; allow more memory (--memory, in Python memory=), remove "
            "these models, or use models that learn by sums"
        )
    refuse_rows_without_order(layout, config.split)
    total = 2 * estimated_rows(layout)  # each is read, and then put into a bucket
    with ExitStack() as stack:
        with observer.step("read", "making buckets", total, " rows") as stage:
            making = prepared(layout, stage.update, kept=config.data.cache)
            buckets = stack.enter_context(making)
        _log.warning("%s: users are evaluated in %s", needed, counted(len(buckets), "bucket"))
        n_events = counted(sum(buckets.events), "event")
        observer.log(f"read {n_events} into buckets, {observer.seconds['read']:.1f} s")
        require_windows(config, buckets.shared)
        yield partial(_ask_in_buckets, buckets, limit)


class Parts(Protocol[Part]):
    """Parts of the users, wherever they are."""

    def total(self, step: Callable[[Any], Sums]) -> Sums:
        """Return what a function of a part adds up to."""

    def kept(
        self, make: Callable[[Any], Content], opened: Callable[[int, Content], Other]
    ) -> Parts[Other]:
        """Return new parts: what `make` makes of each, as `opened` makes it of what was kept."""


@dataclass(frozen=True, eq=False)
class EvaluatedParts:
    """A run whose tables are in the parts of its users."""

    run: Run
    parts: Parts[EvaluatedPart]
    candidate_ids: pl.Series


def evaluate_parts(
    config: Config,
    parts: Parts[Dataset],
    data: Dataset,
    observer: Observer,
    *,
    fail_fast: bool = False,
) -> EvaluatedParts:
    """Evaluate the models of a config where no process has all users.

    Each part has users of whole leaves (`harness.core.random.leaf_of`); `data` is what all have in
    common: the items, the span, and no user or event.
    """
    metrics, finished = asked(config), Finished(config, fresh=True, background=None)
    failures = Failures(fail_fast)
    fold = Fold(config, metrics, failures, observer, finished)
    refuse_in_parts(config, fold.models)
    plan, learners = learn(fold, data, parts.total)
    with observer.step("fit", "fitting"):
        catalogue = plan.catalogue((*metrics, *describing(config.evaluation.k)), parts.total)

    def evaluated_part(part: Dataset) -> Content:
        """Ask the models for the lists of a part's users, and score them; return what is kept."""
        task, repeats = plan.task(part), dict[str, list[Learner]]()
        for learner in learners:
            if learner.name not in failures.errors:
                repeats.setdefault(learner.name, []).append(learner)

        def answers(name: str) -> list[Answers]:
            return [learner.ask(task) for learner in repeats[name]]

        return evaluate_part(
            task,
            with_attributes(of_events(task), task, config.compare.slices),
            [(name, partial(answers, name)) for name in repeats],
            metrics,
            catalogue,
            failures.copy(),  # what fails here fails for this part; all parts are asked
            {name: Observer() for name in repeats},
        ).content(metrics)

    with observer.step("evaluate", "evaluating all parts"):
        evaluated = parts.kept(evaluated_part, partial(EvaluatedPart.opened, metrics))
    observer.log(f"evaluated all parts, {observer.seconds['evaluate']:.1f} s")
    candidate_ids = data.item_ids.gather(plan.candidates)
    run = assemble(fold, plan.data, plan.split, candidate_ids, evaluated.total)
    return EvaluatedParts(run, evaluated, candidate_ids)


def refuse_in_parts(config: Config, models: Models) -> None:
    """Raise UsageError where a model cannot be fitted and asked part by part."""
    if refused := of_all_events(models):
        raise UsageError(
            f"{refused}; remove these models, or run the config without --engine spark (your own "
            "models can learn in parts: docs/baselines.md)"
        )
    files = [model.name for model in config.models if model.use is None]
    if files:
        raise UsageError(
            f'model "{files[0]}" is a file of lists, which a run in parts does not read. Remove '
            "it and score it by itself: harness score FILE --config CONFIG, or in Spark: "
            "harness.spark.evaluate(predictions, truth, metrics)"
        )


def rows_of(
    models: Sequence[str], candidate_ids: pl.Series, name: str, part: EvaluatedPart
) -> pl.DataFrame:
    """Return the rows of a part in a table of the run, ids as text; `name` is its file's."""
    rows = part.run_tables(candidate_ids).rows(name, models)
    texts: dict[str, Any] = {USER: pl.String, "items": pl.List(pl.String)}
    return rows.cast({column: texts[column] for column in rows.columns if column in texts})
