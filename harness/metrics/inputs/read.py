"""Lists and truth together, in arrays; those that plainly do not speak of the same ids refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from harness.core.alike import Meanings
from harness.core.errors import DataError, UsageError, counted
from harness.metrics import Judgments, Metric
from harness.metrics.grades import refuse_grades
from harness.metrics.inputs.cells import shown
from harness.metrics.inputs.codes import Coders, Overlap, least
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
    from harness.metrics.inputs.beyond import ItemTables

_PLAIN = (Mapping, *ROWS)
"""What is no frame."""
USER, ITEM = "user", "item"
"""What columns are called by default."""


@dataclass(frozen=True)
class Texts:
    """How many ids of one side look like whole lists written as text; of parts it adds up.

    `further_rows` are rows beside the first of each user, `ids` those that the other side lacks:
    `of_words` of them have several words, `of_ids` a word that is an id itself, and `bracketed`
    begin with a bracket. `examples` has the least one of these, if there is any.
    """

    further_rows: int = 0
    ids: int = 0
    of_words: int = 0
    of_ids: int = 0
    bracketed: int = 0
    examples: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Seen:
    """What is counted of lists and truth; of parts of the users it adds up, as `Sums`.

    `users` are those of the truth. Users outside are not in it. `true_items_repeated` are pairs of
    a user and a true item that stand once more. `overlaps` are those of ``users`` and ``items`` of
    the lists with the truth, and of the items of train, candidates and attributes with both.
    """

    users: int
    users_with_list: int
    users_outside: int
    rows_outside: int
    true_items_repeated: int
    overlaps: Mapping[str, Overlap]
    texts: Mapping[str, Texts]

    @classmethod
    def of_sums(cls, sums: Mapping[str, Any]) -> Seen:
        """Return what parts of the users add up to, each made a mapping by `asdict`."""
        overlaps = {name: Overlap(**overlap) for name, overlap in sums["overlaps"].items()}
        texts = {role: Texts(**texts) for role, texts in sums["texts"].items()}
        return cls(**{**sums, "overlaps": overlaps, "texts": texts})


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of lists and truth in arrays, and what was seen of them.

    `users` and `items` are the ids of the truth's users, and of all items, by code; the first
    `true_items` of these are in the truth, the first `listed_items` in the truth or the lists.
    `no_candidates` are listed items that are no candidates, where metrics ask for these.
    """

    users: pl.Series
    items: pl.Series
    true_items: int
    listed_items: int
    lists: Lists
    judgments: Judgments
    seen: Seen
    no_candidates: pl.Series | None

    @property
    def report(self) -> dict[str, str | int]:
        """What stands beside the results."""
        counts: dict[str, str | int] = {
            "order": self.lists.order,
            "users": self.seen.users,
            "users_without_list": self.seen.users - self.seen.users_with_list,
            "users_outside": self.seen.users_outside,
            "rows_outside": self.seen.rows_outside,
            "true_items_repeated": self.seen.true_items_repeated,
        }
        if self.no_candidates is not None:
            counts["items_no_candidates"] = len(self.no_candidates)
        return counts


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


def read_both(
    recommendations: Any,
    truth: Any,
    metrics: tuple[Metric, ...],
    tables: ItemTables,
    *,
    rank: str | None,
    score: str | Literal[False] | None,
    grade: str | None,
    truth_user: str | None,
    truth_item: str | None,
    whole: bool = False,
) -> Rows:
    """Return what was given as arrays; warn of rows that are left out.

    If `whole`, lists are read to their ends, beyond what the metrics look at. DataError or
    UsageError over anything that cannot be used, or lists and truth that do not speak of the same
    ids.
    """
    orders = _orders(recommendations, rank, score)
    if isinstance(truth, _PLAIN):
        for name, column in {"truth_user": truth_user, "truth_item": truth_item}.items():
            if column is not None:
                raise UsageError(f"truth: {name} names a column, but this is not a frame")
    every = (recommendations, truth, tables.train, tables.attributes)
    if all(isinstance(table, (*_PLAIN, type(None))) for table in every):
        for name, column, usual in (("user", tables.user, USER), ("item", tables.item, ITEM)):
            if isinstance(column, str) and column != usual:
                raise UsageError(f"recommendations: {name} names a column, but this is not a frame")
    names = names_of_lists(tables.user, tables.item)
    listed = accept(recommendations, "recommendations", numbers=orders, **names)
    refuse_models(listed)
    if orders:
        check_order(listed)
    names = names_of_truth(tables.user, tables.item, truth_user, truth_item)
    true = accept(truth, "truth", numbers={"grade": grade}, **names)
    check_grades(true)
    check_kinds(true)
    if isinstance(recommendations, ROWS) and isinstance(truth, ROWS) and len(listed) != len(true):
        raise DataError(
            f"recommendations have {counted(len(listed), 'row')}, truth has "
            f"{counted(len(true), 'row')}; give both one row per user, with an empty list if "
            "there is none"
        )
    rows = read_rows(listed, true, metrics, tables, whole)
    refuse_seen(listed.role, rows.seen)
    for remark in (*remarks(rows.seen), *_look_alikes(rows)):
        warnings.warn(remark, stacklevel=CALLER - 1)
    return rows


def read_rows(
    listed: Table,
    true: Table,
    metrics: tuple[Metric, ...],
    tables: ItemTables,
    whole: bool = False,
) -> Rows:
    """Return the rows of all users, or of some users, in arrays; errors as of `read_both`."""
    from harness.metrics.inputs import beyond  # it takes SciPy, which lists and truth do without

    coders = Coders()
    judgments, repeated = read_truth(true, coders)
    users, true_items = len(coders.users), len(coders.items)
    if users > 0:
        refuse_grades(metrics, judgments.grades)
    lists = read_lists(listed, coders, None if whole else longest_of(metrics))
    with_list = int(np.count_nonzero((lists.items >= 0).any(axis=1)))
    ids, listed_items = coders.items.ids, len(coders.items)
    # An id that both sides write alike is no list, or a list that both write alike.
    texts = {
        listed.role: texts_of(listed, with_list + lists.users_outside, ids[true_items:], ids),
        true.role: texts_of(true, users, ids[:true_items], ids),
    }
    catalogue, overlaps = beyond.read(tables, coders, metrics)
    seen = Seen(
        users=users,
        users_with_list=with_list,
        users_outside=lists.users_outside,
        rows_outside=lists.rows_outside,
        true_items_repeated=repeated,
        overlaps={"users": lists.user_overlap, "items": lists.item_overlap} | overlaps,
        texts=texts,
    )
    ids, no_candidates = coders.items.ids, None
    if catalogue and any(metric.definition.needs == "candidates" for metric in metrics):
        is_listed = np.zeros(len(ids), np.bool_)
        is_listed[lists.items[lists.items >= 0]] = True
        no_candidates = ids.filter(pl.Series(is_listed & ~catalogue.candidate))
    return Rows(
        users=coders.users.ids.head(users),
        items=ids,
        true_items=true_items,
        listed_items=listed_items,
        lists=lists,
        judgments=replace(judgments, catalogue=catalogue),
        seen=seen,
        no_candidates=no_candidates,
    )


def _orders(
    recommendations: Any, rank: str | None, score: str | Literal[False] | None
) -> dict[str, str | None]:
    """Return what may order the rows, and in which column; nothing where they stand in order."""
    if score is not False:
        return {"rank": rank, "score": score}
    if isinstance(recommendations, _PLAIN):
        raise UsageError(
            "recommendations: score=False is for frames (it means the order of rows), but this "
            "is not a frame; remove it"
        )
    if rank is not None:
        raise UsageError("recommendations: give rank or score=False, not both")
    return {}


def longest_of(metrics: tuple[Metric, ...]) -> int | None:
    """Return how many ranks are looked at; None where a metric takes them all."""
    cuts = [metric.k for metric in metrics]
    return None if None in cuts else max(k for k in cuts if k is not None)


def refuse_seen(role: str, seen: Seen) -> None:
    """Raise DataError where nobody can be evaluated by these lists, or ids are whole lists."""
    if seen.users == 0:
        raise DataError("truth: there are no rows, so there are no users to evaluate")
    refuse_strangers(role, seen.overlaps["users"])
    for table, texts in seen.texts.items():
        refuse_written_lists(table, texts)


def refuse_strangers(role: str, users: Overlap) -> None:
    """Raise DataError over lists whose users are all unknown to the truth."""
    if users.is_none:
        raise DataError(
            f"{role}: none of the users is in the truth: {shown(min(users.here))} here, "
            f"{shown(min(users.there))} there; write ids the same way"
        )


def remarks(seen: Seen) -> list[str]:
    """Return what a reader of the results must know of rows and items that count for nothing."""
    texts = []
    if seen.rows_outside > 0:
        texts.append(
            f"left out: {counted(seen.rows_outside, 'row')} of "
            f"{counted(seen.users_outside, 'user that is', 'users that are')} not in the truth, "
            "such as "
            f"{shown(min(seen.overlaps['users'].here))}"
        )
    for name, overlap in seen.overlaps.items():
        if overlap.is_none:
            what = f"{name}: none of the items is known"
            if name == "items":
                what = "no recommended item is a true item of any user"
            there = "there" if name == "items" else "in lists or truth"
            texts.append(
                f"{what}: {shown(min(overlap.here))} here, {shown(min(overlap.there))} {there}; "
                "are the ids written the same way?"
            )
    return texts


def _look_alikes(rows: Rows) -> Iterator[str]:
    """Yield a remark on recommended items that are no true ones and look like one that is."""
    ids, true, listed = rows.items, rows.true_items, rows.listed_items
    if ids.dtype != pl.String or not 0 < true < listed or not rows.seen.overlaps["items"].known:
        return
    strangers = ids[true:listed]
    alike = Meanings(ids.head(true)).of(strangers)
    if len(alike) > 0:
        place, meant, _ = alike.row(0)
        yield (
            f"{counted(len(alike), 'recommended item')} not in the truth, but similar to one "
            f"that is, such as {shown(strangers[place])} here, {shown(meant)} there: if these "
            "are the same, write them the same way"
        )


_WORDS = r"[^\s,;|\[\]'\"]+"


def texts_of(table: Table, users: int, ids: pl.Series, every: pl.Series) -> Texts:
    """Count ids that look like lists written as text, where the column can hold any.

    `users` is how many the table has; `ids` are those of this side that the other has not (of the
    truth, all), and `every` those of both.
    """
    if table.frame is None or table.wide or "number" in table.names or every.dtype != pl.String:
        return Texts()
    further_rows = len(table) - users
    if further_rows > 0 or len(ids) == 0:
        return Texts(further_rows=further_rows, ids=len(ids))
    words = ids.str.extract_all(_WORDS)
    several = ids.to_frame("id").with_columns(words.alias("word")).filter(words.list.len() > 1)
    of_ids = several.explode("word").filter(pl.col("word").is_in(every.implode()))["id"]
    bracketed = ids.filter(ids.str.starts_with("["))
    return Texts(
        further_rows=further_rows,
        ids=len(ids),
        of_words=len(several),
        of_ids=of_ids.n_unique(),
        bracketed=len(bracketed),
        examples=least(bracketed) or least(several["id"]),
    )


def refuse_written_lists(role: str, texts: Texts) -> None:
    """Raise DataError where a column of items holds whole lists as text.

    Every user has one row, and half of the ids of several words hold a word that is an id itself,
    or half of all ids begin with a bracket.
    """
    if texts.further_rows > 0 or texts.ids == 0:
        return
    if 0 < texts.of_words <= 2 * texts.of_ids or texts.ids <= 2 * texts.bracketed:
        raise DataError(
            f"{role}: {shown(min(texts.examples))} looks like a whole list written as text; split "
            f'it first, as in frame["item"].str.findall(r"{_WORDS}") (Polars: .str.extract_all)'
        )
