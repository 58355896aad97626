"""Quoted lines into plain ones: fields and lines end with bytes that no text holds.

Follows RFC 4180: a field may stand in quotes and then hold separators, line ends and doubled
quotes. A quote within a field that does not begin with one is a letter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.arrays import Bytes, Int64
from harness.compiled import compiled

FIELD, RECORD = 0x1F, 0x1E
"""What stands between the fields of a plain line, and behind it: ASCII's own separators."""
LONGEST = 1 << 24
"""A record longer than this has a quote that was never closed."""
_SUBSTITUTE = 0x1A


@dataclass(frozen=True, eq=False)
class Plain:
    """Lines without quotes.

    Attributes
    ----------
    buffer : uint8 array
    size : int
    lines : int64 array
        The physical line that each begins on, counted from the first of the block, 0.
    consumed : int
        Bytes of the block that were read; the rest is the beginning of a line.
    ended : int
        How many physical lines they are.
    unclosed, torn : int64 arrays
        Physical lines with a quote that is never closed, and with text behind a closed one.
    """

    buffer: Bytes
    size: int
    lines: Int64
    consumed: int
    ended: int
    unclosed: Int64
    torn: Int64


def plain(buffer: Bytes, size: int, separator: int, last: bool) -> Plain:
    """Return the whole lines of a block as plain ones.

    Parameters
    ----------
    last : bool
        Whether nothing follows the block, so that what is open now stays open.
    """
    out = np.empty(size + 8, np.uint8)
    most = int(np.count_nonzero(buffer[:size] == 10)) + 1
    lines, unclosed, torn = (np.empty(most, np.int64) for _ in range(3))
    found = _plain(buffer, size, separator, last, out, lines, unclosed, torn)
    written, n, consumed, ended, n_unclosed, n_torn = found
    return Plain(out, written, lines[:n], consumed, ended, unclosed[:n_unclosed], torn[:n_torn])


@compiled
def _plain(
    buffer: Any,
    size: int,
    separator: int,
    last: bool,
    out: Any,
    lines: Any,
    unclosed: Any,
    torn: Any,
) -> tuple[int, int, int, int, int, int]:
    at = written = n = line = n_unclosed = n_torn = 0
    while at < size:
        state = _record(buffer, at, size, separator, True, out, written)
        after, wrote, ends, whole, tears = state
        if not whole:
            if not last and after - at <= LONGEST:
                break
            unclosed[n_unclosed] = line
            n_unclosed += 1
            after, wrote, ends, whole, tears = _record(
                buffer, at, size, separator, False, out, written
            )
        if tears:
            torn[n_torn] = line
            n_torn += 1
        lines[n] = line
        n += 1
        line += ends
        at, written = after, wrote
    return written, n, at, line, n_unclosed, n_torn


@compiled
def _record(
    buffer: Any, at: int, size: int, separator: int, quoted: bool, out: Any, written: int
) -> tuple[int, int, int, bool, bool]:
    """Write one record; return where the next begins in both, physical lines, whole, torn.

    One that the block's end cuts is not whole. Without `quoted`, quotes are letters.
    """
    ends, torn, inside, begins, closed = 0, False, False, True, False
    while at < size:
        byte = buffer[at]
        at += 1
        if inside:
            if byte == 34:
                if at < size and buffer[at] == 34:
                    at += 1
                else:
                    inside, closed = False, True
                    continue
            ends += byte == 10
        elif byte == 34 and begins and quoted:
            inside, begins = True, False
            continue
        elif byte == separator:
            out[written] = FIELD
            written += 1
            begins, closed = True, False
            continue
        elif byte == 10:
            if written > 0 and out[written - 1] == 13:
                written -= 1
            out[written] = RECORD
            return at, written + 1, ends + 1, True, torn
        elif closed and byte != 13:
            torn = True
        begins = False
        out[written] = _SUBSTITUTE if byte in (FIELD, RECORD) else byte
        written += 1
    return at, written, ends, False, torn
