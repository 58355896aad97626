"""What lines are made of, for other compiled modules."""

from libc.stdint cimport uint8_t

cpdef enum:  # what stands between the fields of a plain line, and behind it: ASCII's own
    FIELD = 0x1F
    RECORD = 0x1E

cpdef enum:  # what stands for these two bytes in a field of a plain line
    SUBSTITUTE = 0x1A

cpdef enum:  # of a line that is no row
    NO_ROW = -2


cdef inline int trim(
    const uint8_t[::1] buffer, Py_ssize_t* start, Py_ssize_t* stop
) except -1 nogil:
    """Leave out spaces, tabs and line ends around a field."""
    while start[0] < stop[0] and buffer[start[0]] in (32, 9, 13):
        start[0] += 1
    while stop[0] > start[0] and buffer[stop[0] - 1] in (32, 9, 13):
        stop[0] -= 1
    return 0
