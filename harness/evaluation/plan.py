"""What all parts of the users have in common: split, candidates, what sums over the parts tell.

A part is the data set of some users: a bucket on disk, or on a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from harness.config import Config, GivenSplit, TimeSplit
from harness.core.arrays import Int32, Int64
from harness.core.exact_sum import Largest, Sums
from harness.core.steps import Total
from harness.data.dataset import Dataset
from harness.metrics import Metric, needs
from harness.metrics.grades import refuse_grades
from harness.models import item_stats
from harness.models.base import Train
from harness.models.item_stats import Catalogue, TrainCounts
from harness.models.sums import Step, without_events
from harness.protocol import evaluation_set, newcomers, split, strays, users
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.k_core import Core, core_of_parts
from harness.protocol.split import Split
from harness.protocol.task import VALUES, Task, asked


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
    core : Core, optional
        The k-core that parts are taken from.
    """

    config: Config
    data: Dataset
    split: Split
    candidates: Int32
    item_counts: Int64
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

    def task(self, part: Dataset) -> Task:
        """Return a part's share of the task."""
        rules, part = self.config.evaluation, within(self.core, part)
        divided = replace(split.divided(part, self.config.split), cutoff=self.split.cutoff)
        evaluated = evaluation_set.of_candidates(part, divided, rules, self.candidates)
        return Task(self.config, part, divided, evaluated)

    def task_of(self, evaluated: EvaluationSet, others: EvaluationSet) -> Task:
        """Return the task of an evaluation set of all users, without events."""
        data = replace(self.data, user_ids=evaluated.user_ids)
        return Task(self.config, data, self.split, evaluated, others)

    def catalogue(self, metrics: Sequence[Metric], total: Total[Dataset]) -> Catalogue | None:
        """Return what metrics need to know of the candidates."""

        def having() -> tuple[Int64, int]:
            sums: Any = total(self._having)
            return sums["users"], int(sums["any"][0])

        def counts() -> TrainCounts:
            counts = item_stats.candidate_counts(self.item_counts, self.candidates, having)
            shared = any(metric.definition.shares for metric in metrics)
            shares = counts.user_share if shared else np.empty(0)
            return replace(counts, shares=shares.copy)  # worked out here: workers have parts alone

        return item_stats.of_candidates(self.train_of_all(), needs(metrics), counts)

    def _having(self, part: Dataset) -> Sums:
        having, having_any = item_stats.users_having(self.train(part))
        return {"users": having, "any": np.array([having_any])}

    def refuse_slices(self, total: Total[Dataset]) -> None:
        """Raise UsageError where users cannot be sliced as the config says, before models learn."""
        columns = list(dict.fromkeys(self.config.compare.slices))
        if columns:
            counts: Any = total(partial(self._value_counts, columns))
            users.refuse_without_values(self.config, counts)

    def _value_counts(self, columns: Sequence[str], part: Dataset) -> Sums:
        return users.value_counts(self.task(part), columns)


def plan_of(config: Config, data: Dataset, total: Total[Dataset]) -> Plan:
    """Return the plan of a log in parts.

    Parameters
    ----------
    data : Dataset
        What the parts have in common: the items, the span, and no user or event.
    total : function of a step
        Adds a function of a part up over all parts (`harness.core.steps`).

    Raises
    ------
    HarnessError
        A log whose last events are cut off from the rest, one side of the split is empty, or the
        rule of candidates does not go with it.
    """
    least_user, least_item = config.data.least
    core = core_of_parts(least_user, least_item, len(data.item_ids), total)
    data = within(core, data)
    sums: Any = total(partial(_counts, config, core))
    data = strays.checked(config, data, sums.get("days"))
    evaluation_set.require_types(data, config.evaluation)
    whole = split.of_sums(split.divided(data, config.split), sums["split"])
    split.refuse_empty(whole, data)
    if isinstance(config.split, GivenSplit):
        sides = partial(_users_of, config, core)
        users = newcomers.newcomers_of_parts(sums["odd"], sides, total)
        items = split.newcomer_items(data, sums["items"], sums["valid items"])
        whole = replace(whole, alike=(*users.notes("user"), *items))
    rule = config.evaluation.candidates or data.candidates
    in_train = sums["items"] > 0
    candidates = evaluation_set.candidates_of(data, whole, rule, lambda: in_train)
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
    odd = newcomers.odd_keys(newcomers.users_of(part, sides.train, sides.valid))
    valid = sides.valid.item_counts(len(part.item_ids))
    return {**sums, "odd": odd, "valid items": valid}


def _users_of(config: Config, core: Core | None, part: Dataset) -> newcomers.Sides:
    """Return the users of a part of a given split, in both of its tables."""
    part = within(core, part)
    sides = split.divided(part, config.split)
    return newcomers.users_of(part, sides.train, sides.valid)
