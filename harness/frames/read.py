"""Lists and truth together: everything that was given, in arrays, and what must be told of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from harness.encode import Int32
from harness.errors import DataError
from harness.frames import beyond, ids, lists
from harness.frames import truth as truth_
from harness.frames.accept import accept
from harness.frames.ids import Coders
from harness.frames.table import Held, Table
from harness.frames.values import counted, shown
from harness.metrics import Floats, Key, Metric

_CALLER = 4
"""How far up the person's own line is, for warnings."""


@dataclass(frozen=True)
class Names:
    """What a caller's columns are called."""

    user: str
    item: str
    rank: str | None
    score: str | None
    grade: str | None


@dataclass(frozen=True, eq=False)
class Read:
    """Everything that was given, in arrays; and what a reader of the figures must know."""

    lists: Int32
    key: Key
    users: pl.Series
    report: dict[str, str | int]


def read_both(
    recommendations: Any,
    truth: Any,
    columns: Names,
    beside: beyond.Beside,
    asked: tuple[Metric, ...],
    whole: bool = False,
) -> Read:
    """Return what was given as arrays; warn of rows that are left out.

    Parameters
    ----------
    whole : bool
        Whether lists are read to their ends, beyond what the metrics look at.

    Raises
    ------
    DataError, UsageError
        Anything that cannot be used, or lists and truth that do not speak of the same ids.
    """
    names = {"user": columns.user, "item": columns.item}
    orders = {"rank": columns.rank, "score": columns.score}
    given = accept(recommendations, "recommendations", **names, numbers=orders)
    true = accept(truth, "truth", **names, numbers={"grade": columns.grade})
    with ids.coders() as coders:
        codes = truth_.read(true, coders)
        users, true_items = coders.users.ids(), len(coders.items)
        reading = lists.Reading(given, coders, None if whole else _longest(asked))
        answers = truth_.grouped(true, coders, codes)  # while the first lists are coded
        _check_grades(asked, answers.grades)
        found = reading.lists()
        _refuse_strangers(coders, users, true_items, found, given)
        report = _report(found, len(users), coders, true_items)
        catalogue = beyond.read(beside, coders, asked)
    report["true_items_repeated"] = answers.repeated
    key = Key(answers.rows, answers.rows.sizes, answers.grades, catalogue)
    return Read(found.items, key, users, report)


def _longest(metrics: tuple[Metric, ...]) -> int | None:
    """Return how many places are looked at; None where a metric takes them all."""
    cuts = [metric.k for metric in metrics]
    return None if None in cuts else max(k for k in cuts if k is not None)


def _check_grades(metrics: tuple[Metric, ...], grades: Floats | None) -> None:
    """Raise DataError where pFound would take a grade above 1 for a probability."""
    worst = 0.0 if grades is None else float(grades.max(initial=0.0))
    for metric in metrics:
        if metric.name == "pFound" and worst > 1:
            raise DataError(
                f"truth: found the grade {worst:g}; for {metric} a grade is the probability that "
                "the item satisfies, from 0 to 1: divide grades by the highest there can be"
            )


def _refuse_strangers(
    coders: Coders, users: pl.Series, true_items: int, found: lists.Lists, table: Table
) -> None:
    """Raise DataError where lists and truth plainly do not speak of the same ids."""
    if found.outside_users > 0 and not found.known_users:
        raise DataError(
            f"recommendations: not one of their users is in the truth: "
            f"{shown(coders.users.ids()[len(users)])} here, {shown(users[0])} there; write ids "
            "alike"
        )
    if found.known_items or isinstance(table.given, Held):
        return
    items = coders.items.ids()
    for role, written, others in (
        ("recommendations", items[true_items:], items[:true_items]),
        ("truth", items[:true_items], items[true_items:]),
    ):
        if len(written) > 0 and written.dtype == pl.String and _are_lists(written, others):
            raise DataError(
                f"{role}: {shown(written[0])} looks like a whole list written as text; split it "
                'first, as in frame["item"].str.split(" ")'
            )


def _are_lists(written: pl.Series, others: pl.Series) -> bool:
    """Return whether texts are lists of the other side's ids, or of anything in brackets."""
    if written.str.starts_with("[").any() and not others.str.starts_with("[").any():
        return True
    words = written.str.extract_all(r"[^\s,;\[\]'\"]+").explode()
    return bool(words.is_in(others.implode()).any())


def _report(
    found: lists.Lists, users: int, coders: Coders, true_items: int
) -> dict[str, str | int]:
    """Return, and warn of, what a reader of the figures must know."""
    without = users - int(np.count_nonzero((found.items >= 0).any(axis=1)))
    if found.outside_rows > 0:
        warnings.warn(
            f"left out: {counted(found.outside_rows, 'row')} of "
            f"{counted(found.outside_users, 'user')} who are not in the truth, such as "
            f"{shown(coders.users.ids()[users])}",
            stacklevel=_CALLER,
        )
    items = coders.items.ids()
    if true_items > 0 and len(items) > true_items and not found.known_items:
        warnings.warn(
            f"no recommended item is a true item of anyone: {shown(items[true_items])} here, "
            f"{shown(items[0])} there; are the ids written alike?",
            stacklevel=_CALLER,
        )
    return {
        "order": found.order,
        "users": users,
        "users_without_list": without,
        "users_outside": found.outside_users,
        "rows_outside": found.outside_rows,
    }
