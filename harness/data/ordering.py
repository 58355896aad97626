"""Events of any order in one canonical order: by user, time, item, event type and value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import _kernels
from harness.core.arrays import Floats, Int32, Int64, places
from harness.data import _events
from harness.data.dataset import (
    DAY_US,
    ITEM,
    KIND,
    ROW,
    TIME,
    USER,
    VALUE,
    Events,
    of_starts,
    one_kind,
)
from harness.data.values import Values

_UNITS_US = np.array([DAY_US, 1_000_000, 1])
_BITS, _SHORT = 63, 16
_PIECE = 1 << 22
_MOST_SHARES = 4
"""As each counts the events of every user."""
_PARTS = 4
"""For each processor, as users have events of different numbers."""


class Pieces:
    """Events put together in a few large pieces.

    Memory of so large an array goes back to the system when the array is let go; that of thousands
    of small ones stays with the process.

    Parameters
    ----------
    size : int
        Events of a piece; the last has what remains.
    """

    def __init__(self, size: int = _PIECE) -> None:
        self._size = self._filled = size
        self._pieces: list[dict[str, npt.NDArray[Any]]] = []

    def add(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take in some events, always with the same columns."""
        start, count = 0, len(columns[TIME])
        while start < count:
            if self._filled == self._size:
                new = {name: np.empty(self._size, column.dtype) for name, column in columns.items()}
                self._pieces.append(new)
                self._filled = 0
            size = min(self._size - self._filled, count - start)
            for name, piece in self._pieces[-1].items():
                piece[self._filled : self._filled + size] = columns[name][start : start + size]
            self._filled, start = self._filled + size, start + size

    def events(self) -> Iterator[Events]:
        """Yield the pieces; without a column of types all events are of type 0."""
        while self._pieces:
            size = self._filled
            own = {name: column[:size] for name, column in self._pieces.pop().items()}
            yield Events(**{KIND: np.broadcast_to(np.uint8(0), size), **own})
            self._filled = self._size


@dataclass(frozen=True)
class _Packing:
    """How an event's time, item, type, row and value are one number: the bits of each, in turn.

    Times are offsets behind `low`, in `unit` microseconds; values are places among `values`.
    """

    low: int
    unit: int
    time: int
    item: int
    kind: int
    row: int
    values: Floats

    @classmethod
    def of(cls, batches: Sequence[Events], n_items: int, n_kinds: int, values: Floats) -> _Packing:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda batch: _events.span(batch.time, _UNITS_US), batches))
        lows, highs, units = zip(*found, strict=True)
        low, high, unit = min(lows), max(highs), int(_UNITS_US[max(units)])
        last = max((int(b.row.max()) for b in batches if b.row is not None), default=0)
        items, kinds = ((n - 1).bit_length() for n in (n_items, n_kinds))
        time = ((high - low) // unit).bit_length()
        return cls(low, unit, time, items, kinds, last.bit_length(), np.sort(values))

    @property
    def value(self) -> int:
        """The bits of a value."""
        return max(len(self.values) - 1, 0).bit_length()

    @property
    def bits(self) -> int:
        return self.time + self.item + self.kind + self.row + self.value

    @property
    def own(self) -> tuple[int, int, int, int, int, int]:
        """What compiled code is told."""
        return self.low, self.unit, self.item, self.kind, self.row, self.value


def canonical(events: Events, n_users: int, n_items: int, n_kinds: int) -> Events:
    """Return events in canonical order: by user, time, item, event type and value."""
    users, items = (np.arange(n, dtype=np.int32) for n in (n_users, n_items))
    return merged([events], users, items, n_kinds)


def merged(
    batches: list[Events],
    users: Int32,
    items: Int32,
    n_kinds: int,
    values: Floats | None = None,
) -> Events:
    """Return all events of `batches` (in any order) as one, in canonical order; empty `batches`.

    Events are ordered by user, time, item and event type, equal ones by row where rows are known,
    and then by value. Where all but the user fit into one number, events are brought together by
    user, and each user's numbers sorted; both ways give the same order.

    Parameters
    ----------
    users, items : int32 array
        Lead from what stands in the batches to positions.
    values : float64 array, optional
        And to values, each once; by default these stand in the batches themselves.
    """
    if values is None:
        coder = Values()
        batches[:] = [coder.coded(batch) for batch in batches]
        values = coder.met
    packing = _Packing.of(batches, int(items.max()) + 1, n_kinds, values)
    if packing.bits > _BITS:
        return _sorted_by_columns(batches, users, items, values)
    has = batches[0].row is not None, batches[0].value is not None
    ranks = np.argsort(np.argsort(values)).astype(np.int32)
    return _unpacked(*_grouped(batches, packing, users, items, ranks), packing, *has)


def _grouped(
    batches: list[Events], packing: _Packing, users: Int32, items: Int32, ranks: Int32
) -> tuple[Int64, Int64]:
    """Return events as numbers, those of a user together, and where each user's begin."""
    shares = _shares(batches)
    with ThreadPoolExecutor(len(shares)) as pool:
        sizes = list(pool.map(lambda share: _counted(share, len(users)), shares))
        starts, free = _places(np.sum(sizes, axis=0), users)
        grouped = np.empty(starts[-1], np.int64)

        def group(share: list[Events], behind: Int64) -> None:
            while share:  # a batch is let go as soon as its events have their places
                b = share.pop()
                row = np.broadcast_to(np.int64(0), len(b)) if b.row is None else b.row
                value = np.broadcast_to(np.int32(0), len(b)) if b.value is None else b.value
                given = b.user, b.time, b.item, b.kind, row, value, items, ranks
                _events.group(*given, *packing.own, behind, grouped)

        list(pool.map(group, shares, np.cumsum([free, *sizes[:-1]], axis=0)))
    return grouped, starts


def _unpacked(
    grouped: Int64,
    starts: Int64,
    packing: _Packing,
    numbered: bool,
    valued: bool,
) -> Events:
    """Return each user's numbers sorted and as events again; the numbers become their times."""
    n = len(grouped)
    item, kind = np.empty(n, np.int32), np.zeros(n if packing.kind > 0 else 0, np.uint8)
    row = np.zeros(n if numbered else 0, np.int64)
    value = np.zeros(n if valued else 0, np.uint16 if packing.value <= _SHORT else np.int32)

    def finish(first: int, behind: int) -> None:
        _events.sort_rows(grouped, starts, first, behind)
        own = slice(starts[first], starts[behind])
        columns = item[own], kind[own], row[own], value[own]
        _events.unpack(grouped[own], *packing.own, *columns)

    ends = np.linspace(0, len(starts) - 1, _PARTS * (os.cpu_count() or 1) + 1).astype(int).tolist()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(finish, ends[:-1], ends[1:]))
    kinds = kind if packing.kind > 0 else one_kind(n)
    others = row if numbered else None, partial(np.take, packing.values, value) if valued else None
    return Events(of_starts(starts), item, grouped, kinds, *others, starts=starts)


def _shares(batches: list[Events]) -> list[list[Events]]:
    """Return the batches in a few lists, for threads that work side by side; empty `batches`."""
    n = min(os.cpu_count() or 1, len(batches), _MOST_SHARES)
    shares = [batches[place::n] for place in range(n)]
    batches.clear()
    return shares


def _counted(batches: list[Events], n_users: int) -> Int64:
    """Return how many events each user has."""
    sizes = np.zeros(n_users, np.int64)
    for batch in batches:
        _kernels.count(batch.user, sizes)
    return sizes


def _places(sizes: Int64, users: Int32) -> tuple[Int64, Int64]:
    """Return where each user's events begin, with the end, and where those of each code do.

    Two codes may be one user's: what text files and Parquet call the same has a code in each.
    """
    n = int(users.max()) + 1
    if n == len(users):  # every position is that of one code
        own = sizes[places(users, n)]
        starts = np.concatenate(([0], np.cumsum(own)))
        return starts, starts[users]
    order = np.argsort(users, kind="stable")
    ends = np.cumsum(sizes[order])
    free = np.empty(len(users), np.int64)
    free[order] = ends - sizes[order]
    behind = np.searchsorted(users[order], np.arange(n), side="right")
    return np.concatenate(([0], ends))[np.concatenate(([0], behind))], free


def _sorted_by_columns(
    batches: Sequence[Events], users: Int32, items: Int32, values: Floats
) -> Events:
    frames = (pl.DataFrame(_in_order(batch.placed(users, items), values)) for batch in batches)
    frame = pl.concat(frames)
    return Events(**{column.name: column.to_numpy() for column in frame.sort(frame.columns)})


def _in_order(events: Events, values: Floats) -> dict[str, npt.NDArray[Any]]:
    """Return the columns in the order that events are sorted by."""
    value: Any = events.value
    columns: dict[str, npt.NDArray[Any] | None] = {
        USER: events.user,
        TIME: events.time,
        ITEM: events.item,
        KIND: events.kind,
        ROW: events.row,
        VALUE: None if value is None else values[value],
    }
    return {name: column for name, column in columns.items() if column is not None}
