"""Ids that are known, for the compiled modules beside this one."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from harness.core._kernels cimport look_up
from harness.delimited._bytes cimport PAD, check, key_in

cdef class Ids:
    """Ids and their codes, as `Known` in keys.py describes them."""

    cdef const uint64_t[:, ::1] table
    cdef uint64_t low, high
    cdef readonly Py_ssize_t size, width, length
    cdef readonly bint complete, digits, lower, upper, telling, zeros, odd, exact


cdef struct Looks:  # of ids
    bint lower  # whether any has a letter a–z
    bint upper
    bint odd  # whether the last is one that may differ in more than case and zeros from its form


cdef inline bint look_at(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Looks* look
) except -1 nogil:
    """Return whether an id is a number; note what else it looks like.

    Odd are ids with anything that is no plain ASCII, with a space around or a quote in front, and
    numbers with a point or a plus: forms of others (harness/core/alike.py) are themselves, but for
    case and zeros in front.
    """
    cdef Py_ssize_t at
    cdef uint8_t byte, first, last
    cdef bint digits = True, lower = False, upper = False, beyond = False, point = False
    check(buffer, start, stop)
    if stop <= start:
        look.odd = False
        return True
    with cython.boundscheck(False):
        for at in range(start, stop):
            byte = buffer[at]
            digits &= (byte >= 48) & (byte <= 57)
            lower |= (byte >= 97) & (byte <= 122)
            upper |= (byte >= 65) & (byte <= 90)
            beyond |= (byte < 32) | (byte > 126)
            point |= (byte == 46) | (byte == 43)
        first, last = buffer[start], buffer[stop - 1]
    look.lower |= lower
    look.upper |= upper
    look.odd = (
        beyond
        or first == 32 or last == 32
        or first == 34 or first == 39 or first == 96
        or (point and (first == 45 or 48 <= first <= 57))
    )
    return digits


cdef enum:
    LONGEST_FORM = 256  # bytes of an id whose form is made here


cdef class Aliases:
    """Ids that are not known and alike to one that is; and the forms of all that are."""

    cdef const uint64_t[:, ::1] table
    cdef const int32_t[::1] codes  # of the known id, −1 where there are several
    cdef const int64_t[::1] marks  # what is wrong, 1 << fault each
    cdef const uint8_t[::1] texts
    cdef const int64_t[::1] starts, stops  # of what is certainly meant; else they are the same
    cdef readonly Py_ssize_t longest  # bytes of these
    cdef const uint64_t[:, ::1] forms
    cdef bint forms_are_known


cdef inline int32_t alias_of(uint64_t first, uint64_t second, Aliases aliases) except -2 nogil:
    """Return the place of an id among aliases, −1 where it is none, by its key."""
    cdef int32_t found = look_up(first, second, aliases.table)
    return found if found < aliases.codes.shape[0] else -1


cdef inline bint may_be_alike(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids ids, Aliases aliases
) except -1 nogil:
    """Return whether an id that is not known may be alike to one that is; where not, it is certain."""
    cdef Looks look
    cdef bint digits
    if ids.size == 0 or ids.exact or start == stop:
        return False
    look.lower = look.upper = False
    digits = look_at(buffer, start, stop, &look)
    return look.odd or plain_may_be_alike(
        buffer, start, stop, digits, look.lower, look.upper, ids, aliases
    )


cdef inline bint plain_may_be_alike(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    bint digits,
    bint lower,
    bint upper,
    Ids ids,
    Aliases aliases,
) except -1 nogil:
    """Return the same of an id that is not odd."""
    cdef Py_ssize_t length = stop - start
    cdef bint cased = (lower and ids.upper) or (upper and ids.lower)
    check(buffer, start, stop)
    if ids.odd:
        pass
    elif length == ids.length:  # zeros in front would make it longer or shorter
        if not cased:
            return False
    elif digits:
        if not ids.zeros and (length == 1 or buffer[start] != 48):
            return False
    elif ids.length > 0 or not cased:
        return False
    return not aliases.forms_are_known or has_form(buffer, start, stop, digits, ids, aliases)


cdef inline bint has_form(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    bint digits,
    Ids ids,
    Aliases aliases,
) except -1 nogil:
    """Return whether the form of an id that is not odd is that of a known one."""
    cdef uint8_t[LONGEST_FORM + PAD] form
    cdef uint64_t[2] own
    cdef Py_ssize_t at, held = 0
    cdef uint8_t byte
    if stop - start > LONGEST_FORM:
        return True
    while digits and start < stop - 1 and buffer[start] == 48:
        start += 1
    check(buffer, start, stop)
    with cython.boundscheck(False):
        for at in range(start, stop):
            byte = buffer[at]
            form[held] = byte + 32 * (65 <= byte <= 90)
            held += 1
    key_in(form, 0, held, ids.low, ids.high, own)
    return look_up(own[0], own[1], aliases.forms) >= 0


cdef class Strangers:
    """Ids of a block that are not known and may be alike to one that is; seldom one twice."""

    cdef uint64_t[::1] met
    cdef uint64_t[:, ::1] keys_
    cdef int64_t[:, ::1] spans_
    cdef Py_ssize_t held

    cdef int add(
        self, uint64_t first, uint64_t second, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil


cdef inline int code_of(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids ids
) except -2 nogil:
    """Return the code of an id, −1 where it is not known."""
    cdef uint64_t found[2]
    check(buffer, start, stop)
    key_in(&buffer[0], start, stop, ids.low, ids.high, found)
    return look_up(found[0], found[1], ids.table)
