"""The truth of every user as rows of item codes, each item once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from harness.encode import Int32
from harness.errors import DataError
from harness.frames import numbers
from harness.frames.ids import Coders
from harness.frames.table import Table, shown
from harness.metrics import Floats
from harness.ragged import Ragged


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true of every user.

    Attributes
    ----------
    rows : Ragged, a row a user
        Item codes.
    grades : float64 array, optional
        The grade of each entry of ``rows.indices``, above 0.
    repeated : int
        How many (user, item) pairs stood once more, and were counted once.
    """

    rows: Ragged
    grades: Floats | None
    repeated: int


def read(table: Table, coders: Coders) -> Truth:
    """Return the true items of every user of the table, and their grades where it has any.

    An item that stands twice counts once; items of grade 0 are no true items.

    Raises
    ------
    DataError
        No rows, ids that are missing or of several kinds, grades that are no numbers from 0, and
        an item with two different grades.
    """
    users, items, grades = [], [], []
    for part in table.slices():
        user, item = coders.of(table, part)
        users.append(np.repeat(user, part.sizes) if table.wide else user)
        items.append(item)
        if part.numbers is not None:
            grades.append(numbers.grades(table, part))
    if len(coders.users) == 0:
        raise DataError(f"{table.role}: there are no rows, so there is nobody to evaluate")
    grade = np.concatenate(grades) if grades else None
    return _rows(table, coders, np.concatenate(users), np.concatenate(items), grade)


def _rows(table: Table, coders: Coders, user: Int32, item: Int32, grade: Floats | None) -> Truth:
    n_items = max(len(coders.items), 1)
    pairs = pl.DataFrame({"pair": user.astype(np.int64) * n_items + item})
    if grade is not None:
        pairs = pairs.with_columns(grade=grade)
    pairs = pairs.unique().sort(pairs.columns)
    repeated = len(user) - len(pairs)
    if grade is not None:
        _refuse_contradiction(table, coders, pairs, n_items)
        pairs = pairs.filter(pl.col("grade") > 0)
    pair = pairs["pair"].to_numpy()
    sizes = np.bincount(pair // n_items, minlength=len(coders.users))
    rows = Ragged(np.concatenate(([0], np.cumsum(sizes))), (pair % n_items).astype(np.int32))
    return Truth(rows, None if grade is None else pairs["grade"].to_numpy(), repeated)


def _refuse_contradiction(table: Table, coders: Coders, pairs: pl.DataFrame, n_items: int) -> None:
    again = pairs["pair"].is_duplicated().arg_true()
    if len(again) == 0:
        return
    (pair, one), (_, other) = pairs.row(int(again[0])), pairs.row(int(again[1]))
    user, item = divmod(pair, n_items)
    raise DataError(
        f"{table.role}: user {shown(coders.users.ids()[user])}, item "
        f"{shown(coders.items.ids()[item])} has two grades, {one:g} and {other:g}; give it one"
    )
