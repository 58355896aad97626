"""Faults of lines, for other compiled modules; those of a line's shape come first."""

from libc.stdint cimport int64_t

cpdef enum:
    BLANK
    TOO_FEW
    TOO_MANY
    SHAPES  # how many these are: what else is counted begins here

cpdef enum:
    EXAMPLES = 5

cdef class Tally:
    cdef readonly object counts, lines, mended, examples
    cdef int64_t[::1] _counts, _lines, _mended
    cdef int64_t[:, :, ::1] _examples

    cdef int note(self, int fault, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
    cdef int note_once(
        self, int fault, int noted, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil
