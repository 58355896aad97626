"""Data sets read once: kept as arrays, keyed by their files."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness import kept, load, schema
from harness.dataset import NO_TIME, Dataset, Events
from harness.files import parts
from harness.layouts.tables import Layout

FORMAT = 3
"""Raised whenever a data set would be built or kept differently."""

_ARRAYS = ("user", "item", "time", "kind", "row")


def dataset(
    layout: Layout, progress: Callable[[int], object], background: Executor
) -> tuple[Dataset, bool]:
    """Return the data set of `layout`, and whether it came from the cache.

    Without an entry to be trusted it is made anew, and written by `background`, whose owner waits
    for it.
    """
    entry = kept.entry((FORMAT, layout), files(layout))
    found = entry.read(lambda folder, notes: _dataset(folder, layout, notes))
    if found is not None:
        return found, True
    read = load.load(layout, progress)
    if entry.settled:
        background.submit(entry.keep, lambda folder: _write(read, folder))
    return read, False


def files(layout: Layout) -> list[Path]:
    """Return the files of a layout's tables."""
    return [path for table in layout.tables for path in parts(table.path)]


def _write(data: Dataset, folder: Path) -> dict[str, Any]:
    for name, array in zip(_ARRAYS, data.events.columns, strict=False):
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    _users(data).write_ipc(folder / "users.arrow")
    _items(data).write_ipc(folder / "items.arrow")
    return {"kinds": data.kinds, "has_time": data.has_time, "notes": data.notes}


def _users(data: Dataset) -> pl.DataFrame:
    frame = pl.DataFrame({schema.ID: data.user_ids})
    if data.registered is None:
        return frame
    return frame.with_columns(pl.Series(schema.REGISTERED, data.registered))


def _items(data: Dataset) -> pl.DataFrame:
    described = np.zeros(len(data.item_ids), np.bool_)
    if data.catalogue is not None:
        described[data.catalogue] = True
    frame = pl.DataFrame({schema.ID: data.item_ids, "described": described})
    if data.shown_from is None:
        return frame
    return frame.with_columns(pl.Series(schema.SHOWN_FROM, data.shown_from))


def _dataset(folder: Path, layout: Layout, notes: dict[str, Any]) -> Dataset:
    users, items = (pl.read_ipc(folder / f"{n}.arrow") for n in ("users", "items"))
    names = _ARRAYS if any(table.numbered for table in layout.events) else _ARRAYS[:-1]
    arrays = [np.load(folder / f"{n}.npy", mmap_mode="r", allow_pickle=False) for n in names]
    described = np.flatnonzero(items["described"].to_numpy()).astype(np.int32)
    return Dataset(
        layout=layout.name,
        user_ids=users[schema.ID],
        item_ids=items[schema.ID],
        events=Events(*(np.asarray(array) for array in arrays)),
        kinds=tuple(notes["kinds"]),
        candidates=layout.candidates,
        has_time=notes["has_time"],
        catalogue=None if layout.items is None else described,
        shown_from=_numbers(items, schema.SHOWN_FROM),
        registered=_numbers(users, schema.REGISTERED),
        notes=tuple(notes["notes"]),
        users_table=layout.users,
        items_table=layout.items,
    )


def _numbers(frame: pl.DataFrame, name: str) -> Any:
    return frame[name].fill_null(NO_TIME).to_numpy() if name in frame.columns else None
