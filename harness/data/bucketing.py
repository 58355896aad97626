"""Rows in, buckets of users out: written in parts by leaf, then gathered, each file whole or not.

A leaf is one of 4,096 that the hash of a user's id decides. What a killed process has finished is
used by the next one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Int32
from harness.core.ids import Encoder
from harness.core.io import whole_file, whole_folder
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import dataset, loading
from harness.data.dataset import Events, no_events, one_kind
from harness.data.layout import Layout
from harness.data.loading import EventReader, Items, Place
from harness.data.ordering import merged
from harness.data.source import Batch, Mark

PART_ROWS = 1 << 22
BUCKET_EVENTS = 1 << 23
"""A bucket has about so many events at most."""
EVENTS = "events"
"""How many a user of a bucket has."""
DESCRIBED = "described"
_PARTS, _NOTES = "parts", "notes.json"


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


def write(layout: Layout, folder: Path, progress: Callable[[int], object]) -> Known:
    """Write the buckets of a layout's events into a folder, and take up what is there of them."""
    parts, notes = _parts(layout, folder / _PARTS, progress)
    items, at = loading.items_of(layout, pl.concat([part.items for part in parts]))
    ends = np.cumsum([0, *(len(part.items) for part in parts)])
    maps = [at[start:stop] for start, stop in pairwise(ends.tolist())]
    merging = _Merging(layout, folder, list(zip(parts, maps, strict=True)), len(items.ids))
    total = sum(part.rows for part in parts)
    buckets = bucket_count(total)
    sizes = [merging.bucket(at, buckets) for at in range(buckets)]
    _write_items(folder, layout, items)
    shutil.rmtree(folder / _PARTS, ignore_errors=True)
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
    for rows in _in_parts(layout, reader):
        path = folder / f"{len(parts):06}"
        with whole_folder(path) as target:
            rows.write(target, reader)
        parts.append(_Part(path))
    return parts, list(reader.notes())


def _in_parts(layout: Layout, reader: EventReader) -> Iterator[_Rows]:
    rows = _Rows(layout)
    for number, batch in reader.batches():
        rows.add(number, batch)
        if len(rows) >= PART_ROWS:
            yield rows
            rows = _Rows(layout)
    if len(rows) > 0:
        yield rows


class _Rows:
    """Rows that were read and are not written yet; ids have codes of their own here."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._kinds = [layout.kinds.index(table.kind) for table in layout.events]
        self._users, self._items = Encoder(), Encoder()
        self._batches: list[dict[str, npt.NDArray[Any]]] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, number: int, batch: Batch) -> None:
        """Take in rows of a table."""
        n = len(batch.time)
        user, item = (
            codes.codes_of_keys(*met)
            for codes, met in ((self._users, batch.user), (self._items, batch.item))
        )
        columns: dict[str, npt.NDArray[Any]]
        columns = {dataset.USER: user, dataset.ITEM: item, dataset.TIME: batch.time}
        if len(self._layout.kinds) > 1:
            columns[dataset.KIND] = np.full(n, self._kinds[number], np.uint8)
        if batch.row is not None:
            columns[dataset.ROW] = batch.row
        self._batches.append(columns)
        self._size += n

    def write(self, folder: Path, reader: EventReader) -> None:
        """Write the rows by leaf, and where the reader stands behind them."""
        ids = self._users.ids()
        leaf = leaf_of(id_hashes(ids))
        by_leaf = np.argsort(leaf, kind="stable")
        place = np.empty(len(ids), np.int32)
        place[by_leaf] = np.arange(len(ids), dtype=np.int32)
        columns = {name: self._column(name) for name in self._batches[0]}
        self._batches.clear()
        leaf_of_row = leaf[columns[dataset.USER]]
        rows = np.argsort(leaf_of_row, kind="stable")
        columns[dataset.USER] = place[columns[dataset.USER]]
        for name, column in columns.items():
            np.save(folder / f"{name}.npy", column[rows], allow_pickle=False)
        for name, leaves in (("user_ends", leaf), ("ends", leaf_of_row)):
            np.save(folder / f"{name}.npy", _ends(leaves), allow_pickle=False)
        ids.gather(by_leaf).alias(dataset.ID).to_frame().write_ipc(folder / "users.arrow")
        self._items.ids().alias(dataset.ID).to_frame().write_ipc(folder / "items.arrow")
        notes = {
            "behind": [astuple(reader.at), reader.rows, reader.left_out],
            "span": [
                int(end) for end in (np.min(columns[dataset.TIME]), np.max(columns[dataset.TIME]))
            ],
        }
        (folder / _NOTES).write_text(json.dumps(notes), encoding="utf-8")

    def _column(self, name: str) -> npt.NDArray[Any]:
        return np.concatenate([columns[name] for columns in self._batches])


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
        self.rows = int(self.ends[-1])

    @property
    def behind(self) -> tuple[Place, list[int], list[int]]:
        """Where the rows behind these begin, and how many there were and were left out before."""
        (table, file, mark), rows, left_out = self.notes["behind"]
        return Place(table, file, Mark(*mark)), rows, left_out

    def of_leaves(
        self, first: int, behind: int, codes: int, items: Int32
    ) -> tuple[pl.Series, Events]:
        """Return the users of some leaves, and their events with codes from `codes` on.

        Parameters
        ----------
        items : int32 array
            The position of each of the part's items among all.
        """
        users = slice(*(int(self.user_ends[leaf]) for leaf in (first, behind)))
        rows = slice(*(int(self.ends[leaf]) for leaf in (first, behind)))
        frame = pl.scan_ipc(self.folder / "users.arrow").slice(
            users.start, users.stop - users.start
        )
        user = self._column(dataset.USER)[rows] + np.int32(codes - users.start)
        item, time = items[self._column(dataset.ITEM)[rows]], self._column(dataset.TIME)[rows]
        kind = row = None
        if self._has(dataset.KIND):
            kind = self._column(dataset.KIND)[rows]
        if self._has(dataset.ROW):
            row = self._column(dataset.ROW)[rows]
        given = one_kind(len(item)) if kind is None else kind
        return frame.collect()[dataset.ID], Events(user, item, time, given, row)

    def _has(self, name: str) -> bool:
        return (self.folder / f"{name}.npy").exists()

    def _column(self, name: str) -> npt.NDArray[Any]:
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))


class _Merging:
    """What gathers the events of buckets from all parts."""

    def __init__(
        self, layout: Layout, folder: Path, parts: list[tuple[_Part, Int32]], n_items: int
    ) -> None:
        self.layout, self.folder, self.parts = layout, folder, parts
        self.every_item = np.arange(n_items, dtype=np.int32)
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
        users: dict[str, Any] = {dataset.ID: ids, EVENTS: sizes}
        times = loading.registered(self.layout, self.registered, ids)
        if times is not None:
            users[dataset.REGISTERED] = times
        _write(path, users)  # last: a bucket is whole when its users are there
        return len(events), len(ids)

    def _gathered(self, first: int, behind: int) -> tuple[pl.Series, Events]:
        users: list[pl.Series] = []
        batches: list[Events] = []
        for part, items in self.parts:
            ids, events = part.of_leaves(first, behind, sum(map(len, users)), items)
            if len(events) > 0:
                users.append(ids)
                batches.append(events)
        if not batches:
            return pl.Series(dataset.ID, [], pl.String), no_events()
        index, codes = loading.index_of(pl.concat(users))
        return index, merged(batches, codes, self.every_item, len(self.layout.kinds))

    def _columns(self, events: Events) -> dict[str, Any]:
        columns: dict[str, Any] = {dataset.ITEM: events.item, dataset.TIME: events.time}
        if len(self.layout.kinds) > 1:
            columns[dataset.KIND] = events.kind
        if events.row is not None:
            columns[dataset.ROW] = events.row
        return columns


def _write_items(folder: Path, layout: Layout, items: Items) -> None:
    described = np.zeros(len(items.ids), np.bool_)
    if items.catalogue is not None:
        described[items.catalogue] = True
    columns: dict[str, Any] = {dataset.ID: items.ids, DESCRIBED: described}
    if items.shown_from is not None:
        columns[dataset.SHOWN_FROM] = items.shown_from
    _write(items_file(folder), columns)


def _write(path: Path, columns: dict[str, Any]) -> None:
    frame = pl.DataFrame(columns)
    with whole_file(path) as target:  # a group of rows is a chunk, and one chunk is not copied
        frame.write_parquet(
            target, compression="lz4", statistics=False, row_group_size=max(len(frame), 1)
        )
