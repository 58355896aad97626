"""Users in buckets of a log larger than memory, or in parts that no process has all of."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import polars as pl

from harness.config import Config, GivenSplit, ModelConfig, TimeSplit
from harness.core.arrays import Int32, Int64
from harness.core.errors import RecommenderError, UsageError, counted
from harness.core.exact_sum import Largest, Sums, Total, of_parts
from harness.core.progress import Observer, doing
from harness.data.buckets import Buckets, estimated_rows, prepared
from harness.data.dataset import Dataset
from harness.evaluation import memory
from harness.evaluation.answers import Answers, ask
from harness.evaluation.fold import (
    Failures,
    Fold,
    Models,
    Users,
    ask_in_memory,
    require_windows,
)
from harness.evaluation.list_model import PrecomputedLists
from harness.evaluation.part import describing
from harness.metrics import Metric, needs
from harness.metrics.grades import refuse_grades
from harness.models import guard
from harness.models.base import Recommender, Train
from harness.models.item_stats import Catalogue, candidate_counts, catalogue_of, users_having
from harness.models.recommendations import Recommendations
from harness.models.sums import FromSums, Step, Steps, after, fit_all, fits_in_parts, without_events
from harness.protocol import evaluation_set, newcomers, split, strays, users
from harness.protocol.k_core import Core, core_of_parts
from harness.protocol.split import Split
from harness.protocol.task import (
    VALUES,
    Task,
    asked,
    log_evaluation_set,
    noted,
    refuse_rows_without_order,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Plan:
    """What all parts have in common: `data` has no users, `split` no events."""

    config: Config
    data: Dataset
    split: Split
    candidates: Int32
    item_counts: Int64
    core: Core | None

    def train(self, part: Dataset) -> Train:
        """Return a part's training events; in it each item may be a candidate."""
        part = within(self.core, part)
        events = split.divided(part, self.config.split).train
        every_item = np.arange(len(self.item_counts), dtype=np.int32)
        return Train(part, events, every_item, self.split.cutoff)

    def train_of_all(self) -> Train:
        """Return what all parts' training events have in common: all but users and events."""
        return without_events(replace(self.train(self.data), candidates=self.candidates))

    def task(self, part: Dataset) -> Task:
        """Return a part's share of the task."""
        rules, part = self.config.evaluation, within(self.core, part)
        divided = replace(split.divided(part, self.config.split), cutoff=self.split.cutoff)
        evaluated = evaluation_set.of_candidates(part, divided, rules, self.candidates)
        return Task(self.config, part, divided, evaluated)

    def catalogue(self, metrics: Sequence[Metric], total: Total[Dataset]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""
        counts, having = None, (self.item_counts, 0)
        if any(metric.definition.shares for metric in metrics):

            def having_of(part: Dataset) -> Sums:
                users_of_items, any_item = users_having(self.train(part))
                return {"users": users_of_items, "any": np.array([any_item])}

            sums: Any = total(having_of)
            having = sums["users"], int(sums["any"][0])
        if "train" in needs(metrics):
            counts = candidate_counts(self.item_counts, self.candidates, lambda: having)
        return catalogue_of(self.train_of_all(), needs(metrics), counts)


def plan_of(config: Config, data: Dataset, total: Total[Dataset]) -> Plan:
    """Return the plan of a log in parts, which have the items and the span of `data` in common."""
    least_user, least_item = config.data.least
    core = core_of_parts(least_user, least_item, len(data.item_ids), total)
    data = within(core, data)
    sums: Any = total(partial(_counts, config, core))
    data = strays.checked(config, data, sums.get("days"))
    evaluation_set.require_types(data, config.evaluation)
    whole = split.of_sums(split.divided(data, config.split), sums["split"])
    split.refuse_empty(whole, data)
    if isinstance(config.split, GivenSplit):

        def sides_of(part: Dataset) -> newcomers.Sides:
            part = within(core, part)
            sides = split.divided(part, config.split)
            return newcomers.users_of(part, sides.train, sides.valid)

        new_users = newcomers.newcomers_of_parts(sums["odd"], sides_of, total)
        new_items = split.newcomer_items(data, sums["items"], sums["valid items"])
        whole = replace(whole, alike=(*new_users.notes("user"), *new_items))
    rule = config.evaluation.candidates or data.candidates
    candidates = evaluation_set.candidates_of(data, whole, rule, sums["items"] > 0)
    if config.graded:
        refuse_grades(asked(config), sums["highest"].values, VALUES)
    return Plan(config, data, whole, candidates, sums["items"], core)


def within(core: Core | None, part: Dataset) -> Dataset:
    """Return a part of a log, or of its k-core."""
    return part if core is None else core.of(part)


def _counts(config: Config, core: Core | None, part: Dataset) -> Sums:
    part = within(core, part)
    sides = split.divided(part, config.split)
    items = sides.train.item_counts(len(part.item_ids))
    highest = Largest(evaluation_set.highest_grade(part, sides, config.evaluation))
    sums: Sums = {"split": split.sums(sides), "items": items, "highest": highest}
    if isinstance(config.split, TimeSplit):
        return {**sums, "days": strays.by_day(part)}
    if not isinstance(config.split, GivenSplit):
        return sums
    odd = newcomers.odd_forms(newcomers.users_of(part, sides.train, sides.valid))
    valid = sides.valid.item_counts(len(part.item_ids))
    return {**sums, "odd": odd, "valid items": valid}


class Learner(NamedTuple):
    """A repeat of a model that is fitted and asked part by part."""

    repeat: int
    name: str
    model: Recommender

    def ask(self, task: Task) -> Answers:
        """Return the fitted model's answers for the users of a part."""
        from_sums = cast(FromSums, self.model)
        learnt = guard.guarded(self.name, "for_users", lambda: from_sums.for_users(task.train))
        return ask(self.name, learnt, task, self.repeat)


def learners_of(models: Models) -> list[Learner]:
    """Return all repeats of models, without files of lists, which learn nothing."""
    return [
        Learner(repeat, name, model)
        for repeat, by_name in enumerate(models)
        for name, model in by_name.items()
        if not isinstance(model, PrecomputedLists)
    ]


def of_all_events(models: Models) -> str:
    """Return which models can only learn from all events at once, for messages."""
    names = dict.fromkeys(m.name for m in learners_of(models) if not fits_in_parts(m.model))
    if not names:
        return ""
    learn = counted(len(names), "model learns", "models learn")
    return f"{learn} from all events at once: {', '.join(names)}"


def learn(fold: Fold, data: Dataset, total: Total[Dataset]) -> tuple[Plan, list[Learner]]:
    """Return the plan of parts, and the models that have learnt from sums over them."""
    observer, failures = fold.observer, fold.failures
    with observer.step("evaluation set", "making the evaluation set"), noted(data):
        plan = plan_of(fold.config, data, total)
    learners = [model for model in learners_of(fold.models) if model.name not in failures.errors]
    if len(plan.candidates) == 0 or not learners:  # told when the users are known, too
        return plan, []
    columns = list(dict.fromkeys(fold.config.compare.slices))
    if columns:  # before models learn
        counts: Any = total(lambda part: users.value_counts(plan.task(part), columns))
        users.refuse_without_values(fold.config, counts)
    with observer.step("fit", "fitting models"):
        _fit(plan, learners, total, fold.clocks, failures)
    n_models = counted(len({learner.name for learner in learners}), "model")
    observer.log(f"fit {n_models}, {observer.seconds['fit']:.1f} s")
    return plan, learners


def _fit(
    plan: Plan,
    learners: Sequence[Learner],
    total: Total[Dataset],
    clocks: Mapping[str, Observer],
    failures: Failures,
) -> None:
    """Fit models; those that fail take no more steps."""
    train = plan.train_of_all()

    def sums_of_all(step: Step) -> Sums:
        try:
            return total(lambda part: step(plan.train(part)))
        except (TypeError, ValueError) as error:  # what models raise is in `failures`
            raise RecommenderError(
                f"the sums of a model's parts cannot be added: {error}; each part must return "
                "the same keys and shapes"
            ) from error

    all_steps = [
        _caught(m.name, guard.fit_steps(m.name, m.model, train), clocks[m.name], failures)
        for m in learners
    ]
    fit_all(all_steps, sums_of_all)


def _caught(name: str, steps: Steps, clock: Observer, failures: Failures) -> Steps:
    """Yield a model's steps, each as `_sums_of` takes it, until the model has learnt or failed."""
    # What is sent back adds up over the parts: "sums" of the parts where the step went well, and
    # "failed", what the model raised in the other parts. One part that failed ends the model.
    total: Any = {}
    while name not in failures.errors:
        step = None
        with failures.caught(name), clock.step("fit", "fitting"):
            if "failed" in total:
                raise RecommenderError(min(total["failed"]))
            # Taken out: no name holds sums while the next ones are made.
            step = after(steps, total.pop("sums", None))
        if step is None:  # it has learnt, or failed just now
            return
        total = yield partial(_sums_of, name, step, clock, failures)


def _sums_of(name: str, step: Step, clock: Observer, failures: Failures, part: Train) -> Sums:
    """Return a part's sums of a model as "sums", or what it raised as "failed"."""
    if name not in failures.errors:
        with failures.caught(name), clock.step("fit", "fitting"):
            return {"sums": step(part)}
    return {"failed": {failures.failed[name].error: np.array([1])}}


def _ask_in_buckets(buckets: Buckets, limit: memory.Limit, fold: Fold, held: int) -> Users:
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
    evaluated, left_out, profiles = [], [], []
    with observer.step("recommend", "recommending"):
        for data in datasets():
            task = plan.task(data)
            for learner in learners:
                name = learner.name
                if name not in failures.errors:
                    with failures.caught(name), fold.clocks[name].step("recommend", "recommending"):
                        answers[name][learner.repeat].append(learner.ask(task))
            evaluated.append(evaluation_set.without_seen(task.evaluation_set))
            left_out.append(evaluation_set.without_seen(task.left_out.evaluation_set))
            profiles.append(users.of_events(task))
        every, order = evaluation_set.merged(evaluated)
        left_out_set, left_out_order = evaluation_set.merged(left_out)
    for learner in learners:  # its memory is free again
        del fold.models[learner.repeat][learner.name]
    config, data = plan.config, replace(plan.data, user_ids=every.user_ids)
    with noted(data):
        rule = config.evaluation.candidates or data.candidates
        evaluation_set.refuse_empty(every.funnel, len(every.candidates), rule, plan.split)
    seconds = observer.seconds["recommend"]
    observer.log(f"recommend in {counted(len(buckets), 'bucket')}, {seconds:.1f} s")
    log_evaluation_set(every, observer)
    memory.require_memory(fold.config, every, held, max(buckets.events), limit)
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
    config: Config, folds: Sequence[Fold], limit: memory.Limit
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
