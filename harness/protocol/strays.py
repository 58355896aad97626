"""The last events of a log that a long gap cuts off: a window at such an end means nothing.

An event of 2037 in a log of 2020 makes the last seven days a window of one user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from harness.config import Config, TimeSplit
from harness.core import steps
from harness.core.arrays import Int64
from harness.core.errors import DataError, counted
from harness.core.exact_sum import Sums
from harness.core.steps import Steps, of_one
from harness.data.dataset import DAY_US, Dataset
from harness.data.layout import Layout

_FEW = ((1, 8), (4, 200))
"""Behind a gap longer than a part of the log before it, fewer than one in so many events are few.

A window of more means something. Events at random times leave a gap as long as all that is before
it with a chance below 1 % where there are eight others, but in every second log of three. In a log
of years a gap of a quarter says as much, where less is behind it than a week usually holds.
"""


@dataclass(frozen=True)
class Strays:
    """The last events of a log that many days without any cut off from the rest.

    Attributes
    ----------
    events, of : int
        How many they are, and how many the whole log has.
    rest, days : (int, int)
        The first and the last day of the rest, and of them, in days since 1970.
    """

    events: int
    of: int
    rest: tuple[int, int]
    days: tuple[int, int]

    def __str__(self) -> str:
        """Return what they are in a few words."""
        first, last, *days = (str(np.datetime64(day, "D")) for day in (*self.rest, *self.days))
        on, gap = "on" if days[0] == days[1] else "from", self.days[0] - self.rest[1] - 1
        return (
            f"{counted(self.of - self.events, 'event')} run from {first} to {last}, and "
            f"{counted(self.events, 'event follows', 'events follow')} {on} "
            f"{' to '.join(dict.fromkeys(days))}, after {counted(gap, 'day')} without any"
        )

    def left_out(self, layout: Layout) -> str:
        """Return the condition that leaves them out; empty where tables name times otherwise."""
        return layout.where_with(time={"until": (self.rest[1] + 1) * DAY_US - 1})

    def kept(self, layout: Layout) -> str:
        """Return the condition that says that they are meant."""
        return layout.where_with(time={"until": (self.days[1] + 1) * DAY_US - 1})


def strays_of(data: Dataset) -> Strays | None:
    """Return the events that are cut off at the end of a log; None where none are."""
    return steps.found(stray_steps(data, late_events(data)), of_one(data))


def refuse_strays(config: Config, data: Dataset) -> None:
    """Raise DataError where a config takes its window from the end of a log that has strays."""
    if is_at_the_end(config):
        refuse(config, strays_of(data))


def is_at_the_end(config: Config) -> bool:
    """Return whether a window is at the end of the log, wherever that is.

    A config that itself says with ``where`` when the log ends is taken at its word.
    """
    if not isinstance(config.split, TimeSplit):
        return False
    tables = config.layout().events
    bounds = (one for table in tables for one in table.where if one.column == table.time)
    return not any(one.until is not None or one.high < np.inf or one.among for one in bounds)


def refuse(config: Config, strays: Strays | None) -> None:
    """Raise DataError where there are any, with what leaves them out and what keeps them."""
    if strays is None:
        return
    layout = config.layout()
    left_out, kept = strays.left_out(layout), strays.kept(layout)
    times, them = ("its time is", "it") if strays.events == 1 else ("their times are", "them")
    cure = f"if {times} wrong, {left_out} leaves {them} out"
    cure += f"\nif {times} right, {kept} says so"
    if not left_out:
        cure = f"if {times} wrong, remove {them} from the files of the log"
    raise DataError(f"{strays}; a window at the end of this log means nothing\n{cure}")


def late_events(part: Dataset) -> Int64:
    """Return how many events are in the last fifth of the span of the log, and how many in all.

    What is cut off by a gap longer than a quarter of the rest leaves no others there.
    """
    low, high = part.times
    late = np.count_nonzero(part.events.time > high - (high - low) // 5)
    return np.array([late, len(part.events)])


def stray_steps(
    data: Dataset, late: Int64, within: Callable[[Dataset], Dataset] = lambda part: part
) -> Steps[Dataset, Strays | None]:
    """Yield a step where there may be events that are cut off; return them.

    Parameters
    ----------
    late : int64 array, (2,)
        What `late_events` returns, of all parts.
    within : callable
        Takes what is evaluated from a part.
    """
    few, events = late.tolist()
    if few * min(share for _, share in _FEW) >= events:
        return None
    total: Any = yield partial(_by_day, data.times, within)
    days, first = total["days"], data.times[0] // DAY_US
    occupied = np.flatnonzero(days)
    before, after = occupied[:-1], occupied[1:]
    behind = events - np.cumsum(days)[before]
    gap, rest = after - before - 1, before + 1
    cut_off = np.zeros(len(gap), np.bool_)
    for part, share in _FEW:
        cut_off |= (gap * part > rest) & (behind * share < events)
    if not cut_off.any():
        return None
    cut = int(cut_off.argmax())
    return Strays(
        events=int(behind[cut]),
        of=events,
        rest=(first, first + int(before[cut])),
        days=(first + int(after[cut]), first + int(occupied[-1])),
    )


def _by_day(span: tuple[int, int], within: Callable[[Dataset], Dataset], part: Dataset) -> Sums:
    first, last = (time // DAY_US for time in span)
    days = within(part).events.time // DAY_US - first
    return {"days": np.bincount(days, minlength=last - first + 1)}
