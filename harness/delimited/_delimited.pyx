"""Loops over bytes, fields and lines: every place is checked before it is read."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from harness.core._vector cimport marks, short_keys

cdef enum:
    LINE = 10
    RETURN = 13
    QUOTE = 34
    TOGETHER = 256  # fields whose keys are made in one go


cdef class Tally:
    """How often each of some faults was found, in how many lines, and how many can be mended.

    `examples`, (faults, EXAMPLES, 3), are the first: a line of the block, its first byte and the
    byte behind the last.
    """

    def __init__(self, Py_ssize_t faults=SHAPES):
        self.counts = self._counts = np.zeros(faults, np.int64)
        self.lines = self._lines = np.zeros(faults, np.int64)
        self.mended = self._mended = np.zeros(faults, np.int64)
        self.examples = self._examples = np.zeros((faults, EXAMPLES, 3), np.int64)

    def copy(self):
        """Return the same, which is counted further apart from this one."""
        cdef Tally other = Tally(len(self.counts))
        other.counts[:], other.lines[:], other.examples[:] = self.counts, self.lines, self.examples
        other.mended[:] = self.mended
        return other

    cdef int note(
        self, int fault, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Count a fault and its line; remember where it is, if it is among the first."""
        cdef Py_ssize_t at = self._lines[fault]
        if at < EXAMPLES:
            self._examples[fault, at, 0] = line
            self._examples[fault, at, 1] = start
            self._examples[fault, at, 2] = stop
        self._counts[fault] += 1
        self._lines[fault] += 1
        return 0

    cdef int note_once(
        self, int fault, int noted, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Count a fault that a line may have several times, the line once.

        `noted` holds the line's faults so far, 1 << fault each; return it with this one.
        """
        if noted & 1 << fault:
            self._counts[fault] += 1
        else:
            self.note(fault, line, start, stop)
        return noted | 1 << fault


def find_byte(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted):
    """Return the first place from `start` that holds a byte, or `stop`."""
    return find(buffer, start, stop, wanted)


def behind_last(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted):
    """Return the place behind the last byte `wanted` from `start` on; 0 without one."""
    cdef Py_ssize_t at = stop
    with nogil:
        while at > start and buffer[at - 1] != wanted:
            at -= 1
    return at if at > start else 0


def odd_bytes(const uint8_t[::1] buffer, Py_ssize_t size):
    """Return whether one of the first bytes is a return, is NUL, and is beyond ASCII."""
    cdef Py_ssize_t at
    cdef uint8_t returns = 0, nuls = 0, every = 0
    cdef const uint8_t* text = &buffer[0]
    check(buffer, 0, size)
    with nogil:
        for at in range(size):
            returns |= text[at] == RETURN
            nuls |= text[at] == 0
            every |= text[at]
    return returns > 0, nuls > 0, every > 127


def count_byte(const uint8_t[::1] buffer, Py_ssize_t size, uint8_t wanted):
    """Return how many of the first bytes are `wanted`."""
    cdef Py_ssize_t part, at, count = 0
    cdef uint8_t few  # so that many are compared at once
    cdef const uint8_t* text = &buffer[0]
    check(buffer, 0, size)
    with nogil:
        for part in range(0, size, 128):
            few = 0
            for at in range(part, min(part + 128, size)):
                few += text[at] == wanted
            count += few
    return count


def keys(
    const uint8_t[::1] buffer,
    const int64_t[:] starts,
    const int64_t[:] stops,
    const uint64_t[::1] secret,
    uint64_t[:, ::1] found,
):
    """Write the key of each field, two numbers; logs often have the field of the line before."""
    cdef Py_ssize_t at, start, stop, part = 0, before = 0, length = -1, held
    cdef uint64_t low = secret[0], high = secret[1]
    cdef Py_ssize_t[TOGETHER] row  # of short fields, whose keys are made side by side
    cdef uint64_t[TOGETHER] first, last, keys, others
    cdef bint[TOGETHER] again
    if found.shape[1] != 2:
        raise ValueError("a key has two numbers")
    with nogil:
        while part < starts.shape[0]:
            held = 0
            for at in range(part, min(part + TOGETHER, starts.shape[0])):
                start, stop = starts[at], stops[at]
                check(buffer, start, stop)
                if stop < start:
                    raise IndexError(f"bytes {start} to {stop}")
                again[at - part] = stop - start == length and same(
                    &buffer[start], &buffer[before], length
                )
                if again[at - part]:
                    continue
                before, length = start, stop - start
                if length < SHORT:
                    ends_of(&buffer[start], length, &first[held], &last[held])
                    row[held] = at
                    held += 1
                else:
                    key_in(&buffer[start], length, low, high, &found[at, 0])
            short_keys(first, last, held, low, high, keys, others)
            for at in range(held):
                found[row[at], 0], found[row[at], 1] = keys[at], others[at]
            for at in range(part, min(part + TOGETHER, starts.shape[0])):
                if again[at - part]:
                    found[at, 0], found[at, 1] = found[at - 1, 0], found[at - 1, 1]
            part += TOGETHER


def cut(
    const uint8_t[::1] buffer,
    Py_ssize_t size,
    uint8_t separator,
    uint8_t end,
    Py_ssize_t width,
    const int32_t[::1] wanted,
    int64_t[:, ::1] starts,
    int64_t[:, ::1] stops,
    int32_t[::1] users,
    Tally tally,
):
    """Find the wanted fields of every line; `width` bytes stand between, the first `separator`."""
    cdef Py_ssize_t line = 0, at = 0, begin = 0, field = 0, stop, fields = wanted.shape[0], part = 0
    cdef uint64_t found
    cdef bint ends
    with nogil:
        check(buffer, 0, size)
        while part < size and line < users.shape[0]:
            found = marks(&buffer[part], separator, end)
            while found != 0:
                stop = part + zeros_below(found)
                found &= found - 1
                if stop >= size or line >= users.shape[0]:
                    break
                ends = buffer[stop] == end
                if field < fields and wanted[field] >= 0:
                    starts[line, wanted[field]] = at
                    stops[line, wanted[field]] = behind(buffer, at, stop) if ends else stop
                field += 1
                at = stop + (1 if ends else width)
                if ends:
                    users[line] = 0
                    if field != fields:
                        users[line] = NO_ROW
                        stop = behind(buffer, begin, stop)
                        tally.note(shape_of(buffer, begin, stop, field < fields), line, begin, stop)
                    line += 1
                    begin, field = at, 0
            part += 64
        if line < users.shape[0]:
            raise IndexError(f"line {line} has no end")


cdef inline Py_ssize_t behind(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop
) except -1 nogil:
    """Return where a line ends that ends at `stop`, perhaps with two bytes."""
    return stop - 1 if stop > start and buffer[stop - 1] == 13 else stop


cdef int shape_of(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, bint few
) except -1 nogil:
    """Return what is wrong with a line of another number of fields."""
    trim(buffer, &start, &stop)
    if start == stop:
        return BLANK
    return TOO_FEW if few else TOO_MANY


cdef struct Record:
    Py_ssize_t at, written, ends  # where the next begins in both, and physical lines
    bint whole, torn


def plain(
    const uint8_t[::1] buffer,
    Py_ssize_t size,
    uint8_t separator,
    bint quote,
    int escape,
    bint last,
    Py_ssize_t longest,
    uint8_t[::1] out,
    int64_t[::1] lines,
    int64_t[::1] unclosed,
    int64_t[::1] torn,
):
    """Write whole lines without quotes; a record of `longest` bytes has a quote never closed.

    `escape` makes a quote, a separator or itself behind it a letter; -1: none does. Return how long
    `out` and `lines` are, bytes that were read, physical lines, and how many are unclosed and torn.
    """
    cdef Py_ssize_t written = 0, n = 0, at = 0, line = 0, n_unclosed = 0, n_torn = 0
    cdef Record found
    with nogil:
        while at < size:
            record(buffer, at, size, separator, quote, escape, out, written, &found)
            if not found.whole:
                if not last and found.at - at <= longest:
                    break
                unclosed[n_unclosed] = line
                n_unclosed += 1
                record(buffer, at, size, separator, False, escape, out, written, &found)
            if found.torn:
                torn[n_torn] = line
                n_torn += 1
            lines[n] = line
            n += 1
            line += found.ends
            at, written = found.at, found.written
    return written, n, at, line, n_unclosed, n_torn


cdef int record(
    const uint8_t[::1] buffer,
    Py_ssize_t at,
    Py_ssize_t size,
    uint8_t separator,
    bint quoted,
    int escape,
    uint8_t[::1] out,
    Py_ssize_t written,
    Record* found,
) except -1 nogil:
    """Write one record; one that the block's end cuts is not whole.

    Without `quoted`, quotes are letters.
    """
    cdef bint inside = False, begins = True, closed = False
    cdef uint8_t byte
    found.ends, found.torn, found.whole = 0, False, False
    while at < size:
        byte = buffer[at]
        at += 1
        if byte == escape and at < size and buffer[at] in (QUOTE, separator, byte):
            byte = buffer[at]
            at += 1
            found.torn |= closed
        elif inside:
            if byte == QUOTE:
                if at < size and buffer[at] == QUOTE:
                    at += 1
                else:
                    inside, closed = False, True
                    continue
            found.ends += byte == LINE
        elif byte == QUOTE and begins and quoted:
            inside, begins = True, False
            continue
        elif byte == separator:
            out[written] = FIELD
            written += 1
            begins, closed = True, False
            continue
        elif byte == LINE:
            if at > 1 and buffer[at - 2] == RETURN:  # one within quotes ends no line
                written -= 1
            out[written] = RECORD
            written += 1
            found.ends += 1
            found.whole = True
            break
        elif closed and byte != RETURN:
            found.torn = True
        begins = False
        out[written] = SUBSTITUTE if byte == FIELD or byte == RECORD else byte
        written += 1
    found.at, found.written = at, written
    return 0


def mark(uint8_t[::1] buffer, Py_ssize_t size, const uint8_t[::1] between):
    """Write FIELD on the first byte of all that stands between fields; SUBSTITUTE where it stood."""
    cdef Py_ssize_t part = 0, at, behind_ = 0, width = between.shape[0]
    cdef uint64_t found, wanted = 0, mask = <uint64_t>0 - 1
    if not 1 <= width <= 8:
        raise ValueError(f"a separator of {width} bytes")
    for at in range(width):
        wanted |= <uint64_t>between[at] << 8 * at
    mask >>= 64 - 8 * width
    with nogil:
        check(buffer, 0, size)
        while part < size:
            found = marks(&buffer[part], between[0], FIELD)
            while found != 0:
                at = part + zeros_below(found)
                found &= found - 1
                if at >= size:
                    break
                if buffer[at] == FIELD:
                    buffer[at] = SUBSTITUTE
                elif at >= behind_ and eight(&buffer[at]) & mask == wanted:
                    buffer[at] = FIELD
                    behind_ = at + width
            part += 64


def gather(
    const uint8_t[::1] buffer,
    const int64_t[:] starts,
    const int64_t[:] stops,
    uint8_t end,
    uint8_t[::1] out,
):
    """Write fields one behind the other, each with `end` behind it; return how many bytes."""
    cdef Py_ssize_t row, start, length, written = 0
    with nogil:
        for row in range(starts.shape[0]):
            start, length = starts[row], stops[row] - starts[row]
            check(buffer, start, start + length)
            if length < 0 or written + length >= out.shape[0]:
                raise IndexError(f"{length} bytes behind {written} of {out.shape[0]}")
            memcpy(&out[written], &buffer[start], length)
            written += length
            out[written] = end
            written += 1
    return written


cdef extern from *:
    """
    #if defined(__SIZEOF_INT128__)
    typedef unsigned __int128 uint128;
    #define WIDE 1
    #else
    typedef unsigned long long uint128;
    #define WIDE 0
    #endif
    """
    ctypedef unsigned long long uint128
    const bint WIDE

cdef double[28] POWERS
cdef uint64_t[28] FIVES
for _power in range(28):
    POWERS[_power] = 10.0 ** _power  # exact up to 22
    FIVES[_power] = 5 ** _power
cdef uint64_t HIDDEN = <uint64_t>1 << 52  # the first digit of a double's 53, which is not stored
cdef uint64_t EXACT = <uint64_t>1 << 53  # whole numbers up to here are floats


def parse(
    const uint8_t[::1] buffer,
    const int64_t[:] starts,
    const int64_t[:] stops,
    double[::1] numbers,
    uint8_t[::1] left,
):
    """Read whole numbers of up to 15 digits, and decimals of up to 19, rounded right; tell others.

    Zeros before the first other digit are none of these.
    """
    cdef Py_ssize_t row, at, stop, digits, behind_
    cdef uint64_t whole
    cdef bint negative, point, plain, any_
    cdef uint8_t byte
    with nogil:
        for row in range(starts.shape[0]):
            at, stop = starts[row], stops[row]
            check(buffer, at, stop)
            negative = at < stop and buffer[at] == 45
            at += negative
            whole, digits, behind_, point, plain, any_ = 0, 0, 0, False, at < stop, False
            while at < stop:
                if stop - at >= 8 and 0 < digits <= 11 and are_digits(eight(&buffer[at])):
                    whole = whole * 100_000_000 + of_digits(eight(&buffer[at]))
                    digits, behind_, at = digits + 8, behind_ + 8 * point, at + 8
                    continue
                byte = buffer[at]
                if 48 <= byte <= 57:
                    whole = whole * 10 + (byte - 48) if digits < 19 else whole
                    digits += whole > 0
                    behind_ += point
                    any_ = True
                elif byte == 46 and not point:
                    point = True
                else:
                    plain = False
                at += 1
            left[row] = not plain or not any_ or digits > (19 if point else 15)
            numbers[row] = 0.0
            if not left[row]:
                left[row] = not rounded(whole, behind_, &numbers[row])
            if negative:
                numbers[row] = -numbers[row]


cdef inline bint are_digits(uint64_t bytes) noexcept nogil:
    """Return whether eight bytes are digits."""
    cdef uint64_t high = <uint64_t>0xF0F0F0F0F0F0F0F0, six = <uint64_t>0x0606060606060606
    cdef uint64_t zeros = <uint64_t>0x3030303030303030
    return (bytes & high) == zeros and ((bytes + six) & high) == zeros


cdef inline uint64_t of_digits(uint64_t bytes) noexcept nogil:
    """Return the number of eight digits: pairs, then fours, then all are put together at once."""
    bytes = (bytes & <uint64_t>0x0F0F0F0F0F0F0F0F) * 2561 >> 8
    bytes = (bytes & <uint64_t>0x00FF00FF00FF00FF) * 6553601 >> 16
    return (bytes & <uint64_t>0x0000FFFF0000FFFF) * <uint64_t>42949672960001 >> 32


cdef inline bint rounded(uint64_t whole, Py_ssize_t places, double* found) noexcept nogil:
    """Write a whole number over a power of ten as the nearest double; of two, the even one.

    Above what one division rounds right, a double that is near is moved until the number lies
    between the middles of it and its neighbours, which whole numbers of 128 bits tell exactly.
    """
    cdef uint64_t bits, whole_part
    cdef int exponent, side
    cdef double near
    if whole == 0 or (whole <= EXACT and places <= 22):
        found[0] = <double>whole / POWERS[places] if whole > 0 else 0.0
        return True
    if not WIDE or places > 27:
        return False
    near = <double>whole / POWERS[places]
    memcpy(&bits, &near, 8)
    while True:
        whole_part = bits & HIDDEN - 1 | HIDDEN
        exponent = <int>(bits >> 52) - 1076  # of the middle of this double and the next
        side = compared(whole, places, 2 * whole_part + 1, exponent)
        if side > 0 or (side == 0 and bits & 1):
            bits += 1
            continue
        if whole_part == HIDDEN:  # those below a power of two are closer together
            side = compared(whole, places, 4 * whole_part - 1, exponent - 1)
        else:
            side = compared(whole, places, 2 * whole_part - 1, exponent)
        if side < 0 or (side == 0 and bits & 1):
            bits -= 1
            continue
        memcpy(found, &bits, 8)
        return True


cdef inline int compared(
    uint64_t whole, Py_ssize_t places, uint64_t middle, int exponent
) noexcept nogil:
    """Compare whole / 10^places with middle · 2^exponent: whole with middle · 5^places · 2^shift."""
    cdef int shift = exponent + <int>places
    cdef uint128 one = whole, other = <uint128>middle * FIVES[places]
    if shift < 0:
        one <<= -shift
    else:
        other <<= shift
    return (one > other) - (one < other)
