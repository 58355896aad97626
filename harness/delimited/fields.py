"""Lines into fields: where the wanted ones begin and end, and which lines are no rows."""

from __future__ import annotations

import secrets

import numpy as np

from harness.core.arrays import Bytes, Int32, Int64, UInt64
from harness.delimited import _bytes, _lines
from harness.delimited._lines import NO_ROW
from harness.delimited.blocks import Block
from harness.delimited.tally import Tally


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
    n = _lines.count_lines(block.buffer, block.size, block.end)
    shape = n, int(columns.max()) + 1
    starts, stops = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    users = np.empty(n, np.int32)
    form = block.size, block.separator, block.end, block.width, columns
    _lines.cut(block.buffer, *form, starts, stops, users, Tally() if tally is None else tally)
    return starts, stops, users


def spans(block: Block, held: int, *places: int) -> tuple[Int64, Int64]:
    """Return where some of the `held` fields of each row of a block begin and end, (rows, some)."""
    starts, stops, users = fields(block, wanted(held, *places))
    rows = users != NO_ROW
    return starts[rows], stops[rows]


def secret() -> UInt64:
    """Return a secret for `keys`, (2,), drawn at random."""
    return np.frombuffer(bytearray(secrets.token_bytes(16)), np.uint64)


def keys(buffer: Bytes, starts: Int64, stops: Int64, secret: UInt64) -> UInt64:
    """Return the key of each field, (n, 2), made with a secret."""
    found = np.empty((len(starts), 2), np.uint64)
    _bytes.keys(buffer, starts, stops, secret, found)
    return found
