"""Data sets read once: kept as arrays, keyed by their files, rebuilt when stale or damaged."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness import load, schema
from harness.dataset import NO_TIME, Dataset, Events
from harness.files import parts, whole_folder
from harness.layouts.tables import Layout

FORMAT = 2
"""Raised whenever a data set would be built or kept differently."""

_RECENT_NS = 2_000_000_000
_ARRAYS = ("user", "item", "time", "kind")
_SUMMED = (*(f"{name}.npy" for name in _ARRAYS), "users.arrow", "items.arrow", "meta.json")
_CHUNK = 1 << 22


def dataset(
    layout: Layout, progress: Callable[[int], object], background: Executor
) -> tuple[Dataset, bool]:
    """Return the data set of `layout`, and whether it came from the cache.

    An entry is used when the files' names, sizes, inodes and times of change are those it was
    made from and its own content has the checksum noted with it. Anything else: it is made anew,
    and written by `background`, whose owner waits for it.
    """
    entry = folder() / _name(layout)
    files = _files(layout)
    kept = _read(entry, layout, files)
    if kept is not None:
        return kept, True
    read = load.load(layout, progress)
    if _files(layout) == files and not _changed_just_now(files):
        background.submit(_keep, entry, read, files)
    return read, False


def folder() -> Path:
    """Return where entries are kept: $HARNESS_CACHE_DIR, else the user's cache folder."""
    named = os.environ.get("HARNESS_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "submission-harness"


def _name(layout: Layout) -> str:
    """Return the entry's name: what is read from where, not what the files hold."""
    return hashlib.sha256(repr((FORMAT, layout)).encode()).hexdigest()[:32]


def _files(layout: Layout) -> list[list[Any]]:
    """Return what identifies the content of every file, without reading it.

    The time of change (ctime) moves with every write and cannot be set back, unlike the time of
    modification.
    """
    found = []
    for table in layout.tables:
        for path in parts(table.path):
            stat = path.stat()
            found.append(
                [str(path.resolve()), stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns]
            )
    return found


def _changed_just_now(files: list[list[Any]]) -> bool:
    # A file written twice within the clock's grain keeps its times; such an entry is not kept.
    return any(time.time_ns() - f[4] < _RECENT_NS for f in files)


def _keep(entry: Path, data: Dataset, files: list[list[Any]]) -> None:
    try:
        with whole_folder(entry) as target:
            for name in _ARRAYS:
                np.save(target / f"{name}.npy", getattr(data.events, name), allow_pickle=False)
            _users(data).write_ipc(target / "users.arrow")
            _items(data).write_ipc(target / "items.arrow")
            meta = {
                "files": files,
                "kinds": data.kinds,
                "has_time": data.has_time,
                "notes": data.notes,
            }
            (target / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
            sums = {name: _sum(target / name) for name in _SUMMED}
            (target / "sums.json").write_text(json.dumps(sums), encoding="utf-8")
    except OSError:  # no place to keep it: the next run reads the files again
        return


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


def _sum(path: Path) -> int:
    total = 0
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            total = zlib.crc32(chunk, total)
    return total


def _read(entry: Path, layout: Layout, files: list[list[Any]]) -> Dataset | None:
    """Return the kept data set, None where there is none to be trusted."""
    try:
        meta = json.loads((entry / "meta.json").read_text(encoding="utf-8"))
        if meta["files"] != files:
            return None
        sums = json.loads((entry / "sums.json").read_text(encoding="utf-8"))
        if any(_sum(entry / name) != sums[name] for name in _SUMMED):
            return None
        return _dataset(entry, layout, meta)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        return None


def _dataset(entry: Path, layout: Layout, meta: dict[str, Any]) -> Dataset:
    users, items = (pl.read_ipc(entry / f"{n}.arrow") for n in ("users", "items"))
    arrays = [np.load(entry / f"{n}.npy", mmap_mode="r", allow_pickle=False) for n in _ARRAYS]
    described = np.flatnonzero(items["described"].to_numpy()).astype(np.int32)
    return Dataset(
        layout=layout.name,
        user_ids=users[schema.ID],
        item_ids=items[schema.ID],
        events=Events(*(np.asarray(array) for array in arrays)),
        kinds=tuple(meta["kinds"]),
        candidates=layout.candidates,
        has_time=meta["has_time"],
        catalogue=None if layout.items is None else described,
        shown_from=_numbers(items, schema.SHOWN_FROM),
        registered=_numbers(users, schema.REGISTERED),
        notes=tuple(meta["notes"]),
        users_table=layout.users,
        items_table=layout.items,
    )


def _numbers(frame: pl.DataFrame, name: str) -> Any:
    return frame[name].fill_null(NO_TIME).to_numpy() if name in frame.columns else None
