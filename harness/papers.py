"""Papers: one set of lists beside the key it is marked by, from a file or from a run's model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from harness.arrays import Bool, Int32
from harness.errors import UsageError
from harness.frames import ids, lists, strangers
from harness.metrics import Key, Metric
from harness.solutions import Solution
from harness.submission import order
from harness.submission import read as file
from harness.submission.terms import Terms

if TYPE_CHECKING:
    from harness.config import Config

_NEEDS = {
    "train": "the training events",
    "attributes": "the items' attributes",
    "candidates": "the candidates",
}


@dataclass(frozen=True, eq=False)
class Paper:
    """Everyone's list, and what it is marked by.

    Attributes
    ----------
    title : str
        What is marked: a file, or a model of a run.
    users : polars.Series of str, (n,)
    items : polars.Series of str
        The id of every position in lists and key.
    whole : int32 array, (n, K)
        The lists, as far as they were read; −1 = empty.
    key : Key, n rows
    left_out : mapping
        Counts of what was left out, and of users without a list.
    outside : polars.Series of str
        True items that are no candidates, by user; they count in R alone.
    averaged : bool array, (n,), optional
        Whose values means are of; None: everyone's.
    boards : mapping of Public and Private to bool array, (n,)
        Which users belong to which board, where the solution says so.
    metrics : tuple of Metric
        Those asked for, or the config's.
    k : int, optional
        Places that the exam looks at; None where all are.
    fingerprint : str, optional
        That of the exam, where a config sets one.
    """

    title: str
    users: pl.Series
    items: pl.Series
    whole: Int32
    key: Key
    left_out: Mapping[str, int]
    outside: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))
    averaged: Bool | None = None
    boards: Mapping[str, Bool] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    k: int | None = None
    fingerprint: str | None = None

    @property
    def lists(self) -> Int32:
        """The places that the exam looks at."""
        return self.whole[:, : self.k]

    @property
    def counted(self) -> Bool:
        """Whether each user's value is averaged, (n,)."""
        return np.ones(len(self.users), np.bool_) if self.averaged is None else self.averaged

    def require(self, metric: Metric) -> None:
        """Raise UsageError where a metric looks further than the exam, or needs what is unknown."""
        if self.k is not None and metric.k is not None and metric.k > self.k:
            raise UsageError(
                f"metric {metric} looks at {metric.k} places, but the exam has k = {self.k}; set a "
                "smaller cut-off, or a larger k under [evaluation]"
            )
        if metric.graded and self.key.grades is None:
            raise UsageError(f"metric {metric} needs grades, which the true items here do not have")
        if metric.definition.needs and self.key.catalogue is None:
            raise UsageError(
                f"metric {metric} needs {_NEEDS[metric.definition.needs]}, of which a solution "
                "says nothing; use --config instead of --solution"
            )


def of_solution(
    path: Path,
    solution: Path,
    named: file.Named | None = None,
    *,
    keep_users_without_items: bool = False,
) -> Paper:
    """Return the paper of a file of lists and a file of true items; see `of_terms`."""
    keep = keep_users_without_items
    return of_terms(path, Terms(solution=solution, named=named, keep_users_without_items=keep))


def of_config(
    path: Path,
    config: Config,
    named: file.Named | None = None,
    metrics: tuple[Metric, ...] = (),
) -> Paper:
    """Return the paper of a file of lists on the exam that a config sets; see `of_terms`."""
    return of_terms(path, Terms(config, named=named), metrics)


def of_terms(path: Path, terms: Terms, metrics: tuple[Metric, ...] = ()) -> Paper:
    """Return the paper of a file of lists, of any shape, on what a person names.

    Users outside the solution are counted, not blamed; those whose Usage is Ignored are left out.

    Parameters
    ----------
    metrics : tuple of Metric
        What it is to be marked by; the config's own by default.

    Raises
    ------
    HarnessError
        A file or a config that cannot be used, an empty exam.
    """
    solution = terms.marking(metrics)
    between = terms.between()[0] or solution.between or " "
    return of_file(path, solution, terms.named, between=between, asks=True)


def of_file(
    path: Path | pl.DataFrame,
    solution: Solution,
    named: file.Named | None = None,
    longest: int | None = None,
    *,
    between: str = " ",
    asks: bool = False,
) -> Paper:
    """Return the paper of a file or frame of lists, of any shape, on a solution.

    Parameters
    ----------
    longest : int, optional
        Places of a list that are looked at; all by default.
    between : str
        What stands between the items of a list that is one text.
    asks : bool
        Whether a column that may order the rows of a user, though nobody says so, is refused.

    Raises
    ------
    DataError
        A file that cannot be used.
    """
    examined = len(solution.users)
    with ids.coders() as coders:
        coders.users.codes(solution.users, "the examined users")
        coders.users.codes(solution.ignored, "the ignored users")
        coders.items.codes(solution.items, "the items of the solution")
        read = file.read(path, named, between=between)
        if asks:
            order.refuse_unsaid(read, named)
        found = lists.Reading(read.table, coders, longest).lists()
        items = coders.items.ids()
    if found.outside_users > 0 and not found.known_users:
        strangers.refuse_users(str(read.path), examined + len(solution.ignored), coders.users.ids())
    return of_lists(
        str(read.path),
        solution,
        found.items[:examined],
        items,
        {"users_outside": found.outside_users, "rows_outside": found.outside_rows},
    )


def of_lists(
    title: str, solution: Solution, whole: Int32, items: pl.Series, left_out: Mapping[str, int]
) -> Paper:
    """Return the paper of lists that hold positions; those behind the solution's never hit.

    Parameters
    ----------
    items : polars.Series of str
        Ids of the positions, first those of the solution.
    """
    key = solution.key
    unknown = max(int(whole.max(initial=-1)) + 1, len(items)) - len(solution.items)
    catalogue = key.catalogue and key.catalogue.wider(unknown)
    if solution.fingerprint is not None:
        left_out = {**left_out, "items_unknown": int((whole >= len(solution.items)).sum())}
    without = ~(whole >= 0).any(axis=1)
    if solution.averaged is not None:
        without &= solution.averaged
    return Paper(
        title=title,
        users=solution.users,
        items=items,
        whole=whole,
        key=replace(key, catalogue=catalogue),
        left_out={"users_without_list": int(without.sum()), **left_out, **solution.left_out},
        outside=solution.outside,
        averaged=solution.averaged,
        boards=solution.boards,
        metrics=solution.metrics,
        k=solution.k,
        fingerprint=solution.fingerprint,
    )
