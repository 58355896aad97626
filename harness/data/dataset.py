"""Events as integer codes in one canonical order, so that no later step depends on row order."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Bool, Int32, Int64
from harness.data.layout import AttributeTable, CandidateRule

USER: Final = "user"
ITEM: Final = "item"
TIME: Final = "time"
KIND: Final = "kind"
ROW: Final = "row"

ID: Final = "id"
REGISTERED: Final = "registered"
SHOWN_FROM: Final = "shown_from"

DAY_US: Final = 86_400_000_000
"""Microseconds in a day: times are whole microseconds since 1970-01-01, without a zone."""


_BLOCK = 1 << 18
_UNITS_US = (DAY_US, 1_000_000, 1)
_DTYPES = (np.int32, np.int64, np.int32, np.uint8, np.int64)
"""Of the columns in the order that events are sorted by."""

NO_TIME = np.iinfo(np.int64).min
"""The time of a user or item that its table does not have."""


@dataclass(frozen=True, eq=False)
class Events:
    """Events ordered by user, time, item and event type; all arrays have one entry an event.

    Attributes
    ----------
    user, item : int32 array
        Positions into the data set's sorted ids.
    time : int64 array
        Microseconds since 1970-01-01.
    kind : uint8 array
        The event type, as a position into the data set's `kinds`.
    row : int64 array, optional
        Its row in the file; None unless the split asks for the file's order.
    """

    user: Int32
    item: Int32
    time: Int64
    kind: npt.NDArray[np.uint8]
    row: Int64 | None = None

    def __post_init__(self) -> None:
        for array in self.columns:
            array.setflags(write=False)

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays that there are, in the order of the fields."""
        known = (self.user, self.item, self.time, self.kind)
        return known if self.row is None else (*known, self.row)

    def __len__(self) -> int:
        return len(self.user)

    def where(self, keep: Bool) -> Events:
        """Return the events that `keep` (one bool an event) selects, in the same order."""
        with ThreadPoolExecutor() as pool:  # NumPy lets go of Python's lock while it copies
            return Events(*pool.map(lambda column: column[keep], self.columns))

    def user_starts(self, n_users: int) -> Int64:
        """Return where each user's events begin, and the end: ``n_users + 1`` offsets."""
        starts = np.zeros(n_users + 1, np.int64)
        if len(self) > 0:
            ends = np.append(np.flatnonzero(self.user[1:] != self.user[:-1]), len(self) - 1)
            starts[self.user[ends] + 1] = np.diff(ends, prepend=-1)
        return np.cumsum(starts)


@dataclass(frozen=True, eq=False)
class Dataset:
    """All events of a folder.

    Attributes
    ----------
    user_ids, item_ids : polars.Series of str
        Every id once, sorted by its bytes; a position is an index into these.
    catalogue : int32 array, optional
        Positions of the items that the items table describes, ascending.
    shown_from : int64 array, optional
        When each item was first shown (``NO_TIME`` where unknown), one entry an item.
    registered : int64 array, optional
        When each user registered (``NO_TIME`` where unknown), one entry a user.
    notes : tuple of str
        What was left out or looked odd while reading; shown to the user.
    users_table, items_table : AttributeTable or polars.DataFrame, optional
        Where the attributes are read when somebody asks for them, or the attributes themselves:
        text, the ids in the first column.
    """

    layout: str
    user_ids: pl.Series
    item_ids: pl.Series
    events: Events
    kinds: tuple[str, ...]
    candidates: CandidateRule
    has_time: bool = True
    catalogue: Int32 | None = None
    shown_from: Int64 | None = None
    registered: Int64 | None = None
    notes: tuple[str, ...] = ()
    users_table: AttributeTable | pl.DataFrame | None = None
    items_table: AttributeTable | pl.DataFrame | None = None


def positions(ids: pl.Series, index: pl.Series) -> Int32:
    """Return the position of each of `ids` in the sorted `index`, −1 where it is not there."""
    at = pl.DataFrame({ID: index}).with_row_index("at")
    found = pl.DataFrame({ID: ids.alias(ID)}).join(at, on=ID, how="left", maintain_order="left")
    return found["at"].cast(pl.Int32).fill_null(-1).to_numpy()


def canonical(batches: Sequence[Events], n_users: int, n_items: int, n_kinds: int) -> Events:
    """Return all events of `batches` (in any order) as one, in canonical order.

    Events are ordered by user, time, item and event type, equal ones by row where rows are known.
    The columns are packed into one int64 where they fit, since sorting one number is several times
    faster than sorting all; both ways give the same order.
    """
    fields = _fields(batches, n_users, n_items, n_kinds)
    if sum(f.bits for f in fields) > 63:
        return _sorted_by_columns(batches)
    ends = np.cumsum([len(batch) for batch in batches])
    packed = np.empty(ends[-1], np.int64)
    with ThreadPoolExecutor() as pool:  # NumPy lets go of Python's lock while it counts
        slots = np.split(packed, ends[:-1])
        list(pool.map(lambda batch, slot: _pack(batch, fields, slot), batches, slots))
    return _unpack(pl.Series(packed).sort().to_numpy(), fields)


@dataclass(frozen=True)
class _Field:
    """A column's place in a packed number: its width, and how a value becomes an offset."""

    bits: int
    low: int = 0
    unit: int = 1


def _fields(batches: Sequence[Events], n_users: int, n_items: int, n_kinds: int) -> list[_Field]:
    low = min(int(b.time.min()) for b in batches)
    high = max(int(b.time.max()) for b in batches)
    unit = next(u for u in _UNITS_US if not any(np.any(b.time % u) for b in batches))
    time = _Field(((high - low) // unit).bit_length(), low, unit)
    user, item, kind = (_Field((n - 1).bit_length()) for n in (n_users, n_items, n_kinds))
    rows = [int(b.row.max()) for b in batches if b.row is not None]
    return [user, time, item, kind, *([_Field(max(rows).bit_length())] if rows else [])]


def _in_order(events: Events) -> tuple[npt.NDArray[Any], ...]:
    """Return the columns in the order that events are sorted by."""
    ordered = (events.user, events.time, events.item, events.kind)
    return ordered if events.row is None else (*ordered, events.row)


def _pack(batch: Events, fields: list[_Field], packed: Int64) -> None:
    """Write the packed rows of `batch` to `packed`."""
    packed[:] = 0
    for values, field in zip(_in_order(batch), fields, strict=True):
        packed <<= field.bits
        plain = field.unit == 1 and field.low == 0
        packed |= values if plain else (values - field.low) // field.unit


def _unpack(packed: Int64, fields: list[_Field]) -> Events:
    """Return the columns again; in blocks, so that what is half done stays in the cache."""
    n = len(packed)
    columns = [np.zeros(n, dtype) for dtype, _ in zip(_DTYPES, fields, strict=False)]

    def unpack(start: int) -> None:
        block = packed[start : start + _BLOCK]
        for column, field in zip(reversed(columns), reversed(fields), strict=True):
            if field.bits or field.low:  # a single value 0, as of one event type, is there already
                values = block & ((1 << field.bits) - 1)
                column[start : start + _BLOCK] = values * field.unit + field.low
                block = block >> field.bits

    with ThreadPoolExecutor() as pool:
        list(pool.map(unpack, range(0, n, _BLOCK)))
    return _of_ordered(*columns)


def _sorted_by_columns(batches: Sequence[Events]) -> Events:
    frames = [
        pl.DataFrame({str(i): column for i, column in enumerate(_in_order(b))}) for b in batches
    ]
    frame = pl.concat(frames)
    return _of_ordered(*(column.to_numpy() for column in frame.sort(frame.columns)))


def _of_ordered(user: Int32, time: Int64, item: Int32, *others: npt.NDArray[Any]) -> Events:
    """Return events of columns in the order that events are sorted by."""
    return Events(user, item, time, *others)
