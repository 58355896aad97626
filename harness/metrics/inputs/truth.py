"""The truth of every user as rows of item codes, each item once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.core.arrays import Bool, Floats, Int32, Int64, Ragged
from harness.core.errors import DataError
from harness.metrics.inputs import lists
from harness.metrics.inputs.cells import shown
from harness.metrics.inputs.ids import Coders
from harness.metrics.inputs.table import Table, grades_of


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


@dataclass(frozen=True, eq=False)
class Codes:
    """The truth's rows in codes, one entry a true item, and how many users there are."""

    user: Int32
    item: Int32
    grade: Floats | None
    n_users: int


def read(table: Table, coders: Coders) -> Codes:
    """Return the codes of every true item, and its grade where the table has any.

    Raises
    ------
    DataError
        No rows, ids that are missing or of several kinds, grades that are no numbers from 0.
    """
    users, items, grades = [], [], []
    for part, user, item in coders.read(table):
        users.append(np.repeat(user, part.sizes) if table.wide else user)
        items.append(item)
        if part.numbers is not None:
            grades.append(grades_of(table, part))
    if len(coders.users) == 0:
        raise DataError(f"{table.role}: there are no rows, so there is nobody to evaluate")
    grade = np.concatenate(grades) if grades else None
    return Codes(np.concatenate(users), np.concatenate(items), grade, len(coders.users))


def grouped(table: Table, coders: Coders, codes: Codes) -> Truth:
    """Return the true items of every user of the table, and their grades where it has any.

    An item that stands twice counts once; items of grade 0 are no true items.

    Raises
    ------
    DataError
        An item with two different grades.
    """
    user, item, grade = codes.user, codes.item, codes.grade
    starts = np.concatenate(([0], np.cumsum(np.bincount(user, minlength=codes.n_users))))
    if grade is None:
        rows, sizes = np.empty(len(item), np.int32), np.empty(codes.n_users, np.int64)
        lists.by_user(user, item, starts, rows, sizes)
        kept = np.empty(int(sizes.sum()), np.int32)
        lists.together(rows, starts, sizes, kept)
        return Truth(_ragged(sizes, kept), None, len(item) - len(kept))
    order = np.lexsort((grade, item, user))
    user, item, grade = user[order], item[order], grade[order]
    again = np.zeros(len(user), np.bool_)
    again[1:] = (user[1:] == user[:-1]) & (item[1:] == item[:-1])
    _refuse_contradiction(table, coders, user, item, grade, again)
    keep = ~again & (grade > 0)
    sizes = np.bincount(user[keep], minlength=codes.n_users)
    return Truth(_ragged(sizes, item[keep]), grade[keep], int(again.sum()))


def _ragged(sizes: Int64, items: Int32) -> Ragged:
    return Ragged(np.concatenate(([0], np.cumsum(sizes))), items)


def _refuse_contradiction(
    table: Table, coders: Coders, user: Int32, item: Int32, grade: Floats, again: Bool
) -> None:
    """Raise DataError where a user has an item with two grades."""
    wrong = np.flatnonzero(again[1:] & (grade[1:] != grade[:-1]))
    if len(wrong) == 0:
        return
    at = int(wrong[0])
    raise DataError(
        f"{table.role}: user {shown(coders.users.ids()[int(user[at])])}, item "
        f"{shown(coders.items.ids()[int(item[at])])} has two grades, {grade[at]:g} and "
        f"{grade[at + 1]:g}; give it one"
    )
