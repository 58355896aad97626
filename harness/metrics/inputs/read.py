"""Lists and truth together, in arrays; those that plainly do not speak of the same ids refused."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int32
from harness.core.errors import DataError, UsageError, counted
from harness.metrics import Judgments, Metric
from harness.metrics.inputs.cells import number_text, shown
from harness.metrics.inputs.codes import Coders
from harness.metrics.inputs.frame import ROWS, Table, accept
from harness.metrics.inputs.lists import Lists, read_lists, read_truth
from harness.metrics.inputs.order import CALLER, check_grades, check_order

if TYPE_CHECKING:
    from harness.metrics.inputs.beyond import Given
    from harness.models.item_stats import Catalogue

_HIGHEST = 1000
"""The highest grade whose 2^grade is summed without leaving what a float64 holds, 2^1024."""
_HIGHEST_SUMMED = 1e300
"""The highest grade that is itself summed so."""


@dataclass(frozen=True, eq=False)
class Read:
    """Everything that was given, in arrays; and what a reader of the results must know."""

    lists: Int32
    judgments: Judgments
    users: pl.Series
    report: dict[str, str | int]


def read_both(given: Given, asked: tuple[Metric, ...], whole: bool = False) -> Read:
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
    from harness.metrics.inputs import beyond  # it takes SciPy, which lists and truth do without

    orders = _orders(given)
    named = partial(accept, user=given.user, item=given.item)
    listed = named(given.recommendations, "recommendations", numbers=orders)
    if orders:
        check_order(listed)
    true = named(given.truth, "truth", numbers={"grade": given.grade})
    check_grades(true)
    _refuse_unequal(given)
    coders = Coders()
    judgments, repeated = read_truth(true, coders)
    users, true_items = coders.users.ids, len(coders.items)
    _check_grades(asked, judgments.grades)
    found = read_lists(listed, coders, None if whole else longest_of(asked))
    _refuse_strangers(listed, true, coders, users, true_items, found)
    report = _report(found, len(users), coders, true_items)
    catalogue = beyond.read(given, coders, asked)
    report["true_items_repeated"] = repeated
    if any(metric.definition.needs == "candidates" for metric in asked) and catalogue:
        report["items_no_candidates"] = _no_candidates(found.items, catalogue)
    return Read(found.items, replace(judgments, catalogue=catalogue), users, report)


def _orders(given: Given) -> dict[str, str | None]:
    """Return what may order the rows, and in which column; nothing where their own order is meant.

    Raises
    ------
    UsageError
        The order of rows is meant, and there are none, or ranks are named too.
    """
    if given.score is not False:
        return {"rank": given.rank, "score": given.score}
    if isinstance(given.recommendations, (Mapping, *ROWS)):
        raise UsageError(
            "recommendations: score=False says that the order of a frame's rows is meant, but this "
            "is no frame; leave it out"
        )
    if given.rank is not None:
        raise UsageError("recommendations: give rank or score=False, not both")
    return {}


def _refuse_unequal(given: Given) -> None:
    """Raise DataError where both are lists a row, and one has more rows."""
    listed, true = given.recommendations, given.truth
    if isinstance(listed, ROWS) and isinstance(true, ROWS) and len(listed) != len(true):
        raise DataError(
            f"recommendations have {counted(len(listed), 'row')}, truth has "
            f"{counted(len(true), 'row')}; give both a row a user, an empty list where there "
            "is none"
        )


def longest_of(metrics: tuple[Metric, ...]) -> int | None:
    """Return how many ranks are looked at; None where a metric takes them all."""
    cuts = [metric.k for metric in metrics]
    return None if None in cuts else max(k for k in cuts if k is not None)


def _check_grades(metrics: tuple[Metric, ...], grades: Floats | None) -> None:
    """Raise where a metric has no use for the grades, or for having none."""
    worst = 0.0 if grades is None else float(grades.max(initial=0.0))
    found = number_text(worst)
    for metric in metrics:
        if metric.graded and grades is None:
            raise UsageError(
                f"metric {metric} needs grades: name their column of the truth with "
                'evaluate(…, grade="…"), or give {user: {item: grade}}'
            )
        if metric.name == "pFound" and worst > 1:
            raise DataError(
                f"truth: found the grade {found}; for {metric} a grade is the probability that "
                "the item satisfies, from 0 to 1: divide grades by the highest there can be"
            )
        if metric.settings.get("gain") == "exponential" and worst > _HIGHEST:
            raise DataError(
                f"truth: found the grade {found}; {metric} raises 2 to it, and no sum of such "
                f"gains fits a number: grades go up to {_HIGHEST:,}"
            )
        if metric.settings.get("gain") == "linear" and worst > _HIGHEST_SUMMED:
            raise DataError(
                f"truth: found the grade {found}; {metric} adds such grades up, and no sum of "
                f"them fits a number: grades go up to {_HIGHEST_SUMMED:g}"
            )


def _refuse_strangers(
    given: Table, true: Table, coders: Coders, users: pl.Series, true_items: int, found: Lists
) -> None:
    """Raise DataError where lists and truth plainly do not speak of the same ids."""
    if found.outside_users > 0 and not found.known_users:
        refuse_users(given.role, len(users), coders.users.ids)
    every = coders.items.ids
    with_list = int(np.count_nonzero((found.items >= 0).any(axis=1))) + found.outside_users
    refuse_written_lists(given, with_list, every[true_items:], every)
    # An id that both sides write alike is no list, or a list that both write alike.
    refuse_written_lists(true, len(users), every[:true_items], every)


def _no_candidates(items: Int32, catalogue: Catalogue) -> int:
    """Return how many recommended items may not be recommended; coverage leaves them out."""
    listed = np.zeros(len(catalogue.candidate), np.bool_)
    listed[items[items >= 0]] = True
    return int(np.count_nonzero(listed & ~catalogue.candidate))


def _report(found: Lists, users: int, coders: Coders, true_items: int) -> dict[str, str | int]:
    """Return, and warn of, what a reader of the results must know."""
    without = users - int(np.count_nonzero((found.items >= 0).any(axis=1)))
    if found.outside_rows > 0:
        warnings.warn(
            f"left out: {counted(found.outside_rows, 'row')} of "
            f"{counted(found.outside_users, 'user')} who are not in the truth, such as "
            f"{shown(coders.users.ids[users])}",
            stacklevel=CALLER,
        )
    items = coders.items.ids
    if true_items > 0 and len(items) > true_items and not found.known_items:
        warnings.warn(
            f"no recommended item is a true item of anyone: {shown(items[true_items])} here, "
            f"{shown(items[0])} there; are the ids written alike?",
            stacklevel=CALLER,
        )
    return {
        "order": found.order,
        "users": users,
        "users_without_list": without,
        "users_outside": found.outside_users,
        "rows_outside": found.outside_rows,
    }


_WORDS = r"[^\s,;|\[\]'\"]+"


def refuse_users(role: str, known: int, users: pl.Series) -> None:
    """Raise DataError over lists whose users are all unknown to the truth.

    Parameters
    ----------
    role : str
        What holds the lists, for the message.
    known : int
        How many of `users`, the first ones, the truth has.
    """
    raise DataError(
        f"{role}: not one of the users is in the truth: {shown(users[known])} here, "
        f"{shown(users[0])} there; write ids alike"
    )


def refuse_written_lists(table: Table, users: int, ids: pl.Series, every: pl.Series) -> None:
    """Raise DataError where a column of items holds whole lists as text.

    It does where every user has one row, and half of the ids of several words hold a word that is
    an id itself, or where half of all ids begin with a bracket.

    Parameters
    ----------
    users : int
        How many users the table has.
    ids : polars.Series
        The ids of this side, or those that the other has not.
    every : polars.Series
        The ids of both sides.
    """
    if table.frame is None or table.wide or "number" in table.names:
        return
    if len(table) != users or every.dtype != pl.String or len(ids) == 0:
        return
    words = ids.str.extract_all(_WORDS)
    several = ids.to_frame("id").with_columns(words.alias("word")).filter(words.list.len() > 1)
    found = several.explode("word").filter(pl.col("word").is_in(every.implode()))["id"].n_unique()
    bracketed = ids.filter(ids.str.starts_with("["))
    if 0 < len(several) <= 2 * found or len(ids) <= 2 * len(bracketed):
        first = bracketed[0] if len(bracketed) > 0 else several["id"][0]
        raise DataError(
            f"{table.role}: {shown(first)} looks like a whole list written as text; split it "
            f'first, as in frame["item"].str.findall(r"{_WORDS}") (Polars: .str.extract_all)'
        )
