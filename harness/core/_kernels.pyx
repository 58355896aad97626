# cython: boundscheck=False
"""Loops of the core: keys to codes, sums that no order changes, and a search."""

cimport cython
from libc.math cimport fabs, INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t


cdef enum:
    AHEAD = 16  # keys whose slots memory is asked for while others are looked up


def codes(
    const uint64_t[:, ::1] keys,
    Py_ssize_t start,
    uint64_t[:, ::1] table,
    Py_ssize_t count,
    Py_ssize_t room,
    int32_t[::1] found,
):
    """Write the code of each key from `start`; stop where there is no more room for new ones.

    Returns
    -------
    entry, count : int
        Where it stopped, and how many codes there are.
    """
    cdef Py_ssize_t at
    cdef int32_t code
    with nogil:
        for at in range(start, keys.shape[0]):
            if at > 0 and keys[at, 0] == keys[at - 1, 0] and keys[at, 1] == keys[at - 1, 1]:
                found[at] = found[at - 1]  # logs and lists are often ordered by user
                continue
            if at + AHEAD < keys.shape[0]:
                fetch(keys[at + AHEAD, 0], table)
            code = look_up(keys[at, 0], keys[at, 1], table)
            if code < 0:
                if count == room:
                    break
                code = <int32_t>count
                give_slot(keys[at, 0], keys[at, 1], code, table)
                count += 1
            found[at] = code
        else:
            at = keys.shape[0]
    return at, count


def first_met(const int32_t[::1] codes, Py_ssize_t known, int64_t[::1] rows):
    """Write where each code from `known` on stands first."""
    cdef Py_ssize_t at = 0, met = 0
    with nogil:
        while met < rows.shape[0]:
            if codes[at] == known + met:
                rows[met] = at
                met += 1
            at += 1


def move(const uint64_t[:, ::1] table, uint64_t[:, ::1] larger):
    """Write the rows of a table into a larger one."""
    cdef Py_ssize_t slot
    cdef uint64_t held
    with nogil:
        for slot in range(table.shape[0]):
            held = table[slot, 1]
            if held != 0:
                give_slot(table[slot, 0], held, <int32_t>((held & 0xFFFFFFFFu) - 1), larger)


cdef inline void give_slot(
    uint64_t first, uint64_t second, int32_t code, uint64_t[:, ::1] table
) noexcept nogil:
    """Give the code of a new key a row of the table; there must be a free one."""
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    cdef uint64_t slot = first & mask
    while table[slot, 1] != 0:
        slot = (slot + 1) & mask
    table[slot, 0] = first
    table[slot, 1] = (second & ~<uint64_t>0xFFFFFFFFu) | (<uint64_t>code + 1)


@cython.boundscheck(True)
def partials(const double[::1] values, double[::1] held):
    """Write partials that do not overlap, smallest first; return how many, −1 if too large."""
    cdef Py_ssize_t at, i, kept, count = 0
    cdef double x, y, high, low
    with nogil:
        for at in range(values.shape[0]):
            x, kept = values[at], 0
            for i in range(count):
                y = held[i]
                if fabs(x) < fabs(y):
                    x, y = y, x
                high = x + y
                low = y - (high - x)
                if low != 0.0:
                    held[kept] = low
                    kept += 1
                x = high
            if not fabs(x) < INFINITY:  # nothing is exact there, and no place is left
                count = -1
                break
            held[kept] = x
            count = kept + 1
    return count


def sum_sorted(
    const int[::1] item,
    const double[::1] weight,
    const int64_t[::1] starts,
    int64_t[::1] free,
    double[::1] grouped,
    double[::1] scratch,
    double[::1] sums,
):
    """Bring the weights of each item together, sort them and add them up.

    Parameters
    ----------
    free, grouped, scratch : arrays
        Scratch memory: `starts`, and two as long as `weight`.
    """
    cdef Py_ssize_t event, at
    with nogil:
        for event in range(item.shape[0]):
            grouped[free[item[event]]] = weight[event]
            free[item[event]] += 1
        for at in range(sums.shape[0]):
            sort(grouped, scratch, starts[at], starts[at + 1])
            for event in range(starts[at], starts[at + 1]):
                sums[at] += grouped[event]


cdef void sort(
    Number[::1] numbers, Number[::1] scratch, Py_ssize_t low, Py_ssize_t high
) noexcept nogil:
    """Sort a part of an array, the smallest first: short runs, then merges of two at a time.

    `scratch` is as long as `numbers`, and holds anything afterwards.
    """
    cdef Py_ssize_t begin, end, at, width = 16
    cdef Number own
    for begin in range(low, high):
        own, at = numbers[begin], begin
        end = begin - (begin - low) % width  # where the run begins
        while at > end and own < numbers[at - 1]:
            numbers[at] = numbers[at - 1]
            at -= 1
        numbers[at] = own
    while width < high - low:
        begin = low
        while begin + width < high:
            end = min(begin + 2 * width, high)
            merge(numbers, scratch, begin, begin + width, end)
            begin = end
        width *= 2


cdef inline void merge(
    Number[::1] numbers, Number[::1] scratch, Py_ssize_t low, Py_ssize_t middle, Py_ssize_t high
) noexcept nogil:
    """Merge two sorted parts, of equal numbers those of the first part first."""
    cdef Py_ssize_t one, other = middle, to = low
    if not numbers[middle] < numbers[middle - 1]:
        return
    for one in range(low, middle):
        scratch[one] = numbers[one]
    one = low
    while one < middle:
        if other < high and numbers[other] < scratch[one]:
            numbers[to] = numbers[other]
            other += 1
        else:
            numbers[to] = scratch[one]
            one += 1
        to += 1
