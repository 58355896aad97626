"""What is mechanical mended, line by line: compiled, so that a large file takes seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.core.arrays import Bytes, Int32, Int64, UInt64
from harness.core.ids import KeyTable, look_up
from harness.core.jit import compiled
from harness.submission import faults, fields
from harness.submission.blocks import Block
from harness.submission.fields import LIST, NO_ROW, ORDER, USER, trimmed
from harness.submission.keys import PAD, Known, find, key
from harness.submission.repair import (
    LONGEST,
    LOWER,
    SURE,
    UPPER,
    is_dress,
    restored,
    separator,
    separator_bytes,
)
from harness.submission.scan import Form

_LONGEST_ID = 1 << 10
_COMMA, _SEMICOLON, _LINE, _QUOTE = 44, 59, 10, 34


@dataclass(frozen=True, eq=False)
class Mended:
    """Mended lines.

    Attributes
    ----------
    text : uint8 array, PAD bytes behind the last line
    starts, stops : int64 arrays
        Where each row stands that is of a user, with its end.
    users : int32 array
        Codes of the known users among the lines, those of lines that are no rows among them.
    secret : uint64 array, (2,)
        What the keys of rows are made with.
    """

    text: Bytes
    starts: Int64
    stops: Int64
    users: Int32
    secret: UInt64

    def without_again(self, written: KeyTable) -> tuple[Bytes, int]:
        """Return the lines but for rows that were written, and how many those are.

        `written` takes the others.
        """
        before = len(written)
        codes = written.codes(fields.keys(self.text, self.starts, self.stops, self.secret))
        new = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1] < codes
        kept = np.ones(len(self.text), np.bool_)
        kept[-PAD:] = False
        for start, stop in zip(self.starts[~new], self.stops[~new], strict=True):
            kept[start:stop] = False
        return self.text[kept], int(np.count_nonzero(~new))


def mended(block: Block, form: Form, between: str, users: Known, items: Known) -> Mended:
    """Return whole lines with what is mechanical mended, and the users they are of.

    Blank lines go; ids lose what is around them and get their zeros back; items lose brackets,
    quotes and decimals, get zeros back and one separator; words for nothing, repeats and items
    behind the longest list go. Lines with too few or too many fields stay as they are.

    Parameters
    ----------
    between : str
        What is written between items.
    """
    buffer, size = block.buffer, block.size
    starts, stops, codes = fields.fields(block, form.wanted)
    # A mended id is longer by at most its zeros; no item has fewer bytes than 1.
    zeros = max(users.width, items.width, 1)
    out = np.empty((size + 4) * (zeros + 3) + PAD, np.uint8)
    begins, spans = np.empty(len(codes) + 1, np.int64), np.zeros((len(codes), 2), np.int64)
    length = _mend(
        buffer,
        size,
        np.array([block.separator, form.between_in(block), block.end, form.width]),
        ord(between),
        starts,
        stops,
        codes,
        users.arrays,
        items.arrays,
        out,
        begins,
        spans,
    )
    broken = np.flatnonzero((codes == NO_ROW) & (starts[:, USER] < stops[:, USER]))
    torn = users.codes(buffer, starts[broken, USER], stops[broken, USER])
    rows = spans[:, 0] < spans[:, 1]
    there = np.concatenate((codes[codes >= 0], torn[torn >= 0]))
    return Mended(out[: length + PAD], spans[rows, 0], spans[rows, 1], there, users.secret)


@compiled
def _mend(
    buffer: Any,
    size: int,
    form: Any,
    space: int,
    starts: Any,
    stops: Any,
    codes: Any,
    users: Any,
    items: Any,
    out: Any,
    begins: Any,
    spans: Any,
) -> int:
    separator, between, end, width = form
    _line_begins(buffer, size, end, begins)
    own = np.zeros(LONGEST + PAD, np.uint8)
    written: Any = np.int64(0)  # a literal 0 would have callees compiled twice
    for line in range(len(codes)):
        if codes[line] == NO_ROW:
            stop = begins[line + 1] - 1
            written = _raw(buffer, begins[line], stop, separator, starts.shape[1], out, written)
            continue
        start, stop = trimmed(buffer, starts[line, USER], stops[line, USER])
        begin, row, named = written, written, start < stop
        codes[line], written = _id(buffer, start, stop, users, own, out, written)
        written = _cell(out, begin, written)
        out[written] = _COMMA
        begin = written + 1
        written = _list(
            buffer,
            starts[line, LIST],
            stops[line, LIST],
            between,
            space,
            width,
            items,
            own,
            out,
            begin,
        )
        written = _cell(out, begin, written)
        for column in range(ORDER, starts.shape[1]):
            out[written] = _COMMA
            begin = written + 1
            start, stop = trimmed(buffer, starts[line, column], stops[line, column])
            written = _cell(out, begin, _copy(buffer, start, stop, out, begin))
        out[written] = _LINE
        written += 1
        if named:
            spans[line, 0], spans[line, 1] = row, written
    return written  # type: ignore[no-any-return]


@compiled
def _line_begins(buffer: Any, size: int, end: int, begins: Any) -> None:
    begins[0], line = 0, 0
    for at in range(size):
        if buffer[at] == end:
            line += 1
            begins[line] = at + 1


@compiled
def _raw(
    buffer: Any, start: int, stop: int, separator: int, fields: int, out: Any, written: int
) -> int:
    """Copy a line that is no row; one that is blank goes.

    Where columns are dropped it may have as many fields as a row of the new file; one more is added
    then, so that it is not taken for a row.
    """
    held = 0
    first, last = trimmed(buffer, start, stop)
    if first == last:
        return written
    while start <= last:
        next_ = find(buffer, start, last, separator)
        written = _cell(out, written, _copy(buffer, start, next_, out, written))
        out[written] = _COMMA
        written += 1
        held += 1
        start = next_ + 1
    if held == fields:
        written += 1
    out[written - 1] = _LINE
    return written


@compiled
def _cell(out: Any, start: int, stop: int) -> int:
    """Put a cell that was written into quotes where it needs them; return where it ends."""
    quotes, needed = 0, False
    for at in range(start, stop):
        quotes += out[at] == _QUOTE
        needed |= out[at] == _QUOTE or out[at] == _COMMA or out[at] == _LINE or out[at] == 13
    if not needed:
        return stop
    end = stop + quotes + 2
    to = end - 1
    out[to] = _QUOTE
    for at in range(stop - 1, start - 1, -1):
        to -= 1
        out[to] = out[at]
        if out[to] == _QUOTE:
            to -= 1
            out[to] = _QUOTE
    out[start] = _QUOTE
    return end


@compiled
def _copy(source: Any, start: int, stop: int, out: Any, written: int) -> int:
    for at in range(start, stop):
        out[written] = source[at]
        written += 1
    return written


@compiled
def _known(buffer: Any, start: int, stop: int, known: Any, own: Any) -> tuple[int, int, int]:
    """Return an id's code, −1 unknown; marks of its damage; the length of what it was in `own`.

    The length is 0 where it stands there as it should, or where what it was cannot be told.
    """
    code = -1
    if stop - start <= _LONGEST_ID:  # else the rest of a long list would be read again for each
        first, second = key(buffer, start, stop, known.secret)
        code = look_up(first, second, known.table)
    if code >= 0:
        return code, 0, 0
    code, marks, length, spelling = restored(buffer, start, stop, known, own)
    cased = LOWER <= spelling <= UPPER
    if known.complete:
        length = 0 if code < 0 else length
    elif cased and length < SURE:  # perhaps another id, of which nothing is known
        return -1, 0, 0
    return code, marks, length


@compiled
def _id(
    buffer: Any, start: int, stop: int, users: Any, own: Any, out: Any, written: int
) -> tuple[int, int]:
    code, _marks, length = _known(buffer, start, stop, users, own)
    if length > 0 and code >= 0:
        return code, _copy(own, 0, length, out, written)
    return code, _copy(buffer, start, stop, out, written)


@compiled
def _list(
    buffer: Any,
    start: int,
    stop: int,
    between: int,
    space: int,
    width: int,
    items: Any,
    own: Any,
    out: Any,
    written: int,
) -> int:
    """Write a list's items, each once, no more than `width`."""
    begin, held, at, end = written, 0, start, start - 1
    met = np.zeros(_power(2 * (stop - start) + 2), np.uint64)
    while at < stop and held < width:
        if end < at:  # what separates items elsewhere may stand many times before it
            end = find(buffer, at, stop, between)
        next_ = end
        if next_ - at > _LONGEST_ID:  # else the rest of a long list would be looked at for each
            next_ = separator(buffer, at, next_)
        code, marks, _length = _known(buffer, at, next_, items, own)
        if code < 0 and marks & 1 << faults.SEPARATOR:
            next_ = separator(buffer, at, next_)
        before = written
        if next_ > at:
            written = _item(buffer, at, next_, items, own, out, written + (held > 0))
            first, _second = key(out, before + (held > 0), written, items.secret)
            if written == before + (held > 0) or _is_met(met, first):
                written = before
            else:
                if held > 0:
                    out[before] = space
                held += 1
        at = next_ + (max(1, separator_bytes(buffer, next_, stop)) if next_ < stop else 1)
    return begin if held == 0 else written


@compiled
def _power(number: int) -> int:
    power = 16
    while power < number:
        power *= 2
    return power


@compiled
def _is_met(met: Any, first: Any) -> bool:
    """Return whether a key was met before; remember it."""
    mask = np.uint64(len(met) - 1)
    slot = first & mask
    while met[slot] != np.uint64(0):
        if met[slot] == first:
            return True
        slot = (slot + np.uint64(1)) & mask
    met[slot] = first
    return False


@compiled
def _item(buffer: Any, start: int, stop: int, items: Any, own: Any, out: Any, written: int) -> int:
    """Write an item as it was before damage; nothing for brackets alone and words for nothing."""
    code, marks, length = _known(buffer, start, stop, items, own)
    if marks & 1 << faults.LITERAL != 0 or (
        marks and length == 0 and _is_dressing(buffer, start, stop)
    ):
        return written
    if length > 0 and (code >= 0 or not items.complete):
        return _copy(own, 0, length, out, written)  # type: ignore[no-any-return]
    return _copy(buffer, start, stop, out, written)  # type: ignore[no-any-return]


@compiled
def _is_dressing(buffer: Any, start: int, stop: int) -> bool:
    """Return whether nothing but brackets, quotes, commas and semicolons stand there."""
    at = start
    while at < stop and (is_dress(buffer[at]) or buffer[at] in (_COMMA, _SEMICOLON)):
        at += 1
    return at == stop
