"""Loops over the users of a block of lines."""

cimport cython
import numpy as np
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from harness.core._kernels cimport fetch, look_up
from harness.delimited._delimited cimport NO_ROW, Tally, key, trim
from harness.submission cimport faults
from harness.submission._keys cimport Ids, Memo, is_another
from harness.submission._scan cimport ASKED, NO_ID, STRANGER, USER

cdef enum:
    AHEAD = 24  # ids whose slots memory is asked for while others are looked up


def read_users(
    const uint8_t[::1] buffer,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    Ids known,
    Memo memo,
    const uint8_t[::1] letters,
    Py_ssize_t length,
    int32_t[::1] users,
    uint64_t[:, ::1] keys,
    uint8_t[::1] sound,
    int8_t[::1] wrong,
):
    """Look every line's user up.

    Parameters
    ----------
    memo : Memo
        It has the forms of known ids.
    letters, length : bool array, (256,), and int
        What ids that are not known are written with, and how many bytes they have; 0: any number.
    users : int32 array, (lines,)
        Takes codes, STRANGER where the user is not known, NO_ID where there is no id; lines that
        are no rows are passed over.
    keys : uint64 array, (lines, 2)
        Takes the key of every id.
    sound : bool array, (lines,)
        Takes whether the id stands there as it should, so that the line's list is the user's.
    wrong : int8 array, (lines,)
        Takes the fault of the id; ASKED where it may be a known one that was changed.
    """
    cdef Py_ssize_t line, start, stop
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
                        is_another(buffer, start, stop, known, memo)
                        if known.size > 0
                        else is_shaped(buffer, start, stop, letters, length)
                    )
        for line in range(users.shape[0]):
            if odd[line] and users[line] != NO_ROW:
                start, stop = starts[line, USER], stops[line, USER]
                trim(buffer, &start, &stop)
                if start == stop:
                    users[line], wrong[line] = NO_ID, faults.NO_ID
                else:
                    wrong[line] = what_is_wrong(
                        buffer, start, stop, users[line] < 0,
                        start > starts[line, USER] or stop < stops[line, USER], known, memo,
                    )


cdef int8_t what_is_wrong(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    bint strange,
    bint padded,
    Ids known,
    Memo memo,
) except -2 nogil:
    """Return the fault of an id without the spaces around it; ASKED where that is to be told."""
    if strange and known.size > 0 and not known.exact:
        if not is_another(buffer, start, stop, known, memo):
            return ASKED
    if strange and known.complete:
        return faults.UNKNOWN_ID
    if padded and not known.exact:
        return faults.PADDED_ID
    return faults.ODD_ID if strange and known.size == 0 else 0


def note(
    const uint8_t[::1] buffer,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    const int8_t[::1] wrong,
    Tally tally,
):
    """Note the faults of users, 0 or below: none, with the spaces around them where these are one."""
    cdef Py_ssize_t line, start, stop
    with nogil:
        for line in range(wrong.shape[0]):
            if wrong[line] > 0:
                start, stop = starts[line, USER], stops[line, USER]
                if wrong[line] not in (faults.NO_ID, faults.PADDED_ID):
                    trim(buffer, &start, &stop)
                tally.note(wrong[line], line, start, stop)


cdef bint is_shaped(
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
