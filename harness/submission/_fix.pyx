"""Loops that write lines anew, with what is mechanical mended."""

cimport cython
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from harness.core._kernels cimport look_up
from harness.delimited._delimited cimport NO_ROW, find, key, trim
from harness.submission cimport faults
from harness.submission._keys cimport Ids, Memo, Strangers, is_another, place_in
from harness.submission._scan cimport LIST, ORDER, USER

cdef enum:
    COMMA = 44
    LINE = 10
    RETURN = 13
    QUOTE = 34


cdef class Met:
    """Keys that were met in a list: a hash table that is emptied for the next."""

    cdef uint64_t[::1] slots
    cdef Py_ssize_t mask, slot

    def __init__(self):
        self.slots = np.zeros(1 << 12, np.uint64)

    cdef int empty(self, Py_ssize_t most) except -1 nogil:
        """Make room for so many keys."""
        cdef Py_ssize_t size = 16, slot
        while size < 2 * most + 2:
            size *= 2
        if size > self.slots.shape[0]:
            with gil:
                self.slots = np.empty(size, np.uint64)
        self.mask = size - 1
        with cython.boundscheck(False):
            for slot in range(size):
                self.slots[slot] = 0
        return 0

    cdef int has(self, uint64_t first) except -1 nogil:
        """Return whether a key was met before; remember it."""
        cdef bint before = self.holds(first)
        self.slots[self.slot] = first
        return before

    cdef int holds(self, uint64_t first) except -1 nogil:
        """Return whether a key was met before; `slot` is its own, or a free one."""
        self.slot = <Py_ssize_t>(first & <uint64_t>self.mask)
        while self.slots[self.slot] != 0 and self.slots[self.slot] != first:
            self.slot = (self.slot + 1) & self.mask
        return self.slots[self.slot] == first


def mend(
    const uint8_t[::1] buffer,
    Py_ssize_t size,
    uint8_t separator,
    uint8_t between,
    uint8_t end,
    Py_ssize_t width,
    uint8_t space,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    const int32_t[::1] users,
    bint exact,
    const uint8_t[::1] names,
    const int64_t[:, ::1] name_spans,
    Ids items,
    Memo memo,
    Strangers strangers,
    uint8_t[::1] out,
    int64_t[::1] begins,
    int64_t[:, ::1] spans,
):
    """Write lines with what is mechanical mended; return how many bytes.

    Parameters
    ----------
    separator, between, end, space : int
        Bytes: between fields, between items, behind a line, and between items that are written.
    width : int
        How long a list may be.
    users : int32 array, (lines,)
        NO_ROW where there is no row.
    exact : bool
        Whether spaces around users stay.
    names, name_spans : uint8 array and int64 array, (lines, 2)
        The id to write for a line's user, and where it stands; nothing: the line's own.
    memo, strangers : Memo and Strangers
        As `read_items` takes them.
    begins : int64 array, (lines + 1,)
        Takes where each line begins in `buffer`.
    spans : int64 array, (lines, 2)
        Takes where each row stands that is of a user, with its end.
    """
    cdef Met met = Met(), there = Met()
    cdef Py_ssize_t line, start, stop, begin, row, column, written = 0
    cdef bint named
    with nogil:
        line_begins(buffer, size, end, begins)
        for line in range(users.shape[0]):
            if users[line] == NO_ROW:
                written = raw(
                    buffer, begins[line], begins[line + 1] - 1, separator, starts.shape[1], out, written
                )
                continue
            start, stop, row = starts[line, USER], stops[line, USER], written
            if not exact:
                trim(buffer, &start, &stop)
            named = start < stop
            if name_spans[line, 0] < name_spans[line, 1]:
                written = copy(names, name_spans[line, 0], name_spans[line, 1], out, written)
            else:
                written = copy(buffer, start, stop, out, written)
            written = cell(out, row, written)
            out[written] = COMMA
            begin = written + 1
            written = written_list(
                buffer, starts[line, LIST], stops[line, LIST], between, space, width, items, memo,
                strangers, met, there, out, begin,
            )
            written = cell(out, begin, written)
            for column in range(ORDER, starts.shape[1]):
                out[written] = COMMA
                begin = written + 1
                start, stop = starts[line, column], stops[line, column]
                trim(buffer, &start, &stop)
                written = cell(out, begin, copy(buffer, start, stop, out, begin))
            out[written] = LINE
            written += 1
            if named:
                spans[line, 0], spans[line, 1] = row, written
    return written


cdef int line_begins(
    const uint8_t[::1] buffer, Py_ssize_t size, uint8_t end, int64_t[::1] begins
) except -1 nogil:
    cdef Py_ssize_t at, line = 0
    begins[0] = 0
    for at in range(size):
        if buffer[at] == end:
            line += 1
            begins[line] = at + 1
    return 0


cdef Py_ssize_t raw(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t separator,
    Py_ssize_t fields,
    uint8_t[::1] out,
    Py_ssize_t written,
) except -1 nogil:
    """Copy a line that is no row; one that is blank goes.

    Where columns are dropped it may have as many fields as a row of the new file; one more is added
    then, so that it is not taken for a row.
    """
    cdef Py_ssize_t held = 0, behind, first = start, last = stop
    trim(buffer, &first, &last)
    if first == last:
        return written
    while start <= last:
        behind = find(buffer, start, last, separator)
        written = cell(out, written, copy(buffer, start, behind, out, written))
        out[written] = COMMA
        written += 1
        held += 1
        start = behind + 1
    if held == fields:
        written += 1
    out[written - 1] = LINE
    return written


cdef Py_ssize_t cell(uint8_t[::1] out, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Put a cell that was written into quotes where it needs them; return where it ends."""
    cdef Py_ssize_t quotes = 0, at, end, to
    cdef uint8_t byte
    cdef bint needed = False
    if start < 0 or stop > out.shape[0]:
        raise IndexError(f"bytes {start} to {stop} of {out.shape[0]}")
    with cython.boundscheck(False):
        for at in range(start, stop):
            byte = out[at]
            quotes += byte == QUOTE
            needed |= (byte == QUOTE) | (byte == COMMA) | (byte == LINE) | (byte == RETURN)
    if not needed:
        return stop
    end = stop + quotes + 2
    to = end - 1
    out[to] = QUOTE
    for at in range(stop - 1, start - 1, -1):
        to -= 1
        out[to] = out[at]
        if out[to] == QUOTE:
            to -= 1
            out[to] = QUOTE
    out[start] = QUOTE
    return end


cdef Py_ssize_t copy(
    const uint8_t[::1] source,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t[::1] out,
    Py_ssize_t written,
) except -1 nogil:
    if start == stop:
        return written
    if start < 0 or start > stop or stop > source.shape[0] or stop - start > out.shape[0] - written:
        raise IndexError(f"bytes {start} to {stop} of {source.shape[0]}, to {written}")
    memcpy(&out[written], &source[start], stop - start)
    return written + stop - start


cdef Py_ssize_t written_list(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t between,
    uint8_t space,
    Py_ssize_t width,
    Ids items,
    Memo memo,
    Strangers strangers,
    Met met,
    Met there,
    uint8_t[::1] out,
    Py_ssize_t written,
) except -1 nogil:
    """Write a list's items, each once, no more than `width`; return where they end.

    A token that holds other separators is cut at these.
    """
    cdef Py_ssize_t begin = written, held = 0, at = start, end = start - 1, behind, before, gap
    cdef int32_t place
    cdef uint64_t own[2]
    cdef bint is_cut = False, looked = False
    met.empty((stop - start) // 2 + 1)  # each but the last has something behind it
    while at < stop and held < width:
        if end < at:  # what separates items elsewhere may stand many times before it
            end, is_cut = find(buffer, at, stop, between), False
        behind = separator(buffer, at, end) if is_cut else end
        place = to_mend(buffer, at, behind, items, memo, strangers)
        if place >= 0 and not is_cut and memo.marks[place] & 1 << faults.SEPARATOR and not memo.is_mended[place]:
            is_cut = True
            continue
        if place >= 0 and memo.meant[place] != 0 and memo.is_mended[place]:
            if not looked:
                looked = True
                note_items(buffer, start, stop, between, items, there)
            if there.holds(memo.meant[place]):  # then it may be another
                place = -1
        before, gap = written, written + (held > 0)
        if place >= 0 and memo.is_mended[place]:
            written = copy(memo.texts, memo.starts[place], memo.stops[place], out, gap)
        else:
            written = copy(buffer, at, behind, out, gap)
        key(out, gap, written, items.low, items.high, own)
        if written == gap or met.has(own[0]):
            written = before
        else:
            if held > 0:
                out[before] = space
            held += 1
        at = behind + (max(1, separator_bytes(buffer, behind, stop)) if behind < stop else 1)
    return begin if held == 0 else written


cdef int32_t to_mend(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    Ids items,
    Memo memo,
    Strangers strangers,
) except -2 nogil:
    """Return the place of an item in the memo; −1 where it is known, or plainly another."""
    cdef uint64_t own[2]
    cdef int32_t place
    if start == stop:
        return -1
    key(buffer, start, stop, items.low, items.high, own)
    if look_up(own[0], own[1], items.table) >= 0 or is_another(buffer, start, stop, items, memo):
        return -1
    place = place_in(memo, own[0], own[1])
    if place < 0:
        strangers.add(own[0], own[1], start, stop)
    return place


cdef int note_items(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t between,
    Ids items,
    Met there,
) except -1 nogil:
    """Take in the keys of a list's items as they stand."""
    cdef Py_ssize_t at = start, end
    cdef uint64_t own[2]
    there.empty((stop - start) // 2 + 1)
    while at < stop:
        end = find(buffer, at, stop, between)
        key(buffer, at, end, items.low, items.high, own)
        there.has(own[0])
        at = end + 1
    return 0


cdef Py_ssize_t separator(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Return the first place with a comma, semicolon, bar or any white space, or `stop`."""
    cdef Py_ssize_t at
    for at in range(start, stop):
        if separator_bytes(buffer, at, stop) > 0:
            return at
    return stop


cdef int separator_bytes(const uint8_t[::1] buffer, Py_ssize_t at, Py_ssize_t stop) except -1 nogil:
    """Return how many bytes such a separator has that stands at a place; 0 without one."""
    cdef uint8_t byte = buffer[at], last
    if byte in (44, 59, 124, 9, 32, 10, 13):
        return 1
    if byte == 0xC2 and at + 1 < stop and buffer[at + 1] == 0xA0:  # no-break space
        return 2
    if (byte == 0xE2 or byte == 0xE3) and at + 2 < stop and buffer[at + 1] == 0x80:
        last = buffer[at + 2]  # U+2000 to U+200F, and U+3000
        return 3 if (byte == 0xE2 and last < 0x90) or (byte == 0xE3 and last == 0x80) else 0
    return 0
