"""Rows of a log in parts on disk, each ordered by leaf, so that buckets can be gathered from them.

A leaf is one of 4,096 that the hash of a user's id decides. A part that is there is whole; what a
killed process has left is used by the next one, or if it is damaged, removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import cache
from harness.core.arrays import Counts, Int32, places
from harness.core.ids import Encoder
from harness.core.io import whole_file, whole_folder
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import dataset
from harness.data.dataset import Events
from harness.data.event_reader import EventReader, Place
from harness.data.event_types import EventType, EventTypes, codes_of, columns_of, of_types
from harness.data.layout import Layout
from harness.data.source import Mark

PART_ROWS, PART_BYTES = 1 << 22, 1 << 30
"""A part has so many rows, or fewer whose text is that long."""
MOST_IDS = 1 << 23
"""So many users are known while rows are read; then codes begin anew, and some have two."""
PARTS = "parts"
_NOTES, _SUMS = "notes.json", "sums"


def read(
    layout: Layout, folder: Path, progress: Callable[[int], object]
) -> tuple[list[Part], list[str]]:
    """Return all rows of a log in parts, and what was left out; write those that are not there."""
    parts = _left(folder)
    writer = _Writer(folder / PARTS, parts)
    reader = EventReader(layout, progress)
    if parts:
        reader.at, reader.rows, reader.left_out = parts[-1].behind
        progress(sum(reader.rows))
    with ThreadPoolExecutor(1) as pool:  # which writes a part while the next one is read
        waiting: Future[None] | None = None
        for rows in in_parts(layout, reader, PART_ROWS, MOST_IDS):
            if waiting is not None:
                waiting.result()
            waiting = pool.submit(writer.write, rows)
    if waiting is not None:
        waiting.result()
    return parts, list(reader.notes())


def _left(folder: Path) -> list[Part]:
    """Return the parts that a killed process has left; of damaged ones nothing is used."""
    place = folder / PARTS
    paths = sorted(path for path in place.glob("*") if not path.name.startswith("."))
    in_turn = [path.name for path in paths] == [f"{number:06}" for number in range(len(paths))]
    if place.is_file() or not in_turn or any(noted(path / _NOTES) is None for path in paths):
        cache.clear(folder)
        return []
    return [Part(path) for path in paths]


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
    behind : list
        Where the reader stands behind these rows, what it has read and left out.
    """

    columns: dict[str, npt.NDArray[Any]]
    kinds: Sequence[EventType]
    users: pl.Series
    items: pl.Series
    first: bool
    behind: list[Any]


def in_parts(layout: Layout, reader: EventReader, most_rows: int, most_ids: int) -> Iterator[Rows]:
    """Yield the rows of a reader in parts; codes begin anew where there are `most_ids`."""
    users, items, types, first = Encoder(), Encoder(), EventTypes(), True
    batches: list[dict[str, npt.NDArray[Any]]] = []
    size, before = 0, reader.bytes

    def taken() -> Rows:
        columns = {name: np.concatenate([b[name] for b in batches]) for name in batches[0]}
        batches.clear()
        behind = [astuple(reader.at), [*reader.rows], [*reader.left_out]]
        return Rows(columns, types.met, users.take(), items.take(), first, behind)

    for number, batch in reader.batches():
        if len(batch.time) == 0:
            continue  # all of its rows are left out
        codes = users.codes_of_keys(*batch.user), items.codes_of_keys(*batch.item)
        batches.append(columns_of(layout, types, number, codes, batch))
        size += len(batch.time)
        if size >= most_rows or reader.bytes - before >= PART_BYTES:
            yield taken()
            size, before = 0, reader.bytes
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

    def __init__(self, folder: Path, parts: list[Part]) -> None:
        self.folder, self.parts = folder, parts
        self.numbers, self.leaves = np.empty(0, np.int64), np.empty(0, np.uint16)
        self.users = sum(part.n_users for part in parts)
        self.items = self.before = sum(len(part.items) for part in parts)

    def write(self, rows: Rows) -> None:
        """Write the next part."""
        if rows.first:  # so its items have other numbers than those of equal codes before
            self.numbers, self.leaves = self.numbers[:0], self.leaves[:0]
            self.before = self.items
        path = self.folder / f"{len(self.parts):06}"
        with whole_folder(path) as target:
            self._write(target, rows)
        self.parts.append(Part(path))

    def _write(self, folder: Path, rows: Rows) -> None:
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
        for name, found in (("user_ends", ends_of(leaf, LEAVES)), ("ends", ends)):
            np.save(folder / f"{name}.npy", found, allow_pickle=False)
        for name, ids in (("users", rows.users.gather(by_leaf)), ("items", rows.items)):
            ids.alias(dataset.ID).to_frame().write_ipc(folder / f"{name}.arrow")
        notes = {"behind": rows.behind, "span": span_of(rows), "users": self.users}
        notes["kinds"] = rows.kinds
        note(folder / _NOTES, notes, list(folder.iterdir()))
        self.users, self.items = self.users + len(leaf), self.items + len(rows.items)


def span_of(rows: Rows) -> list[int]:
    """Return the times of the first and of the last event."""
    time = rows.columns[dataset.TIME]
    return [int(time.min()), int(time.max())]


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


class Part:
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

    @property
    def kinds(self) -> list[EventType]:
        """The event type of each code."""
        return [EventType(valid, name) for valid, name in self.notes["kinds"]]

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


_ALWAYS = (dataset.USER, dataset.ITEM, dataset.TIME)


def note(path: Path, notes: dict[str, Any], files: Iterable[Path]) -> None:
    """Write notes, with the checksums of files that are whole when the notes are there."""
    sums = {file.name: cache.checksum(file) for file in files}
    with whole_file(path) as target:
        target.write_text(json.dumps(notes | {_SUMS: sums}), encoding="utf-8")


def noted(path: Path) -> dict[str, Any] | None:
    """Return notes; None where there are none, or a file is not what it was when they were made."""
    try:
        notes: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        sums = notes[_SUMS].items()
        whole = all(cache.checksum(path.parent / name) == total for name, total in sums)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return notes if whole else None
