# cython: cdivision=True
"""Loops over events: their times as text, and their order by user, time, item and event type."""

cimport cython
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint8_t

from harness.core._kernels cimport fetch_line, sort
from harness.delimited._delimited cimport check, same

cpdef enum:  # how times are written: a number, a date, and a date with a time of day
    NUMBER
    DATE
    MINUTES
    SECONDS
    FRACTIONS

cdef enum:
    ZERO = 48
    DASH = 45
    COLON = 58
    POINT = 46
    DIGITS = 15
    AHEAD = 16  # events whose places memory is asked for while others are written

cdef int64_t EXACT = <int64_t>1 << 53  # whole numbers up to here are floats
cdef int64_t SECOND = 1_000_000
cdef int64_t DAY = 86_400 * SECOND
cdef int64_t[7] MICROSECONDS = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1]
cdef int[13] LENGTHS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def times(
    const uint8_t[::1] buffer,
    const int64_t[:] starts,
    const int64_t[:] stops,
    int form,
    uint8_t between,
    int64_t unit,
    int64_t[::1] found,
    uint8_t[::1] left,
):
    """Read times, microseconds since 1970; `left` takes whether each is not in the plainest form.

    `between` is the byte before the time of day; `unit` is how many microseconds a number counts.
    """
    cdef Py_ssize_t row, start, length, before = 0, held = -1
    with nogil:
        for row in range(starts.shape[0]):
            start, length = starts[row], stops[row] - starts[row]
            check(buffer, start, start + length)
            if length == held and same(&buffer[start], &buffer[before], length):
                found[row], left[row] = found[row - 1], left[row - 1]  # logs are often ordered
                continue
            before, held = start, length
            if form == NUMBER:
                left[row] = not number(&buffer[start], length, unit, &found[row])
            else:
                left[row] = not moment(&buffer[start], length, form, between, &found[row])


def core(
    const int64_t[::1] starts,
    const int32_t[::1] item,
    const uint8_t[::1] alive,
    int64_t least,
    int64_t[::1] counts,
    uint8_t[::1] kept,
):
    """Count, by item, the events with items that are alive, of users who have `least` of these.

    `kept`, one an event or empty, takes which are counted. Return how many users and events are.
    """
    cdef Py_ssize_t user, at, held, users = 0, events = 0
    cdef bint noted = kept.shape[0] > 0
    for at in range(item.shape[0]):
        if not 0 <= item[at] < alive.shape[0]:
            raise IndexError(f"item {item[at]}")
    if counts.shape[0] != alive.shape[0] or (noted and kept.shape[0] != item.shape[0]):
        raise ValueError("an array is too short")
    with nogil:
        for user in range(starts.shape[0] - 1):
            if not 0 <= starts[user] <= starts[user + 1] <= item.shape[0]:
                raise IndexError(f"events of user {user}")
            held = 0
            for at in range(starts[user], starts[user + 1]):
                held += alive[item[at]] != 0
            if held == 0 or held < least:
                continue
            users, events = users + 1, events + held
            for at in range(starts[user], starts[user + 1]):
                if alive[item[at]]:
                    counts[item[at]] += 1
                    if noted:
                        kept[at] = 1
    return users, events


cdef inline bint number(
    const uint8_t* text, Py_ssize_t length, int64_t unit, int64_t* found
) noexcept nogil:
    """Read a whole number whose product with its unit a float holds."""
    cdef int64_t value
    if length < 1 or length > DIGITS or not digits(text, length, &value) or value >= EXACT // unit:
        return False
    found[0] = value * unit
    return True


cdef inline bint moment(
    const uint8_t* text, Py_ssize_t length, int form, uint8_t between, int64_t* found
) noexcept nogil:
    """Read year-month-day, and perhaps a time of day."""
    cdef int64_t year, month, day, hour = 0, minute = 0, second = 0, part = 0
    if length < 10 or text[4] != DASH or text[7] != DASH:
        return False
    if not (digits(text, 4, &year) and digits(text + 5, 2, &month) and digits(text + 8, 2, &day)):
        return False
    if year < 1 or month < 1 or month > 12 or day < 1 or day > LENGTHS[month]:
        return False
    if month == 2 and day == 29 and (year % 4 or (year % 100 == 0 and year % 400)):
        return False
    if form == DATE:
        found[0] = DAY * days(year, month, day)
        return length == 10
    if length < 16 or text[10] != between or text[13] != COLON:
        return False
    if not (digits(text + 11, 2, &hour) and digits(text + 14, 2, &minute)) or hour > 23 or minute > 59:
        return False
    if form == MINUTES:
        if length != 16:
            return False
    elif length < 19 or text[16] != COLON or not digits(text + 17, 2, &second) or second > 59:
        return False
    elif length > 19:
        if form != FRACTIONS or length < 21 or length > 26 or text[19] != POINT:
            return False
        if not digits(text + 20, length - 20, &part):
            return False
        part *= MICROSECONDS[length - 20]
    found[0] = DAY * days(year, month, day) + SECOND * (3600 * hour + 60 * minute + second) + part
    return True


cdef inline bint digits(const uint8_t* text, Py_ssize_t length, int64_t* value) noexcept nogil:
    """Read so many digits."""
    cdef Py_ssize_t at
    cdef bint plain = True
    value[0] = 0
    for at in range(length):
        plain &= ZERO <= text[at] <= ZERO + 9
        value[0] = 10 * value[0] + text[at] - ZERO
    return plain


cdef inline int64_t days(int64_t year, int64_t month, int64_t day) noexcept nogil:
    """Return the days since 1970-01-01 of the years 1 to 9999 (Hinnant's days_from_civil)."""
    cdef int64_t own = year + 400 - (month <= 2)  # a year begins in March, and none is negative
    cdef int64_t era = own // 400, of_era = own % 400
    cdef int64_t of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return 146_097 * (era - 1) + 365 * of_era + of_era // 4 - of_era // 100 + of_year - 719_468


def kept(const uint8_t[::1] keep, const int64_t[::1] starts, int64_t[::1] ends):
    """Write where each user's kept events end, by where all events of each user begin."""
    cdef Py_ssize_t user, at, held = 0, n = keep.shape[0]
    with nogil:
        for user in range(ends.shape[0]):
            if not 0 <= starts[user] <= starts[user + 1] <= n:
                raise IndexError(f"events of user {user}")
            with cython.boundscheck(False):
                for at in range(starts[user], starts[user + 1]):
                    held += keep[at] != 0
            ends[user] = held


def group(
    const int32_t[::1] user,
    const int64_t[::1] packed,
    int64_t[::1] free,
    int64_t[::1] grouped,
):
    """Write each event's number among those of its user, the next of which goes to `free`."""
    cdef Py_ssize_t at, ahead, own, n = user.shape[0]
    if packed.shape[0] != n:
        raise ValueError(f"{packed.shape[0]} numbers for {n} events")
    with nogil:
        for at in range(n):
            if at + 2 * AHEAD < n:
                fetch_line(&free[user[at + 2 * AHEAD]])
                ahead = free[user[at + AHEAD]]
                if ahead < grouped.shape[0]:
                    fetch_line(&grouped[ahead])
            own = user[at]
            grouped[free[own]] = packed[at]
            free[own] += 1


def sort_rows(
    long long[::1] grouped, const int64_t[::1] starts, Py_ssize_t first, Py_ssize_t behind
):
    """Sort the events of the users from `first` on, before `behind`, each user's alone."""
    cdef Py_ssize_t user, most = 0
    cdef int64_t[::1] scratch
    cdef int64_t* number
    if first < 0 or behind >= starts.shape[0] or starts[behind] > grouped.shape[0]:
        raise IndexError(f"users {first} to {behind}")
    for user in range(first, behind):
        if not 0 <= starts[user] <= starts[user + 1] <= starts[behind]:
            raise IndexError(f"events of user {user}")
        most = max(most, starts[user + 1] - starts[user])
    scratch = np.empty(most // 2 + 1, np.int64)
    with nogil:
        for user in range(first, behind):
            if starts[user] < starts[user + 1]:
                number = <int64_t*>&grouped[starts[user]]
                sort(number, &scratch[0], starts[user + 1] - starts[user])
