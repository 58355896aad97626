"""Rows in, buckets of users out: written in parts by leaf, then gathered, each file whole or not.

A leaf is one of 4,096 that the hash of a user's id decides. What a killed process has finished is
used by the next one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Int32, places
from harness.core.ids import Encoder
from harness.core.io import whole_file, whole_folder
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import dataset, loading
from harness.data.dataset import Events, no_events, one_kind
from harness.data.layout import Layout
from harness.data.loading import EventReader, Place
from harness.data.ordering import merged
from harness.data.source import Batch, Mark

PART_ROWS = 1 << 22
MOST_IDS = 1 << 23
"""So many users are known while rows are read; then codes begin anew, and some have two."""
BUCKET_EVENTS = 1 << 23
"""A bucket has about so many events at most."""
EVENTS = "events"
"""How many a user of a bucket has."""
_PARTS, _NOTES, _KNOWN = "parts", "notes.json", "known.json"


class Known(NamedTuple):
    """What is known of all buckets.

    Attributes
    ----------
    events, users : sequence of int
        Of each bucket.
    span : (int, int)
        The times of the first and of the last event.
    notes : sequence of str
    """

    events: Sequence[int]
    users: Sequence[int]
    span: Sequence[int]
    notes: Sequence[str]


def write(layout: Layout, folder: Path, progress: Callable[[int], object]) -> None:
    """Write the buckets of a layout's events into a folder, and take up what is there of them.

    Parameters
    ----------
    progress : callable
        Told the rows of each batch that is read, then the events of each bucket that is written.
    """
    if not (folder / _KNOWN).exists():
        parts, notes = _parts(layout, folder / _PARTS, progress)
        known = _gather(layout, folder, parts, notes, progress)
        with whole_file(folder / _KNOWN) as target:  # last: from here on no part is needed
            target.write_text(json.dumps(known._asdict()), encoding="utf-8")
    shutil.rmtree(folder / _PARTS, ignore_errors=True)


def known(folder: Path) -> Known:
    """Return what is known of the buckets in a folder."""
    found = json.loads((folder / _KNOWN).read_text(encoding="utf-8"))
    return Known(*(found[name] for name in Known._fields))


def _gather(
    layout: Layout,
    folder: Path,
    parts: list[_Part],
    notes: list[str],
    progress: Callable[[int], object],
) -> Known:
    items, at = loading.items_of(layout, pl.concat([part.items for part in parts]))
    merging = _Merging(layout, folder, parts, at)
    buckets = bucket_count(sum(part.n_rows for part in parts))
    sizes = []
    for bucket in range(buckets):
        sizes.append(merging.bucket(bucket, buckets))
        progress(sizes[-1][0])
    _write(items_file(folder), items.frame())
    lows, highs = zip(*(part.notes["span"] for part in parts), strict=True)
    events, users = zip(*sizes, strict=True)
    return Known(events, users, (min(lows), max(highs)), (*notes, *items.notes))


def bucket_count(events: int) -> int:
    """Return how many buckets so many events make: a power of two, as leaves are shared out."""
    return min(1 << (max(events - 1, 0) // BUCKET_EVENTS).bit_length(), LEAVES)


def users_file(folder: Path, at: int) -> Path:
    """Return where the users of a bucket stand."""
    return folder / f"bucket-{at:04}-users.parquet"


def events_file(folder: Path, at: int) -> Path:
    """Return where the events of a bucket stand."""
    return folder / f"bucket-{at:04}-events.parquet"


def items_file(folder: Path) -> Path:
    """Return where the items of all buckets stand."""
    return folder / "items.parquet"


def _parts(
    layout: Layout, folder: Path, progress: Callable[[int], object]
) -> tuple[list[_Part], list[str]]:
    """Return all rows in parts, and what was left out; rows of parts that are there are not read.

    A folder of a part is there when the part is whole.
    """
    there = sorted(folder.glob("[0-9]*")) if folder.is_dir() else []
    parts = [_Part(path) for path in there]
    reader = EventReader(layout, progress)
    if parts:
        reader.at, reader.rows, reader.left_out = parts[-1].behind
        progress(sum(reader.rows))
    writer = _Writer(folder, parts)
    with ThreadPoolExecutor(1) as pool:  # which writes a part while the next one is read
        waiting: Future[None] | None = None
        for rows in _in_parts(layout, reader):
            if waiting is not None:
                waiting.result()
            waiting = pool.submit(writer.write, rows)
    if waiting is not None:
        waiting.result()
    return parts, list(reader.notes())


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that were read and are not written yet.

    Attributes
    ----------
    columns : mapping of str to array
        Codes of users and items, times, and what else the layout has.
    users, items : polars.Series of str
        The ids of new codes, in their order.
    first : bool
        Whether codes begin anew here.
    behind : list
        Where the reader stands behind these rows, what it has read and left out.
    """

    columns: dict[str, npt.NDArray[Any]]
    users: pl.Series
    items: pl.Series
    first: bool
    behind: list[Any]


def _in_parts(layout: Layout, reader: EventReader) -> Iterator[_Rows]:
    kinds = [layout.kinds.index(table.kind) for table in layout.events]
    users, items, first = Encoder(), Encoder(), True
    batches: list[dict[str, npt.NDArray[Any]]] = []

    def taken() -> _Rows:
        columns = {name: np.concatenate([b[name] for b in batches]) for name in batches[0]}
        batches.clear()
        behind = [astuple(reader.at), [*reader.rows], [*reader.left_out]]
        return _Rows(columns, users.take(), items.take(), first, behind)

    for number, batch in reader.batches():
        if len(batch.time) == 0:
            continue  # all of its rows are left out
        codes = users.codes_of_keys(*batch.user), items.codes_of_keys(*batch.item)
        batches.append(_columns(layout, kinds[number], codes, batch))
        if sum(len(columns[dataset.TIME]) for columns in batches) >= PART_ROWS:
            yield taken()
            first = max(len(users), len(items)) >= MOST_IDS
            if first:
                users, items = Encoder(), Encoder()
    if batches:
        yield taken()


def _columns(
    layout: Layout, kind: int, codes: tuple[Int32, Int32], batch: Batch
) -> dict[str, npt.NDArray[Any]]:
    user, item = codes
    columns: dict[str, npt.NDArray[Any]]
    columns = {dataset.USER: user, dataset.ITEM: item, dataset.TIME: batch.time}
    if len(layout.kinds) > 1:
        columns[dataset.KIND] = np.full(len(user), kind, np.uint8)
    if batch.row is not None:
        columns[dataset.ROW] = batch.row
    return columns


class _Writer:
    """What writes parts: users have numbers by part and leaf, items by part.

    Attributes
    ----------
    numbers, leaves : arrays
        Of each code of a user.
    """

    def __init__(self, folder: Path, parts: list[_Part]) -> None:
        self.folder, self.parts = folder, parts
        self.numbers, self.leaves = np.empty(0, np.int32), np.empty(0, np.uint16)
        self.users = sum(part.n_users for part in parts)
        self.items = self.before = sum(len(part.items) for part in parts)

    def write(self, rows: _Rows) -> None:
        """Write the next part."""
        if rows.first:  # so its items have other numbers than those of equal codes before
            self.numbers, self.leaves = self.numbers[:0], self.leaves[:0]
            self.before = self.items
        path = self.folder / f"{len(self.parts):06}"
        with whole_folder(path) as target:
            self._write(target, rows)
        self.parts.append(_Part(path))

    def _write(self, folder: Path, rows: _Rows) -> None:
        leaf = leaf_of(id_hashes(rows.users))
        by_leaf = np.argsort(leaf, kind="stable")
        self.numbers = np.append(self.numbers, self.users + places(by_leaf, len(leaf)))
        self.leaves = np.append(self.leaves, leaf)
        columns, codes = rows.columns, rows.columns[dataset.USER]
        of_row = self.leaves[codes]
        order = np.argsort(of_row, kind="stable")
        columns[dataset.USER] = self.numbers[codes]
        columns[dataset.ITEM] += np.int32(self.before)
        for name, column in columns.items():
            np.save(folder / f"{name}.npy", column[order], allow_pickle=False)
        for name, leaves in (("user_ends", leaf), ("ends", of_row)):
            np.save(folder / f"{name}.npy", _ends(leaves), allow_pickle=False)
        for name, ids in (("users", rows.users.gather(by_leaf)), ("items", rows.items)):
            ids.alias(dataset.ID).to_frame().write_ipc(folder / f"{name}.arrow")
        time = columns[dataset.TIME]
        span = [int(time.min()), int(time.max())]
        notes = {"behind": rows.behind, "span": span, "users": self.users}
        (folder / _NOTES).write_text(json.dumps(notes), encoding="utf-8")
        self.users, self.items = self.users + len(leaf), self.items + len(rows.items)


def _ends(leaf: npt.NDArray[np.uint16]) -> npt.NDArray[np.int64]:
    """Return where each leaf's entries begin when they stand by leaf, and the end."""
    return np.concatenate(([0], np.cumsum(np.bincount(leaf, minlength=LEAVES))))


class _Part:
    """Rows that were written, by leaf."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = json.loads((folder / _NOTES).read_text(encoding="utf-8"))
        self.items = pl.read_ipc(folder / "items.arrow")[dataset.ID]
        self.user_ends, self.ends = (np.load(folder / f"{n}.npy") for n in ("user_ends", "ends"))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.ends[-1])

    @property
    def n_users(self) -> int:
        """How many users are new in it."""
        return int(self.user_ends[-1])

    @property
    def behind(self) -> tuple[Place, list[int], list[int]]:
        """Where the rows behind these begin, and how many there were and were left out before."""
        (table, file, mark), rows, left_out = self.notes["behind"]
        return Place(table, file, Mark(*mark)), rows, left_out

    def users(self, first: int, behind: int) -> tuple[slice, pl.Series]:
        """Return the numbers of the new users of some leaves, and their ids."""
        start, stop = int(self.user_ends[first]), int(self.user_ends[behind])
        frame = pl.scan_ipc(self.folder / "users.arrow").slice(start, stop - start).collect()
        before = self.notes["users"]
        return slice(before + start, before + stop), frame[dataset.ID]

    def events(self, first: int, behind: int, users: Int32, items: Int32) -> Events:
        """Return the events of some leaves' users, with positions for numbers."""
        rows = slice(int(self.ends[first]), int(self.ends[behind]))
        user, item, time = (self._column(name)[rows] for name in _ALWAYS)
        kind, row = (
            self._column(name)[rows] if self._file(name).exists() else None
            for name in (dataset.KIND, dataset.ROW)
        )
        given = one_kind(len(time)) if kind is None else kind
        return Events(users[user], items[item], time, given, row)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.npy"

    def _column(self, name: str) -> npt.NDArray[Any]:
        return np.asarray(np.load(self._file(name), mmap_mode="r", allow_pickle=False))


_ALWAYS = (dataset.USER, dataset.ITEM, dataset.TIME)


class _Merging:
    """What gathers the events of buckets from all parts.

    Attributes
    ----------
    items : int32 array
        The position of each number of an item.
    """

    def __init__(self, layout: Layout, folder: Path, parts: list[_Part], items: Int32) -> None:
        self.layout, self.folder, self.parts, self.items = layout, folder, parts, items
        self.every_item = np.arange(int(items.max()) + 1, dtype=np.int32)
        self.registered = loading.users_of(layout)

    def bucket(self, at: int, count: int) -> tuple[int, int]:
        """Write one of so many buckets unless it is there; return its events and users."""
        path = users_file(self.folder, at)
        if path.exists():
            known = pl.read_parquet(path, columns=[EVENTS])[EVENTS]
            return int(known.sum()), len(known)
        ids, events = self._gathered(LEAVES * at // count, LEAVES * (at + 1) // count)
        _write(events_file(self.folder, at), self._columns(events))
        sizes = np.diff(events.user_starts(len(ids))).astype(np.uint32)
        times = loading.registered(self.layout, self.registered, ids)
        users = loading.known_of(ids, {EVENTS: sizes, dataset.REGISTERED: times})
        _write(path, users)  # last: a bucket is whole when its users are there
        return len(events), len(ids)

    def _gathered(self, first: int, behind: int) -> tuple[pl.Series, Events]:
        users, code_of_number = self._users(first, behind)
        events = [part.events(first, behind, code_of_number, self.items) for part in self.parts]
        batches = [batch for batch in events if len(batch) > 0]
        if not batches:
            return users, no_events()
        index, positions = loading.sorted_ids(users)
        return index, merged(batches, positions, self.every_item, len(self.layout.kinds))

    def _users(self, first: int, behind: int) -> tuple[pl.Series, Int32]:
        """Return the users of some leaves, and the place among them of each number of theirs."""
        of_number = np.zeros(sum(part.n_users for part in self.parts), np.int32)
        users, met = [pl.Series(dataset.ID, [], pl.String)], 0
        for numbers, ids in (part.users(first, behind) for part in self.parts):
            of_number[numbers] = np.arange(met, met + len(ids))
            users.append(ids)
            met += len(ids)
        return pl.concat(users), of_number

    def _columns(self, events: Events) -> pl.DataFrame:
        columns: dict[str, Any] = {dataset.ITEM: events.item, dataset.TIME: events.time}
        if len(self.layout.kinds) > 1:
            columns[dataset.KIND] = events.kind
        if events.row is not None:
            columns[dataset.ROW] = events.row
        return pl.DataFrame(columns)


def _write(path: Path, frame: pl.DataFrame) -> None:
    with whole_file(path) as target:  # a group of rows is a chunk, and one chunk is not copied
        frame.write_parquet(
            target, compression="lz4", statistics=False, row_group_size=max(len(frame), 1)
        )
