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
    """What lists are scored against.

    Attributes
    ----------
    users : polars.Series of str, (n,)
        Who is evaluated.
    items : polars.Series of str
        The id of every position in `judgments`.
    judgments : Judgments, n rows
    leaderboards : mapping of Public and Private to bool array, (n,)
        Which users belong to which leaderboard, where the solution says so.
    ignored : polars.Series of str
        Users whom the solution knows and does not evaluate.
    averaged : bool array, (n,), optional
        Whose values means are of; None: everyone's.
    repeated : int, optional
        True items that stand again, counted once; None where no file could repeat one.
    outside : polars.Series of str
        True items that are no candidates, by user; they count in R alone.
    history : Ragged, n rows, optional
        Positions of the items that each user has in training.
    metrics : tuple of Metric
        Those asked for, or the config's.
    k : int, optional
        Positions that the evaluation set looks at; None where all are.
    fingerprint : str, optional
        That of the evaluation set, where a config sets one.
    between : str, optional
        What stands between the items of its lists, where they are a file's.
    folds : int
        How many evaluation sets its config has.
    fold : int, optional
        Which of these it is, from 1; the last by default.
    shape : str
        How a file's true items were read: ``one row an item, 3 users``.
    columns : tuple of str
        Those of the file, first those of users and items.
    doubts : tuple of str
        Which further columns of the file say that some rows may not be true, and what they hold.
    words : mapping of text to int
        True items that are words for a missing value, and how many users have each.
    alike : tuple of str
        How many of its users and of its items look like others, with a pair.
    """

    users: pl.Series
    items: pl.Series
    judgments: Judgments
    leaderboards: Mapping[str, Bool] = field(default_factory=dict)
    ignored: pl.Series = field(default_factory=lambda: _NO_IDS)
    averaged: Bool | None = None
    repeated: int | None = None
    outside: pl.Series = field(default_factory=lambda: _NO_IDS)
    history: Ragged | None = None
    metrics: tuple[Metric, ...] = ()
    k: int | None = None
    fingerprint: str | None = None
    between: str | None = None
    folds: int = 1
    fold: int | None = None
    shape: str = ""
    columns: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)
    alike: tuple[str, ...] = ()

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
        """Return the same with users of several kinds, told by how their ids end.

        Raises
        ------
        DataError
            An id with another ending.
        """
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
    """Return the solution of a config's evaluation set, from an earlier command if it was kept.

    Parameters
    ----------
    metrics : tuple of Metric
        What lists are to be scored by; the config's own by default.

    Raises
    ------
    HarnessError
        A file or a config that cannot be used, an empty evaluation set.
    """
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
    """Write a solution to a folder, each of its columns as one list."""
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
