"""Lines into fields: where the wanted ones begin and end, and which lines are no rows."""

from __future__ import annotations

import numpy as np

from harness.core.arrays import Bytes, Int32, Int64, UInt64
from harness.submission import _keys, _scan
from harness.submission._scan import NO_ROW
from harness.submission.blocks import Block
from harness.submission.faults import Tally


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
    n = _scan.count_lines(block.buffer, block.size, block.end)
    shape = n, int(columns.max()) + 1
    starts, stops = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    users = np.empty(n, np.int32)
    form = block.size, block.separator, block.end, columns
    _scan.cut(block.buffer, *form, starts, stops, users, Tally() if tally is None else tally)
    return starts, stops, users


def column(block: Block, held: int, place: int) -> tuple[Int64, Int64]:
    """Return where one of the `held` fields of each row of a block begins and ends."""
    starts, stops, users = fields(block, wanted(held, place))
    rows = users != NO_ROW
    return starts[rows, 0], stops[rows, 0]


def keys(buffer: Bytes, starts: Int64, stops: Int64, secret: UInt64) -> UInt64:
    """Return the key of each field, (n, 2), made with a secret."""
    found = np.empty((len(starts), 2), np.uint64)
    _keys.keys(buffer, *map(np.ascontiguousarray, (starts, stops)), secret, found)
    return found
