"""Loops that write lines anew, with what is mechanical mended."""

import numpy as np
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from harness.delimited._bytes cimport find, key
from harness.delimited._lines cimport NO_ROW, trim
from harness.submission cimport faults
from harness.submission._keys cimport Aliases, Ids, alias_of, code_of
from harness.submission._repair cimport (
    LONGEST, LOWER, SURE, UPPER, Restored, Room, is_dress, restore, separator, separator_bytes,
)
from harness.submission._scan cimport LIST, ORDER, USER

cdef enum:
    COMMA = 44
    SEMICOLON = 59
    LINE = 10
    RETURN = 13
    QUOTE = 34
    LONGEST_ID = 1 << 10


cdef class Met:
    """Keys that were met in a list: a hash table that is emptied for the next."""

    cdef uint64_t[::1] slots
    cdef Py_ssize_t mask

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
        for slot in range(size):
            self.slots[slot] = 0
        return 0

    cdef int has(self, uint64_t first) except -1 nogil:
        """Return whether a key was met before; remember it."""
        cdef Py_ssize_t slot = <Py_ssize_t>(first & <uint64_t>self.mask)
        while self.slots[slot] != 0:
            if self.slots[slot] == first:
                return True
            slot = (slot + 1) & self.mask
        self.slots[slot] = first
        return False


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
    int32_t[::1] codes,
    Ids users,
    Ids items,
    Aliases user_aliases,
    Aliases item_aliases,
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
    codes : int32 array, (lines,)
        NO_ROW where there is no row; takes the user's code elsewhere.
    user_aliases, item_aliases : Aliases
        Ids that are not known and alike to one that is.
    begins : int64 array, (lines + 1,)
        Takes where each line begins in `buffer`.
    spans : int64 array, (lines, 2)
        Takes where each row stands that is of a user, with its end.
    """
    cdef Room room = Room()
    cdef Met met = Met()
    cdef Py_ssize_t line, start, stop, begin, row, column, written = 0
    cdef bint named
    with nogil:
        line_begins(buffer, size, end, begins)
        for line in range(codes.shape[0]):
            if codes[line] == NO_ROW:
                written = raw(
                    buffer, begins[line], begins[line + 1] - 1, separator, starts.shape[1], out, written
                )
                continue
            start, stop, row = starts[line, USER], stops[line, USER], written
            if not users.exact:
                trim(buffer, &start, &stop)
            named = start < stop
            codes[line] = written_id(buffer, start, stop, users, user_aliases, room, out, &written)
            written = cell(out, row, written)
            out[written] = COMMA
            begin = written + 1
            written = written_list(
                buffer, starts[line, LIST], stops[line, LIST], between, space, width, items,
                item_aliases, room, met, out, begin,
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
    cdef bint needed = False
    for at in range(start, stop):
        quotes += out[at] == QUOTE
        needed |= out[at] == QUOTE or out[at] == COMMA or out[at] == LINE or out[at] == RETURN
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
    cdef Py_ssize_t at
    for at in range(start, stop):
        out[written] = source[at]
        written += 1
    return written


cdef int known(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    Ids ids,
    Aliases aliases,
    Room room,
    Restored* found,
) except -1 nogil:
    """Tell an id's code, −1 unknown; marks of its damage; the length of what it was.

    The length is 0 where it stands there as it should, or where what it was cannot be told.
    """
    cdef uint64_t own[2]
    cdef int32_t alias
    found.code, found.marks, found.length = -1, 0, 0
    if stop - start <= LONGEST_ID:  # else the rest of a long list would be read again for each
        found.code = code_of(buffer, start, stop, ids)
    if found.code >= 0:
        return 0
    restore(buffer, start, stop, ids, room, found)
    if found.code < 0 and stop - start <= LONGEST_ID:
        key(buffer, start, stop, ids.low, ids.high, own)
        alias = alias_of(own[0], own[1], aliases)
        if alias >= 0:
            return alias_known(alias, aliases, room, found)
    if ids.complete:
        if found.code < 0:
            found.length = 0
    elif LOWER <= found.spelling <= UPPER and found.length < SURE:
        # Perhaps another id, of which nothing is known.
        found.code, found.marks, found.length = -1, 0, 0
    return 0


cdef int alias_known(
    int32_t alias, Aliases aliases, Room room, Restored* found
) except -1 nogil:
    """Tell the same of an alias; the room takes what it certainly is."""
    cdef Py_ssize_t start = aliases.starts[alias], length = aliases.stops[alias] - start, at
    found.code, found.marks, found.length = aliases.codes[alias], 0, 0
    if length <= LONGEST:
        for at in range(length):
            room.mended[at] = aliases.texts[start + at]
        found.length = length
    return 0


cdef int32_t written_id(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    Ids users,
    Aliases aliases,
    Room room,
    uint8_t[::1] out,
    Py_ssize_t* written,
) except -2 nogil:
    """Write a user's id as it was; return its code."""
    cdef Restored found
    if users.exact:
        found.code, found.length = code_of(buffer, start, stop, users), 0
    else:
        known(buffer, start, stop, users, aliases, room, &found)
    if found.length > 0 and found.code >= 0:
        written[0] = copy(room.mended, 0, found.length, out, written[0])
    else:
        written[0] = copy(buffer, start, stop, out, written[0])
    return found.code


cdef Py_ssize_t written_list(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t between,
    uint8_t space,
    Py_ssize_t width,
    Ids items,
    Aliases aliases,
    Room room,
    Met met,
    uint8_t[::1] out,
    Py_ssize_t written,
) except -1 nogil:
    """Write a list's items, each once, no more than `width`; return where they end."""
    cdef Py_ssize_t begin = written, held = 0, at = start, end = start - 1, behind, before
    cdef Restored found
    cdef uint64_t own[2]
    met.empty(stop - start)
    while at < stop and held < width:
        if end < at:  # what separates items elsewhere may stand many times before it
            end = find(buffer, at, stop, between)
        behind = end
        if behind - at > LONGEST_ID:  # else the rest of a long list would be looked at for each
            behind = separator(buffer, at, behind)
        known(buffer, at, behind, items, aliases, room, &found)
        if found.code < 0 and found.marks & 1 << faults.SEPARATOR:
            behind = separator(buffer, at, behind)
        before = written
        if behind > at:
            written = written_item(
                buffer, at, behind, items, aliases, room, out, written + (held > 0)
            )
            key(out, before + (held > 0), written, items.low, items.high, own)
            if written == before + (held > 0) or met.has(own[0]):
                written = before
            else:
                if held > 0:
                    out[before] = space
                held += 1
        at = behind + (max(1, separator_bytes(buffer, behind, stop)) if behind < stop else 1)
    return begin if held == 0 else written


cdef Py_ssize_t written_item(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    Ids items,
    Aliases aliases,
    Room room,
    uint8_t[::1] out,
    Py_ssize_t written,
) except -1 nogil:
    """Write an item as it was before damage; nothing for brackets alone and words for nothing."""
    cdef Restored found
    known(buffer, start, stop, items, aliases, room, &found)
    if found.marks & 1 << faults.LITERAL:
        return written
    if found.marks and found.length == 0 and is_dressing(buffer, start, stop):
        return written
    if found.length > 0 and (found.code >= 0 or not items.complete):
        return copy(room.mended, 0, found.length, out, written)
    return copy(buffer, start, stop, out, written)


cdef int is_dressing(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop
) except -1 nogil:
    """Return whether nothing but brackets, quotes, commas and semicolons stand there."""
    cdef Py_ssize_t at
    for at in range(start, stop):
        if not is_dress(buffer[at]) and buffer[at] != COMMA and buffer[at] != SEMICOLON:
            return False
    return True
