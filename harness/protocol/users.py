"""What is known of the evaluated users: activity, true items, and their table's columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl

from harness.config import Config
from harness.core.arrays import Counts, Int64
from harness.core.errors import UsageError, suggest
from harness.core.exact_sum import Sums
from harness.data.attributes import of_ids
from harness.metrics import _kernels
from harness.protocol.task import Task
from harness.stats.slices import USER, text_of

ACTIVITY = "activity"  # training events
TRUTH = "truth"  # R, the number of true items
REPEATS = "repeats"  # how many of those the user had in training already: buyers of known items
OWN = (ACTIVITY, TRUTH, REPEATS)  # the columns that every evaluation set has
_BLOCK = 1 << 13  # users whose events are looked at together


def of_events(task: Task) -> pl.DataFrame:
    """Return for each evaluated user the id and the columns that every evaluation set has."""
    evaluation_set, train = task.evaluation_set, task.train
    return pl.DataFrame(
        {
            USER: evaluation_set.user_ids,
            ACTIVITY: np.diff(train.user_starts)[evaluation_set.users],
            TRUTH: evaluation_set.relevant,
            REPEATS: _had_before(task),
        }
    )


def with_attributes(
    profile: pl.DataFrame, task: Task, columns: Sequence[str], *, whole: bool = False
) -> pl.DataFrame:
    """Return what `of_events` does with columns of the table of users, as text.

    If these are all users (`whole`), a column without a value is refused.
    """
    asked = list(dict.fromkeys(columns))
    if not asked:
        return profile
    attributes = of_ids(_table_of(task, asked), task.evaluation_set.user_ids).select(asked)
    if whole:
        refuse_without_values(task.config, _value_counts(attributes))
    return profile.hstack(attributes)


def value_counts(task: Task, columns: Sequence[str]) -> Sums:
    """Return of each column how many evaluated users there are, and have a value; parts add up."""
    table = _table_of(task, columns)
    return _value_counts(of_ids(table, task.evaluation_set.user_ids).select(columns))


def _value_counts(attributes: pl.DataFrame) -> dict[str, Int64]:
    values = {name: int((text_of(attributes[name]) != "").sum()) for name in attributes.columns}
    return {name: np.array([len(attributes), having]) for name, having in values.items()}


def refuse_without_values(config: Config, counts: Mapping[str, Int64]) -> None:
    """Raise UsageError where no evaluated user has a value of a column, by all `value_counts`."""
    table = config.layout().users
    for column, (evaluated, having) in counts.items():
        if evaluated > 0 and having == 0:
            raise UsageError(
                f'[compare] slices: no evaluated user has a value of "{column}" in '
                f"{table.name if table else 'the table of users'}; remove it, or check that ids "
                "there are those of the events, with leading zeros (lost if ids are saved as "
                "numbers)"
            )


def _table_of(task: Task, columns: Sequence[str]) -> pl.DataFrame:
    """Return the table of users; raise UsageError where it lacks one of the columns."""
    for column in columns:
        if column in (USER, *OWN):
            raise UsageError(
                f'[compare] slices: every evaluation set already has "{column}"; remove it'
            )
    table = task.train.users_table
    if table is None:
        raise UsageError(
            f'[compare] slices: no table of users, so no column "{columns[0]}"; remove it, or '
            "name a table as [data] users"
        )
    available = table.columns[1:]
    for column in columns:
        if column not in available:
            raise UsageError(
                f'[compare] slices: the table of users has no column "{column}"; '
                f"{suggest(column, available)}"
            )
    return table


def _had_before(task: Task) -> Counts:
    """Return how many of each user's true candidates are among their training items."""
    evaluation_set, train = task.evaluation_set, task.train
    candidate, counts = train.candidate_of_item, np.zeros(len(evaluation_set.users), np.int64)

    def count(start: int) -> None:
        block = slice(start, start + _BLOCK)
        users, truth = evaluation_set.users[block], evaluation_set.truth.rows(start, block.stop)
        events = train.events.of_users(users, len(train.user_ids))
        _kernels.count_again(
            np.arange(len(users), dtype=np.int32),
            events.user_starts(len(users)),
            events.item,
            candidate,
            truth.indptr,
            truth.indices,
            np.zeros(len(truth.indices), np.uint8),
            counts[block],
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy lets go of Python's lock
        list(pool.map(count, range(0, len(counts), _BLOCK)))
    return counts
