"""Bytes that are looked for, and keys of fields: every place is checked before it is read."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr

from harness.core._vector cimport short_keys

cdef enum:
    TOGETHER = 256  # fields whose keys are made in one go


def find_byte(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted):
    """Return the first place from `start` that holds a byte, or `stop`."""
    cdef const uint8_t* found = NULL
    with nogil:
        check(buffer, start, stop)
        if start < stop:
            found = <const uint8_t*>memchr(&buffer[start], wanted, stop - start)
    return stop if found == NULL else found - &buffer[0]


def behind_last(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted):
    """Return the place behind the last byte `wanted` from `start` on; 0 without one."""
    cdef Py_ssize_t at = stop
    with nogil:
        while at > start and buffer[at - 1] != wanted:
            at -= 1
    return at if at > start else 0


def keys(
    const uint8_t[::1] buffer,
    const int64_t[:] starts,
    const int64_t[:] stops,
    const uint64_t[::1] secret,
    uint64_t[:, ::1] found,
):
    """Write the key of each field, two numbers; logs often have the field of the line before."""
    cdef Py_ssize_t at, start, stop, part = 0, before = 0, length = -1, held
    cdef uint64_t low = secret[0], high = secret[1]
    cdef Py_ssize_t[TOGETHER] row  # of short fields, whose keys are made side by side
    cdef uint64_t[TOGETHER] first, last, keys, others
    cdef bint[TOGETHER] again
    if found.shape[1] != 2:
        raise ValueError("a key has two numbers")
    with nogil:
        while part < starts.shape[0]:
            held = 0
            for at in range(part, min(part + TOGETHER, starts.shape[0])):
                start, stop = starts[at], stops[at]
                check(buffer, start, stop)
                if stop < start:
                    raise IndexError(f"bytes {start} to {stop}")
                again[at - part] = stop - start == length and same(
                    &buffer[start], &buffer[before], length
                )
                if again[at - part]:
                    continue
                before, length = start, stop - start
                if length < SHORT:
                    ends_of(&buffer[start], length, &first[held], &last[held])
                    row[held] = at
                    held += 1
                else:
                    key_in(&buffer[0], start, stop, low, high, &found[at, 0])
            short_keys(first, last, held, low, high, keys, others)
            for at in range(held):
                found[row[at], 0], found[row[at], 1] = keys[at], others[at]
            for at in range(part, min(part + TOGETHER, starts.shape[0])):
                if again[at - part]:
                    found[at, 0], found[at, 1] = found[at - 1, 0], found[at - 1, 1]
            part += TOGETHER
