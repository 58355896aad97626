"""Ids that are known, for the compiled modules beside this one."""

from libc.stdint cimport uint8_t, uint64_t

from harness.core._kernels cimport look_up
from harness.delimited._bytes cimport check, key_in

cdef class Ids:
    """Ids and their codes, as `Known` in keys.py describes them."""

    cdef const uint64_t[:, ::1] table
    cdef uint64_t low, high
    cdef readonly Py_ssize_t size, width
    cdef readonly bint complete, digits, lower, upper, telling


cdef inline int code_of(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids ids
) except -2 nogil:
    """Return the code of an id, −1 where it is not known."""
    cdef uint64_t found[2]
    check(buffer, start, stop)
    key_in(&buffer[0], start, stop, ids.low, ids.high, found)
    return look_up(found[0], found[1], ids.table)
