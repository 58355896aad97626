"""The same evaluation where users are divided: what each part does, and what all have in common.

A part is the data set of some users: a bucket on disk, or on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from harness.config import Config, GivenSplit, TimeSplit
from harness.core.arrays import Floats, Int32, Int64
from harness.core.errors import RecommenderError
from harness.core.exact_sum import Largest, Sums
from harness.core.progress import Clock
from harness.core.steps import Ended, Steps, Total, after
from harness.data.dataset import Dataset
from harness.data.interactions import counts_of
from harness.experiment.answers import Answers, ask
from harness.experiment.build import itself
from harness.experiment.failures import Failures
from harness.experiment.file_model import PrecomputedLists
from harness.metrics import Metric, needs
from harness.metrics.grades import refuse_grades
from harness.models import guard, item_stats
from harness.models.base import Recommender, Train
from harness.models.item_stats import Catalogue, TrainCounts
from harness.models.sums import FromSums, Step, fit_all, fits_in_parts, without_events
from harness.models.sums import Steps as ModelSteps
from harness.protocol import (
    evaluation_set,
    fingerprint,
    newcomers,
    split,
    strays,
    true_items,
    users,
)
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.evaluation_set import Step as Funnel
from harness.protocol.fingerprint import fields_of
from harness.protocol.k_core import Core, core_steps
from harness.protocol.split import Split
from harness.protocol.task import VALUES, Task, asked, noted, of_users
from harness.results.record import Evaluation

Models = Sequence[dict[str, Recommender]]
"""Of each repeat, the models that have so many, by name."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What all parts have in common once their events are counted.

    Attributes
    ----------
    data : Dataset
        Of no users.
    split : Split
        Of all parts, without events.
    candidates : int32 array
    item_counts : int64 array
        The training events of every item.
    highest : float64 array, (1,), optional
        The highest grade, where true items have any.
    core : Core, optional
        The k-core that parts are taken from.
    """

    config: Config
    data: Dataset
    split: Split
    candidates: Int32
    item_counts: Int64
    highest: Floats | None
    core: Core | None

    def train(self, part: Dataset) -> Train:
        """Return a part's training events; in it each item may be a candidate."""
        return self._train(part, np.arange(len(self.item_counts), dtype=np.int32))

    def _train(self, part: Dataset, candidates: Int32) -> Train:
        part = within(self.core, part)
        events = split.divided(part, self.config.split).train
        return Train(part, events, candidates, self.split.cutoff)

    def train_of_all(self) -> Train:
        """Return what all parts' training events have in common: all but users and events."""
        return without_events(self._train(self.data, self.candidates))

    def on_train(self, step: Step, part: Dataset) -> Sums:
        """Return what a step makes of a part's training events."""
        return step(self.train(part))

    def total_of_train(self, total: Total[Dataset]) -> Total[Train]:
        """Return what adds up functions of training events, by what adds up those of parts."""
        return lambda step: total(partial(self.on_train, step))

    def tasks(self, part: Dataset) -> tuple[Task, Task]:
        """Return a part's share of the task, and that of the users whom it leaves out."""
        rules, part = self.config.evaluation, within(self.core, part)
        own = replace(split.divided(part, self.config.split), cutoff=self.split.cutoff)
        found = evaluation_set.of_candidates(part, own, rules, self.candidates)
        train = Train(part, own.train, self.candidates, own.cutoff)
        task = of_users(Task(self.config, part, own, found, train), found)
        left_out = evaluation_set.left_out(found, part, own, rules)
        return task, of_users(task, left_out)

    def task_of(self, found: EvaluationSet) -> Task:
        """Return the task of an evaluation set of all users, without events."""
        data = replace(self.data, user_ids=found.user_ids)
        train = Train(data, data.events, self.candidates, self.split.cutoff)
        return of_users(Task(self.config, data, self.split, found, train), found)

    def catalogue(self, metrics: Sequence[Metric], total: Total[Dataset]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""

        def counts() -> TrainCounts:
            found = self.train_counts(total)
            asked = any(metric.definition.shares for metric in metrics)
            shares = found.user_share if asked else np.empty(0)
            return replace(found, shares=shares.copy)  # worked out here: workers have parts alone

        return item_stats.of_candidates(self.train_of_all(), needs(metrics), counts)

    def train_counts(self, total: Total[Dataset]) -> TrainCounts:
        """Return what training events say of the candidates."""

        def having() -> tuple[Int64, int]:
            sums: Any = total(self._having)
            return sums["users"], int(sums["any"][0])

        return item_stats.candidate_counts(self.item_counts, self.candidates, having)

    def refuse_slices(self, total: Total[Dataset]) -> None:
        """Raise UsageError where users cannot be sliced as the config says, before models learn."""
        columns = list(dict.fromkeys(self.config.compare.slices))
        if columns:
            counts: Any = total(partial(self._value_counts, columns))
            users.refuse_without_values(self.config, counts)

    def _value_counts(self, columns: Sequence[str], part: Dataset) -> Sums:
        return users.value_counts(self.tasks(part)[0], columns)

    def evaluation(self, sums: Mapping[str, Any]) -> Evaluation:
        """Return what is evaluated, by the sums (`evaluation_set.sums`) of all parts.

        Raises
        ------
        EmptyEvaluationSetError
            Nobody is.
        """
        rules, data = self.config.evaluation, self.data
        funnel = tuple(Funnel(name, int(users[0])) for name, users in sums["funnel"].items())
        rule = rules.candidates or data.candidates
        with noted(data):
            evaluation_set.refuse_empty(funnel, len(self.candidates), rule, self.split)
        ids = data.item_ids.gather(self.candidates)
        fields = fields_of(fingerprint.of_sums(sums["leaves"]), ids, rules.k)
        n = len(self.candidates)
        return Evaluation.made(rules.k, n, fields, funnel, data, self.config, self.split)

    def _having(self, part: Dataset) -> Sums:
        having, having_any = item_stats.users_having(self.train(part))
        return {"users": having, "any": np.array([having_any])}


def plan_steps(config: Config, data: Dataset) -> Steps[Dataset, Plan]:
    """Yield steps; return the plan.

    Parameters
    ----------
    data : Dataset
        What the parts have in common: the items, the span, and no user or event.

    Raises
    ------
    HarnessError
        A log whose last events are cut off from the rest, one side of the split is empty, or the
        rule of candidates does not go with it.
    """
    core = yield from core_steps(*config.data.least, len(data.item_ids))
    data = within(core, data)
    sums: Any = yield partial(_counts, config, core)
    data = strays.checked(config, data, sums.get("days"))
    true_items.require_types(data, config.evaluation)
    found = split.of_sums(split.divided(data, config.split), sums["split"])
    split.refuse_empty(found, data)
    if isinstance(config.split, GivenSplit):
        sides = partial(_users_of, config, core)
        users = yield from newcomers.newcomer_steps(sums["odd"], sides)
        items = split.newcomer_items(data, sums["items"], sums["valid items"])
        found = replace(found, alike=(*users.notes("user"), *items))
    rule = config.evaluation.candidates or data.candidates
    in_train = sums["items"] > 0
    candidates = evaluation_set.candidates_of(data, found, rule, lambda: in_train)
    highest = sums["highest"].values if config.graded else None
    if highest is not None:
        refuse_grades(asked(config), highest, VALUES)
    return Plan(config, data, found, candidates, sums["items"], highest, core)


def within(core: Core | None, part: Dataset) -> Dataset:
    """Return a part of a log, or of its k-core."""
    return part if core is None else core.of(part)


def _counts(config: Config, core: Core | None, part: Dataset) -> Sums:
    part = within(core, part)
    own = split.divided(part, config.split)
    items = counts_of(own.train.item, len(part.item_ids))
    highest = Largest(true_items.highest_grade(part, own, config.evaluation))
    sums: Sums = {"split": split.sums(own), "items": items, "highest": highest}
    if isinstance(config.split, TimeSplit):
        return {**sums, "days": strays.by_day(part)}
    if not isinstance(config.split, GivenSplit):
        return sums
    odd = newcomers.odd_keys(newcomers.users_of(part, own.train, own.valid))
    valid = counts_of(own.valid.item, len(part.item_ids))
    return {**sums, "odd": odd, "valid items": valid}


def _users_of(config: Config, core: Core | None, part: Dataset) -> newcomers.Sides:
    """Return the users of a part of a given split, in both of its tables."""
    part = within(core, part)
    own = split.divided(part, config.split)
    return newcomers.users_of(part, own.train, own.valid)


def in_parts(models: Models) -> Iterator[tuple[int, str, Recommender]]:
    """Yield the models that are fitted and asked part by part, with their repeat."""
    for repeat, of_repeat in enumerate(models):
        for name, model in of_repeat.items():
            if not isinstance(itself(model), PrecomputedLists):
                yield repeat, name, model


def of_all_events(models: Models) -> list[str]:
    """Return the models that can only learn from all events at once."""
    found = {name: None for _, name, model in in_parts(models) if not fits_in_parts(model)}
    return list(found)


def fit(
    plan: Plan,
    models: Sequence[tuple[int, str, Recommender]],
    total: Total[Dataset],
    clocks: Mapping[str, Clock],
    failures: Failures,
) -> None:
    """Fit models by sums over the parts; one that raises is left as it is.

    Raises
    ------
    RecommenderError
        The parts of one do not add up.
    """
    given = plan.train_of_all()
    waiting = [
        _timed(name, guard.fit_steps(name, m, given), clocks[name], failures)
        for _, name, m in models
    ]
    try:
        fit_all(waiting, plan.total_of_train(total))
    except (TypeError, ValueError) as error:  # what models raise has been told
        raise RecommenderError(
            f"the sums of a model's parts do not add up to one: {error}; each part must "
            "return the same keys and shapes"
        ) from error


def ask_part(name: str, model: Recommender, task: Task, others: Task, repeat: int) -> Answers:
    """Return a fitted model's answers for the users of a part."""
    again = repeat == 0 and len(task.evaluation_set.users) > 0
    told: FromSums = model  # type: ignore[assignment]
    model = guard.guarded(name, "for_users", lambda: told.for_users(task.train))
    return ask(name, model, task, others, repeat, unseen, again=again)


def unseen(users: int) -> None:
    """Take progress that is not shown."""


def _timed(name: str, waiting: ModelSteps, clock: Clock, failures: Failures) -> ModelSteps:
    """Yield the steps of a model until it fails; their seconds are counted."""
    sums: Any = {}
    with failures.caught(name), closing(waiting):
        while True:
            with clock.step("fit"):
                step = after(waiting, sums.get("sums"))
            if isinstance(step, Ended):
                return
            sums = yield partial(_in_time, name, step, clock, failures)
            if name in failures.found:
                return
            if "failed" in sums:  # in another process
                raise RecommenderError(min(sums["failed"]))


def _in_time(name: str, step: Step, clock: Clock, failures: Failures, part: Train) -> Sums:
    """Return the sums of a part, or what the model raised."""
    if name not in failures.found:
        with failures.caught(name), clock.step("fit"):
            return {"sums": step(part)}
    return {"failed": {str(failures.found[name].error): np.array([1])}}
