"""Lines into fields: where the wanted ones begin and end, and which lines are no rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.core.arrays import Bytes, Int32, Int64, UInt64
from harness.core.jit import compiled
from harness.submission import faults
from harness.submission.blocks import Block
from harness.submission.faults import Tally
from harness.submission.keys import find_either, key

USER, LIST, ORDER = range(3)
"""Columns of `starts` and `stops` in a submission: the user's id, the list, what orders it."""
NO_ROW = -2
"""The user of a line that is no row: blank, or with too few or too many fields."""


def wanted(fields: int, *places: int) -> Int32:
    """Return, for each of so many fields, its column among those at `places`; −1: not wanted.

    Examples
    --------
    >>> wanted(3, 2, 0).tolist()
    [1, -1, 0]
    """
    columns = np.full(fields, -1, np.int32)
    columns[list(places)] = np.arange(len(places))
    return columns


def fields(block: Block, columns: Int32, tally: Tally | None = None) -> tuple[Int64, Int64, Int32]:
    """Return where the wanted fields of a block begin and end, and which lines are no rows.

    Parameters
    ----------
    columns : int32 array
        What `wanted` gives.
    tally : Tally, optional
        Takes lines with too few or too many fields, and blank ones.

    Returns
    -------
    starts, stops : int64 array, (lines, wanted fields)
    users : int32 array, (lines,)
        NO_ROW where there is no row, else 0.
    """
    n = _count(block.buffer, block.size, block.end)
    shape = n, int(columns.max()) + 1
    starts, stops = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    users = np.empty(n, np.int32)
    tally = faults.tally() if tally is None else tally
    _cut(block.buffer, block.separator, block.end, columns, starts, stops, users, tally)
    return starts, stops, users


def column(block: Block, held: int, place: int) -> tuple[Int64, Int64]:
    """Return where one of the `held` fields of each row of a block begins and ends."""
    starts, stops, users = fields(block, wanted(held, place))
    rows = users != NO_ROW
    return starts[rows, 0], stops[rows, 0]


def keys(buffer: Bytes, starts: Int64, stops: Int64, secret: UInt64) -> UInt64:
    """Return the key of each field, (n, 2), made with a secret."""
    found = np.empty((len(starts), 2), np.uint64)
    _keys(buffer, np.ascontiguousarray(starts), np.ascontiguousarray(stops), secret, found)
    return found


@compiled
def _keys(buffer: Any, starts: Any, stops: Any, secret: Any, found: Any) -> None:
    for line in range(len(starts)):
        found[line, 0], found[line, 1] = key(buffer, starts[line], stops[line], secret)


@compiled
def _count(buffer: Any, size: int, end: int) -> int:
    """Return how many bytes end a line."""
    lines = 0
    for at in range(size):
        lines += buffer[at] == end
    return lines


@compiled
def _cut(
    buffer: Any,
    separator: int,
    end: int,
    wanted: Any,
    starts: Any,
    stops: Any,
    users: Any,
    tally: Any,
) -> None:
    """Find the wanted fields of every line; `wanted`, `starts` and the others as in `fields`."""
    at: Any = np.int64(0)  # a literal 0 would have callees compiled twice
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
