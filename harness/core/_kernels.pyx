# cython: boundscheck=False
"""Loops of the core: keys to codes, sums that no order changes, and a search."""

cimport cython
from libc.math cimport fabs, INFINITY, ldexp
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


def carry(int64_t[:, ::1] sums):
    """Leave less than 2^32 in each slice, and take the rest to the next one; the last takes all."""
    cdef Py_ssize_t at, place
    cdef uint64_t held
    with nogil:
        for at in range(sums.shape[0]):
            held = 0
            for place in range(sums.shape[1]):
                held += <uint64_t>sums[at, place]
                if place + 1 < sums.shape[1]:
                    sums[at, place] = <int64_t>(held & LOW)
                    held >>= 32
                else:
                    sums[at, place] = <int64_t>held


def round_slices(const int64_t[:, ::1] sums, int first, double[::1] rounded):
    """Write the number nearest to each row of slices below 2^32, of two as near the even one.

    `first` is the slice of the first column, counted from 2^(−32 · 34).
    """
    cdef Py_ssize_t at, top, place
    cdef uint64_t leading, below, kept, half = 1 << 10
    cdef int shift
    if rounded.shape[0] != sums.shape[0]:
        raise ValueError(f"{rounded.shape[0]} numbers of {sums.shape[0]} rows")
    with nogil:
        for at in range(sums.shape[0]):
            top = sums.shape[1] - 1
            while top >= 0 and sums[at, top] == 0:
                top -= 1
            if top < 0:
                rounded[at] = 0.0
                continue
            # The 64 leading digits, and whether anything is behind them.
            leading = <uint64_t>sums[at, top] << 32
            leading |= <uint64_t>sums[at, top - 1] if top > 0 else 0
            below = <uint64_t>sums[at, top - 2] if top > 1 else 0
            shift = 0
            while leading >> (63 - shift) == 0:
                shift += 1
            leading = leading << shift | (below << shift) >> 32
            below = (below << shift) & LOW
            for place in range(top - 2):
                below |= <uint64_t>sums[at, place]
            kept = leading >> 11
            leading &= 2 * half - 1
            if leading > half or (leading == half and (below != 0 or kept & 1)):
                kept += 1
            rounded[at] = ldexp(<double>kept, <int>(32 * (first + top - 34) + 32 - shift - 53))


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
