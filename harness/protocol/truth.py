"""What lists are scored by: the solution that a config's evaluation set makes, kept on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.core import cache
from harness.core.arrays import Bool, Ragged
from harness.core.errors import DataError, UsageError
from harness.metrics import Judgments, Metric
from harness.metrics.grades import refuse_grades

if TYPE_CHECKING:
    from harness.config import Config
    from harness.protocol.task import Task

_NO_IDS = pl.Series(dtype=pl.String)
_NEEDS = {
    "train": "the training events",
    "attributes": "the items' attributes",
    "candidates": "the candidates",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """What lists are scored against."""

    users: pl.Series  # who is evaluated, text, (n,)
    items: pl.Series  # the id of every position in `judgments`
    judgments: Judgments  # n rows
    leaderboards: Mapping[str, Bool] = field(default_factory=dict)  # users of Public and Private
    ignored: pl.Series = field(default_factory=lambda: _NO_IDS)  # known users, not evaluated
    averaged: Bool | None = None  # the users that means are of, (n,); None: all
    repeated: int | None = None  # true items that stand again, counted once; None: not of a file
    outside: pl.Series = field(
        default_factory=lambda: _NO_IDS
    )  # true items, no candidates: R alone
    history: Ragged | None = None  # positions of the items that each user has in training, n rows
    metrics: tuple[Metric, ...] = ()  # those asked for, or the config's
    k: int | None = None  # positions that the evaluation set looks at; None: all
    fingerprint: str | None = None  # of the evaluation set, where a config sets one
    between: str | None = None  # what stands between the items of a file's lists
    folds: int = 1  # evaluation sets that the config has
    fold: int | None = None  # which of these it is, from 1; None: the last
    shape: str = ""  # how a file's true items were read: ``one row an item, 3 users``
    columns: tuple[str, ...] = ()  # of the file, first those of users and items
    doubts: tuple[str, ...] = ()  # columns by which some rows may not be true, and what they hold
    words: Mapping[str, int] = field(default_factory=dict)  # words for a missing value; their users
    alike: tuple[str, ...] = ()  # how many users and items look like others, with a pair

    @property
    def known_users(self) -> pl.Series:
        """Everyone whom the solution knows, evaluated or ignored."""
        return pl.concat([self.users.rename("id"), self.ignored.rename("id")])

    @property
    def counted(self) -> Bool:
        """Whether each user's value is averaged, (n,)."""
        return np.ones(len(self.users), np.bool_) if self.averaged is None else self.averaged

    def require(self, metric: Metric) -> None:
        """Raise UsageError where a metric looks further than k, or needs what is not known."""
        if self.k is not None and metric.k is not None and metric.k > self.k:
            raise UsageError(
                f"metric {metric} looks at {metric.k} positions, but the evaluation set has k = "
                f"{self.k}; set a smaller cut-off, or a larger [evaluation] k"
            )
        refuse_grades([metric], self.judgments.grades, cure="the true items here have none")
        if metric.definition.needs and self.judgments.catalogue is None:
            raise UsageError(
                f"metric {metric} needs {_NEEDS[metric.definition.needs]}, and a solution does "
                "not have them; use --config instead of --solution"
            )

    @property
    def left_out(self) -> dict[str, int]:
        """Counts of what a file of true items holds that is odd, or not averaged."""
        if self.repeated is None:
            return {}
        empty = int(np.count_nonzero(np.asarray(self.judgments.relevant) == 0))
        kept = self.averaged is None
        return {
            "users_ignored": len(self.ignored),
            "users_without_items_kept" if kept else "users_without_items": empty,
            "true_items_repeated": self.repeated,
        }

    def of_kinds(self, kinds: tuple[tuple[str, float], ...]) -> Solution:
        """Return the same with users of several kinds, told by how their ids end."""
        masks = tuple((weight, self.users.str.ends_with(end).to_numpy()) for end, weight in kinds)
        none = ~np.any([mask for _, mask in masks], axis=0)
        if none.any():
            user = self.users[int(none.argmax())]
            endings = ", ".join(end for end, _ in kinds)
            raise DataError(
                f'solution: user "{user}" has no event type; ids must end with {endings}'
            )
        return replace(self, judgments=replace(self.judgments, kinds=masks))


def of_config(config: Config, metrics: tuple[Metric, ...] = ()) -> Solution:
    """Return the solution of a config's evaluation set, from an earlier command if it was kept."""
    from harness.data import loading
    from harness.protocol.task import asked, make_task

    metrics = metrics or asked(config)
    if any(metric.definition.needs for metric in metrics) or not config.data.cache:
        return of_task(make_task(config), metrics)
    layout = config.layout()
    rules = config.evaluation.model_dump(exclude={"metrics", "seed"})
    key = "solution", layout, config.split, rules, config.data.least
    entry = cache.entry(key, loading.files(layout))
    solution = entry.read(_read)
    if solution is None:
        solution = of_task(make_task(config), metrics)
        entry.keep(partial(_write, solution))
    return replace(solution, metrics=metrics, folds=config.n_folds)


def of_task(task: Task, metrics: tuple[Metric, ...] = ()) -> Solution:
    """Return the solution of a task."""
    from harness.metrics import needs
    from harness.models.item_stats import of_train
    from harness.protocol.evaluation_set import items_of
    from harness.protocol.task import asked

    evaluation_set = task.evaluation_set
    metrics = metrics or asked(task.config)
    return Solution(
        users=evaluation_set.user_ids,
        items=evaluation_set.candidate_ids,
        judgments=evaluation_set.judgments(of_train(task.train, needs(metrics))),
        outside=evaluation_set.outside_ids,
        history=items_of(evaluation_set, task.data, task.split.train),
        metrics=metrics,
        k=evaluation_set.k,
        fingerprint=evaluation_set.fingerprint,
        folds=task.config.n_folds,
    )


_FILE = "solution.arrow"


def _write(solution: Solution, folder: Path) -> dict[str, Any]:
    judgments, history = solution.judgments, solution.history
    assert history is not None  # noqa: S101 - that of a task
    columns: dict[str, Any] = {
        "users": solution.users,
        "items": solution.items,
        "outside": solution.outside,
        "truth ends": judgments.truth.indptr,
        "truth": judgments.truth.indices,
        "history ends": history.indptr,
        "history": history.indices,
        "relevant": judgments.relevant,
        "grades": judgments.grades,
        "outside grades": judgments.outside_grades,
    }
    held = {name: pl.Series(column) for name, column in columns.items() if column is not None}
    lists = pl.DataFrame({name: column.implode() for name, column in held.items()})
    lists.write_ipc(folder / _FILE)
    return {"k": solution.k, "fingerprint": solution.fingerprint}


def _read(folder: Path, notes: dict[str, Any]) -> Solution:
    columns = {lists.name: lists[0] for lists in pl.read_ipc(folder / _FILE).iter_columns()}
    users, items, outside = (
        columns.pop(name).alias("id") for name in ("users", "items", "outside")
    )
    arrays = {name: column.to_numpy(writable=True) for name, column in columns.items()}
    truth = Ragged(arrays["truth ends"], arrays["truth"])
    grades, outside_grades = arrays.get("grades"), arrays.get("outside grades")
    return Solution(
        users,
        items,
        Judgments(truth, arrays["relevant"], grades, outside_grades),
        outside=outside,
        history=Ragged(arrays["history ends"], arrays["history"]),
        k=notes["k"],
        fingerprint=notes["fingerprint"],
    )
