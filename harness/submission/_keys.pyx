"""Loops over ids in bytes: every place is checked before it is read."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t


cdef class Ids:
    """Ids and their codes, as `Known` in keys.py describes them."""

    def __init__(
        self,
        const uint64_t[:, ::1] table,
        const uint64_t[::1] secret,
        Py_ssize_t size,
        bint complete,
        bint digits,
        Py_ssize_t width,
        bint telling,
    ):
        # A place in the table is a key's lowest bits: there must be a power of two of them.
        if table.shape[0] & (table.shape[0] - 1) or table.shape[0] == 0 or table.shape[1] != 2:
            raise ValueError(f"a table of shape ({table.shape[0]}, {table.shape[1]})")
        self.table, self.low, self.high = table, secret[0], secret[1]
        self.size, self.width = size, width
        self.complete, self.digits, self.telling = complete, digits, telling


def find_byte(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted):
    """Return the first place from `start` that holds a byte, or `stop`."""
    cdef Py_ssize_t found
    with nogil:
        found = find(buffer, start, stop, wanted)
    return found


def behind_last(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted):
    """Return the place behind the last byte `wanted` from `start` on; 0 without one."""
    cdef Py_ssize_t at = stop
    with nogil:
        while at > start and buffer[at - 1] != wanted:
            at -= 1
    return at if at > start else 0


def codes(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Ids ids,
    int32_t[::1] found,
):
    """Write the code of each id, −1 where it is not known."""
    cdef Py_ssize_t at
    with nogil:
        for at in range(starts.shape[0]):
            found[at] = code_of(buffer, starts[at], stops[at], ids)


def keys(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    const uint64_t[::1] secret,
    uint64_t[:, ::1] found,
):
    """Write the key of each id, two numbers, made with a secret."""
    cdef Py_ssize_t at
    cdef uint64_t low = secret[0], high = secret[1]
    if found.shape[1] != 2:
        raise ValueError("a key has two numbers")
    with nogil:
        for at in range(starts.shape[0]):
            key(buffer, starts[at], stops[at], low, high, &found[at, 0])


def looks(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Py_ssize_t width,
):
    """Return whether all ids are numbers, and how long all are (0: they differ).

    Parameters
    ----------
    width : int
        How long those before were; −1 where there were none.
    """
    cdef Py_ssize_t at, place, start, stop
    cdef bint digits = True
    with nogil:
        for at in range(starts.shape[0]):
            start, stop = starts[at], stops[at]
            width = stop - start if width < 0 or width == stop - start else 0
            check(buffer, start, stop)
            with cython.boundscheck(False):
                for place in range(start, stop):
                    digits &= (buffer[place] >= 48) & (buffer[place] <= 57)
    return digits, width
