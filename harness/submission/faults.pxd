"""What can be wrong with a line, for the compiled modules beside this one."""

from libc.stdint cimport int64_t

cpdef enum:
    BLANK
    TOO_FEW
    TOO_MANY
    NO_ID
    PADDED_ID
    MANGLED_ID
    UNKNOWN_ID
    ODD_ID
    EMPTY
    ONE_ITEM
    LONG
    REPEATED
    SPACES
    UNKNOWN_ITEM  # this fault and those behind it are of single items
    MISSHAPEN
    ZEROS_LOST
    DECIMAL
    EXPONENT
    LITERAL
    SEPARATOR
    BRACKETS
    RESPELLED
    COUNT

cpdef enum:
    EXAMPLES = 5

cdef class Tally:
    cdef readonly object counts, lines, examples
    cdef int64_t[::1] _counts, _lines
    cdef int64_t[:, :, ::1] _examples

    cdef int note(self, int fault, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
    cdef int note_once(
        self, int fault, int noted, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil
