"""Who the examined users are: how active, how much is true of them, and what their table says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from harness.errors import UsageError, suggest
from harness.evaluation import EvaluationSet, items_of
from harness.metrics import Counts
from harness.recommender import Train
from harness.setting import Setting

USER = "user"
ACTIVITY = "activity"
"""Training events."""
TRUTH = "truth"
"""R, the number of true items."""
REPEATS = "repeats"
"""How many of those the user had in training already."""
OWN = (ACTIVITY, TRUTH, REPEATS)
"""The columns that every exam has."""


def profile(setting: Setting, columns: Sequence[str] = ()) -> pl.DataFrame:
    """Return one row an examined user, in the exam's order.

    Parameters
    ----------
    columns : sequence of str
        Of the table of users, as well.

    Returns
    -------
    polars.DataFrame
        The user's id, the columns that every exam has, and those asked for, as text.

    Raises
    ------
    UsageError
        There is no table of users, or it has no such column.
    """
    exam, train = setting.exam, setting.train
    found = pl.DataFrame(
        {
            USER: exam.user_ids,
            ACTIVITY: np.diff(train.user_starts)[exam.users],
            TRUTH: exam.relevant,
            REPEATS: _had_before(setting),
        }
    )
    return (
        found.hstack(_attributes(exam, train, list(dict.fromkeys(columns)))) if columns else found
    )


def _had_before(setting: Setting) -> Counts:
    """Return how many of each user's true candidates are among their training items."""
    exam, n = setting.exam, len(setting.exam.candidates)
    had = items_of(exam, setting.data, setting.parts.train)
    rows = [np.repeat(np.arange(len(lists)), lists.sizes) for lists in (exam.truth, had)]
    true, known = rows[0] * n + exam.truth.indices, rows[1] * n + had.indices
    again = rows[0][np.isin(true, known, assume_unique=True)]
    return np.bincount(again, minlength=len(exam.users))


def _attributes(exam: EvaluationSet, train: Train, columns: Sequence[str]) -> pl.DataFrame:
    table = train.users_table
    if table is None:
        raise UsageError(
            f'[compare] slices: no table of users, so no column "{columns[0]}"; leave it out, or '
            "name a table with [data] users"
        )
    own, *others = table.columns
    for column in columns:
        if column in OWN:
            raise UsageError(f'[compare] slices: every exam has "{column}"; leave it out')
        if column not in others:
            raise UsageError(
                f'[compare] slices: the table of users has no column "{column}"; '
                f"{suggest(column, others)}"
            )
    ids = pl.DataFrame({own: exam.user_ids})
    joined = ids.join(table, on=own, how="left", maintain_order="left")
    return joined.select(columns)
