"""Columns of lines, for the compiled modules beside this one."""

from libc.stdint cimport uint8_t

cpdef enum:  # columns of `starts` and `stops`: the user's id, the list, what orders it
    USER
    LIST
    ORDER

cpdef enum:  # users of lines: not known, no row, no id
    STRANGER = -1
    NO_ROW = -2
    NO_ID = -3


cdef inline int trim(
    const uint8_t[::1] buffer, Py_ssize_t* start, Py_ssize_t* stop
) except -1 nogil:
    """Leave out spaces, tabs and line ends around a field."""
    while start[0] < stop[0] and buffer[start[0]] in (32, 9, 13):
        start[0] += 1
    while stop[0] > start[0] and buffer[stop[0] - 1] in (32, 9, 13):
        stop[0] -= 1
    return 0
