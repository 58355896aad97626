"""Events of any order in one canonical order: by user, time, item, event type and value."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import _kernels
from harness.core.arrays import Floats, Int32, Int64
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
    events_of,
)

_UNITS_US = (DAY_US, 1_000_000, 1)
_BITS, _SHORT = 63, 16
_MOST_SHARES = 4
"""As each counts the events of every user."""
_PARTS = 4
"""For each processor, as users have events of different numbers."""


@dataclass(frozen=True)
class _Packing:
    """How an event is one number: its time in `unit` microseconds behind `low`, and then columns.

    `bits` are those of each column; values are places among all.
    """

    low: int
    unit: int
    bits: Mapping[str, int]

    @classmethod
    def of(cls, batches: Sequence[Events], n_items: int, n_kinds: int, n_values: int) -> _Packing:
        times = [batch.time for batch in batches]
        low, high = min(int(time.min()) for time in times), max(int(time.max()) for time in times)
        unit = next(u for u in _UNITS_US if all((time // u * u == time).all() for time in times))
        last = max((int(b.row.max()) for b in batches if b.row is not None), default=0)
        most = {ITEM: n_items - 1, KIND: n_kinds - 1, ROW: last, VALUE: max(n_values - 1, 0)}
        bits = {name: value.bit_length() for name, value in most.items()}
        return cls(low, unit, {TIME: ((high - low) // unit).bit_length(), **bits})

    def packed(self, events: Events, items: Int32) -> Int64:
        """Return each event as a number; `items` leads from what stands there to positions."""
        packed = (events.time - self.low) // self.unit
        for name in (ITEM, KIND, ROW, VALUE):
            if self.bits[name] > 0:
                column = items[events.item] if name == ITEM else getattr(events, name)
                packed <<= self.bits[name]
                packed |= column
        return packed

    def unpack(self, packed: Int64, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write the columns of events; the numbers become their times."""
        for name in (VALUE, ROW, KIND, ITEM):
            if self.bits[name] > 0:
                mask = (1 << self.bits[name]) - 1
                np.bitwise_and(packed, mask, out=columns[name], casting="unsafe")
                packed >>= self.bits[name]
        packed *= self.unit
        packed += self.low


def canonical(events: Events, n_users: int, n_items: int, n_kinds: int) -> Events:
    """Return events in canonical order: by user, time, item, event type and value."""
    users, items = (np.arange(n, dtype=np.int32) for n in (n_users, n_items))
    return merged([events], users, items, n_kinds)


def merged(batches: list[Events], users: Int32, items: Int32, n_kinds: int) -> Events:
    """Return all events of `batches` (in any order) as one, in canonical order; empty `batches`.

    Events are ordered by user, time, item and event type, equal ones by row where rows are known,
    and then by value. Where all but the user fit into one number, events are brought together by
    user, and each user's numbers sorted; both ways give the same order. `users` and `items` lead
    from what stands in the batches to positions, of which each is there.
    """
    values = _ranked(batches)
    packing = _Packing.of(batches, int(items.max()) + 1, n_kinds, len(values))
    if sum(packing.bits.values()) > _BITS:
        return _sorted_by_columns(batches, users, items, values)
    numbered = batches[0].row is not None
    grouped, starts = _grouped(batches, packing, users, items)
    return _unpacked(grouped, starts, packing, values, numbered=numbered)


def _ranked(batches: list[Events]) -> Floats:
    """Return all values ascending, and give the events their places among these."""
    met = [pl.Series(batch.value).unique() for batch in batches if batch.value is not None]
    values = np.unique(np.concatenate([np.zeros(0), *met]))
    for number, b in enumerate(batches):
        if b.value is not None:
            places = np.searchsorted(values, b.value).astype(np.int32)
            batches[number] = Events(b.user, b.item, b.time, b.kind, b.row, places)
    return values


def _grouped(
    batches: list[Events], packing: _Packing, users: Int32, items: Int32
) -> tuple[Int64, Int64]:
    """Return events as numbers, those of a user together, and where each user's begin.

    Two codes may be one user's: what text files and Parquet call the same has a code in each.
    """
    n = min(os.cpu_count() or 1, len(batches), _MOST_SHARES)
    shares = [batches[place::n] for place in range(n)]
    batches.clear()

    def count(share: list[Events]) -> Int64:
        sizes = np.zeros(len(users), np.int64)
        for batch in share:
            _kernels.count(batch.user, sizes)
        return sizes

    def group(share: list[Events], free: Int64) -> None:
        while share:  # a batch is let go as soon as its events have their places
            batch = share.pop()
            _events.group(batch.user, packing.packed(batch, items), free, grouped)

    with ThreadPoolExecutor(n) as pool:
        sizes = list(pool.map(count, shares))
        every, order = np.sum(sizes, axis=0), np.argsort(users)
        ends = np.cumsum(every[order])
        free = np.empty(len(users), np.int64)
        free[order] = ends - every[order]
        is_last = np.append(np.diff(users[order]) > 0, True)
        starts = np.concatenate(([0], ends[is_last]))
        grouped = np.empty(starts[-1], np.int64)
        list(pool.map(group, shares, np.cumsum([free, *sizes[:-1]], axis=0)))
    return grouped, starts


def _unpacked(
    grouped: Int64, starts: Int64, packing: _Packing, values: Floats, *, numbered: bool
) -> Events:
    """Return each user's numbers sorted and as events again; the numbers become their times."""
    n, bits = len(grouped), packing.bits
    columns: dict[str, npt.NDArray[Any]] = {ITEM: np.zeros(n, np.int32)}
    if bits[KIND] > 0:
        columns[KIND] = np.zeros(n, np.uint8)
    if numbered:
        columns[ROW] = np.zeros(n, np.int64)
    if len(values) > 0:
        columns[VALUE] = np.zeros(n, np.uint16 if bits[VALUE] <= _SHORT else np.int32)

    def finish(first: int, behind: int) -> None:
        _events.sort_rows(grouped, starts, first, behind)
        rows = slice(starts[first], starts[behind])
        packing.unpack(grouped[rows], {name: column[rows] for name, column in columns.items()})

    ends = np.linspace(0, len(starts) - 1, _PARTS * (os.cpu_count() or 1) + 1).astype(int).tolist()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(finish, ends[:-1], ends[1:]))
    events: dict[str, Any] = {**columns, TIME: grouped}
    if len(values) > 0:
        events[VALUE] = partial(np.take, values, columns[VALUE])
    return events_of(events, starts)


def _sorted_by_columns(
    batches: Sequence[Events], users: Int32, items: Int32, values: Floats
) -> Events:
    frames = []
    for batch in batches:
        columns = {USER: users[batch.user], TIME: batch.time, ITEM: items[batch.item]}
        more = {KIND: batch.kind, ROW: batch.row, VALUE: batch.value}
        columns |= {name: column for name, column in more.items() if column is not None}
        frames.append(pl.DataFrame(columns))
    frame = pl.concat(frames)
    ordered = {column.name: column.to_numpy() for column in frame.sort(frame.columns)}
    if VALUE in ordered:
        ordered[VALUE] = values[ordered[VALUE]]
    return events_of(ordered)
