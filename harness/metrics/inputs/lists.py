"""Everyone's list as a row of item codes, and everyone's truth as a set of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from harness.core.arrays import Int32, Int64, Ragged, places
from harness.core.errors import DataError
from harness.core.triples import counted, lists_of
from harness.metrics import Judgments
from harness.metrics.inputs.cells import number_text, shown
from harness.metrics.inputs.codes import Coders, Overlap, Rows, grades_of, ranks_of, scores_of
from harness.metrics.inputs.frame import Table

MOST_CELLS = 1 << 28
"""More places than this (1 GiB) come from a rank that is a mistake, or from one endless list."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Everyone's list: `items`, codes, (users of the truth, K), best first, −1 = empty.

    `order` says what orders them. Users outside, and their rows (or lists), are not in the truth;
    the overlaps tell whether users and items are those of the truth.
    """

    items: Int32
    order: str
    rows_outside: int
    users_outside: int
    user_overlap: Overlap
    item_overlap: Overlap


def read_lists(table: Table, coders: Coders, longest: int | None) -> Lists:
    """Return everyone's list, down to `longest`; whoever is coded by now is known.

    DataError over ids, ranks or scores that cannot be used, and a user with two lists.
    """
    n, n_items = len(coders.users), len(coders.items)
    rows = coders.read(table)
    outside = rows.user >= n
    user, item, rank = _ranked(table, rows, coders, n)
    last = int(np.max(rank, where=user < n, initial=1))
    width = last if longest is None else min(last, longest)
    if n * width > MOST_CELLS:
        raise DataError(
            f"{table.role}: {n:,} users with lists of {width:,} places do not fit in memory; "
            "check for a rank that is far too high, or give every metric a cut-off"
        )
    lists = lists_of(user, item, rank, n, width)
    if table.meaning == "rank":
        seen = (user < n) & (rank <= width)
        if np.count_nonzero(lists >= 0) < np.count_nonzero(seen):
            cells = pl.DataFrame({"user": user, "rank": rank}).with_row_index("row").filter(seen)
            again = cells.filter(~pl.struct("user", "rank").is_first_distinct()).row(0, named=True)
            what = f"has rank {again['rank']} twice; give each rank to one item"
            raise _fault(table, again["row"], what)
    return Lists(
        items=lists,
        order=_order(table),
        rows_outside=int(np.count_nonzero(outside) if table.wide else rows.sizes[outside].sum()),
        users_outside=len(coders.users) - n,
        user_overlap=coders.users.overlap(rows.user, n),
        item_overlap=coders.items.overlap(rows.item, n_items),
    )


def _order(table: Table) -> str:
    column = "" if table.frame is None else f' in column "{table.names.get("number")}"'
    if table.meaning == "rank":
        return f"ranks{column}"
    if table.meaning == "score":
        return f"scores{column}, ties by item id"
    return "lists in their own order" if table.wide else "rows in their own order"


def _ranked(table: Table, rows: Rows, coders: Coders, n: int) -> tuple[Int32, Int32, Int64]:
    """Return the user, the item and the rank, from 1, of every item."""
    if table.meaning == "rank":
        return rows.users, rows.item, ranks_of(table)
    cells = pl.DataFrame({"user": rows.users, "item": rows.item})
    if table.meaning == "score":
        id = pl.Series("id", id_order(coders.items.ids)[rows.item])
        cells = cells.hstack([scores_of(table).alias("score") + 0, id])  # -0.0 is 0.0
    else:
        users = pl.Series(rows.user)
        again = users.is_duplicated() & (users < n)
        if table.wide and again.any():
            row = int((again & ~users.is_first_distinct()).arg_true()[0])
            raise _fault(table, row, "has two lists; give each user one")
        if not again.any():
            return rows.users, rows.item, counted(rows.sizes)
    by = [name for name in ("user", "score", "id") if name in cells.columns]
    down = [name == "score" for name in by]
    cells = cells.filter(cells["user"] < n).sort(by, descending=down, maintain_order=True)
    sizes = cells["user"].rle().struct.field("len").cast(pl.Int64).to_numpy()
    return cells["user"].to_numpy(), cells["item"].to_numpy(), counted(sizes)


def id_order(ids: pl.Series) -> Int32:
    """Return the place of every id in the order of ids as text, byte by byte."""
    return places(ids.cast(pl.String).arg_sort().to_numpy(), len(ids))


def _fault(table: Table, row: int, what: str) -> DataError:
    return DataError(f"{table.role}: {table.row_and_user(row, ': ')} {what}")


def read_truth(table: Table, coders: Coders) -> tuple[Judgments, int]:
    """Return the true items of every user, with grades if there are any, and how many stood again.

    An item that stands twice counts once; items of grade 0 are no true items. DataError over ids or
    grades that cannot be used, and an item with two different grades.
    """
    rows = coders.read(table)
    graded = "number" in table.names
    grades = [grades_of(table)] if graded else []
    n_items = max(1, len(coders.items))
    pairs = pl.Series("pair", rows.users.astype(np.int64) * n_items + rows.item)
    once = pairs.unique().sort().to_frame()
    repeated = len(pairs) - len(once)
    if graded:
        once = pl.DataFrame([pairs, *grades]).unique().sort("pair", "grade")
        if len(once) > len(pairs) - repeated:
            (pair, low), (_, high) = once.filter(pl.col("pair").is_duplicated()).rows()[:2]
            user, item = divmod(pair, len(coders.items))
            raise DataError(
                f"{table.role}: user {shown(coders.users.ids[user])}, item "
                f"{shown(coders.items.ids[item])} has two grades, {number_text(low)} and "
                f"{number_text(high)}; give it one grade"
            )
        once = once.filter(pl.col("grade") > 0)
    user, item = np.divmod(once["pair"].to_numpy(), n_items)
    sizes = np.bincount(user, minlength=len(coders.users))
    true = Ragged(np.concatenate(([0], np.cumsum(sizes))), item.astype(np.int32))
    return Judgments(true, sizes, once["grade"].to_numpy() if graded else None), repeated
