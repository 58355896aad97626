"""Loops over ids in bytes: every place is checked before it is read."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from harness.core._kernels cimport fetch, look_up
from harness.delimited._bytes cimport check, key

cdef enum:
    GROUP = 32


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
        bint lower,
        bint upper,
        bint telling,
    ):
        # A place in the table is a key's lowest bits: there must be a power of two of them.
        if table.shape[0] & (table.shape[0] - 1) or table.shape[0] == 0 or table.shape[1] != 2:
            raise ValueError(f"a table of shape ({table.shape[0]}, {table.shape[1]})")
        self.table, self.low, self.high = table, secret[0], secret[1]
        self.size, self.width = size, width
        self.complete, self.digits, self.telling = complete, digits, telling
        self.lower, self.upper = lower, upper


def codes(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Ids ids,
    int32_t[::1] found,
):
    """Write the code of each id, −1 where it is not known."""
    cdef Py_ssize_t at, last, group = 0
    cdef uint64_t[GROUP][2] own
    with nogil:
        while group < starts.shape[0]:  # the processor waits for the slots of many at a time
            last = min(group + GROUP, starts.shape[0])
            for at in range(group, last):
                key(buffer, starts[at], stops[at], ids.low, ids.high, own[at - group])
                fetch(own[at - group][0], ids.table)
            for at in range(group, last):
                found[at] = look_up(own[at - group][0], own[at - group][1], ids.table)
            group = last


def looks(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Py_ssize_t width,
):
    """Return whether all ids are numbers, how long all are (0: they differ), and letters a–f, A–F.

    Parameters
    ----------
    width : int
        How long those before were; −1 where there were none.
    """
    cdef Py_ssize_t at, place, start, stop
    cdef bint digits = True, lower = False, upper = False
    cdef uint8_t byte
    with nogil:
        for at in range(starts.shape[0]):
            start, stop = starts[at], stops[at]
            width = stop - start if width < 0 or width == stop - start else 0
            check(buffer, start, stop)
            with cython.boundscheck(False):
                for place in range(start, stop):
                    byte = buffer[place]
                    digits &= (byte >= 48) & (byte <= 57)
                    lower |= (byte >= 97) & (byte <= 102)
                    upper |= (byte >= 65) & (byte <= 70)
    return digits, width, lower, upper
