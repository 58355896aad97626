"""Everyone's list as a row of item codes: as lists stand, or by rank, score or order of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Int32, Int64
from harness.core.errors import DataError
from harness.core.jit import compiled
from harness.metrics.inputs.cells import row_text, shown
from harness.metrics.inputs.ids import Coders
from harness.metrics.inputs.table import Held, Slice, Table, ranks_of, scores_of

_FIRST_WIDTH = 16
MOST_CELLS = 1 << 28
"""More places than this (1 GiB) come from a rank that is a mistake, or from one endless list."""
_INSERTED = 256
"""Lists longer than this are sorted; into shorter ones each item is inserted."""


@dataclass(frozen=True)
class Lists:
    """Everyone's list.

    Attributes
    ----------
    items : int32 array, (n users of the truth, K)
        Item codes, best first, −1 = empty.
    order : str
        What the order comes from.
    outside_rows, outside_users : int
        Rows (or lists) of users that the truth does not have, and how many such users there are.
    known_users, known_items : bool
        Whether any user, and any item of any list, is one that the truth has.
    """

    items: Int32
    order: str
    outside_rows: int
    outside_users: int
    known_users: bool
    known_items: bool


class Reading:
    """One reading of one table, begun when it is made.

    Users and items that are coded by then are known; all others are outside.

    Parameters
    ----------
    longest : int or None
        Places that are looked at; None for all there are.
    """

    def __init__(self, table: Table, coders: Coders, longest: int | None) -> None:
        self.table, self.coders, self.longest = table, coders, longest
        self.n, self.n_items = len(coders.users), len(coders.items)
        self.outside = 0
        self.known_users = self.known_items = False
        self._slices = coders.read(table)

    def lists(self) -> Lists:
        """Return everyone's list.

        Raises
        ------
        DataError
            Ids that are missing or of another kind than the truth's, a user with two lists, ranks
            that are not whole numbers from 1 or stand twice, scores that are no numbers.
        """
        items, order = self._read()
        return Lists(
            items,
            order,
            self.outside,
            len(self.coders.users) - self.n,
            self.known_users,
            self.known_items,
        )

    def _read(self) -> tuple[Int32, str]:
        """Return the matrix, and what the order comes from."""
        table = self.table
        column = "" if isinstance(table.given, Held) else f' in column "{table.columns.number}"'
        if table.columns.meaning == "rank":
            return self._by_rank(), f"ranks{column}"
        if table.columns.meaning == "score":
            return self._by_score(), f"scores{column}, ties by item id"
        if table.wide:
            return self._by_list(), "lists as they stand"
        return self._by_order(), "rows as they stand"

    def coded(self) -> Iterator[tuple[Slice, Int32, Int32]]:
        """Yield every slice with the codes of its users, one a row, and of its items."""
        for part, user, item in self._slices:
            outside = int(np.count_nonzero(user >= self.n))
            self.outside += outside
            self.known_users |= outside < len(user)
            self.known_items |= bool(len(item) > 0 and item.min() < self.n_items)
            yield part, user, item

    def rows(self) -> Iterator[tuple[Slice, Int32, Int32]]:
        """Yield every slice with the codes of users and items, one of each an item."""
        for part, user, item in self.coded():
            yield part, np.repeat(user, part.sizes) if self.table.wide else user, item

    def _by_list(self) -> Int32:
        lists, taken = self.empty(1), np.zeros(self.n, np.int32)
        for part, user, item in self.coded():
            lists = self.wide_enough(lists, int(part.sizes.max(initial=0)))
            row = by_list(user, part.sizes, item, taken, lists)
            if row >= 0:
                raise self._fault(part, row, "has a list already; give each user one")
        return lists

    def _by_rank(self) -> Int32:
        lists = self.empty(1)
        for part, user, item in self.rows():
            rank = ranks_of(self.table, part)
            lists = self.wide_enough(lists, int(rank.max(initial=0, where=user < self.n)))
            at = by_rank(user, item, rank, lists)
            if at >= 0:
                row = self.table.row_of(part, at) - part.start
                raise self._fault(part, row, f"has rank {rank[at]} twice; give a rank one item")
        return lists

    def _by_order(self) -> Int32:
        lists, taken = self.empty(_FIRST_WIDTH), np.zeros(self.n, np.int32)
        for _part, user, item in self.rows():
            row = 0
            while row >= 0:
                full = lists.shape[1] == self.longest
                row = by_order(user, item, row, taken, lists, full)
                if row >= 0:
                    lists = self.wide_enough(lists, 2 * lists.shape[1])
        return lists

    def _by_score(self) -> Int32:
        users, items, values = [], [], []
        for part, user, item in self.rows():
            users.append(user)
            items.append(item)
            values.append(scores_of(self.table, part))
        counts = np.bincount(np.concatenate([np.zeros(0, np.int32), *users]), minlength=self.n)
        lists = self.empty(int(counts[: self.n].max(initial=1)))
        if lists.shape[1] > _INSERTED:
            return self._sorted(users, items, values, lists)
        best = np.empty(lists.shape, np.result_type(np.int64, *(v.dtype for v in values)))
        taken, order = np.zeros(self.n, np.int32), id_order(self.coders.items.ids())
        for user, item, value in zip(users, items, values, strict=True):
            score = value.astype(best.dtype, copy=False)
            by_score(user, item, score, order, taken, lists, best)
        return lists

    def _sorted(
        self, users: list[Int32], items: list[Int32], values: list[npt.NDArray[Any]], lists: Int32
    ) -> Int32:
        """Return the lists by score, then item id, by one sort of all rows."""
        user, item, value = np.concatenate(users), np.concatenate(items), np.concatenate(values)
        keep = user < self.n
        user, item, value = user[keep], item[keep], value[keep]
        descending = ~value if value.dtype.kind == "i" else -value
        order = np.lexsort((id_order(self.coders.items.ids())[item], descending, user))
        by_order(user[order], item[order], 0, np.zeros(self.n, np.int32), lists, True)
        return lists

    def empty(self, width: int) -> Int32:
        """Return a matrix without items, `width` wide or as wide as anyone looks."""
        width = max(1, width if self.longest is None else min(width, self.longest))
        if self.n * width > MOST_CELLS:
            raise DataError(
                f"{self.table.role}: {self.n:,} users with lists of {width:,} places do not fit in "
                "memory; look for a rank that is far too high, or give every metric a cut-off"
            )
        return np.full((self.n, width), -1, np.int32)

    def wide_enough(self, lists: Int32, width: int) -> Int32:
        """Return the lists in a matrix of at least `width` places, or as many as anyone looks."""
        held = lists.shape[1]
        if width <= held or held == self.longest:
            return lists
        wide = self.empty(width)
        wide[:, :held] = lists
        return wide

    def _fault(self, part: Slice, row: int, what: str) -> DataError:
        where, user = row_text(part.start + row), shown(part.users[row])
        return DataError(f"{self.table.role}: {where}: user {user} {what}")


def id_order(ids: pl.Series) -> Int64:
    """Return the place of every id in the order of ids as text, byte by byte."""
    order = np.empty(len(ids), np.int64)
    order[ids.cast(pl.String).arg_sort().to_numpy()] = np.arange(len(ids))
    return order


_SORTED_BY_INSERTION = 64  # shorter rows are sorted faster so


@compiled
def by_order(user: Any, item: Any, start: int, taken: Any, lists: Any, full: bool) -> int:
    """Put every item behind its user's last; return the first row that finds no place, or -1.

    `taken` counts the places of each user. Where the matrix is `full` wide, as wide as anyone
    looks, items without a place are left out.
    """
    n, k = lists.shape
    places = lists.reshape(-1)  # one index is faster than two
    for row in range(start, len(user)):
        u = user[row]
        if u >= n:
            continue
        place = taken[u]
        if place < k:
            places[np.uint64(u) * np.uint64(k) + np.uint64(place)] = item[row]
            taken[u] = place + 1
        elif not full:
            return row
    return -1


@compiled
def by_rank(user: Any, item: Any, rank: Any, lists: Any) -> int:
    """Put every item at its rank, from 1; return the first row whose place is taken, or -1."""
    n, k = lists.shape
    places = lists.reshape(-1)  # one index is faster than two
    for row in range(len(user)):
        u, place = user[row], rank[row] - 1
        if u >= n or place >= k:
            continue
        at = np.uint64(u) * np.uint64(k) + np.uint64(place)
        if places[at] >= 0:
            return row
        places[at] = item[row]
    return -1


@compiled
def by_list(user: Any, sizes: Any, item: Any, taken: Any, lists: Any) -> int:
    """Copy every list; return the first row whose user has a list already, or -1."""
    n, k = lists.shape
    start = 0
    for row in range(len(user)):
        u = user[row]
        if u < n:
            if taken[u] > 0:
                return row
            taken[u] = 1
            for place in range(min(k, sizes[row])):
                lists[u, place] = item[start + place]
        start += sizes[row]
    return -1


@compiled
def by_score(
    user: Any, item: Any, score: Any, id_order: Any, taken: Any, lists: Any, best: Any
) -> None:
    """Keep each user's best items: score descending, then item id.

    `id_order` holds each item's place in the order of ids; `best` the scores of `lists`.
    """
    n, k = lists.shape
    for row in range(len(user)):
        u = user[row]
        if u >= n:
            continue
        new, value, place = item[row], score[row], taken[u]
        while place > 0:
            other, held = lists[u, place - 1], best[u, place - 1]
            if held > value or (held == value and id_order[other] <= id_order[new]):
                break
            if place < k:
                lists[u, place], best[u, place] = other, held
            place -= 1
        if place < k:
            lists[u, place], best[u, place] = new, value
            taken[u] = min(taken[u] + 1, k)


@compiled
def by_user(user: Any, item: Any, starts: Any, rows: Any, sizes: Any) -> None:
    """Group items by user, each row ascending and each item once; `sizes` takes their lengths.

    `starts` holds where each user's row begins in `rows`, and behind it there may be room left.
    """
    sizes[:] = 0
    for entry in range(len(user)):
        u = user[entry]
        rows[starts[u] + sizes[u]] = item[entry]
        sizes[u] += 1
    for u in range(len(sizes)):
        row = rows[starts[u] : starts[u + 1]]
        if len(row) > _SORTED_BY_INSERTION:
            row.sort()
        else:
            _insertion_sort(row)
        kept = 0
        for place in range(len(row)):
            if kept == 0 or row[place] != row[kept - 1]:
                row[kept] = row[place]
                kept += 1
        sizes[u] = kept


@compiled
def _insertion_sort(row: Any) -> None:
    for place in range(1, len(row)):
        new, at = row[place], place
        while at > 0 and row[at - 1] > new:
            row[at] = row[at - 1]
            at -= 1
        row[at] = new


@compiled
def together(rows: Any, starts: Any, sizes: Any, kept: Any) -> None:
    """Put the first entries of every row, as many as `sizes` says, one row behind another."""
    end = 0
    for u in range(len(sizes)):
        for place in range(sizes[u]):
            kept[end] = rows[starts[u] + place]
            end += 1
