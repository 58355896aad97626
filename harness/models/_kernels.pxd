"""Types of what the baselines' compiled loops use of this module."""

cimport cython

ctypedef fused Real:
    float
    double

cdef Py_ssize_t push(Real[::1] values, int[::1] columns, Py_ssize_t filled, Real value, int column) noexcept nogil
cdef void in_order(Real[::1] values, int[::1] columns, Py_ssize_t filled) noexcept nogil
