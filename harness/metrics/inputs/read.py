"""Lists and truth together, in arrays; those that plainly do not speak of the same ids refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.core.alike import Meanings
from harness.core.arrays import Int32
from harness.core.errors import DataError, UsageError, counted
from harness.metrics import Judgments, Metric
from harness.metrics.grades import refuse_grades
from harness.metrics.inputs.cells import shown
from harness.metrics.inputs.codes import Coders
from harness.metrics.inputs.frame import ROWS, Table, accept
from harness.metrics.inputs.lists import Lists, read_lists, read_truth
from harness.metrics.inputs.order import (
    CALLER,
    check_grades,
    check_kinds,
    check_order,
    refuse_models,
)

if TYPE_CHECKING:
    from harness.metrics.inputs.beyond import Given


USER, ITEM = "user", "item"
"""What columns are called by default."""


@dataclass(frozen=True)
class Seen:
    """What is counted of lists and truth, for the checks and for a reader of the results.

    Attributes
    ----------
    users, users_with_list : int
        Users of the truth, and how many of them have a list.
    users_outside, rows_outside : int
        Users that the truth does not have, and their rows.
    true_items_repeated : int
        Pairs of a user and a true item that stand once more.
    known_users, known_items : bool
        Whether any user, and any item of any list, is one that the truth has.
    examples : mapping of str to id
        A ``user`` and an ``item`` of the truth, and an ``outside user`` and a ``strange item``
        that the truth does not have.
    """

    users: int
    users_with_list: int
    users_outside: int
    rows_outside: int
    true_items_repeated: int
    known_users: bool
    known_items: bool
    examples: Mapping[str, Any]


@dataclass(frozen=True)
class Texts:
    """How many ids of one side look like whole lists written as text.

    Attributes
    ----------
    rows, users, ids : int
        Of the side; ids are those that the other side has not.
    of_words, of_ids : int
        Ids of several words, and those with a word that is an id itself.
    bracketed : int
        Ids that begin with a bracket.
    example : str, optional
        One of these.
    """

    rows: int
    users: int
    ids: int
    of_words: int
    of_ids: int
    bracketed: int
    example: str | None


@dataclass(frozen=True, eq=False)
class Read:
    """Everything that was given, in arrays; and what a reader of the results must know."""

    lists: Int32
    judgments: Judgments
    users: pl.Series
    report: dict[str, str | int]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of lists and truth in arrays, and what was seen of them.

    Attributes
    ----------
    true_items : int
        How many of the coder's items, the first ones, are in the truth.
    """

    coders: Coders
    true_items: int
    lists: Lists
    judgments: Judgments
    seen: Seen
    listed_texts: Texts | None
    true_texts: Texts | None

    @property
    def users(self) -> pl.Series:
        """The ids of the truth's users."""
        return self.coders.users.ids.head(self.seen.users)


def names_of_lists(user: str, item: str) -> dict[str, Any]:
    """Return how `accept` is told the columns of lists."""
    return {"user": user, "item": item, "named": not isinstance(item, str) or item != ITEM}


def names_of_truth(
    user: str, item: str, truth_user: str | None, truth_item: str | None
) -> dict[str, Any]:
    """Return how `accept` is told the truth's columns: by default those of the lists."""
    return {
        "user": user if truth_user is None else truth_user,
        "item": item if truth_item is None else truth_item,
        "prefix": "truth_",
        "named": truth_item is not None,
    }


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
    _refuse_names_of_no_frame(given)
    names = names_of_lists(given.user, given.item)
    listed = accept(given.recommendations, "recommendations", numbers=orders, **names)
    refuse_models(listed)
    if orders:
        check_order(listed)
    names = names_of_truth(given.user, given.item, given.truth_user, given.truth_item)
    true = accept(given.truth, "truth", numbers={"grade": given.grade}, **names)
    check_grades(true)
    check_kinds(true)
    _refuse_unequal(given)
    rows = read_rows(listed, true, asked, whole)
    refuse_strangers(listed.role, rows.seen)
    refuse_written_lists(listed.role, rows.listed_texts)
    # An id that both sides write alike is no list, or a list that both write alike.
    refuse_written_lists(true.role, rows.true_texts)
    for remark in (*remarks(rows.seen), *_look_alikes(rows)):
        warnings.warn(remark, stacklevel=CALLER - 1)
    catalogue, strangers = beyond.read(given, rows.coders, asked)
    for role, ids in strangers.items():
        if ids is not None:
            warnings.warn(beyond.of_strangers(role, *ids), stacklevel=CALLER - 1)
    report = report_of(rows.seen, rows.lists.order)
    if any(metric.definition.needs == "candidates" for metric in asked) and catalogue:
        items, recommended = rows.lists.items, np.zeros(len(catalogue.candidate), np.bool_)
        recommended[items[items >= 0]] = True  # coverage leaves out those that are no candidates
        report["items_no_candidates"] = int((recommended & ~catalogue.candidate).sum())
    judgments = replace(rows.judgments, catalogue=catalogue)
    return Read(rows.lists.items, judgments, rows.users, report)


def read_rows(listed: Table, true: Table, asked: tuple[Metric, ...], whole: bool = False) -> Rows:
    """Return the rows of all users, or of some users, in arrays.

    Raises
    ------
    DataError, UsageError
        Ids, ranks, scores or grades that cannot be used.
    """
    coders = Coders()
    judgments, repeated = read_truth(true, coders)
    users, true_items = len(coders.users), len(coders.items)
    if users > 0:
        refuse_grades(asked, judgments.grades)
    found = read_lists(listed, coders, None if whole else longest_of(asked))
    every, user_ids = coders.items.ids, coders.users.ids
    with_list = int(np.count_nonzero((found.items >= 0).any(axis=1)))
    places = {"user": (user_ids, 0, users), "outside user": (user_ids, users, len(user_ids))}
    places |= {"item": (every, 0, true_items), "strange item": (every, true_items, len(every))}
    seen = Seen(
        users,
        with_list,
        found.outside_users,
        found.outside_rows,
        repeated,
        found.known_users,
        found.known_items,
        {what: ids[start] for what, (ids, start, end) in places.items() if start < end},
    )
    of_lists = texts_of(listed, with_list + found.outside_users, every[true_items:], every)
    of_truth = texts_of(true, users, every[:true_items], every)
    return Rows(coders, true_items, found, judgments, seen, of_lists, of_truth)


def _refuse_names_of_no_frame(given: Given) -> None:
    """Raise UsageError where a column is named, and nothing that may have it is a frame."""
    plain = isinstance(given.truth, (Mapping, *ROWS))
    for name in ("truth_user", "truth_item") if plain else ():
        if getattr(given, name) is not None:
            raise UsageError(f"truth: {name} names a column, but this is no frame")
    tables = (given.recommendations, given.truth, given.train, given.attributes)
    if all(isinstance(table, (Mapping, *ROWS, type(None))) for table in tables):
        for name, usual in (("user", USER), ("item", ITEM)):
            if isinstance(getattr(given, name), str) and getattr(given, name) != usual:
                raise UsageError(f"recommendations: {name} names a column, but this is no frame")


def _orders(given: Given) -> dict[str, str | None]:
    """Return what may order the rows, and in which column; nothing where they stand in order."""
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


def refuse_strangers(role: str, seen: Seen) -> None:
    """Raise DataError where there is nobody to evaluate, or lists are of none of these users."""
    if seen.users == 0:
        raise DataError("truth: there are no rows, so there is nobody to evaluate")
    if seen.users_outside > 0 and not seen.known_users:
        refuse_users(role, 1, (seen.examples["user"], seen.examples["outside user"]))


def remarks(seen: Seen) -> list[str]:
    """Return what a reader of the results must know of rows that count for nothing."""
    found = []
    if seen.rows_outside > 0:
        found.append(
            f"left out: {counted(seen.rows_outside, 'row')} of "
            f"{counted(seen.users_outside, 'user')} who are not in the truth, such as "
            f"{shown(seen.examples['outside user'])}"
        )
    if {"item", "strange item"} <= seen.examples.keys() and not seen.known_items:
        found.append(
            f"no recommended item is a true item of anyone: {shown(seen.examples['strange item'])} "
            f"here, {shown(seen.examples['item'])} there; are the ids written alike?"
        )
    return found


def _look_alikes(rows: Rows) -> Iterator[str]:
    """Yield a remark on recommended items that are no true ones and look like one that is."""
    ids, true = rows.coders.items.ids, rows.true_items
    if ids.dtype != pl.String or not 0 < true < len(ids) or not rows.seen.known_items:
        return
    alike = Meanings(ids.head(true)).of(strangers := ids.slice(true))
    if len(alike) > 0:
        place, meant, _ = alike.row(0)
        yield (
            f"{counted(len(alike), 'recommended item')} in no truth, but like one that is, such as "
            f"{shown(strangers[place])} here, {shown(meant)} there: write ids alike where these "
            "are the same"
        )


def report_of(seen: Seen, order: str) -> dict[str, str | int]:
    """Return what stands beside the results."""
    return {
        "order": order,
        "users": seen.users,
        "users_without_list": seen.users - seen.users_with_list,
        "users_outside": seen.users_outside,
        "rows_outside": seen.rows_outside,
        "true_items_repeated": seen.true_items_repeated,
    }


_WORDS = r"[^\s,;|\[\]'\"]+"


def refuse_users(role: str, known: int, users: pl.Series | tuple[Any, ...]) -> None:
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


def texts_of(table: Table, users: int, ids: pl.Series, every: pl.Series) -> Texts | None:
    """Count ids that look like lists written as text; None where the column can hold none.

    Parameters
    ----------
    users : int
        How many users the table has.
    ids : polars.Series
        The ids of this side, or those that the other has not.
    every : polars.Series
        The ids of both sides.
    """
    if table.frame is None or table.wide or "number" in table.names or every.dtype != pl.String:
        return None
    if len(table) != users or len(ids) == 0:
        return Texts(len(table), users, len(ids), 0, 0, 0, None)
    words = ids.str.extract_all(_WORDS)
    several = ids.to_frame("id").with_columns(words.alias("word")).filter(words.list.len() > 1)
    found = several.explode("word").filter(pl.col("word").is_in(every.implode()))["id"].n_unique()
    bracketed = ids.filter(ids.str.starts_with("["))
    example = next(iter((*bracketed.head(1), *several["id"].head(1))), None)
    return Texts(len(table), users, len(ids), len(several), found, len(bracketed), example)


def refuse_written_lists(role: str, texts: Texts | None) -> None:
    """Raise DataError where a column of items holds whole lists as text.

    It does where every user has one row, and half of the ids of several words hold a word that is
    an id itself, or where half of all ids begin with a bracket.
    """
    if texts is None or texts.rows != texts.users or texts.ids == 0:
        return
    if 0 < texts.of_words <= 2 * texts.of_ids or texts.ids <= 2 * texts.bracketed:
        raise DataError(
            f"{role}: {shown(texts.example)} looks like a whole list written as text; split it "
            f'first, as in frame["item"].str.findall(r"{_WORDS}") (Polars: .str.extract_all)'
        )
