"""Rows of a log in parts on disk, each ordered by leaf, so that buckets can be gathered from them.

A leaf is one of 4,096 that the hash of a user's id decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Counts, Int32, Int64, places
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import dataset
from harness.data.dataset import Events, events_of
from harness.data.event_types import EventType, codes_of, of_types
from harness.data.layout import Layout
from harness.data.loading import CodedRows, in_parts
from harness.data.table_files import EventReader

PART_ROWS = 1 << 22
MOST_IDS = 1 << 23
"""So many users are known while rows are read; then codes begin anew, and some have two."""


def write(
    layout: Layout, folder: Path, progress: Callable[[int], object]
) -> tuple[list[LogPart], list[str]]:
    """Write all rows of a log into a folder, in parts; return these, and what was left out."""
    reader, parts = EventReader(layout, progress), list[LogPart]()
    numbers, leaves = np.empty(0, np.int32), np.empty(0, np.uint16)  # of the users' codes
    users = items = items_before = 0

    def write_part(rows: CodedRows) -> None:
        """Write the next part: users have numbers by part and leaf, items by part."""
        nonlocal numbers, leaves, users, items, items_before
        if rows.first:  # so its items have other numbers than those of equal codes before
            numbers, leaves, items_before = numbers[:0], leaves[:0], items
        leaf = leaf_of(id_hashes(rows.users))
        by_leaf = np.argsort(leaf, kind="stable")
        numbers = np.append(numbers, np.int32(users) + places(by_leaf, len(leaf)))
        leaves = np.append(leaves, leaf)
        columns, ends = in_groups(rows.columns, leaves, numbers, LEAVES)
        columns[dataset.ITEM] += np.int32(items_before)
        path = folder / f"{len(parts):06}"
        pl.DataFrame(columns).write_ipc(path.with_suffix(".events"))
        pl.DataFrame({dataset.ID: rows.users.gather(by_leaf)}).write_ipc(path.with_suffix(".users"))
        part = LogPart(
            path=path,
            span=rows.span,
            kinds=rows.kinds,
            items=rows.items,
            users_before=users,
            user_ends=ends_of(leaf, LEAVES),
            ends=ends,
        )
        parts.append(part)
        users, items = users + len(leaf), items + len(rows.items)

    with ThreadPoolExecutor(1) as pool:  # which writes a part while the next one is read
        waiting: Future[None] | None = None
        for rows in in_parts(layout, reader, PART_ROWS, MOST_IDS):
            if waiting is not None:
                waiting.result()
            waiting = pool.submit(write_part, rows)
    if waiting is not None:
        waiting.result()
    return parts, list(reader.notes())


def in_groups(
    columns: dict[str, npt.NDArray[Any]], groups: Counts, numbers: Counts, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Int64]:
    """Return the columns of rows by their users' groups, and where each group's begin.

    Codes of users become numbers; `groups` and `numbers` are those of each code.
    """
    group = groups[columns[dataset.USER]]
    order = np.argsort(group, kind="stable")
    ordered = {name: column[order] for name, column in columns.items()}
    ordered[dataset.USER] = numbers[ordered[dataset.USER]]
    return ordered, ends_of(group, count)


def ends_of(groups: Counts, count: int) -> Int64:
    """Return where each group's entries begin when they stand by group, and the end."""
    return np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count))))


@dataclass(frozen=True, eq=False)
class LogPart:
    """Rows on disk by leaf, the times of the first and last, and the ids that are new in it.

    `user_ends` and `ends` say where the new users and the rows of each leaf begin, and the end;
    `kinds` are the event types of the codes.
    """

    path: Path
    span: tuple[int, int]
    kinds: Sequence[EventType]
    items: pl.Series
    users_before: int
    user_ends: Int64
    ends: Int64

    def users(self, first: int, behind: int) -> tuple[slice, pl.Series]:
        """Return the numbers of the new users of some leaves, and their ids."""
        start, stop = int(self.user_ends[first]), int(self.user_ends[behind])
        frame = pl.scan_ipc(self.path.with_suffix(".users")).slice(start, stop - start).collect()
        return slice(self.users_before + start, self.users_before + stop), frame[dataset.ID]

    def events(self, first: int, behind: int, users: Int32, types: Sequence[EventType]) -> Events:
        """Return the events of some leaves' users, with positions for numbers of users."""
        start, stop = int(self.ends[first]), int(self.ends[behind])
        frame = pl.scan_ipc(self.path.with_suffix(".events")).slice(start, stop - start).collect()
        columns = {column.name: column.to_numpy() for column in frame}
        columns[dataset.USER] = users[columns[dataset.USER]]
        return of_types(events_of(columns), codes_of(self.kinds, types))
