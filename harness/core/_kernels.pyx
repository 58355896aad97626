# cython: boundscheck=False
"""Loops of the core: keys to codes, sums that no order changes, and a search."""

cimport cython
from libc.math cimport fabs, INFINITY
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t


cdef enum:
    PROBES = 64  # slots that are looked at for a weight
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


def rank_weights(
    const double[::1] weight, uint16_t[::1] codes, double[::1] values, int64_t[::1] sizes
):
    """Give each different weight a code; return how many there are, −1 if they are too many.

    Parameters
    ----------
    values : float64 array
        Takes the weight of each code; as many as fit are a power of two.
    sizes : int64 array, 0 each
        Takes how often each stands there.
    """
    cdef Py_ssize_t at, step, most = values.shape[0], count = 0, mask = 2 * most - 1
    cdef uint64_t held, before = 0, slot
    cdef int32_t code = -1
    cdef int32_t[::1] slots = np.full(2 * most, -1, np.int32)
    if most & (most - 1) or most > 1 << 16 or sizes.shape[0] < most or codes.shape[0] < weight.shape[0]:
        raise ValueError(f"{most} weights")
    with nogil:
        for at in range(weight.shape[0]):
            held = (<const uint64_t*>&weight[at])[0]
            if code < 0 or held != before:  # events of a user are often of one time
                slot = held * <uint64_t>0x9E3779B97F4A7C15u >> 40
                code = -1
                for step in range(PROBES):
                    code = slots[(slot + step) & mask]
                    if code < 0:
                        if count == most:
                            break
                        code = <int32_t>count
                        slots[(slot + step) & mask], values[count] = code, weight[at]
                        count += 1
                        break
                    if (<const uint64_t*>&values[code])[0] == held:
                        break
                    code = -1
                if code < 0:
                    count = -1
                    break
                before = held
            codes[at] = <uint16_t>code
            sizes[code] += 1
    return count


def sum_ranked(
    const int[::1] item,
    const uint16_t[::1] codes,
    int64_t[::1] free,
    int[::1] grouped,
    const double[::1] values,
    const int64_t[::1] starts,
    double[::1] sums,
):
    """Add the weights up item by item, all of the smallest first.

    Parameters
    ----------
    free : int64 array
        Where the next event of each code goes in `grouped`, which is scratch memory.
    values, starts : arrays
        Weights, ascending, and where the events of each begin in `grouped`, with the end.
    """
    cdef Py_ssize_t at, rank
    with cython.boundscheck(True), nogil:
        for at in range(item.shape[0]):
            grouped[free[codes[at]]] = item[at]
            free[codes[at]] += 1
        for rank in range(values.shape[0]):
            for at in range(starts[rank], starts[rank + 1]):
                sums[grouped[at]] += values[rank]


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
