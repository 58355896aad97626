"""The events that a long gap cuts off from a log: a window at an end of such events means nothing.

An event of 2037 in a log of 2020 makes the last seven days a window of one user. One of 1970 moves
no window, but with it the log is fifty years wide, and no gap behind it is long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.config import Config, TimeSplit
from harness.core.arrays import Bool, Int64
from harness.core.errors import DataError, counted
from harness.data.conditions import condition
from harness.data.dataset import DAY_US, Dataset
from harness.data.layout import Layout

_HANDFUL = 200
_FEW = ((1, 8), (4, _HANDFUL))
"""Behind a gap longer than a part of the log before it, fewer than one in so many events are few.

A window of more means something. Events at random times leave a gap as long as all that is before
it with a chance below 1 % where there are eight others, but in every second log of three. In a log
of years a gap of a quarter says as much, where less is behind it than a week usually holds.
"""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Strays:
    """The last or the first events of a log that many days without any cut off from the rest."""

    events: int
    total: int  # with the rest
    rest: tuple[int, int]  # the first and the last day of the rest, in days since 1970
    days: tuple[int, int]  # the first and the last day of these events

    def __str__(self) -> str:
        """Return what they are in a few words."""
        first, last, *days = (str(np.datetime64(day, "D")) for day in (*self.rest, *self.days))
        on = "on" if days[0] == days[1] else "from"
        days_on = f"{on} {' to '.join(dict.fromkeys(days))}"
        rest = f"{counted(self.total - self.events, 'event')} run from {first} to {last}"
        if self.days < self.rest:
            side, gap = "before", self.rest[0] - self.days[1] - 1
            strays = counted(self.events, "event is", "events are")
        else:
            side, gap = "after", self.days[0] - self.rest[1] - 1
            strays = counted(self.events, "event follows", "events follow")
        return f"{rest}, and {strays} {days_on}, {side} {counted(gap, 'day')} without any"

    @property
    def are_a_handful(self) -> bool:
        """Whether they are less than a week usually holds: mistakes, and no season."""
        return self.events * _HANDFUL < self.total

    def left_out(self, layout: Layout) -> str:
        """Return the condition that leaves them out; empty where no condition can."""
        if self.days < self.rest:
            return _bounded(layout, "min", self.rest[0])
        return _bounded(layout, "max", self.rest[1])

    def kept(self, layout: Layout) -> str:
        """Return the condition that says that the last events are meant."""
        return _bounded(layout, "max", self.days[1])


def _bounded(layout: Layout, bound: str, day: int) -> str:
    date = np.datetime64(day, "D").item()
    return layout.where_with([condition(layout.column("time"), {bound: date})])


def strays_of(data: Dataset, days: Int64) -> tuple[Strays | None, Strays | None]:
    """Return the first and the last events of a log that are cut off, by events `by_day`."""
    occupied = np.flatnonzero(days)
    counts, on = days[occupied], occupied + data.times[0] // DAY_US
    (start, stop), ends = _between_longest(on, counts), None
    while ends != (start, stop):  # without the one end, gaps at the other are wider than the rest
        ends = start, stop
        stop = start + _rest(on[start:stop], counts[start:stop])
        start = stop - _rest(-on[start:stop][::-1], counts[start:stop][::-1])
    rest, events = (int(on[start]), int(on[stop - 1])), int(counts[start:stop].sum())

    def cut_off(part: slice) -> Strays | None:
        outside = int(counts[part].sum())
        if outside == 0:
            return None
        return Strays(outside, outside + events, rest, (int(on[part][0]), int(on[part][-1])))

    return cut_off(slice(start)), cut_off(slice(stop, None))


def _between_longest(on: Int64, counts: Int64) -> tuple[int, int]:
    """Return where the days between the longest gaps begin and end, if these cut off both ends."""
    # Each of two such ends makes the rest of the other one wide: 1970 and 2037 around 2003.
    if len(on) == 1:
        return 0, 1
    total, gap, ahead = counts.sum(), np.diff(on) - 1, np.cumsum(counts)[:-1]
    few = min(share for _, share in _FEW)
    first, last = (np.where(n * few < total, gap, 0).argmax() for n in (ahead, total - ahead))
    rest = on[last] - on[min(first + 1, last)] + 1
    events = np.array([ahead[first], total - ahead[last]])
    if first < last and _cut_off(gap[[first, last]], rest, events, total).all():
        return int(first) + 1, int(last) + 1
    return 0, len(on)


def _rest(on: Int64, counts: Int64) -> int:
    """Return how many of some days are before a gap that cuts the others off, or all."""
    total, gap, rest = counts.sum(), np.diff(on) - 1, on[:-1] - on[0] + 1
    cut_off = _cut_off(gap, rest, total - np.cumsum(counts)[:-1], total)
    return int(cut_off.argmax()) + 1 if cut_off.any() else len(on)


def _cut_off(gap: Int64, rest: Int64, events: Int64, total: Int64) -> Bool:
    """Return which gaps beside a rest of so many days cut off so few of all events."""
    mask = np.zeros(len(gap), np.bool_)
    for part, share in _FEW:
        mask |= (gap * part > rest) & (events * share < total)
    return mask


def by_day(part: Dataset) -> Int64:
    """Return how many events a part has on each day of the span of the log."""
    (first, last), time = (time // DAY_US for time in part.times), part.events.time
    days = np.zeros(last - first + 1, np.int64)
    for start in range(0, len(time), _BLOCK):
        block = time[start : start + _BLOCK] // DAY_US - first
        days += np.bincount(block, minlength=len(days))
    return days


def checked(config: Config, data: Dataset, days: Int64 | None = None) -> Dataset:
    """Return a log with a note on its first events, where these are cut off, by events `by_day`.

    DataError where the last events are cut off, and no ``where`` says when the log ends.
    """
    if not isinstance(config.split, TimeSplit):
        return data
    early, late = strays_of(data, by_day(data) if days is None else days)
    layout = config.layout()
    bounds = [
        condition
        for table in layout.events
        for condition in table.where
        if condition.column == table.time
    ]
    ends = [b for b in bounds if b.until is not None or b.high < np.inf or b.among]
    if late is not None and not ends:
        _refuse(layout, late)
    if early is None:
        return data
    where, them = early.left_out(layout), "it" if early.events == 1 else "them"
    cure = f"{where} leaves {them} out" if where else f"remove {them} from the files of the log"
    note = f"{early}. If a missing time was written as 0 or as a default, {cure}"
    return replace(data, notes=(*data.notes, note))


def _refuse(layout: Layout, strays: Strays) -> None:
    left_out, kept = strays.left_out(layout), strays.kept(layout)
    times, them = ("its time is", "it") if strays.events == 1 else ("their times are", "them")
    cure = f"if {times} wrong, {left_out} leaves {them} out"
    cure += f"\nif {times} right, {kept} confirms it"
    if not left_out:
        cure = f"if {times} wrong, remove {them} from the files of the log"
    raise DataError(f"{strays}, so a window at the end of this log is meaningless\n{cure}")
