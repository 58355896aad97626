"""A log of any size in buckets of users on disk, made once: each bucket is a data set."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness.core import cache
from harness.core.arrays import Int64
from harness.core.errors import DataError, printable
from harness.core.io import temporary_folder, told_if_full
from harness.data import bucketing, dataset, loading
from harness.data.bucketing import Known
from harness.data.dataset import Dataset, Events, no_events, of_starts, one_kind
from harness.data.layout import Layout
from harness.data.loading import Items
from harness.data.table_files import sources

_log = logging.getLogger(__name__)

_BYTES_A_ROW = 40
"""Of disk: sixteen of a part, its users' ids, and what a bucket keeps."""


@dataclass(frozen=True, eq=False)
class Buckets:
    """A log in buckets of users.

    Attributes
    ----------
    items : Items
        Of all buckets.
    known : Known
        How many events and users each bucket has, and when the first and last event happened.
    inode : int
        Of the folder, which another process may put another one in the place of.
    """

    folder: Path
    layout: Layout
    items: Items
    known: Known
    inode: int

    def __len__(self) -> int:
        return len(self.known.events)

    def datasets(self) -> Iterator[Dataset]:
        """Yield each bucket that has events; the next one is read meanwhile."""
        waiting: deque[Future[Dataset]] = deque()
        with ThreadPoolExecutor(1) as pool:
            for at, events in enumerate(self.known.events):
                if events > 0:
                    waiting.append(pool.submit(self._bucket, at))
                if len(waiting) > 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _bucket(self, number: int) -> Dataset:
        try:
            users = pl.read_parquet(bucketing.users_file(self.folder, number))
            events = self._events(number, users[bucketing.EVENTS])
            same = self.folder.stat().st_ino == self.inode
        except (OSError, pl.exceptions.PolarsError):
            same = False
        if not same:  # positions of new ones would be taken for other items
            raise DataError(
                f"{self.folder}: another process replaced these buckets, as the log or the "
                "version of harness changed; run the command again"
            )
        registered = loading.numbers(users, dataset.REGISTERED)
        return self._dataset(users[dataset.ID], events, registered)

    def empty(self) -> Dataset:
        """Return what the buckets have in common: the items, and no user or event."""
        return self._dataset(pl.Series(dataset.ID, [], pl.String), no_events(), None)

    def _dataset(self, ids: pl.Series, events: Events, registered: Int64 | None) -> Dataset:
        return of_bucket(self.layout, self.items, self.known, ids, events, registered)

    def _events(self, at: int, sizes: pl.Series) -> Events:
        frame = pl.read_parquet(bucketing.events_file(self.folder, at))
        starts = np.concatenate(([0], np.cumsum(sizes.to_numpy(), dtype=np.int64)))
        item, time = frame[dataset.ITEM].to_numpy(), frame[dataset.TIME].to_numpy()
        kind = loading.numbers(frame, dataset.KIND)
        given = one_kind(len(frame)) if kind is None else kind
        others = (loading.numbers(frame, name) for name in (dataset.ROW, dataset.VALUE))
        return Events(of_starts(starts), item, time, given, *others, starts=starts)


def of_bucket(
    layout: Layout,
    items: Items,
    known: Known,
    ids: pl.Series,
    events: Events,
    registered: Int64 | None,
) -> Dataset:
    """Return the data set of a bucket's users."""
    given = layout, items, ids, events, registered, known.notes, known.types
    found = loading.dataset_of(*given)
    low, high = known.span
    return replace(found, span=(low, high))


def estimated_rows(layout: Layout) -> int:
    """Return how many rows the events of a layout have, more or less, without reading them."""
    return sum(source.about() for table in layout.events for source in sources(table.table))


@contextmanager
def prepared(
    layout: Layout,
    progress: Callable[[int], object] = lambda rows: None,
    *,
    kept: bool = True,
) -> Iterator[Buckets]:
    """Yield the buckets of a layout's events; they are made unless they are kept from before.

    Parameters
    ----------
    kept : bool
        Whether in the cache; else in a temporary folder, which goes.

    Raises
    ------
    DataError
        A file or value that cannot be used, a full disk.
    """
    entry = cache.entry((layout, "buckets"), loading.files(layout))
    made = _kept(entry, layout, progress) if kept else None
    if made is not None:
        yield made
        return
    with temporary_folder() as folder:
        _write(layout, folder, progress, "TMPDIR")
        yield _opened(folder, layout)


def _kept(entry: cache.Entry, layout: Layout, progress: Callable[[int], object]) -> Buckets | None:
    """Return the buckets of an entry, which is made if need be; None where it cannot be kept."""

    def write(folder: Path) -> dict[str, Any]:
        shutil.rmtree(entry.path, ignore_errors=True)  # stale, and as large as the new ones
        _write(layout, folder, progress, "HARNESS_CACHE_DIR")
        if entry.unsettled is not None:
            names = ", ".join(Path(file[0]).name for file in entry.files)
            raise DataError(
                f"{names}: changed while harness read the events; run the command again"
            )
        return {}

    def opened() -> Buckets | None:
        return entry.read(lambda folder, _: _opened(folder, layout))

    made = opened()
    if made is not None or entry.unsettled is not None:
        return made
    with entry.alone():
        made = opened()
        if made is None and entry.keep(write) is None and cache.is_private(entry.path.parent):
            made = _opened(entry.path, layout)
    if made is None:
        told = "%s: cannot be used; buckets go to %s, and harness does not keep them"
        _log.warning(told, printable(str(entry.path.parent)), tempfile.gettempdir())
    return made


def _opened(folder: Path, layout: Layout) -> Buckets:
    items = Items.kept(pl.read_parquet(bucketing.items_file(folder)), layout)
    return Buckets(folder, layout, items, bucketing.known(folder), folder.stat().st_ino)


def _write(layout: Layout, folder: Path, progress: Callable[[int], object], variable: str) -> None:
    """Write the buckets; raise DataError where the disk is too small, before that or meanwhile."""
    needed, place = estimated_rows(layout) * _BYTES_A_ROW, folder.parent
    free = shutil.disk_usage(place).free
    told = (
        f"the buckets of users need about {_size(needed)}; free some disk space, or name a "
        f"folder on another disk: {variable}=FOLDER harness run …"
    )
    if free < needed:
        raise DataError(f"{place}: the disk has {_size(free)} free; {told}")
    try:
        with told_if_full(place, told):
            bucketing.write(layout, folder, progress)
    except OSError as error:
        why = error.strerror or error
        cure = "run the command again, and do not touch the folder meanwhile"
        raise DataError(f"{place}: cannot write buckets there: {why}; {cure}") from error


def _size(bytes_: int) -> str:
    return f"{bytes_ / 1e9:,.1f} GB" if bytes_ >= 1e8 else f"{bytes_ / 1e6:,.1f} MB"
