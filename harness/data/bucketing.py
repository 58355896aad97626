"""Parts in, buckets of users out: the users of some leaves, in canonical order, as Parquet."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Int32
from harness.core.random import LEAVES
from harness.data import dataset, loading, parts
from harness.data.dataset import Events, no_events
from harness.data.event_types import EventType, in_order
from harness.data.layout import Layout
from harness.data.oddities import Oddities, notes_of, oddities_of, words_of
from harness.data.ordering import merged
from harness.data.parts import Part

BUCKET_EVENTS = 1 << 23
"""A bucket has about so many events at most."""
EVENTS = "events"
"""How many a user of a bucket has."""
_KNOWN = "known.json"


class Known(NamedTuple):
    """What is known of all buckets.

    Attributes
    ----------
    events, users : sequence of int
        Of each bucket.
    span : (int, int)
        The times of the first and of the last event.
    notes : sequence of str
    kinds : sequence of (bool, str)
        The `EventType` of each code.
    """

    events: Sequence[int]
    users: Sequence[int]
    span: Sequence[int]
    notes: Sequence[str]
    kinds: Sequence[Sequence[Any]]

    @property
    def types(self) -> list[EventType]:
        """The event type of each code."""
        return [EventType(valid, name) for valid, name in self.kinds]


def write(layout: Layout, folder: Path, progress: Callable[[int], object]) -> None:
    """Write the buckets of a layout's events into an empty folder.

    Parameters
    ----------
    progress : callable
        Told the rows of each batch that is read, then the events of each bucket that is written.
    """
    scratch = folder / "parts"
    scratch.mkdir()
    read, notes = parts.read(layout, scratch, progress)
    made = _gather(layout, folder, read, notes, progress)
    (folder / _KNOWN).write_text(json.dumps(made._asdict()), encoding="utf-8")
    shutil.rmtree(scratch)


def known(folder: Path) -> Known:
    """Return what is known of the buckets in a folder."""
    found = json.loads((folder / _KNOWN).read_text(encoding="utf-8"))
    return Known(*(found[name] for name in Known._fields))


def _gather(
    layout: Layout,
    folder: Path,
    read: list[Part],
    notes: list[str],
    progress: Callable[[int], object],
) -> Known:
    items, at = loading.items_of(layout, pl.concat([part.items for part in read]))
    types = in_order(of for part in read for of in part.kinds)
    merging = _Merging(layout, folder, read, at, types, words_of(items.ids))
    buckets = bucket_count(sum(part.n_rows for part in read))
    users, odd = list[int](), list[Oddities]()
    for bucket in range(buckets):
        n_users, oddities = merging.bucket(bucket, buckets)
        users.append(n_users)
        odd.append(oddities)
        progress(oddities.events)
    _write(items_file(folder), items.frame())
    lows, highs = zip(*(part.span for part in read), strict=True)
    every = (*notes, *items.notes, *notes_of(layout, odd))
    events = [part.events for part in odd]
    return Known(events, users, (min(lows), max(highs)), every, types)


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


class _Merging:
    """What gathers the events of buckets from all parts.

    Attributes
    ----------
    items : int32 array
        The position of each number of an item.
    words : mapping of int to text
        The items that are words for nothing.
    """

    def __init__(
        self,
        layout: Layout,
        folder: Path,
        read: list[Part],
        items: Int32,
        types: Sequence[EventType],
        words: Mapping[int, str],
    ) -> None:
        self.layout, self.folder, self.parts, self.items = layout, folder, read, items
        self.types, self.words = types, words
        self.every_item = np.arange(int(items.max()) + 1, dtype=np.int32)
        self.registered = loading.users_of(layout)

    def bucket(self, at: int, count: int) -> tuple[int, Oddities]:
        """Write one of so many buckets; return how many users it has, and what is odd in it."""
        first, behind = LEAVES * at // count, LEAVES * (at + 1) // count
        ids, code_of_number = self._users(first, behind)
        batches = [
            part.events(first, behind, code_of_number, self.items, self.types)
            for part in self.parts
        ]
        ids, events = gathered(ids, batches, len(self.every_item), len(self.types))
        sizes = np.diff(events.user_starts(len(ids))).astype(np.uint32)
        times = loading.registered(self.layout, self.registered, ids)
        users = loading.known_of(ids, {EVENTS: sizes, dataset.REGISTERED: times})
        _write(events_file(self.folder, at), self._columns(events))
        _write(users_file(self.folder, at), users)
        return len(ids), oddities_of(events, ids, self.words, len(self.types))

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
        if len(self.types) > 1:
            columns[dataset.KIND] = events.kind
        for name, column in ((dataset.ROW, events.row), (dataset.VALUE, events.value)):
            if column is not None:
                columns[name] = column
        return pl.DataFrame(columns)


def gathered(
    users: pl.Series, events: list[Events], n_items: int, n_kinds: int
) -> tuple[pl.Series, Events]:
    """Return the ids of users sorted, and their events, in any order in `events`, in canonical one.

    Parameters
    ----------
    users : polars.Series of str
        Of each position of a user in `events`.
    """
    batches = [batch for batch in events if len(batch) > 0]
    if not batches:
        return users, no_events()
    index, positions = loading.sorted_ids(users)
    return index, merged(batches, positions, np.arange(n_items, dtype=np.int32), n_kinds)


def _write(path: Path, frame: pl.DataFrame) -> None:
    rows = max(len(frame), 1)  # a group of rows is a chunk, and one chunk is not copied
    frame.write_parquet(path, compression="lz4", statistics=False, row_group_size=rows)
