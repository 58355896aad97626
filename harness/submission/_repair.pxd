"""What other compiled modules use of this one."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from harness.submission._keys cimport Aliases, Ids

cpdef enum:
    LONGEST = 64  # bytes of the longest id that is mended
    SURE = 8  # of a hexadecimal id, among ids that need not be all, that no other has by chance

cpdef enum:  # how an id was spelt to be known
    AS_IT_IS
    DECIMAL
    LOWER
    UPPER
    WINDOWS

cdef struct Restored:
    int32_t code  # −1 where no known id is meant
    int marks  # of damage, 1 << fault each
    Py_ssize_t length  # of what the id was; 0 where that cannot be told
    int spelling

cdef class Room:
    """Memory for two ids."""

    cdef uint8_t[::1] mended, spelt

cdef int restore(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids known, Room room, Restored* found
) except -1 nogil
cdef int is_other(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids known, Aliases aliases
) except -1 nogil
cdef bint is_dress(uint8_t byte) noexcept nogil
cdef Py_ssize_t separator(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
cdef int separator_bytes(const uint8_t[::1] buffer, Py_ssize_t at, Py_ssize_t stop) except -1 nogil
