"""What is known of the evaluated users: activity, true items, and their table's columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from harness.core.arrays import Counts
from harness.core.errors import UsageError, suggest
from harness.data.attributes import of_ids
from harness.metrics import _kernels
from harness.protocol.task import Task
from harness.stats.slices import USER

ACTIVITY = "activity"
"""Training events."""
TRUTH = "truth"
"""R, the number of true items."""
REPEATS = "repeats"
"""How many of those the user had in training already: buyers of known items."""
OWN = (ACTIVITY, TRUTH, REPEATS)
"""The columns that every evaluation set has."""


def of_events(task: Task) -> pl.DataFrame:
    """Return one row for each evaluated user, in the evaluation set's order.

    Returns
    -------
    polars.DataFrame
        The user's id and the columns that every evaluation set has.
    """
    evaluation_set, train = task.evaluation_set, task.train
    return pl.DataFrame(
        {
            USER: evaluation_set.user_ids,
            ACTIVITY: np.diff(train.user_starts)[evaluation_set.users],
            TRUTH: evaluation_set.relevant,
            REPEATS: _had_before(task),
        }
    )


def with_attributes(profile: pl.DataFrame, task: Task, columns: Sequence[str]) -> pl.DataFrame:
    """Return what `of_events` does with columns of the table of users, as text.

    Raises
    ------
    UsageError
        There is no table of users, or it has no such column.
    """
    asked = list(dict.fromkeys(columns))
    if not asked:
        return profile
    table = task.train.users_table
    if table is None:
        raise UsageError(
            f'[compare] slices: no table of users, so no column "{asked[0]}"; leave it out, or '
            "name a table with [data] users"
        )
    others = table.columns[1:]
    for column in asked:
        if column in (USER, *OWN):
            raise UsageError(f'[compare] slices: every evaluation set has "{column}"; leave it out')
        if column not in others:
            raise UsageError(
                f'[compare] slices: the table of users has no column "{column}"; '
                f"{suggest(column, others)}"
            )
    return profile.hstack(of_ids(table, task.evaluation_set.user_ids).select(asked))


def _had_before(task: Task) -> Counts:
    """Return how many of each user's true candidates are among their training items."""
    evaluation_set, train = task.evaluation_set, task.train
    found = np.zeros(len(evaluation_set.users), np.int64)
    truth = evaluation_set.truth
    _kernels.count_again(
        evaluation_set.users,
        train.user_starts,
        train.events.item,
        train.candidate_of_item,
        truth.indptr,
        truth.indices,
        np.zeros(len(truth.indices), np.uint8),
        found,
    )
    return found
