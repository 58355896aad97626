"""Ids that are known, for the compiled modules beside this one."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from harness.core._kernels cimport look_up
from harness.core._vector cimport key_in
from harness.delimited._delimited cimport PAD, check

cdef class Ids:
    """Ids and their codes, as `Known` in keys.py describes them."""

    cdef const uint64_t[:, ::1] table
    cdef uint64_t low, high
    cdef readonly Py_ssize_t size, width, length
    cdef readonly bint complete, digits, lower, upper, zeros, odd, exact


cdef enum:  # what a letter of an id is
    DIGIT = 1
    LOWER = 2
    UPPER = 4
    POINT = 8  # or a plus: in a number it is no plain sign
    DRESS = 16  # ASCII that stands around or between ids: spaces, brackets, quotes, commas
    BEYOND = 32  # no printable ASCII
    LONGEST_WORD = 4  # bytes of a word for nothing, which has no digit
    LONGEST_FORM = 256  # bytes of an id whose form is made here

cdef uint8_t[256] LETTERS


cdef inline uint8_t kinds_of(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except 255 nogil:
    """Return which kinds of letters an id has; one with a point has none where it is no number."""
    cdef uint8_t kinds = 0
    cdef Py_ssize_t at
    cdef const uint8_t* letters = LETTERS  # else it is asked where they are, byte by byte
    check(buffer, start, stop)
    with cython.boundscheck(False):
        for at in range(start, stop):
            kinds |= letters[buffer[at]]
        if kinds & POINT and not (buffer[start] == 45 or 48 <= buffer[start] <= 57):
            kinds &= ~POINT
    return kinds


cdef class Memo:
    """What tokens are that are not known (diagnose.py), and the forms of all ids that are."""

    cdef readonly object rows
    cdef const uint64_t[:, ::1] table, forms
    cdef const int64_t[::1] marks  # what is wrong, 1 << fault each
    cdef const uint64_t[::1] meant  # keys of known items, beside which a token is another one; or 0
    cdef const uint8_t[::1] is_mended, texts
    cdef const int64_t[::1] starts, stops  # of what a token is mended to
    cdef readonly Py_ssize_t growth  # by so many bytes, at most, is that longer than the token
    cdef bint forms_are_known


cdef inline int32_t place_in(Memo memo, uint64_t first, uint64_t second) except -2 nogil:
    """Return the place of a token in a memo by its key, −1 where it is not there."""
    return look_up(first, second, memo.table)


cdef inline bint is_another(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids ids, Memo memo
) except -1 nogil:
    """Return whether an id that is not known is plainly another; where not, it may be, too.

    Its form (harness/core/alike.py) is itself but for case and zeros in front, and no known one's.
    """
    cdef Py_ssize_t length = stop - start
    cdef uint8_t kinds = kinds_of(buffer, start, stop)
    cdef bint digits = kinds == DIGIT, cased
    if kinds & (POINT | DRESS | BEYOND) or (length <= LONGEST_WORD and not kinds & DIGIT):
        return False
    if is_exponent(buffer, start, stop):
        return False
    if ids.digits and (not digits or (ids.width > 0 and length != ids.width)):
        return False
    if ids.size == 0 or ids.exact:
        return True
    cased = (kinds & LOWER and ids.upper) or (kinds & UPPER and ids.lower)
    if ids.odd:
        pass
    elif length == ids.length:  # zeros in front would make it longer or shorter
        if not cased:
            return True
    elif digits:
        if not ids.zeros and (length == 1 or buffer[start] != 48):
            return True
    elif ids.length > 0 or not cased:
        return True
    return memo.forms_are_known and not has_form(buffer, start, stop, digits, ids, memo)


cdef inline bint is_exponent(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Return whether an id may be an exponent without a point or a plus, such as 1e5."""
    return 3 <= stop - start <= 4 and buffer[start + 1] | 32 == 101 and 48 < buffer[start] <= 57


cdef inline bint has_form(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, bint digits, Ids ids, Memo memo
) except -1 nogil:
    """Return whether the form of a plain id is that of a known one."""
    cdef uint8_t[LONGEST_FORM + PAD] form
    cdef uint64_t[2] own
    cdef Py_ssize_t at
    cdef uint8_t byte
    if stop - start > LONGEST_FORM:
        return True
    while digits and start < stop - 1 and buffer[start] == 48:
        start += 1
    check(buffer, start, stop)
    with cython.boundscheck(False):
        for at in range(start, stop):
            byte = buffer[at]
            form[at - start] = byte + 32 * (65 <= byte <= 90)
    key_in(form, stop - start, ids.low, ids.high, own)
    return look_up(own[0], own[1], memo.forms) >= 0


cdef class Strangers:
    """Tokens of a block that are neither known nor diagnosed; seldom one twice."""

    cdef uint64_t[::1] met
    cdef uint64_t[:, ::1] keys_
    cdef int64_t[:, ::1] spans_
    cdef Py_ssize_t held

    cdef int add(
        self, uint64_t first, uint64_t second, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil
