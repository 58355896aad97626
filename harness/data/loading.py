"""A layout's files in, a `Dataset` out, kept for the next command: coded, in canonical order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import cache
from harness.core.arrays import Bool, Int32, Int64, places
from harness.core.errors import DataError, quoted
from harness.core.ids import Encoder
from harness.data import attributes, dataset
from harness.data.dataset import NO_TIME, Dataset, Events, events_of, no_events, positions
from harness.data.layout import AttributeTable, Layout
from harness.data.oddities import note_of_shorter, notes_of, notes_of_zeros, oddities_of, words_of
from harness.data.ordering import merged
from harness.data.table_files import EventReader, files_of
from harness.data.to_events import MOST_LABELS, Batch, too_many_labels

Codes = npt.NDArray[np.uint8]


class EventType(NamedTuple):
    """A type of events; `valid` ones stand in the table to be evaluated on, where one is given."""

    valid: bool
    name: str


@dataclass(frozen=True, eq=False)
class Items:
    """All items of the events and of their table: ids sorted, each once, and notes on these.

    `described` are those that the table has, `shown_from` is as a `Dataset` has it.
    """

    ids: pl.Series
    described: Bool | None
    shown_from: Int64 | None
    notes: tuple[str, ...] = ()

    def frame(self) -> pl.DataFrame:
        """Return them as they are kept, without notes."""
        columns = {_DESCRIBED: self.described, dataset.SHOWN_FROM: self.shown_from}
        return frame_of({dataset.ID: self.ids, **columns})

    @classmethod
    def kept(cls, frame: pl.DataFrame) -> Items:
        """Return those that `frame` made a frame of."""
        known = arrays_of(frame)
        return cls(frame[dataset.ID], known.get(_DESCRIBED), known.get(dataset.SHOWN_FROM))


def frame_of(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return a frame of the columns that are not None."""
    return pl.DataFrame({name: column for name, column in columns.items() if column is not None})


def arrays_of(frame: pl.DataFrame) -> dict[str, npt.NDArray[Any]]:
    """Return the numbers of a frame by the names of its columns."""
    return {c.name: c.to_numpy() for c in frame if c.dtype != pl.String}


def kept_columns(events: Events, types: Sequence[object]) -> dict[str, npt.NDArray[Any]]:
    """Return what is kept of events, beside where those of each user begin."""
    columns: dict[str, npt.NDArray[Any] | None] = {
        dataset.ITEM: events.item,
        dataset.TIME: events.time,
        dataset.KIND: events.kind if len(types) > 1 else None,
        dataset.ROW: events.row,
        dataset.VALUE: events.value,
    }
    return {name: column for name, column in columns.items() if column is not None}


_DESCRIBED = "described"
_PIECE = 1_000_000
"""Events that are put together: memory of small arrays stays with the process."""
PART_BYTES = 1 << 30
"""Of text, after which a part ends."""


def items_of(
    layout: Layout, met: pl.Series, table: pl.DataFrame | None = None
) -> tuple[Items, Int32]:
    """Return the items of a layout, and the position of each id that its events were met with.

    `table` has the rows of the items' table; they are read from its files by default.
    """
    notes, frame = list[str](), _attributes(layout.items) if table is None else table
    described = None if layout.items is None else frame[layout.items.id]
    if layout.id_width is not None and described is not None:
        width = layout.id_width
        # An id may be met twice; it is to be counted once.
        notes += notes_of_zeros(layout, met.unique(), described, width)
        if layout.restore_zeros:
            met, described = met.str.zfill(width), described.str.zfill(width)
    elif layout.id_width is None:
        notes += note_of_shorter(met)
    if layout.items is not None and described is not None:
        notes += attributes.notes_on_ids(layout.items, "items", described, met)
    ids, place = index_of(met, described)
    shown_from = times_of(layout.items, frame, ids, described)
    is_described = None if described is None else ids.is_in(described.implode()).to_numpy()
    return Items(ids, is_described, shown_from, tuple(notes)), place


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows as codes: of `kinds`, and of users and items, whose new ids are in the codes' order.

    `first` is whether codes begin anew here.
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


def in_parts(
    layout: Layout, reader: EventReader, most_rows: int, most_ids: float = inf
) -> Iterator[CodedRows]:
    """Yield the rows of a reader in parts; codes begin anew where there are `most_ids`."""
    users, items, first = Encoder(), Encoder(), True
    types: dict[EventType, int] = {}
    batches: list[dict[str, npt.NDArray[Any]]] = []
    size = read_bytes = 0

    def taken() -> CodedRows:
        columns = batches[0]
        if len(batches) > 1:
            columns = {name: np.concatenate([b[name] for b in batches]) for name in columns}
        batches.clear()
        return CodedRows(columns, list(types), users.take(), items.take(), first)

    with ThreadPoolExecutor(1) as beside:
        for number, batch in reader.batches():
            read_bytes += batch.bytes
            if len(batch.time) == 0:
                continue  # all of its rows are left out
            item = beside.submit(items.codes_of_keys, batch.item.keys, batch.item.texts)
            user = users.codes_of_keys(batch.user.keys, batch.user.texts)
            batches.append(
                columns_of(layout, types, number, user=user, item=item.result(), batch=batch)
            )
            size += len(batch.time)
            if size >= most_rows or read_bytes >= PART_BYTES:
                yield taken()
                size = read_bytes = 0
                first = max(len(users), len(items)) >= most_ids
                if first:
                    users, items = Encoder(), Encoder()
    if batches:
        yield taken()


def columns_of(
    layout: Layout,
    met: dict[EventType, int],
    number: int,
    *,
    user: Int32,
    item: Int32,
    batch: Batch,
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a batch of a layout's table, by codes of its users and items.

    Types are numbered as they are `met`; new ones join these.
    """
    columns: dict[str, npt.NDArray[Any]]
    columns = {dataset.USER: user, dataset.ITEM: item, dataset.TIME: batch.time}
    table, kind = layout.events[number], 0 if batch.kind is None else batch.kind.codes
    names = [table.type] if batch.kind is None else batch.kind.names
    numbers = [met.setdefault(EventType(table.valid, name), len(met)) for name in names]
    if len(met) > MOST_LABELS:
        raise DataError(too_many_labels(table.name, table.kind or "", [type.name for type in met]))
    if layout.several_types:
        columns[dataset.KIND] = np.broadcast_to(np.array(numbers, np.uint8)[kind], len(user))
    if batch.row is not None:
        columns[dataset.ROW] = batch.row
    if layout.has_values:
        columns[dataset.VALUE] = np.ones(len(user)) if batch.value is None else batch.value
    return columns


def of_types(events: Events, codes: Codes) -> Events:
    """Return the same events of types with other codes."""
    if (codes == np.arange(len(codes))).all():
        return events
    kind = codes[events.kind]
    return Events(events.user, events.item, events.time, kind, events.row, events.value)


def in_order(met: Iterable[EventType]) -> tuple[EventType, ...]:
    """Return event types in the order of their codes: by name, those to be evaluated on last."""
    return tuple(sorted(set(met)))


def codes_of(met: Sequence[EventType], types: Sequence[EventType]) -> Codes:
    """Return the code of each number that was given as types were met."""
    return np.array([types.index(type) for type in met], np.uint8)


def load(layout: Layout, progress: Callable[[int], object] = lambda rows: None) -> Dataset:
    """Read every file of `layout`; `progress` is told the rows of each batch."""
    reader = EventReader(layout, progress)
    read = list(in_parts(layout, reader, _PIECE))
    types = in_order(read[-1].kinds)
    codes = codes_of(read[-1].kinds, types)
    user_ids, user_map = sorted_ids(pl.concat([rows.users for rows in read]))
    users_frame = users_of(layout)
    items, item_map = items_of(layout, pl.concat([rows.items for rows in read]))
    batches = [of_types(events_of(rows.columns), codes) for rows in read]
    read.clear()  # so that each is let go as soon as its events have their places
    events = merged(batches, user_map, item_map, len(types))
    known = times_of(layout.users, users_frame, user_ids)
    odd = oddities_of(events, user_ids, words_of(items.ids), len(types))
    notes = (*reader.notes(), *items.notes, *notes_of(layout, [odd]))
    return dataset_of(layout, items, notes, types, user_ids, events, known)


def dataset_of(
    layout: Layout,
    items: Items,
    notes: Sequence[str],
    types: Sequence[EventType],
    user_ids: pl.Series | None = None,
    events: Events | None = None,
    registered: Int64 | None = None,
    span: tuple[int, int] | None = None,
) -> Dataset:
    """Return the data set of users and their events, by default none, and the items of all."""
    if any(table.kind is not None for table in layout.events):
        note = f"{TYPES}{', '.join(map(quoted, dict.fromkeys(type.name for type in types)))}"
        notes = list(dict.fromkeys([*notes, note]))  # what is kept has it already
    described = items.described
    return Dataset(
        layout=layout.name,
        user_ids=pl.Series(dataset.ID, [], pl.String) if user_ids is None else user_ids,
        item_ids=items.ids,
        events=no_events() if events is None else events,
        kinds=tuple(type.name for type in types),
        valid_kinds=tuple(code for code, type in enumerate(types) if type.valid),
        candidates=layout.candidates,
        has_time=all(table.time is not None for table in layout.events),
        catalogue=None if described is None else np.flatnonzero(described).astype(np.int32),
        shown_from=items.shown_from,
        registered=registered,
        notes=tuple(notes),
        users_table=layout.users,
        items_table=layout.items,
        span=span,
    )


def types_of(data: Dataset) -> list[EventType]:
    """Return the event type of each code."""
    return [EventType(code in data.valid_kinds, name) for code, name in enumerate(data.kinds)]


def _attributes(table: AttributeTable | None) -> pl.DataFrame:
    if table is None:
        return pl.DataFrame()
    return attributes.read(table, [] if table.since is None else [table.since])


def users_of(layout: Layout) -> pl.DataFrame:
    """Return the users' times of registration; a table without them is read when asked for."""
    table = layout.users
    if table is None or table.since is not None:
        return _attributes(table)
    attributes.check(table)
    return pl.DataFrame()


def times_of(
    table: AttributeTable | None,
    frame: pl.DataFrame,
    index: pl.Series,
    ids: pl.Series | None = None,
) -> Int64 | None:
    """Return the times of the sorted ids `index` in a table's rows, whose ids may be mended."""
    if table is None or table.since is None:
        return None
    return times_at(frame[table.id] if ids is None else ids, attributes.since(table, frame), index)


def times_at(ids: pl.Series, times: pl.Series, index: pl.Series) -> Int64:
    """Return the time of each of the sorted ids `index`, by those of `ids`, none twice."""
    place, found_times = positions(ids, index), np.full(len(index), NO_TIME, np.int64)
    found_times[place[place >= 0]] = times.fill_null(NO_TIME).to_numpy()[place >= 0]
    return found_times


def sorted_ids(ids: pl.Series) -> tuple[pl.Series, Int32]:
    """Return ids, each once, sorted, and the position of each of them among these."""
    order = _order(ids)
    index = ids.gather(order).alias(dataset.ID)
    if (index[1:] == index[:-1]).any():  # text files and Parquet have other keys of the same ids
        return index_of(ids)
    return index, places(order, len(ids))


_HEAD = 8
"""Bytes of an id that are compared as one number."""


def _order(ids: pl.Series) -> Int64:
    """Return what sorts ids by their bytes: by the first of them, and by all where these agree."""
    long = ids if int(ids.str.len_bytes().min() or 0) >= _HEAD else ids + "\0" * _HEAD  # type: ignore[arg-type]
    head = long.cast(pl.Binary).bin.slice(0, _HEAD)
    heads = head.bin.reinterpret(dtype=pl.UInt64, endianness="big").to_numpy()
    order = np.argsort(heads)
    same = np.diff(heads[order]) == 0
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    rows = {"head": heads[order[tied]], "id": ids.gather(order[tied]), "place": order[tied]}
    order[tied] = pl.DataFrame(rows).sort("head", "id")["place"].to_numpy()
    return order


def index_of(ids: pl.Series, more: pl.Series | None = None) -> tuple[pl.Series, Int32]:
    """Return all ids sorted, each once, and the position of each of `ids` among them."""
    every = ids if more is None else pl.concat([ids.alias(dataset.ID), more.alias(dataset.ID)])
    once = every.unique()
    index = once.gather(_order(once)).alias(dataset.ID)
    return index, positions(ids, index)


TYPES = "event types: "
"""How the note begins that says which there are."""


def cached(
    layout: Layout, progress: Callable[[int], object], background: Executor
) -> tuple[Dataset, bool]:
    """Return the data set of `layout`, and whether it came from the cache.

    Without an entry to be trusted it is made anew, and written by `background`.
    """
    entry = cache.entry(layout, files(layout))
    data = entry.read(lambda folder, notes: _dataset(folder, layout, notes))
    if data is not None:
        return data, True
    read = load(layout, progress)
    if entry.unsettled is None:
        background.submit(entry.keep, lambda folder: _write(read, folder))
    return read, False


def files(layout: Layout) -> list[Path]:
    """Return the files of a layout's tables."""
    return [file for table in layout.tables for file in files_of(table)]


def _write(data: Dataset, folder: Path) -> dict[str, Any]:
    starts = data.events.user_starts(len(data.user_ids))
    arrays = {"starts": starts, **kept_columns(data.events, data.kinds)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    users = frame_of({dataset.ID: data.user_ids, dataset.REGISTERED: data.registered})
    users.write_ipc(folder / "users.arrow")
    described = (
        None if data.catalogue is None else np.isin(np.arange(len(data.item_ids)), data.catalogue)
    )
    items = Items(data.item_ids, described, data.shown_from)
    items.frame().write_ipc(folder / "items.arrow")
    return {"arrays": list(arrays), "notes": data.notes, "types": types_of(data)}


def _dataset(folder: Path, layout: Layout, notes: dict[str, Any]) -> Dataset:
    users, items = (pl.read_ipc(folder / f"{name}.arrow") for name in ("users", "items"))
    arrays = {
        name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
        for name in notes["arrays"]
    }
    return dataset_of(
        layout=layout,
        items=Items.kept(items),
        user_ids=users[dataset.ID],
        events=events_of(arrays, arrays.pop("starts")),
        registered=arrays_of(users).get(dataset.REGISTERED),
        notes=notes["notes"],
        types=[EventType(valid, name) for valid, name in notes["types"]],
    )
