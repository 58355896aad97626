"""Lines into fields: where the wanted ones begin and end, and which lines are no rows."""

from __future__ import annotations

from typing import Any

from harness.compiled import compiled
from harness.submission import faults
from harness.submission.words import find_either

NO_ROW = -2
"""The user of a line that is no row: blank, or with too few or too many fields."""


@compiled
def count(buffer: Any, size: int, end: int) -> int:
    """Return how many bytes end a line."""
    lines = 0
    for at in range(size):
        lines += buffer[at] == end
    return lines


@compiled
def cut(
    buffer: Any,
    separator: int,
    end: int,
    wanted: Any,
    starts: Any,
    stops: Any,
    users: Any,
    tally: Any,
) -> None:
    """Find the wanted fields of every line.

    Parameters
    ----------
    wanted : int array, one entry a field
        The column of `starts` and `stops` that takes the field's place; −1: none.
    starts, stops : int array, (lines, wanted fields)
    users : int32 array, (lines,)
        Takes NO_ROW where there is no row, else 0.
    """
    at = 0
    for line in range(len(users)):
        begin, field, ends = at, 0, False
        while not ends:
            stop = find_either(buffer, at, len(buffer), separator, end)
            ends = buffer[stop] == end
            if field < len(wanted) and wanted[field] >= 0:
                starts[line, wanted[field]] = at
                returned = ends and stop > at and buffer[stop - 1] == 13  # a line end of two bytes
                stops[line, wanted[field]] = stop - 1 if returned else stop
            field += 1
            at = stop + 1
        users[line] = 0
        if field != len(wanted):
            users[line] = NO_ROW
            stop = at - 2 if at - 2 >= begin and buffer[at - 2] == 13 else at - 1
            fault = _shape(buffer, begin, stop, field, len(wanted))
            faults.note(tally, fault, line, begin, stop)


@compiled
def _shape(buffer: Any, start: int, stop: int, held: int, fields: int) -> int:
    """Return what is wrong with a line of another number of fields."""
    start, stop = trimmed(buffer, start, stop)
    if start == stop:
        return faults.BLANK
    return faults.TOO_FEW if held < fields else faults.TOO_MANY


@compiled
def trimmed(buffer: Any, start: int, stop: int) -> tuple[int, int]:
    """Return a field without spaces, tabs and line ends around it."""
    while start < stop and buffer[start] in (32, 9, 13):
        start += 1
    while stop > start and buffer[stop - 1] in (32, 9, 13):
        stop -= 1
    return start, stop
