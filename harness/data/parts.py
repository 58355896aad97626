"""Rows of a log in parts on disk, each ordered by leaf, so that buckets can be gathered from them.

A leaf is one of 4,096 that the hash of a user's id decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Counts, Int32, Int64, places
from harness.core.ids import Encoder
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import dataset
from harness.data.dataset import Events
from harness.data.event_types import EventType, EventTypes, codes_of, columns_of, of_types
from harness.data.layout import Layout
from harness.data.table_files import EventReader

PART_ROWS, PART_BYTES = 1 << 22, 1 << 30
"""A part has so many rows, or fewer whose text is that long."""
MOST_IDS = 1 << 23
"""So many users are known while rows are read; then codes begin anew, and some have two."""


def read(
    layout: Layout, folder: Path, progress: Callable[[int], object]
) -> tuple[list[Part], list[str]]:
    """Write all rows of a log into a folder, in parts; return these, and what was left out."""
    writer, reader = _Writer(folder), EventReader(layout, progress)
    with ThreadPoolExecutor(1) as pool:  # which writes a part while the next one is read
        waiting: Future[None] | None = None
        for rows in in_parts(layout, reader, PART_ROWS, MOST_IDS):
            if waiting is not None:
                waiting.result()
            waiting = pool.submit(writer.write, rows)
    if waiting is not None:
        waiting.result()
    return writer.parts, list(reader.notes())


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that were read and are not written yet.

    Attributes
    ----------
    columns : mapping of str to array
        Codes of users, items and event types, times, and what else the layout has.
    kinds : sequence of EventType
        Of the codes.
    users, items : polars.Series of str
        The ids of new codes, in their order.
    first : bool
        Whether codes begin anew here.
    """

    columns: dict[str, npt.NDArray[Any]]
    kinds: Sequence[EventType]
    users: pl.Series
    items: pl.Series
    first: bool

    @property
    def span(self) -> tuple[int, int]:
        """The times of the first and of the last event."""
        time = self.columns[dataset.TIME]
        return int(time.min()), int(time.max())


def in_parts(layout: Layout, reader: EventReader, most_rows: int, most_ids: int) -> Iterator[Rows]:
    """Yield the rows of a reader in parts; codes begin anew where there are `most_ids`."""
    users, items, types, first = Encoder(), Encoder(), EventTypes(), True
    batches: list[dict[str, npt.NDArray[Any]]] = []
    size = read_bytes = 0

    def taken() -> Rows:
        columns = {name: np.concatenate([b[name] for b in batches]) for name in batches[0]}
        batches.clear()
        return Rows(columns, types.met, users.take(), items.take(), first)

    for number, batch in reader.batches():
        read_bytes += batch.bytes
        if len(batch.time) == 0:
            continue  # all of its rows are left out
        codes = users.codes_of_keys(*batch.user), items.codes_of_keys(*batch.item)
        batches.append(columns_of(layout, types, number, codes, batch))
        size += len(batch.time)
        if size >= most_rows or read_bytes >= PART_BYTES:
            yield taken()
            size = read_bytes = 0
            first = max(len(users), len(items)) >= most_ids
            if first:
                users, items = Encoder(), Encoder()
    if batches:
        yield taken()


class _Writer:
    """What writes parts: users have numbers by part and leaf, items by part.

    Attributes
    ----------
    numbers, leaves : arrays
        Of each code of a user.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.parts = folder, list[Part]()
        self.numbers, self.leaves = np.empty(0, np.int64), np.empty(0, np.uint16)
        self.users = self.items = self.before = 0

    def write(self, rows: Rows) -> None:
        """Write the next part."""
        if rows.first:  # so its items have other numbers than those of equal codes before
            self.numbers, self.leaves = self.numbers[:0], self.leaves[:0]
            self.before = self.items
        folder = self.folder / f"{len(self.parts):06}"
        folder.mkdir()
        leaf = leaf_of(id_hashes(rows.users))
        by_leaf = np.argsort(leaf, kind="stable")
        self.numbers = np.append(self.numbers, np.int64(self.users) + places(by_leaf, len(leaf)))
        self.leaves = np.append(self.leaves, leaf)
        few = self.users + len(leaf) <= np.iinfo(np.int32).max
        numbers: Counts = self.numbers.astype(np.int32 if few else np.int64)
        columns, ends = in_groups(rows.columns, self.leaves, numbers, LEAVES)
        columns[dataset.ITEM] += np.int32(self.before)
        for name, column in columns.items():
            np.save(folder / f"{name}.npy", column, allow_pickle=False)
        users = rows.users.gather(by_leaf).alias(dataset.ID).to_frame()
        users.write_ipc(folder / _USERS)
        user_ends = ends_of(leaf, LEAVES)
        self.parts.append(
            Part(folder, rows.span, rows.kinds, rows.items, self.users, user_ends, ends)
        )
        self.users, self.items = self.users + len(leaf), self.items + len(rows.items)


def in_groups(
    columns: dict[str, npt.NDArray[Any]], groups: Counts, numbers: Counts, count: int
) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.int64]]:
    """Return the columns of rows by their users' groups, and where each group's begin.

    Codes of users become numbers.

    Parameters
    ----------
    groups, numbers : arrays
        Of each code of a user.
    """
    of_row = groups[columns[dataset.USER]]
    order = np.argsort(of_row, kind="stable")
    found = {name: column[order] for name, column in columns.items()}
    return found | {dataset.USER: numbers[found[dataset.USER]]}, ends_of(of_row, count)


def ends_of(groups: Counts, count: int) -> npt.NDArray[np.int64]:
    """Return where each group's entries begin when they stand by group, and the end."""
    return np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count))))


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that were written, by leaf.

    Attributes
    ----------
    span : (int, int)
        The times of the first and of the last event.
    kinds : sequence of EventType
        The event type of each code.
    items : polars.Series of str
        The ids that are new in it.
    users_before : int
        How many users the parts before it have.
    user_ends, ends : int64 arrays
        Where the new users and the rows of each leaf begin, and the end.
    """

    folder: Path
    span: tuple[int, int]
    kinds: Sequence[EventType]
    items: pl.Series
    users_before: int
    user_ends: Int64
    ends: Int64

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.ends[-1])

    @property
    def n_users(self) -> int:
        """How many users are new in it."""
        return int(self.user_ends[-1])

    def users(self, first: int, behind: int) -> tuple[slice, pl.Series]:
        """Return the numbers of the new users of some leaves, and their ids."""
        start, stop = int(self.user_ends[first]), int(self.user_ends[behind])
        frame = pl.scan_ipc(self.folder / _USERS).slice(start, stop - start).collect()
        return slice(self.users_before + start, self.users_before + stop), frame[dataset.ID]

    def events(
        self, first: int, behind: int, users: Int32, items: Int32, types: Sequence[EventType]
    ) -> Events:
        """Return the events of some leaves' users, with positions for numbers."""
        rows = slice(int(self.ends[first]), int(self.ends[behind]))
        user, item, time = (self._column(name)[rows] for name in _ALWAYS)
        kind, row, value = (
            self._column(name)[rows] if self._file(name).exists() else None
            for name in (dataset.KIND, dataset.ROW, dataset.VALUE)
        )
        given = np.zeros(len(time), np.uint8) if kind is None else kind
        found = Events(users[user], items[item], time, given, row, value)
        return of_types(found, codes_of(self.kinds, types))

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.npy"

    def _column(self, name: str) -> npt.NDArray[Any]:
        return np.asarray(np.load(self._file(name), mmap_mode="r", allow_pickle=False))


_USERS = "users.arrow"
_ALWAYS = (dataset.USER, dataset.ITEM, dataset.TIME)
