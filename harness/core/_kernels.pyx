# cython: boundscheck=False
"""Loops of the core: keys to codes, sums that no order changes, and a search."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

cdef uint64_t LOW = 0xFFFFFFFFu  # the digits of a slice
cdef uint64_t HIDDEN = <uint64_t>1 << 52  # the first digit of a normal number, which is not stored
cdef uint64_t INFINITE = <uint64_t>0x7FF << 52  # the bits of what is larger than every number

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
    """Write the code of each key from `start`; stop where new ones have no more room.

    Return where it stopped, and how many codes there are.
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
def count(const int32_t[::1] codes, int64_t[::1] counts):
    """Add how often each code is there."""
    cdef Py_ssize_t at, n = codes.shape[0]
    with nogil:
        for at in range(n):
            if at + AHEAD < n:  # codes stand anywhere in memory, which is asked for in time
                fetch_line(&counts[codes[at + AHEAD]])
            counts[codes[at]] += 1


def slice_span(const double[::1] weight):
    """Return the first and the last slice that digits of the weights lie in; (0, −1) for none."""
    cdef uint64_t bits, low = INFINITE, high = 0
    cdef Py_ssize_t at
    with nogil:
        for at in range(weight.shape[0]):
            bits = (<const uint64_t*>&weight[at])[0]
            if bits << 1 != 0:  # neither 0 nor −0
                low = min(low, bits)
                high = max(high, bits)
    if high >= INFINITE:
        raise ValueError("weights are finite, and none is below 0")
    return (0, -1) if high == 0 else (first_bit(low) >> 5, (first_bit(high) >> 5) + 2)


def add_slices(
    const int[::1] item, const double[::1] weight, Py_ssize_t first, int64_t[:, ::1] sums
):
    """Add the digits of each weight to the slices of its item, (items, slices from `first`)."""
    cdef Py_ssize_t at, column
    cdef uint64_t bits, digits, rest
    cdef int shift
    cdef int64_t* own
    if item.shape[0] != weight.shape[0] or slice_span(weight)[1] - first >= sums.shape[1]:
        raise ValueError(f"{sums.shape[1]} slices of {weight.shape[0]} weights")
    with cython.boundscheck(True), nogil:
        for at in range(item.shape[0]):
            bits = (<const uint64_t*>&weight[at])[0]
            if bits << 1 == 0:
                continue
            digits = bits & (HIDDEN - 1)
            if bits >= HIDDEN:  # a normal number
                digits |= HIDDEN
            shift = first_bit(bits) & 31
            rest = digits >> (32 - shift)
            column = (first_bit(bits) >> 5) - first
            own = &sums[item[at], column]
            own[0] += <int64_t>((digits << shift) & LOW)
            own[1] += <int64_t>(rest & LOW)
            own[2] += <int64_t>(rest >> 32)


cdef inline int first_bit(uint64_t bits) noexcept nogil:
    """Return where a number's last digit stands, counted from 2^(−32 · 34)."""
    return max(<int>(bits >> 52 & 0x7FF), 1) + 13


cdef void sort(int64_t* numbers, int64_t* scratch, Py_ssize_t n) noexcept nogil:
    """Sort numbers, the smallest first; `scratch` has room for half of them."""
    cdef Py_ssize_t at, half = n // 2, one = 0, other = half, to = 0
    cdef int64_t number
    if n <= 16:
        for to in range(1, n):
            number, at = numbers[to], to
            while at > 0 and number < numbers[at - 1]:
                numbers[at] = numbers[at - 1]
                at -= 1
            numbers[at] = number
        return
    sort(numbers, scratch, half)
    sort(numbers + half, scratch, n - half)
    if numbers[half - 1] <= numbers[half]:
        return
    memcpy(scratch, numbers, half * sizeof(int64_t))
    while one < half:
        if other < n and numbers[other] < scratch[one]:
            numbers[to] = numbers[other]
            other += 1
        else:
            numbers[to] = scratch[one]
            one += 1
        to += 1
