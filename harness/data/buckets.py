"""A log of any size in buckets of users on disk, made once: each bucket is a data set.

Buckets are gathered from parts: rows in the order of the file, each part by leaf. A leaf is one of
4,096 that the hash of a user's id decides.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import cache
from harness.core.arrays import Counts, Int32, Int64, places
from harness.core.errors import DataError, printable
from harness.core.io import temporary_folder
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import dataset, loading
from harness.data.dataset import Dataset, Events, events_of, no_events
from harness.data.layout import Layout
from harness.data.loading import CodedRows, EventType, Items, codes_of, in_order, in_parts, of_types
from harness.data.oddities import Oddities, notes_of, oddities_of, words_of
from harness.data.ordering import merged
from harness.data.table_files import EventReader, sources

_log = logging.getLogger(__name__)

BUCKET_EVENTS = 1 << 23
"""A bucket has about so many events at most."""
EVENTS = "events"
"""How many a user of a bucket has."""
PART_ROWS = 1 << 22
MOST_IDS = 1 << 23
"""So many users are known while rows are read; then codes begin anew, and some have two."""
_BYTES_A_ROW = 40
"""Of disk: sixteen of a part, its users' ids, and what a bucket keeps."""
_KNOWN, _ITEMS = "known.json", "items.parquet"


@dataclass(frozen=True, eq=False)
class Buckets:
    """A log in buckets of users, in a folder that another process may put another in place of.

    `shared` is what they have in common, without a user or event; `events` are those of each.
    """

    folder: Path
    shared: Dataset
    events: Sequence[int]
    inode: int

    @classmethod
    def opened(cls, folder: Path, layout: Layout) -> Buckets:
        """Return those that `write` has written."""
        known = json.loads((folder / _KNOWN).read_text(encoding="utf-8"))
        low, high = known["span"]
        shared = loading.dataset_of(
            layout=layout,
            items=Items.kept(pl.read_parquet(folder / _ITEMS)),
            notes=known["notes"],
            types=[EventType(valid, name) for valid, name in known["types"]],
            span=(low, high),
        )
        return cls(folder, shared, known["events"], folder.stat().st_ino)

    def __len__(self) -> int:
        return len(self.events)

    def datasets(self) -> Iterator[Dataset]:
        """Yield each bucket that has events; the next one is read meanwhile."""
        waiting: deque[Future[Dataset]] = deque()
        with ThreadPoolExecutor(1) as pool:
            for number, events in enumerate(self.events):
                if events > 0:
                    waiting.append(pool.submit(self._bucket, number))
                if len(waiting) > 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _bucket(self, number: int) -> Dataset:
        try:
            users = pl.read_parquet(file_of(self.folder, number, "users"))
            events = pl.read_parquet(file_of(self.folder, number, "events"))
            same = self.folder.stat().st_ino == self.inode
        except (OSError, pl.exceptions.PolarsError):
            same = False
        if not same:  # positions of new ones would be taken for other items
            raise DataError(
                f"{self.folder}: another process replaced these buckets, as the log or the "
                "version of harness changed; run the command again"
            )
        known = loading.arrays_of(users)
        starts = np.concatenate(([0], np.cumsum(known[EVENTS], dtype=np.int64)))
        return replace(
            self.shared,
            user_ids=users[dataset.ID],
            events=events_of(loading.arrays_of(events), starts),
            registered=known.get(dataset.REGISTERED),
        )


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


def estimated_rows(layout: Layout) -> int:
    """Return how many rows the events of a layout have, more or less, without reading them."""
    return sum(source.about() for table in layout.events for source in sources(table))


@contextmanager
def prepared(
    layout: Layout,
    progress: Callable[[int], object] = lambda rows: None,
    *,
    kept: bool = True,
) -> Iterator[Buckets]:
    """Yield the buckets of a layout's events; they are made unless they are kept from before.

    They are in the cache, or, if not `kept`, in a temporary folder, which goes.
    """
    entry = cache.entry((layout, "buckets"), loading.files(layout))
    made = _kept(entry, layout, progress) if kept else None
    if made is not None:
        yield made
        return
    with temporary_folder() as folder:
        _write_or_tell(layout, folder, progress, "TMPDIR")
        yield Buckets.opened(folder, layout)


def _kept(entry: cache.Entry, layout: Layout, progress: Callable[[int], object]) -> Buckets | None:
    """Return the buckets of an entry, which is made if need be; None where it cannot be kept."""

    def write(folder: Path) -> dict[str, Any]:
        shutil.rmtree(entry.path, ignore_errors=True)  # stale, and as large as the new ones
        _write_or_tell(layout, folder, progress, "HARNESS_CACHE_DIR")
        if entry.unsettled is not None:
            names = ", ".join(Path(file[0]).name for file in entry.files)
            raise DataError(
                f"{names}: changed while harness read the events; run the command again"
            )
        return {}

    def opened() -> Buckets | None:
        return entry.read(lambda folder, _: Buckets.opened(folder, layout))

    made = opened()
    if made is not None or entry.unsettled is not None:
        return made
    with entry.alone():
        made = opened()
        if made is None and entry.keep(write) is None and cache.is_private(entry.path.parent):
            made = Buckets.opened(entry.path, layout)
    if made is None:
        says = "%s: cannot be used; buckets go to %s, and harness does not keep them"
        _log.warning(says, printable(str(entry.path.parent)), tempfile.gettempdir())
    return made


_FULL = re.compile("(?i)no space left|not enough (free )?space| requested and ")
"""What systems and Polars say of a full disk, and NumPy."""


def _write_or_tell(
    layout: Layout, folder: Path, progress: Callable[[int], object], variable: str
) -> None:
    """Write the buckets; raise DataError where the disk is too small, before that or meanwhile."""
    needed, place = estimated_rows(layout) * _BYTES_A_ROW, folder.parent
    free = shutil.disk_usage(place).free
    says = (
        f"the buckets of users need about {_size(needed)}; free some disk space, or name a "
        f"folder on another disk: {variable}=FOLDER harness run …"
    )
    if free < needed:
        raise DataError(f"{place}: the disk has {_size(free)} free; {says}")
    try:
        write(layout, folder, progress)
    except (OSError, pl.exceptions.PolarsError) as error:
        if _FULL.search(getattr(error, "strerror", None) or str(error)):
            raise DataError(f"{place}: the disk is full; {says}") from error
        if not isinstance(error, OSError):
            raise
        why = error.strerror or error
        cure = "run the command again, and do not touch the folder meanwhile"
        raise DataError(f"{place}: cannot write buckets there: {why}; {cure}") from error


def _size(bytes_: int) -> str:
    return f"{bytes_ / 1e9:,.1f} GB" if bytes_ >= 1e8 else f"{bytes_ / 1e6:,.1f} MB"


def write(layout: Layout, folder: Path, progress: Callable[[int], object]) -> None:
    """Write the buckets of a layout's events into an empty folder.

    `progress` is told the rows of each batch, then the events of each bucket.
    """
    scratch = folder / "parts"
    scratch.mkdir()
    written, notes = write_parts(layout, scratch, progress)
    items, item_map = loading.items_of(layout, pl.concat([part.items for part in written]))
    types, words = in_order(kind for part in written for kind in part.kinds), words_of(items.ids)
    registered = loading.users_of(layout)
    count = bucket_count(sum(int(part.ends[-1]) for part in written))
    odd = list[Oddities]()
    for number in range(count):
        first, behind = LEAVES * number // count, LEAVES * (number + 1) // count
        ids, events = _gathered(written, first, behind, item_map, types)
        sizes = np.diff(events.user_starts(len(ids))).astype(np.uint32)
        times = loading.times_of(layout.users, registered, ids)
        known = {dataset.ID: ids, EVENTS: sizes, dataset.REGISTERED: times}
        _write_frame(file_of(folder, number, "users"), loading.frame_of(known))
        columns = pl.DataFrame(loading.kept_columns(events, types))
        _write_frame(file_of(folder, number, "events"), columns)
        odd.append(oddities_of(events, ids, words, len(types)))
        progress(len(events))
    _write_frame(folder / _ITEMS, items.frame())
    lows, highs = zip(*(part.span for part in written), strict=True)
    facts = {
        "events": [bucket.events for bucket in odd],
        "span": (min(lows), max(highs)),
        "notes": (*notes, *items.notes, *notes_of(layout, odd)),
        "types": types,
    }
    (folder / _KNOWN).write_text(json.dumps(facts), encoding="utf-8")
    shutil.rmtree(scratch)


def write_parts(
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


def bucket_count(events: int) -> int:
    """Return how many buckets so many events make: a power of two, as leaves are shared out."""
    return min(1 << (max(events - 1, 0) // BUCKET_EVENTS).bit_length(), LEAVES)


def file_of(folder: Path, number: int, what: str) -> Path:
    """Return where the "users" or the "events" of a bucket stand."""
    return folder / f"bucket-{number:04}-{what}.parquet"


def _gathered(
    written: list[LogPart], first: int, behind: int, items: Int32, types: Sequence[EventType]
) -> tuple[pl.Series, Events]:
    """Return the users of some leaves, sorted, and their events, in canonical order."""
    code_of_number = np.zeros(written[-1].users_before + int(written[-1].user_ends[-1]), np.int32)
    ids, met = [pl.Series(dataset.ID, [], pl.String)], 0
    for numbers, new in (part.users(first, behind) for part in written):
        code_of_number[numbers] = np.arange(met, met + len(new))
        ids.append(new)
        met += len(new)
    batches = [part.events(first, behind, code_of_number, types) for part in written]
    batches = [batch for batch in batches if len(batch) > 0]
    if not batches:
        return pl.concat(ids), no_events()
    index, positions = loading.sorted_ids(pl.concat(ids))
    return index, merged(batches, positions, items, len(types))


def _write_frame(path: Path, frame: pl.DataFrame) -> None:
    rows = max(len(frame), 1)  # a group of rows is a chunk, and one chunk is not copied
    frame.write_parquet(path, compression="lz4", statistics=False, row_group_size=rows)
