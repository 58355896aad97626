"""A layout's files in, a `Dataset` out, kept for the next command: coded, in canonical order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import cache
from harness.core.arrays import Int32, Int64, places
from harness.core.errors import quoted
from harness.core.ids import Encoder
from harness.data import attributes, dataset
from harness.data.dataset import NO_TIME, Dataset, Events, of_starts, one_kind, positions
from harness.data.event_types import EventType, EventTypes, codes_of, columns_of, in_order, of_types
from harness.data.layout import AttributeTable, Layout
from harness.data.oddities import (
    note_of_shorter,
    notes_of,
    notes_of_zeros,
    oddities_of,
    words_of,
)
from harness.data.ordering import Pieces, merged
from harness.data.source import Batch
from harness.data.table_files import EventReader, files_of
from harness.data.values import Values


@dataclass(frozen=True, eq=False)
class Items:
    """All items of the events and of their table.

    Attributes
    ----------
    ids : polars.Series of str
        Sorted, each once.
    catalogue, shown_from : optional
        As a `Dataset` has them.
    notes : tuple of str
        What looks odd about their ids.
    """

    ids: pl.Series
    catalogue: Int32 | None
    shown_from: Int64 | None
    notes: tuple[str, ...] = ()

    def frame(self) -> pl.DataFrame:
        """Return them as they are kept."""
        described = np.zeros(len(self.ids), np.bool_)
        if self.catalogue is not None:
            described[self.catalogue] = True
        return known_of(self.ids, {_DESCRIBED: described, dataset.SHOWN_FROM: self.shown_from})

    @classmethod
    def kept(cls, frame: pl.DataFrame, layout: Layout) -> Items:
        """Return those that `frame` made a frame of; their notes are kept elsewhere."""
        described = np.flatnonzero(frame[_DESCRIBED].to_numpy()).astype(np.int32)
        catalogue = None if layout.items is None else described
        return cls(frame[dataset.ID], catalogue, numbers(frame, dataset.SHOWN_FROM))


def known_of(ids: pl.Series, known: Mapping[str, Any]) -> pl.DataFrame:
    """Return a frame of ids, and of what is known of each; None: nothing is."""
    columns = {name: values for name, values in known.items() if values is not None}
    return pl.DataFrame({dataset.ID: ids, **columns})


def numbers(frame: pl.DataFrame, name: str) -> Any:
    """Return a column as an array; None where the frame does not have it."""
    return frame[name].to_numpy() if name in frame.columns else None


_DESCRIBED = "described"


def items_of(
    layout: Layout, met: pl.Series, table: pl.DataFrame | None = None
) -> tuple[Items, Int32]:
    """Return the items of a layout, and the position of each id that its events were met with.

    Parameters
    ----------
    table : polars.DataFrame, optional
        The rows of the items' table; read from its files by default.
    """
    frame, notes = _attributes(layout.items) if table is None else table, list[str]()
    described = None if layout.items is None else _column(frame, layout.items.id)
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
    ids, at = index_of(met, described)
    catalogue = None if described is None else np.unique(positions(described, ids))
    return Items(ids, catalogue, _times(layout.items, frame, described, ids), tuple(notes)), at


def load(layout: Layout, progress: Callable[[int], object] = lambda rows: None) -> Dataset:
    """Read every file of `layout`; `progress` is told the rows of each batch.

    Raises
    ------
    DataError
        A file, column or value that cannot be used.
    """
    reader = EventReader(layout, progress)
    with ThreadPoolExecutor(1) as beside:
        coded = _Coded(layout, beside)
        for number, batch in reader.batches():
            coded.add(number, batch)
    types = in_order(coded.types.met)
    users, batches = coded.users.ids(), coded.batches(types)
    users_frame = users_of(layout)
    items, item_map = items_of(layout, coded.items.ids())
    user_ids, user_map = sorted_ids(users)
    events = merged(batches, user_map, item_map, len(types), coded.values.met)
    known = registered(layout, users_frame, user_ids)
    odd = oddities_of(events, user_ids, words_of(items.ids), len(types))
    notes = (*reader.notes(), *items.notes, *notes_of(layout, [odd]))
    return dataset_of(layout, items, user_ids, events, known, notes, types)


def dataset_of(
    layout: Layout,
    items: Items,
    user_ids: pl.Series,
    events: Events,
    registered: Int64 | None,
    notes: Sequence[str],
    types: Sequence[EventType],
) -> Dataset:
    """Return the data set of users, their events, and the items of all."""
    if any(table.kind is not None for table in layout.events):
        told = f"{TYPES}{', '.join(map(quoted, dict.fromkeys(of.name for of in types)))}"
        notes = list(dict.fromkeys([*notes, told]))  # what is kept has it already
    return Dataset(
        layout=layout.name,
        user_ids=user_ids,
        item_ids=items.ids,
        events=events,
        kinds=tuple(of.name for of in types),
        valid_kinds=tuple(code for code, of in enumerate(types) if of.valid),
        candidates=layout.candidates,
        has_time=all(table.time is not None for table in layout.events),
        catalogue=items.catalogue,
        shown_from=items.shown_from,
        registered=registered,
        notes=tuple(notes),
        users_table=layout.users,
        items_table=layout.items,
    )


class _Coded:
    """The events read so far, as codes."""

    def __init__(self, layout: Layout, beside: Executor) -> None:
        self.layout, self.types, self._beside = layout, EventTypes(), beside
        self.users, self.items, self.values = Encoder(), Encoder(), Values()
        self._pieces = Pieces()

    def add(self, number: int, batch: Batch) -> None:
        """Take in events of a table."""
        items = self._beside.submit(self.items.codes_of_keys, *batch.item)
        user = self.users.codes_of_keys(*batch.user)
        item = items.result()
        columns = columns_of(self.layout, self.types, number, (user, item), batch)
        if dataset.VALUE in columns:
            columns[dataset.VALUE] = self.values.codes(columns[dataset.VALUE])
        self._pieces.add(columns)

    def batches(self, types: Sequence[EventType]) -> list[Events]:
        """Return all events, in pieces, of types by their codes; with numbers for values."""
        codes = codes_of(self.types.met, types)
        return [of_types(events, codes) for events in self._pieces.events()]


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


def registered(layout: Layout, frame: pl.DataFrame, ids: pl.Series) -> Int64 | None:
    """Return when each of some users registered, by what `users_of` returns."""
    return _times(layout.users, frame, None, ids)


def _column(frame: pl.DataFrame, name: str) -> pl.Series:
    return frame[name].alias(dataset.ID)


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
    if len(tied) > len(ids) // 2:
        return ids.arg_sort().to_numpy()
    rows = {"head": heads[order[tied]], "id": ids.gather(order[tied]), "place": order[tied]}
    order[tied] = pl.DataFrame(rows).sort("head", "id")["place"].to_numpy()
    return order


def index_of(ids: pl.Series, more: pl.Series | None = None) -> tuple[pl.Series, Int32]:
    """Return all ids sorted, each once, and the position of each of `ids` among them."""
    every = ids if more is None else pl.concat([ids.alias(dataset.ID), more.alias(dataset.ID)])
    once = every.unique()
    index = once.gather(_order(once)).alias(dataset.ID)
    return index, positions(ids, index)


def _times(
    table: AttributeTable | None,
    frame: pl.DataFrame,
    ids: pl.Series | None,
    index: pl.Series,
) -> Int64 | None:
    if table is None or table.since is None:
        return None
    known = _column(frame, table.id) if ids is None else ids
    return times_at(known, attributes.since(table, frame), index)


def times_at(ids: pl.Series, times: pl.Series, index: pl.Series) -> Int64:
    """Return the time of each of the sorted ids `index`, by those of `ids`, none twice."""
    at = positions(ids, index)
    found = np.full(len(index), NO_TIME, np.int64)
    values = times.fill_null(NO_TIME).to_numpy()
    found[at[at >= 0]] = values[at >= 0]
    return found


TYPES = "event types: "
"""How the note begins that says which there are."""


def cached(
    layout: Layout, progress: Callable[[int], object], background: Executor
) -> tuple[Dataset, bool]:
    """Return the data set of `layout`, and whether it came from the cache.

    Without an entry to be trusted it is made anew, and written by `background`, whose owner waits
    for it.
    """
    entry = cache.entry(layout, files(layout))
    found = entry.read(lambda folder, notes: _dataset(folder, layout, notes))
    if found is not None:
        return found, True
    read = load(layout, progress)
    if entry.unsettled is None:
        background.submit(entry.keep, lambda folder: _write(read, folder))
    return read, False


def files(layout: Layout) -> list[Path]:
    """Return the files of a layout's tables."""
    return [file for table in layout.tables for file in files_of(table)]


def _write(data: Dataset, folder: Path) -> dict[str, Any]:
    events = data.events
    starts = events.user_starts(len(data.user_ids))
    arrays: dict[str, npt.NDArray[Any]] = {
        "starts": starts,
        dataset.ITEM: events.item,
        dataset.TIME: events.time,
    }
    if len(data.kinds) > 1:
        arrays[dataset.KIND] = events.kind
    for name, column in ((dataset.ROW, events.row), (dataset.VALUE, events.value)):
        if column is not None:
            arrays[name] = column
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    users = known_of(data.user_ids, {dataset.REGISTERED: data.registered})
    users.write_ipc(folder / "users.arrow")
    items = Items(data.item_ids, data.catalogue, data.shown_from)
    items.frame().write_ipc(folder / "items.arrow")
    return {"notes": data.notes, "kinds": data.kinds, "valid_kinds": data.valid_kinds}


def _dataset(folder: Path, layout: Layout, notes: dict[str, Any]) -> Dataset:
    users, items = (pl.read_ipc(folder / f"{n}.arrow") for n in ("users", "items"))
    types = [EventType(at in notes["valid_kinds"], n) for at, n in enumerate(notes["kinds"])]
    events = _events(folder, layout, len(types))
    known = numbers(users, dataset.REGISTERED)
    kept = Items.kept(items, layout)
    return dataset_of(layout, kept, users[dataset.ID], events, known, notes["notes"], types)


def _events(folder: Path, layout: Layout, n_kinds: int) -> Events:
    def array(name: str) -> npt.NDArray[Any]:
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))

    starts, item, time = (array(name) for name in ("starts", dataset.ITEM, dataset.TIME))
    kind = array(dataset.KIND) if n_kinds > 1 else one_kind(len(item))
    row = array(dataset.ROW) if any(table.numbered for table in layout.events) else None
    value = array(dataset.VALUE) if layout.has_values else None
    return Events(of_starts(starts), item, time, kind, row, value, starts=starts)
