"""Events as integer codes in one canonical order, so that no later step depends on row order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Bool, Floats, Int32, Int64, counts_of
from harness.data import _events
from harness.data.layout import AttributeTable, CandidateRule

USER: Final = "user"
ITEM: Final = "item"
TIME: Final = "time"
KIND: Final = "kind"
ROW: Final = "row"
VALUE: Final = "value"
_STARTS = "starts"

ID: Final = "id"
REGISTERED: Final = "registered"
SHOWN_FROM: Final = "shown_from"

DAY_US: Final = 86_400_000_000
"""Microseconds in a day: times are whole microseconds since 1970-01-01, without a zone."""

NO_TIME = np.iinfo(np.int64).min
"""The time of a user or item that its table does not have."""

Column: TypeAlias = npt.NDArray[Any] | Callable[[], npt.NDArray[Any]]
"""An array, or what makes it when somebody asks for it."""


def _column(name: str) -> Any:
    """Return the property that reads a column, None where events have no such."""
    return property(lambda events: events.array(name) if name in events._columns else None)


class Events:
    """Events ordered by user, time, item, event type and value; arrays have one entry an event.

    A column may be a function without parameters, which is called when it is asked for first.
    `user` and `item` (int32) are positions into the data set's sorted ids, `time` (int64) is
    microseconds since 1970-01-01, `kind` (uint8) a position into its `kinds`. `row` (int64) is the
    row in the file, or None unless the split asks for it; `value` (float64) is None where events
    have none. `starts` (int64) is where each user's events begin, and the end; found in `user` by
    default.
    """

    user: Int32 = _column(USER)
    item: Int32 = _column(ITEM)
    time: Int64 = _column(TIME)
    kind: npt.NDArray[np.uint8] = _column(KIND)
    row: Int64 | None = _column(ROW)
    value: Floats | None = _column(VALUE)

    def __init__(
        self, user: Column, item: Column, time: Column, kind: Column, row: Column | None = None,
        value: Column | None = None, *, starts: Column | None = None,
    ) -> None:  # fmt: skip
        columns = {USER: user, ITEM: item, TIME: time, KIND: kind, ROW: row, VALUE: value}
        columns[_STARTS] = starts
        self._columns = {name: column for name, column in columns.items() if column is not None}
        self._source: tuple[Events, Bool] | None = None  # of which these are chosen, by a mark each
        self._counted = np.zeros(0, np.int64)  # where users begin, once it has been counted

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return a column, made now if it is not there yet."""
        column = self._columns[name]
        if callable(column):
            column = self._columns[name] = column()
        column.setflags(write=False)
        return column

    def __len__(self) -> int:
        if self._source is not None:
            return int(np.count_nonzero(self._source[1]))
        return int(self.array(_STARTS)[-1]) if _STARTS in self._columns else len(self.item)

    def where(self, keep: Bool) -> Events:
        """Return the events that `keep` (one bool an event) selects, in the same order."""
        columns: dict[str, Column] = {
            name: partial(self._chosen, name, keep) for name in self._columns
        }
        if _STARTS in columns:  # they tell whose events are chosen: this column here is not needed
            starts = columns[_STARTS] = cache(partial(self._chosen, _STARTS, keep))
            columns[USER] = lambda: of_starts(starts())()  # without the events, to let them go
        chosen = Events(**columns)
        chosen._source = self, keep
        return chosen

    def _chosen(self, name: str, keep: Bool) -> npt.NDArray[Any]:
        column = self.array(name)
        if name != _STARTS:
            return column[keep]
        starts = np.zeros(len(column), np.int64)
        _events.kept(np.ascontiguousarray(keep).view(np.uint8), column, starts[1:])
        return starts

    def item_counts(self, n_items: int) -> Int64:
        """Return how many events each of `n_items` has; the column of items is not made for it."""
        if self._source is None or not callable(self._columns[ITEM]):
            return counts_of(self.item, n_items)
        events, keep = self._source
        if 2 * len(self) <= len(keep):
            return counts_of(events.item[keep], n_items)
        return counts_of(events.item, n_items) - counts_of(events.item[~keep], n_items)

    def since(self, moment: int) -> Bool:
        """Return which events happened at `moment` (microseconds since 1970) or later."""
        if (source := self._unmade()) is None:
            return self.time >= moment
        events, keep = source
        return events.since(moment)[keep]

    def of_users(self, users: Int32, n_users: int) -> Events:
        """Return the events of some of `n_users`, each user's in the same order.

        The first of `users` is user 0 of what is returned.
        """
        users, starts = np.asarray(users, np.int32), self.user_starts(n_users)
        events, keep = self._unmade() or (self, None)
        first = events.user_starts(n_users)
        sizes = first[users + 1] - first[users]
        before = np.cumsum(sizes) - sizes
        places = np.repeat(first[users] - before, sizes) + np.arange(int(sizes.sum()))
        if keep is not None:
            places = places[keep[places]]
        columns: dict[str, Column] = {
            name: partial(lambda name: events.array(name)[places], name)
            for name in self._columns
            if name != _STARTS
        }
        starts = np.concatenate(([0], np.cumsum(starts[users + 1] - starts[users])))
        return Events(**columns | {USER: of_starts(starts)}, starts=starts)

    def _unmade(self) -> tuple[Events, Bool] | None:
        """Return what the column of times will be made of: it is large, and seldom needed whole."""
        return self._source if callable(self._columns[TIME]) else None

    def placed(self, users: Int32, items: Int32 | None = None) -> Events:
        """Return the same events of users and items at other positions, in the same order."""
        columns: dict[str, Column] = {
            name: partial(self.array, name) for name in self._columns if name != _STARTS
        }
        columns[USER] = lambda: users[self.user]
        if items is not None:
            columns[ITEM] = lambda: items[self.item]
        return Events(**columns)

    def user_starts(self, n_users: int) -> Int64:
        """Return where each user's events begin, and the end: ``n_users + 1`` offsets."""
        if _STARTS in self._columns and len(self.array(_STARTS)) == n_users + 1:
            return self.array(_STARTS)
        if len(self._counted) != n_users + 1:
            users = np.arange(n_users + 1, dtype=np.int32)
            self._counted = np.searchsorted(self.user, users)
            self._counted.setflags(write=False)
        return self._counted


def events_of(columns: Mapping[str, npt.NDArray[Any]], starts: Int64 | None = None) -> Events:
    """Return the events of columns by name: users by `starts`, types all 0 where there are none."""
    return Events(
        user=columns[USER] if starts is None else of_starts(starts),
        item=columns[ITEM],
        time=columns[TIME],
        kind=columns.get(KIND, one_kind(len(columns[ITEM]))),
        row=columns.get(ROW),
        value=columns.get(VALUE),
        starts=starts,
    )


def no_events() -> Events:
    """Return none, which hold on to no others."""
    return Events(*(np.zeros(0, dtype) for dtype in (np.int32, np.int32, np.int64, np.uint8)))


def of_starts(starts: Int64) -> Callable[[], Int32]:
    """Return what makes the column of users by where the events of each begin."""
    return lambda: np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))


def one_kind(size: int) -> Callable[[], npt.NDArray[np.uint8]]:
    """Return what makes the column of types where there is one."""
    return lambda: np.zeros(size, np.uint8)


@dataclass(frozen=True, eq=False)
class Dataset:
    """All events of a folder."""

    layout: str
    user_ids: pl.Series  # every id once, sorted by its bytes; a position is an index into these
    item_ids: pl.Series
    events: Events
    kinds: tuple[str, ...]  # of each code; a split that is given may have a name in both tables
    candidates: CandidateRule
    has_time: bool = True
    catalogue: Int32 | None = None  # positions of items that the items' table has, ascending
    shown_from: Int64 | None = None  # when each item was first shown, or NO_TIME
    registered: Int64 | None = None  # when each user registered, or NO_TIME
    notes: tuple[str, ...] = ()  # what was left out or looked odd; shown to the user
    # Where attributes are read when somebody asks, or these themselves: text, ids first.
    users_table: AttributeTable | pl.DataFrame | None = None
    items_table: AttributeTable | pl.DataFrame | None = None
    span: tuple[int, int] | None = None  # of time, where others than these events are known
    valid_kinds: tuple[int, ...] = ()  # codes of events to be evaluated on, if a split is given
    steps: tuple[tuple[str, int], ...] = ()  # rules that users left by, and how many stayed

    def __copy__(self) -> Dataset:
        """Return the same with ids and tables of its own: others do not see them changed."""
        return replace(
            self,
            user_ids=copy(self.user_ids),
            item_ids=copy(self.item_ids),
            users_table=copy(self.users_table),
            items_table=copy(self.items_table),
        )

    @cached_property
    def times(self) -> tuple[int, int]:
        """When the first and the last event happened, those of other buckets included."""
        if self.span is not None:
            return self.span
        time = self.events.time
        return int(time.min()), int(time.max())


def positions(ids: pl.Series, index: pl.Series) -> Int32:
    """Return the position of each of `ids` in the sorted `index`, −1 where it is not there."""
    rows = pl.DataFrame({ID: index}).with_row_index("row")
    joined = pl.DataFrame({ID: ids.alias(ID)}).join(rows, on=ID, how="left", maintain_order="left")
    return joined["row"].cast(pl.Int32).fill_null(-1).to_numpy()
