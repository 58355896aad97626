"""Bytes, keys, lines and their faults, for other compiled modules."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy

from harness.core._vector cimport key_in

cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    static __inline int zeros_below(uint64_t number) {
        unsigned long at; _BitScanForward64(&at, number); return (int)at;
    }
    #else
    static inline int zeros_below(uint64_t number) { return __builtin_ctzll(number); }
    #endif
    """
    int zeros_below(uint64_t number) noexcept nogil

cpdef enum:
    PAD = 64  # bytes behind the last of a buffer that may be read
    SHORT = 16  # bytes from which a text's key is made alone
    EXAMPLES = 5

cpdef enum:  # what stands between the fields of a plain line, and behind it: ASCII's own
    FIELD = 0x1F
    RECORD = 0x1E
    SUBSTITUTE = 0x1A  # what stands for these two bytes in a field
    NO_ROW = -2  # of a line that is no row

cpdef enum:  # what is wrong with a line's shape
    BLANK
    TOO_FEW
    TOO_MANY
    SHAPES  # how many these are: what else is counted begins here


cdef class Tally:
    cdef readonly object counts, lines, mended, examples
    cdef int64_t[::1] _counts, _lines, _mended
    cdef int64_t[:, :, ::1] _examples

    cdef int note(self, int fault, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
    cdef int note_once(
        self, int fault, int noted, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil


cdef inline uint64_t eight(const uint8_t* place) noexcept nogil:
    """Return eight bytes as one number, the first of them lowest."""
    cdef uint64_t number
    memcpy(&number, place, 8)
    return number


cdef inline int check(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Raise IndexError unless PAD bytes can be read from every place before `stop`."""
    if start < 0 or stop > buffer.shape[0] - PAD:
        raise IndexError(f"bytes {start} to {stop} of a buffer of {buffer.shape[0]}")
    return 0


cdef inline void ends_of(
    const uint8_t* text, Py_ssize_t length, uint64_t* first, uint64_t* last
) noexcept nogil:
    """Write a text below SHORT bytes as `short_keys` takes it."""
    cdef uint64_t rest = eight(text + (length & 8))
    first[0] = eight(text)
    last[0] = <uint64_t>length << 56 | rest & ((<uint64_t>1 << (length & 7) * 8) - 1)


cdef inline bint same(const uint8_t* one, const uint8_t* other, Py_ssize_t length) noexcept nogil:
    """Return whether two texts of a length are the same; eight bytes can be read from any place."""
    cdef Py_ssize_t at = 0
    while at + 8 <= length:
        if eight(one + at) != eight(other + at):
            return False
        at += 8
    if at == length:
        return True
    return (eight(one + at) ^ eight(other + at)) << (8 * (8 - length + at)) == 0


cdef inline Py_ssize_t find(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted
) except -1 nogil:
    """Return the first place from `start` that holds a byte, or `stop`."""
    cdef const uint8_t* found = NULL
    check(buffer, start, stop)
    if start < stop:
        found = <const uint8_t*>memchr(&buffer[start], wanted, stop - start)
    return stop if found == NULL else found - &buffer[0]


cdef inline int key(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint64_t low,
    uint64_t high,
    uint64_t* found,
) except -1 nogil:
    """Write the key of the bytes from `start` to `stop`, two numbers, made with a secret."""
    check(buffer, start, stop)
    key_in(&buffer[start], stop - start, low, high, found)
    return 0


cdef inline int trim(
    const uint8_t[::1] buffer, Py_ssize_t* start, Py_ssize_t* stop
) except -1 nogil:
    """Leave out spaces, tabs and line ends around a field."""
    while start[0] < stop[0] and buffer[start[0]] in (32, 9, 13):
        start[0] += 1
    while stop[0] > start[0] and buffer[stop[0] - 1] in (32, 9, 13):
        stop[0] -= 1
    return 0
