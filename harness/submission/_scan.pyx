"""Loops over the users of a block of lines."""

cimport cython
import numpy as np
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from harness.core._kernels cimport fetch, look_up
from harness.delimited._bytes cimport key
from harness.delimited._lines cimport NO_ROW, trim
from harness.delimited.tally cimport Tally
from harness.submission cimport faults
from harness.submission._keys cimport Aliases, Ids, Strangers, alias_of, may_be_alike
from harness.submission._repair cimport Restored, Room, is_other, restore
from harness.submission._scan cimport NO_ID, STRANGER, USER

cdef enum:
    AHEAD = 24  # ids whose slots memory is asked for while others are looked up


def read_users(
    const uint8_t[::1] buffer,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    Ids known,
    Aliases aliases,
    const uint8_t[::1] letters,
    Py_ssize_t length,
    int32_t[::1] users,
    uint64_t[:, ::1] keys,
    uint8_t[::1] sound,
    Strangers strangers,
    Tally tally,
):
    """Look every line's user up.

    Parameters
    ----------
    aliases : Aliases
        Ids that are not known and alike to one that is.
    letters, length : bool array, (256,), and int
        What ids that are not known are written with, and how many bytes they have; 0: any number.
    users : int32 array, (lines,)
        Takes codes, STRANGER where the user is not known, NO_ID where there is no id; lines that
        are no rows are passed over.
    keys : uint64 array, (lines, 2)
        Takes the key of every id.
    sound : bool array, (lines,)
        Takes whether the id stands there as it should, so that the line's list is the user's.
    strangers : Strangers
        Takes ids that are neither known nor aliases, and may be alike to one that is known.
    """
    cdef Py_ssize_t line, start, stop
    cdef Room room = Room()
    cdef uint8_t[::1] odd = np.zeros(len(users), np.uint8)
    if keys.shape[1] != 2 or letters.shape[0] != 256:
        raise ValueError("a key has two numbers, and a byte 256 values")
    with nogil:
        for line in range(users.shape[0]):
            start, stop = starts[line, USER], stops[line, USER]
            if not known.exact:
                trim(buffer, &start, &stop)
            key(buffer, start, stop, known.low, known.high, &keys[line, 0])
            odd[line] = start == stop or start > starts[line, USER] or stop < stops[line, USER]
        for line in range(users.shape[0]):  # apart, so that the processor waits for many at a time
            if line + AHEAD < users.shape[0]:
                fetch(keys[line + AHEAD, 0], known.table)
            if users[line] != NO_ROW:
                users[line] = look_up(keys[line, 0], keys[line, 1], known.table)
                sound[line] = users[line] >= 0 and not odd[line]
                if users[line] < 0 and not odd[line]:
                    start, stop = starts[line, USER], stops[line, USER]
                    odd[line] = known.complete or not (
                        is_other(buffer, start, stop, known, aliases)
                        if known.size > 0
                        else is_shaped(buffer, start, stop, letters, length)
                    )
        for line in range(users.shape[0]):
            if odd[line] and users[line] != NO_ROW:
                users[line] = checked(
                    buffer, starts[line, USER], stops[line, USER], keys[line, 0], keys[line, 1],
                    known, aliases, users[line], room, line, strangers, tally,
                )


cdef int is_shaped(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    const uint8_t[::1] letters,
    Py_ssize_t length,
) except -1 nogil:
    """Return whether an id is written with the letters it should be, and has so many."""
    cdef bint plain = length == 0 or stop - start == length
    cdef Py_ssize_t at
    for at in range(start, stop):
        plain &= letters[buffer[at]]
    return plain


cdef int32_t checked(
    const uint8_t[::1] buffer,
    Py_ssize_t begin,
    Py_ssize_t end,
    uint64_t first,
    uint64_t second,
    Ids known,
    Aliases aliases,
    int32_t code,
    Room room,
    Py_ssize_t line,
    Strangers strangers,
    Tally tally,
) except -4 nogil:
    """Note what is wrong with an id, one fault; return its code, or that of what it was."""
    cdef Py_ssize_t start = begin, stop = end
    cdef bint strange = code < 0
    cdef int32_t alias = -1
    cdef Restored found
    trim(buffer, &start, &stop)
    if start == stop:
        tally.note(faults.NO_ID, line, begin, end)
        return NO_ID
    if strange and known.size > 0 and not known.exact:
        restore(buffer, start, stop, known, room, &found)
        code = found.code
        alias = alias_of(first, second, aliases) if code < 0 else -1
    if alias >= 0:
        code = aliases.codes[alias]
        if aliases.marks[alias] & 1 << faults.PADDED_ID:
            tally.note(faults.PADDED_ID, line, begin, end)
        else:
            tally.note(faults.MANGLED_ID, line, start, stop)
        return code
    if strange and code < 0 and may_be_alike(buffer, start, stop, known, aliases):
        strangers.add(first, second, start, stop)
    if strange and code >= 0:
        tally.note(faults.MANGLED_ID, line, start, stop)
    elif strange and known.complete:
        tally.note(faults.UNKNOWN_ID, line, start, stop)
    elif (start > begin or stop < end) and not known.exact:
        tally.note(faults.PADDED_ID, line, begin, end)
    elif strange and known.size == 0:
        tally.note(faults.ODD_ID, line, start, stop)
    return code


def admit(
    const int32_t[::1] users,
    const uint64_t[:, ::1] keys,
    const uint64_t[::1] lists,
    Py_ssize_t line,
    uint8_t[::1] known,
    uint64_t[::1] first,
    uint64_t[:, ::1] table,
    uint64_t[::1] others,
    Py_ssize_t strangers,
    int8_t[::1] again,
):
    """Note which users were there before, from a line on: 1 with another list, 2 with the same.

    Parameters
    ----------
    known, first : bool and uint64 array, one a known user
        Who was there, and with which list.
    table : uint64 array, (a power of two, 2)
        Takes the keys of the others, as `KeyTable` holds them.
    others : uint64 array, shorter than the table
        Takes their lists.
    strangers : int
        How many these are.

    Returns
    -------
    line, strangers : int
        Where there was no more room for others, and how many there are.
    """
    cdef int32_t code
    cdef uint64_t list_
    if table.shape[0] & (table.shape[0] - 1) or table.shape[0] <= others.shape[0] or keys.shape[1] != 2:
        raise ValueError(f"a table of {table.shape[0]} for {others.shape[0]}")
    with nogil:
        while line < users.shape[0]:
            if line + AHEAD < users.shape[0] and users[line + AHEAD] == STRANGER:
                fetch(keys[line + AHEAD, 0], table)
            code, list_ = users[line], lists[line]
            if code >= 0:
                if known[code]:
                    again[line] = 2 if first[code] == list_ else 1
                else:
                    known[code], first[code] = True, list_
            elif code == STRANGER:
                if strangers == others.shape[0]:
                    break
                code = met(keys[line, 0], keys[line, 1], table, strangers)
                if code >= 0:
                    again[line] = 2 if others[code] == list_ else 1
                else:
                    others[strangers] = list_
                    strangers += 1
            line += 1
    return line, strangers


cdef inline int32_t met(
    uint64_t first, uint64_t second, uint64_t[:, ::1] table, Py_ssize_t code
) noexcept nogil:
    """Return the code of a key; −1 where it is new, and is given `code`."""
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    cdef uint64_t slot = first & mask, held
    with cython.boundscheck(False):
        while True:  # a slot is always free
            held = table[slot, 1]
            if held == 0:
                table[slot, 0] = first
                table[slot, 1] = (second & ~<uint64_t>0xFFFFFFFFu) | (<uint64_t>code + 1)
                return -1
            if table[slot, 0] == first and (held ^ second) <= 0xFFFFFFFFu:
                return <int32_t>(<uint32_t>held - 1)
            slot = (slot + 1) & mask
