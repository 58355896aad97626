"""What other compiled modules use of this one, inlined."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define fetch_line(place) __builtin_prefetch(place)
    #else
    #define fetch_line(place) ((void)(place))
    #endif
    """
    void fetch_line(const void* place) noexcept nogil


cdef void sort(int64_t* numbers, int64_t* scratch, Py_ssize_t n) noexcept nogil


cdef inline Py_ssize_t search(
    const int[::1] ascending, Py_ssize_t low, Py_ssize_t end, int wanted
) noexcept nogil:
    """Return where `wanted` stands in an ascending row, or the row's end."""
    cdef Py_ssize_t high = end, middle
    with cython.boundscheck(False):  # of a decorator here the compiler takes no notice
        while low < high:
            middle = (low + high) >> 1
            if ascending[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < end and ascending[low] == wanted else end


cdef inline void fetch(uint64_t first, const uint64_t[:, ::1] table) noexcept nogil:
    """Have memory send what `look_up` will ask for first, while other work is done."""
    with cython.boundscheck(False):
        fetch_line(&table[<Py_ssize_t>(first & (<uint64_t>table.shape[0] - 1)), 0])


cdef inline int32_t look_up(uint64_t first, uint64_t second, const uint64_t[:, ::1] table) noexcept nogil:
    """Return the code of a key, −1 where it is not known.

    A row of the table holds the first half of a key, and 32 bits of the second beside code + 1;
    0, 0 is free. No table, whatever it holds, is left or searched for ever.
    """
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    cdef uint64_t slot = first & mask, held
    cdef Py_ssize_t step
    with cython.boundscheck(False):
        for step in range(table.shape[0]):
            held = table[slot, 1]
            if held == 0:
                break
            if table[slot, 0] == first and (held ^ second) <= 0xFFFFFFFFu:
                return <int32_t>(<uint32_t>held - 1)
            slot = (slot + 1) & mask
    return -1


cdef inline int holds(
    const long long[::1] ascending, Py_ssize_t low, Py_ssize_t high, long long wanted
) except -1 nogil:
    """Return whether a part of an ascending array holds a number."""
    cdef Py_ssize_t left = high - low, half
    cdef const long long* numbers
    if left <= 0:
        return False
    if low < 0 or high > ascending.shape[0]:
        raise IndexError(f"{low} to {high} of {ascending.shape[0]} numbers")
    numbers = &ascending[low]
    while left > 1:  # no branch depends on what is compared
        half = left >> 1
        numbers += half if numbers[half - 1] < wanted else 0
        left -= half
    return numbers[0] == wanted
