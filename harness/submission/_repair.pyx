"""Ids that a program damaged or spelled otherwise: how they look, and what they were."""

cimport cython
import numpy as np
from libc.string cimport memcpy

from harness.submission cimport faults
from harness.delimited._bytes cimport PAD, check, find, find_either
from harness.submission._keys cimport code_of, plain_may_be_alike

cdef enum:
    LONGER_THAN_WORDS = 6
    POINT = 46
    ZERO = 48
    NINE = 57

cdef list _NOTHING = b"nan none null na n/a <na> nat nil".split()
cdef int N_WORDS = len(_NOTHING)
cdef uint8_t[8][8] WORDS
for _row, _word in enumerate(_NOTHING):
    for _at, _byte in enumerate(_word.ljust(8, b"\0")):
        WORDS[_row][_at] = _byte

# What the upper half of Windows-1252 stands for; 0: nothing.
cdef int[128] WINDOWS_CODES
for _byte in range(128):
    WINDOWS_CODES[_byte] = ord(bytes([128 + _byte]).decode("cp1252", "ignore") or "\0")


cdef class Room:
    """Memory for two ids.

    Attributes
    ----------
    mended : uint8 array, (LONGEST + PAD,)
        The id as it was.
    spelt : uint8 array, (LONGEST + PAD,)
        The same in another spelling.
    """

    def __init__(self):
        self.mended = np.zeros(LONGEST + PAD, np.uint8)
        self.spelt = np.zeros(LONGEST + PAD, np.uint8)


cdef enum:  # what a letter of an id is
    DIGIT = 1
    LOWER_HEX = 2
    UPPER_HEX = 4
    HYPHEN = 8
    LOWER_LETTER = 16  # another
    UPPER_LETTER = 32
    UNDERSCORE = 64
    STRANGE = 128

cdef uint8_t[256] LETTERS
for _byte in range(256):
    LETTERS[_byte] = STRANGE
for _kind, _letters in (
    (DIGIT, b"0123456789"), (LOWER_HEX, b"abcdef"), (UPPER_HEX, b"ABCDEF"), (HYPHEN, b"-"),
    (LOWER_LETTER, b"ghijklmnopqrstuvwxyz"), (UPPER_LETTER, b"GHIJKLMNOPQRSTUVWXYZ"),
    (UNDERSCORE, b"_"),
):
    for _byte in _letters:
        LETTERS[_byte] = _kind


cdef int is_other(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids known, Aliases aliases
) except -1 nogil:
    """Return 1 where an id that is not known is another one, with nothing wrong; 0 says little.

    It is written plainly, and alike to none that is known.
    """
    cdef Py_ssize_t shortest = known.width if known.digits else LONGER_THAN_WORDS, at
    cdef uint8_t kinds = 0
    if stop - start < shortest or (known.width > 0 and stop - start != known.width):
        return False
    check(buffer, start, stop)
    with cython.boundscheck(False):
        for at in range(start, stop):
            kinds |= LETTERS[buffer[at]]
    if kinds & STRANGE or (known.digits and kinds != DIGIT):
        return False
    return known.size == 0 or known.exact or not plain_may_be_alike(
        buffer,
        start,
        stop,
        kinds == DIGIT,
        kinds & (LOWER_HEX | LOWER_LETTER) != 0,
        kinds & (UPPER_HEX | UPPER_LETTER) != 0,
        known,
        aliases,
    )


cdef int restore(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids known, Room room, Restored* found
) except -1 nogil:
    """Tell the id that stands for a known one, as damage and other spellings tell it.

    `room.mended` takes the id as it was.
    """
    cdef Py_ssize_t own
    cdef int spelling
    cdef int32_t code
    found.code, found.marks, found.spelling = -1, 0, AS_IT_IS
    found.length = damage(buffer, start, stop, known.digits, known.width, room, &found.marks)
    if found.length > 0:
        found.code = code_of(room.mended, 0, found.length, known)
    if found.code >= 0 or found.length == 0 or known.digits or known.size == 0 or known.exact:
        return 0
    for spelling in range(DECIMAL, WINDOWS + 1):
        own = spell(spelling, room, found.length)
        if own > 0:
            code = code_of(room.spelt, 0, own, known)
            if code >= 0:
                room.mended[:own] = room.spelt[:own]
                found.code, found.length, found.spelling = code, own, spelling
                return 0
    return 0


def restored(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids known):
    """Return the known id that `restore` tells of a text, or None."""
    cdef Room room = Room()
    cdef Restored found
    restore(buffer, start, stop, known, room, &found)
    return None if found.code < 0 else bytes(room.mended[: found.length])


cdef Py_ssize_t damage(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    bint digits,
    Py_ssize_t width,
    Room room,
    int* marks,
) except -1 nogil:
    """Mark what happened to an id, 1 << fault each; return the length of what it was before.

    That is 0 where it cannot be told. Only where all ids are numbers (`digits`) are they read as
    damaged numbers; `width` is how many digits every id has, 0 where ids differ in length.
    """
    cdef Py_ssize_t first = start, last = stop, end
    undress(buffer, &first, &last, marks)
    if first == last or is_word(buffer, first, last):
        marks[0] |= (first < last) << faults.LITERAL
        return 0
    if digits and is_exponent(buffer, first, last):
        marks[0] |= 1 << faults.EXPONENT
        return 0
    if separator(buffer, first, last) < last:
        marks[0] |= 1 << faults.SEPARATOR
        return 0
    if find_either(buffer, first, last, 39, 34) < last:
        marks[0] |= 1 << faults.BRACKETS
        return 0
    if digits:
        end = behind_digits(buffer, first, last)
        if end < last:
            if end == first or not is_zeros(buffer, end, last):
                marks[0] |= 1 << faults.MISSHAPEN
                return 0
            marks[0] |= 1 << faults.DECIMAL
            last = end
        if width > 0 and last - first < width:
            marks[0] |= 1 << faults.ZEROS_LOST
        elif width > 0 and last - first > width:
            marks[0] |= 1 << faults.MISSHAPEN
            return 0
    return copied(buffer, first, last, width if digits else 0, room)


cdef int undress(
    const uint8_t[::1] buffer, Py_ssize_t* begin, Py_ssize_t* end, int* marks
) except -1 nogil:
    """Leave out brackets, quotes and commas around an id, and NumPy's ``np.str_(…)``.

    A bracket at the end stays where it closes one that stands within.
    """
    cdef Py_ssize_t first = begin[0], last = end[0]
    cdef uint8_t byte, opener
    while first < last and is_dress(buffer[first]):
        marks[0] |= 1 << faults.BRACKETS
        first += 1
    while last > first:
        byte = buffer[last - 1]
        opener = opener_of(byte)
        if opener > 0 and find(buffer, first, last - 1, opener) < last - 1:
            break
        if is_dress(byte):
            marks[0] |= 1 << faults.BRACKETS
        elif byte == 44 or byte == 59:  # , ;
            marks[0] |= 1 << faults.SEPARATOR
        else:
            break
        last -= 1
    if is_numpy(buffer, first, last):
        marks[0] |= 1 << faults.BRACKETS
        first = find(buffer, first, last, 40) + 1
        last -= 1
        while first < last and (buffer[first] == 39 or buffer[first] == 34):
            first += 1
        while last > first and (buffer[last - 1] == 39 or buffer[last - 1] == 34):
            last -= 1
    if marks[0] & 1 << faults.BRACKETS:  # a list of Python's, commas and all
        marks[0] = 1 << faults.BRACKETS
    begin[0], end[0] = first, last
    return 0


cdef inline uint8_t opener_of(uint8_t byte) noexcept nogil:
    """Return the bracket that a bracket closes; 0 where it closes none."""
    if byte == 41:
        return 40
    return byte - 2 if byte == 93 or byte == 125 else 0


cdef int is_numpy(const uint8_t[::1] buffer, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
    """Return whether it is what NumPy prints a text or number as: np.str_('a'), np.int64(7)."""
    if last - first < 6 or buffer[last - 1] != 41:
        return False
    return buffer[first] == 110 and buffer[first + 1] == 112 and buffer[first + 2] == 46


cdef bint is_dress(uint8_t byte) noexcept nogil:
    """Return whether it is a bracket or a quote."""
    return byte in (91, 93, 40, 41, 123, 125, 39, 34)  # [ ] ( ) { } ' "


cdef int is_word(const uint8_t[::1] buffer, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
    """Return whether it is a word for a missing value, however it is cased."""
    cdef Py_ssize_t length = last - first, at
    cdef uint8_t byte
    cdef int row
    if length == 0 or length > 5:
        return False
    for row in range(N_WORDS):
        at = 0
        while at < length:
            byte = buffer[first + at]
            if 65 <= byte <= 90:  # A to Z
                byte += 32
            if byte != WORDS[row][at]:
                break
            at += 1
        if at == length and WORDS[row][length] == 0:
            return True
    return False


cdef Py_ssize_t separator(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Return the first place with a comma, semicolon, bar or any white space, or `stop`."""
    cdef Py_ssize_t at
    for at in range(start, stop):
        if separator_bytes(buffer, at, stop) > 0:
            return at
    return stop


cdef int separator_bytes(const uint8_t[::1] buffer, Py_ssize_t at, Py_ssize_t stop) except -1 nogil:
    """Return how many bytes such a separator has that stands at a place; 0 without one."""
    cdef uint8_t byte = buffer[at], last
    if byte in (44, 59, 124, 9, 32, 10, 13):
        return 1
    if byte == 0xC2 and at + 1 < stop and buffer[at + 1] == 0xA0:  # no-break space
        return 2
    if (byte == 0xE2 or byte == 0xE3) and at + 2 < stop and buffer[at + 1] == 0x80:
        last = buffer[at + 2]  # U+2000 to U+200F, and U+3000
        return 3 if (byte == 0xE2 and last < 0x90) or (byte == 0xE3 and last == 0x80) else 0
    return 0


cdef Py_ssize_t behind_digits(
    const uint8_t[::1] buffer, Py_ssize_t first, Py_ssize_t last
) except -1 nogil:
    """Return the first place that holds no digit."""
    while first < last and 48 <= buffer[first] <= 57:
        first += 1
    return first


cdef int is_zeros(const uint8_t[::1] buffer, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
    """Return whether it is a point and zeros."""
    cdef Py_ssize_t at = first + 1
    if buffer[first] != POINT or last == first + 1:
        return False
    while at < last and buffer[at] == ZERO:
        at += 1
    return at == last


cdef int is_exponent(const uint8_t[::1] buffer, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
    """Return whether it is a number such as 1.08775E+08, or 1,08775E+08 in Europe."""
    cdef Py_ssize_t at = behind_digits(buffer, first, last)
    if at == first:
        return False
    if at < last and (buffer[at] == 44 or buffer[at] == POINT):
        at = behind_digits(buffer, at + 1, last)
    if at + 2 >= last or (buffer[at] != 69 and buffer[at] != 101) or buffer[at + 1] != 43:
        return False
    return behind_digits(buffer, at + 2, last) == last


cdef Py_ssize_t copied(
    const uint8_t[::1] buffer, Py_ssize_t first, Py_ssize_t last, Py_ssize_t width, Room room
) except -1 nogil:
    """Copy an id, zeros in front of it up to a width; return its length, 0 where it is too long."""
    cdef Py_ssize_t zeros = max(0, width - (last - first)), at
    if zeros + last - first > LONGEST:
        return 0
    for at in range(zeros):
        room.mended[at] = ZERO
    for at in range(last - first):
        room.mended[zeros + at] = buffer[first + at]
    return zeros + last - first


cdef Py_ssize_t spell(int spelling, Room room, Py_ssize_t length) except -1 nogil:
    """Write an id in another spelling; return how long it is, 0 where there is no such."""
    if spelling == DECIMAL:
        return whole(room, length)
    if spelling == WINDOWS:
        return decoded(room, length)
    return cased(room.mended, 0, length, spelling == UPPER, room.spelt)


cdef Py_ssize_t whole(Room room, Py_ssize_t length) except -1 nogil:
    """Write a number without a point and zeros behind it."""
    cdef Py_ssize_t end = behind_digits(room.mended, 0, length)
    if end == 0 or end + 1 >= length or not is_zeros(room.mended, end, length):
        return 0
    room.spelt[:end] = room.mended[:end]
    return end


cdef Py_ssize_t cased(
    const uint8_t[::1] text, Py_ssize_t start, Py_ssize_t length, bint upper, uint8_t[::1] spelt
) except -1 nogil:
    """Write a hexadecimal number, which has no case of its own, in the other case; 0: it is none."""
    cdef uint8_t kinds = 0, kind, turned = LOWER_HEX if upper else UPPER_HEX
    cdef Py_ssize_t at
    check(text, start, start + length)
    check(spelt, 0, length)
    with cython.boundscheck(False):
        for at in range(length):  # without a branch: the letters of such numbers are random
            kind = LETTERS[text[start + at]]
            kinds |= kind
            spelt[at] = text[start + at] ^ (32 * (kind == turned))
    return length if kinds & turned and kinds & DIGIT and kinds < LOWER_LETTER else 0


cdef Py_ssize_t decoded(Room room, Py_ssize_t length) except -1 nogil:
    """Write text of Windows-1252 as UTF-8."""
    cdef Py_ssize_t written = 0, at
    cdef bint beyond = False
    cdef int code
    for at in range(length):
        code = room.mended[at]
        if code >= 128:
            beyond = True
            code = WINDOWS_CODES[code - 128]
        if written + 3 > LONGEST or code == 0:
            return 0
        if code < 128:
            room.spelt[written] = code
            written += 1
        elif code < 2048:
            room.spelt[written] = 192 | code >> 6
            room.spelt[written + 1] = 128 | code & 63
            written += 2
        else:
            room.spelt[written] = 224 | code >> 12
            room.spelt[written + 1] = 128 | code >> 6 & 63
            room.spelt[written + 2] = 128 | code & 63
            written += 3
    return written if beyond else 0
