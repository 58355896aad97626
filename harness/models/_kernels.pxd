"""Types of what the baselines' compiled loops use of this module."""

cimport cython

ctypedef fused Real:
    float
    double

ctypedef fused Number:
    float
    double
    long long

cdef Py_ssize_t push(Number[::1] values, int[::1] columns, Py_ssize_t filled, Number value, int column) noexcept nogil
cdef void in_order(Number[::1] values, int[::1] columns, Py_ssize_t filled) noexcept nogil
