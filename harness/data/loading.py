"""A layout's files in, a `Dataset` out, kept for the next command: coded, in canonical order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import cache
from harness.core.arrays import Int32, Int64, UInt64, places
from harness.core.errors import DataError, counted
from harness.core.ids import Encoder
from harness.core.io import parts
from harness.data import attributes, dataset, zeros
from harness.data.dataset import NO_TIME, Dataset, Events, of_starts, one_kind, positions
from harness.data.layout import AttributeTable, EventTable, Layout
from harness.data.ordering import Pieces, merged
from harness.data.table_files import sources
from harness.delimited import fields


def load(layout: Layout, progress: Callable[[int], object] = lambda rows: None) -> Dataset:
    """Read every file of `layout`; `progress` is told the rows of each batch.

    Raises
    ------
    DataError
        A file, column or value that cannot be used.
    """
    coded = _Coded()
    for table in layout.events:
        coded.read(table, layout.kinds.index(table.kind), progress)
    users, items = coded.users.ids(), coded.items.ids()
    users_frame, items_frame = _users(layout.users), _attributes(layout.items)
    notes = [*coded.notes]
    catalogue_ids = None if layout.items is None else _column(items_frame, layout.items.id)
    if layout.id_width is not None and catalogue_ids is not None:
        width = layout.id_width
        # Text files and Parquet have other keys of the same ids, which are to be counted once.
        notes += zeros.notes(layout, items.unique(), catalogue_ids, width)
        if layout.restore_zeros:
            items, catalogue_ids = items.str.zfill(width), catalogue_ids.str.zfill(width)
    user_ids, user_map = _sorted(users)
    item_ids, item_map = _index(items, catalogue_ids)
    return Dataset(
        layout=layout.name,
        user_ids=user_ids,
        item_ids=item_ids,
        events=merged(coded.batches, user_map, item_map, len(layout.kinds)),
        kinds=layout.kinds,
        candidates=layout.candidates,
        has_time=all(e.time is not None for e in layout.events),
        catalogue=None if catalogue_ids is None else np.unique(positions(catalogue_ids, item_ids)),
        shown_from=_times(layout.items, items_frame, catalogue_ids, item_ids),
        registered=_times(layout.users, users_frame, None, user_ids),
        notes=tuple(notes),
        users_table=layout.users,
        items_table=layout.items,
    )


@dataclass
class _Coded:
    """The events read so far, as codes."""

    secret: UInt64 = field(default_factory=fields.secret)
    users: Encoder = field(default_factory=Encoder)
    items: Encoder = field(default_factory=Encoder)
    batches: list[Events] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def read(self, table: EventTable, kind: int, progress: Callable[[int], object]) -> None:
        rows = left_out = 0
        pieces = Pieces(kind)
        for source in sources(table.table):
            try:
                source.require(table.columns)
                for batch in source.events(table, self.secret):
                    read = len(batch.time) + batch.left_out
                    rows, left_out = rows + read, left_out + batch.left_out
                    progress(read)
                    user = self.users.codes_of_keys(*batch.user)
                    item = self.items.codes_of_keys(*batch.item)
                    pieces.add(user, item, batch.time, batch.row)
            except DataError as error:
                raise zeros.also_told(error, table, source) from error
        self.batches += pieces.events()
        if rows == left_out:
            what = f"all {rows:,} rows are below the minimum" if rows else "the table has no rows"
            raise DataError(f"{table.table.path}: {what}; expected events")
        if left_out:
            limits = ", ".join(f"{c} >= {v:g}" for c, v in table.minimum)
            told = f"{left_out:,} of {counted(rows, 'row')} left out ({limits})"
            self.notes.append(f"{table.table.path.name}: {told}")


def _attributes(table: AttributeTable | None) -> pl.DataFrame:
    if table is None:
        return pl.DataFrame()
    return attributes.read(table, [] if table.since is None else [table.since])


def _users(table: AttributeTable | None) -> pl.DataFrame:
    """Return the users' times of registration; a table without them is read when asked for."""
    if table is None or table.since is not None:
        return _attributes(table)
    attributes.check(table)
    return pl.DataFrame()


def _column(frame: pl.DataFrame, name: str) -> pl.Series:
    return frame[name].alias(dataset.ID)


def _sorted(ids: pl.Series) -> tuple[pl.Series, Int32]:
    """Return ids, each once, sorted, and the position of each of them among these."""
    order = _order(ids)
    index = ids.gather(order).alias(dataset.ID)
    if (index[1:] == index[:-1]).any():  # text files and Parquet have other keys of the same ids
        return _index(ids, None)
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


def _index(ids: pl.Series, more: pl.Series | None) -> tuple[pl.Series, Int32]:
    """Return all ids sorted, each once, and the position of each of `ids` among them."""
    every = ids if more is None else pl.concat([ids.alias(dataset.ID), more.alias(dataset.ID)])
    index = every.unique().sort().alias(dataset.ID)
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
    at = positions(known, index)
    times = np.full(len(index), NO_TIME, np.int64)
    values = attributes.since(table, frame).fill_null(NO_TIME).to_numpy()
    times[at[at >= 0]] = values[at >= 0]
    return times


FORMAT = 4
"""Raised whenever a data set would be built or kept differently."""


def cached(
    layout: Layout, progress: Callable[[int], object], background: Executor
) -> tuple[Dataset, bool]:
    """Return the data set of `layout`, and whether it came from the cache.

    Without an entry to be trusted it is made anew, and written by `background`, whose owner waits
    for it.
    """
    entry = cache.entry((FORMAT, layout), files(layout))
    found = entry.read(lambda folder, notes: _dataset(folder, layout, notes))
    if found is not None:
        return found, True
    read = load(layout, progress)
    if entry.settled:
        background.submit(entry.keep, lambda folder: _write(read, folder))
    return read, False


def files(layout: Layout) -> list[Path]:
    """Return the files of a layout's tables."""
    return [path for table in layout.tables for path in parts(table.path)]


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
    if events.row is not None:
        arrays[dataset.ROW] = events.row
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    described = np.zeros(len(data.item_ids), np.bool_)
    if data.catalogue is not None:
        described[data.catalogue] = True
    items = {"described": described, dataset.SHOWN_FROM: data.shown_from}
    _write_ids(folder / "users.arrow", data.user_ids, {dataset.REGISTERED: data.registered})
    _write_ids(folder / "items.arrow", data.item_ids, items)
    return {"kinds": data.kinds, "has_time": data.has_time, "notes": data.notes}


def _write_ids(path: Path, ids: pl.Series, known: Mapping[str, Any]) -> None:
    """Write ids, and what is known of each; None: nothing is."""
    columns = {name: values for name, values in known.items() if values is not None}
    pl.DataFrame({dataset.ID: ids, **columns}).write_ipc(path)


def _dataset(folder: Path, layout: Layout, notes: dict[str, Any]) -> Dataset:
    users, items = (pl.read_ipc(folder / f"{n}.arrow") for n in ("users", "items"))
    described = np.flatnonzero(items["described"].to_numpy()).astype(np.int32)
    return Dataset(
        layout=layout.name,
        user_ids=users[dataset.ID],
        item_ids=items[dataset.ID],
        events=_events(folder, layout, len(notes["kinds"])),
        kinds=tuple(notes["kinds"]),
        candidates=layout.candidates,
        has_time=notes["has_time"],
        catalogue=None if layout.items is None else described,
        shown_from=_numbers(items, dataset.SHOWN_FROM),
        registered=_numbers(users, dataset.REGISTERED),
        notes=tuple(notes["notes"]),
        users_table=layout.users,
        items_table=layout.items,
    )


def _events(folder: Path, layout: Layout, n_kinds: int) -> Events:
    def array(name: str) -> npt.NDArray[Any]:
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))

    starts, item, time = (array(name) for name in ("starts", dataset.ITEM, dataset.TIME))
    kind = array(dataset.KIND) if n_kinds > 1 else one_kind(len(item))
    row = array(dataset.ROW) if any(table.numbered for table in layout.events) else None
    return Events(of_starts(starts), item, time, kind, row, starts=starts)


def _numbers(frame: pl.DataFrame, name: str) -> Any:
    return frame[name].fill_null(NO_TIME).to_numpy() if name in frame.columns else None
