"""Events of any order in one canonical order: by user, time, item and event type."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Int32, Int64, places
from harness.data import _events
from harness.data.dataset import DAY_US, Events, of_starts, one_kind

_UNITS_US = np.array([DAY_US, 1_000_000, 1])
_BITS = 63
_PIECE = 1 << 22
_MOST_SHARES = 4
"""As each counts the events of every user."""
_PARTS = 4
"""For each processor, as users have events of different numbers."""


class Pieces:
    """Events of one type, put together in a few large pieces.

    Memory of so large an array goes back to the system when the array is let go; that of thousands
    of small ones stays with the process.

    Parameters
    ----------
    kind : int
        The type of all.
    """

    def __init__(self, kind: int) -> None:
        self._kind, self._filled = np.uint8(kind), _PIECE
        self._pieces: list[list[npt.NDArray[Any]]] = []

    def add(self, user: Int32, item: Int32, time: Int64, row: Int64 | None) -> None:
        """Take in some events."""
        columns: list[npt.NDArray[Any]] = [user, item, time, *([] if row is None else [row])]
        start = 0
        while start < len(user):
            if self._filled == _PIECE:
                self._pieces.append([np.empty(_PIECE, column.dtype) for column in columns])
                self._filled = 0
            size = min(_PIECE - self._filled, len(user) - start)
            for piece, column in zip(self._pieces[-1], columns, strict=True):
                piece[self._filled : self._filled + size] = column[start : start + size]
            self._filled, start = self._filled + size, start + size

    def events(self) -> Iterator[Events]:
        """Yield the pieces."""
        while self._pieces:
            size = self._filled
            user, item, time, *row = (column[:size] for column in self._pieces.pop())
            yield Events(user, item, time, np.broadcast_to(self._kind, size), *row)
            self._filled = _PIECE


@dataclass(frozen=True)
class _Packing:
    """How an event's time, item, type and row are one number: the bits of each, from the left.

    Times are offsets behind `low`, in `unit` microseconds.
    """

    low: int
    unit: int
    time: int
    item: int
    kind: int
    row: int

    @classmethod
    def of(cls, batches: Sequence[Events], n_items: int, n_kinds: int) -> _Packing:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda batch: _events.span(batch.time, _UNITS_US), batches))
        lows, highs, units = zip(*found, strict=True)
        low, high, unit = min(lows), max(highs), int(_UNITS_US[max(units)])
        last = max((int(b.row.max()) for b in batches if b.row is not None), default=0)
        items, kinds = ((n - 1).bit_length() for n in (n_items, n_kinds))
        time = ((high - low) // unit).bit_length()
        return cls(low, unit, time, items, kinds, last.bit_length())

    @property
    def bits(self) -> int:
        return self.time + self.item + self.kind + self.row

    @property
    def own(self) -> tuple[int, int, int, int, int]:
        """What compiled code is told."""
        return self.low, self.unit, self.item, self.kind, self.row


def canonical(events: Events, n_users: int, n_items: int, n_kinds: int) -> Events:
    """Return events in canonical order: by user, time, item and event type."""
    users, items = (np.arange(n, dtype=np.int32) for n in (n_users, n_items))
    return merged([events], users, items, n_kinds)


def merged(batches: list[Events], users: Int32, items: Int32, n_kinds: int) -> Events:
    """Return all events of `batches` (in any order) as one, in canonical order; empty `batches`.

    Events are ordered by user, time, item and event type, equal ones by row where rows are known.
    Where all but the user fit into one number, events are brought together by user, and each
    user's numbers sorted; both ways give the same order.

    Parameters
    ----------
    users, items : int32 array
        Lead from what stands in the batches to positions.
    """
    packing = _Packing.of(batches, int(items.max()) + 1, n_kinds)
    if packing.bits > _BITS:
        return _sorted_by_columns(batches, users, items)
    numbered, shares = batches[0].row is not None, _shares(batches)
    with ThreadPoolExecutor(len(shares)) as pool:
        sizes = list(pool.map(lambda share: _counted(share, len(users)), shares))
        starts, free = _places(np.sum(sizes, axis=0), users)
        n_users, grouped = len(starts) - 1, np.empty(starts[-1], np.int64)

        def group(share: list[Events], behind: Int64) -> None:
            while share:  # a batch is let go as soon as its events have their places
                b = share.pop()
                row = np.broadcast_to(np.int64(0), len(b)) if b.row is None else b.row
                given = b.user, b.time, b.item, b.kind, row, items
                _events.group(*given, *packing.own, behind, grouped)

        list(pool.map(group, shares, np.cumsum([free, *sizes[:-1]], axis=0)))
    n = len(grouped)
    item, kind = np.empty(n, np.int32), np.zeros(n if packing.kind > 0 else 0, np.uint8)
    row = np.zeros(n if numbered else 0, np.int64)

    def finish(first: int, behind: int) -> None:
        _events.sort_rows(grouped, starts, first, behind)
        own = slice(starts[first], starts[behind])
        _events.unpack(grouped[own], *packing.own, item[own], kind[own], row[own])

    _in_parts(finish, n_users)
    kinds = kind if packing.kind > 0 else one_kind(n)
    return Events(of_starts(starts), item, grouped, kinds, row if numbered else None, starts=starts)


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
        _events.count(batch.user, sizes)
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


def _in_parts(work: Callable[[int, int], None], n: int) -> None:
    """Work on the numbers below `n` in parts, first and last + 1, side by side."""
    ends = np.linspace(0, n, _PARTS * (os.cpu_count() or 1) + 1).astype(int).tolist()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))


def _sorted_by_columns(batches: Sequence[Events], users: Int32, items: Int32) -> Events:
    frames = (
        pl.DataFrame({str(i): column for i, column in enumerate(_in_order(b.placed(users, items)))})
        for b in batches
    )
    frame = pl.concat(frames)
    user, time, item, *others = (column.to_numpy() for column in frame.sort(frame.columns))
    return Events(user, item, time, *others)


def _in_order(events: Events) -> tuple[npt.NDArray[Any], ...]:
    """Return the columns in the order that events are sorted by."""
    ordered = (events.user, events.time, events.item, events.kind)
    return ordered if events.row is None else (*ordered, events.row)
