"""Ids that a program damaged or spelled otherwise: how they look, and what they were."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.core.ids import look_up
from harness.core.jit import compiled
from harness.submission import faults
from harness.submission.keys import PAD, find, find_either, key

LONGEST = 64
"""Bytes of the longest id that is mended."""

_LONGER_THAN_WORDS = 6
_NOTHING = tuple(b"nan none null na n/a <na> nat nil".split())
_WORDS = np.zeros((len(_NOTHING), 8), np.uint8)
for _row, _word in enumerate(_NOTHING):
    _WORDS[_row, : len(_word)] = np.frombuffer(_word, np.uint8)


@compiled
def is_plain(buffer: Any, start: int, stop: int, digits: bool, width: int) -> bool:
    """Return True where nothing is wrong with an id; False says little."""
    shortest = width if digits else _LONGER_THAN_WORDS
    if stop - start < shortest or (width > 0 and stop - start != width):
        return False
    plain = True
    for at in range(start, stop):
        byte = buffer[at]
        letter = not digits and (65 <= byte <= 90 or 97 <= byte <= 122 or byte in (45, 95))
        plain &= 48 <= byte <= 57 or letter
    return plain


@compiled
def damage(
    buffer: Any, start: int, stop: int, digits: bool, width: int, mended: Any
) -> tuple[int, int]:
    """Return marks of what happened to an id, 1 << fault each, and what it was before.

    Parameters
    ----------
    digits : bool
        Whether ids are numbers; only those are read as damaged numbers.
    width : int
        How many digits every id has; 0 where ids differ in length.
    mended : uint8 array, (LONGEST + 8,)
        Takes the id as it was.

    Returns
    -------
    marks, length : int
        Length 0: what the id was cannot be told.
    """
    first, last, marks = _undressed(buffer, start, stop)
    if first == last or _is_word(buffer, first, last):
        return marks | (first < last) << faults.LITERAL, 0
    if digits and _is_exponent(buffer, first, last):
        return marks | 1 << faults.EXPONENT, 0
    if separator(buffer, first, last) < last:
        return marks | 1 << faults.SEPARATOR, 0
    if find_either(buffer, first, last, 39, 34) < last:
        return marks | 1 << faults.BRACKETS, 0
    if digits:
        end = _digits(buffer, first, last)
        if end < last:
            if end > first and _is_zeros(buffer, end, last):
                marks |= 1 << faults.DECIMAL
                last = end
            else:
                return marks | 1 << faults.MISSHAPEN, 0
        if width > 0 and last - first < width:
            marks |= 1 << faults.ZEROS_LOST
        elif width > 0 and last - first > width:
            return marks | 1 << faults.MISSHAPEN, 0
    return marks, _copied(buffer, first, last, width if digits else 0, mended)


@compiled
def _undressed(buffer: Any, first: int, last: int) -> tuple[int, int, int]:
    """Return the id without brackets, quotes and commas around it, and NumPy's ``np.str_(…)``.

    A bracket at the end stays where it closes one that stands within.
    """
    marks = 0
    while first < last and is_dress(buffer[first]):
        marks |= 1 << faults.BRACKETS
        first += 1
    while last > first:
        byte = buffer[last - 1]
        if _opener(byte) > 0 and find(buffer, first, last - 1, _opener(byte)) < last - 1:
            break
        if is_dress(byte):
            marks |= 1 << faults.BRACKETS
        elif byte == 44 or byte == 59:  # , ;
            marks |= 1 << faults.SEPARATOR
        else:
            break
        last -= 1
    if _is_numpy(buffer, first, last):
        marks |= 1 << faults.BRACKETS
        first, last = find(buffer, first, last, 40) + 1, last - 1
        while first < last and buffer[first] in (39, 34):
            first += 1
        while last > first and buffer[last - 1] in (39, 34):
            last -= 1
    if marks & 1 << faults.BRACKETS:  # a list of Python's, commas and all
        marks = 1 << faults.BRACKETS
    return first, last, marks


@compiled
def _opener(byte: Any) -> int:
    """Return the bracket that a bracket closes; 0 where it closes none."""
    if byte == 41:
        return 40
    return int(byte) - 2 if byte in (93, 125) else 0


@compiled
def _is_numpy(buffer: Any, first: int, last: int) -> bool:
    """Return whether it is what NumPy prints a text or number as: np.str_('a'), np.int64(7)."""
    if last - first < 6 or buffer[last - 1] != 41:
        return False
    return bool(buffer[first] == 110 and buffer[first + 1] == 112 and buffer[first + 2] == 46)


@compiled
def is_dress(byte: Any) -> bool:
    """Return whether it is a bracket or a quote."""
    return byte in (91, 93, 40, 41, 123, 125, 39, 34)  # [ ] ( ) { } ' "


@compiled
def _is_word(buffer: Any, first: int, last: int) -> bool:
    """Return whether it is a word for a missing value, however it is cased."""
    length = last - first
    if length == 0 or length > 5:
        return False
    for row in range(len(_WORDS)):
        at = 0
        while at < length:
            byte = buffer[first + at]
            if 65 <= byte <= 90:  # A to Z
                byte += 32
            if byte != _WORDS[row, at]:
                break
            at += 1
        if at == length and _WORDS[row, length] == 0:
            return True
    return False


@compiled
def separator(buffer: Any, start: int, stop: int) -> int:
    """Return the first place with a comma, semicolon, bar or any white space, or `stop`."""
    for at in range(start, stop):
        if separator_bytes(buffer, at, stop) > 0:
            return at
    return stop


@compiled
def separator_bytes(buffer: Any, at: int, stop: int) -> int:
    """Return how many bytes such a separator has that stands at a place; 0 without one."""
    byte = buffer[at]
    if byte in (44, 59, 124, 9, 32, 10, 13):
        return 1
    if byte == 0xC2 and at + 1 < stop and buffer[at + 1] == 0xA0:  # no-break space
        return 2
    if byte in (0xE2, 0xE3) and at + 2 < stop and buffer[at + 1] == 0x80:
        last = buffer[at + 2]  # U+2000 to U+200F, and U+3000
        return 3 if (byte == 0xE2 and last < 0x90) or (byte == 0xE3 and last == 0x80) else 0
    return 0


@compiled
def _digits(buffer: Any, first: int, last: int) -> int:
    """Return the first place that holds no digit."""
    while first < last and 48 <= buffer[first] <= 57:
        first += 1
    return first


@compiled
def _is_zeros(buffer: Any, first: int, last: int) -> bool:
    """Return whether it is a point and zeros."""
    if buffer[first] != 46 or last == first + 1:
        return False
    at = first + 1
    while at < last and buffer[at] == 48:
        at += 1
    return at == last


@compiled
def _is_exponent(buffer: Any, first: int, last: int) -> bool:
    """Return whether it is a number such as 1.08775E+08, or 1,08775E+08 in Europe."""
    at = _digits(buffer, first, last)
    if at == first:
        return False
    if at < last and buffer[at] in (44, 46):
        at = _digits(buffer, at + 1, last)
    if at + 2 >= last or (buffer[at] != 69 and buffer[at] != 101) or buffer[at + 1] != 43:
        return False
    return _digits(buffer, at + 2, last) == last  # type: ignore[no-any-return]


@compiled
def _copied(buffer: Any, first: int, last: int, width: int, mended: Any) -> int:
    """Copy an id, zeros in front of it up to a width; return its length, 0 where it is too long."""
    zeros = max(0, width - (last - first))
    if zeros + last - first > LONGEST:
        return 0
    mended[:zeros] = 48
    mended[zeros : zeros + last - first] = buffer[first:last]
    return zeros + last - first


AS_IT_IS, DECIMAL, LOWER, UPPER, WINDOWS = range(5)
"""How an id was spelt to be known."""

SURE = 8
"""Bytes of a hexadecimal id, among ids that need not be all, that no other id has by chance."""

_POINT, _ZERO, _NINE = 46, 48, 57
_CODES = np.array(
    [ord(bytes([byte]).decode("cp1252", "ignore") or "\0") for byte in range(128, 256)], np.int64
)
"""What the upper half of Windows-1252 stands for; 0: nothing."""


@compiled
def restored(
    buffer: Any, start: int, stop: int, known: Any, mended: Any
) -> tuple[int, int, int, int]:
    """Return an id that stands for a known one, as `damage` and other spellings tell it.

    Parameters
    ----------
    mended : uint8 array, (LONGEST + PAD,)
        Takes the id as it was.

    Returns
    -------
    code, marks, length, spelling : int
        −1 where no known id is meant; marks of damage; bytes of `mended`, 0 where what the id was
        cannot be told; how it had to be spelt.
    """
    marks, length = damage(buffer, start, stop, known.digits, known.width, mended)
    code = -1
    if length > 0:
        first, second = key(mended, 0, length, known.secret)
        code = look_up(first, second, known.table)
    if code >= 0 or length == 0 or known.digits or known.size == 0:
        return code, marks, length, AS_IT_IS
    spelt = np.empty(LONGEST + PAD, np.uint8)
    for spelling in range(DECIMAL, WINDOWS + 1):
        own = _spelt(spelling, mended, length, spelt)
        if own > 0:
            first, second = key(spelt, 0, own, known.secret)
            code = look_up(first, second, known.table)
            if code >= 0:
                mended[:own] = spelt[:own]
                return code, marks, own, spelling
    return -1, marks, length, AS_IT_IS


@compiled
def _spelt(spelling: int, text: Any, length: int, spelt: Any) -> int:
    """Write an id in another spelling; return how long it is, 0 where there is no such."""
    if spelling == DECIMAL:
        return _whole(text, length, spelt)  # type: ignore[no-any-return]
    if spelling == WINDOWS:
        return _decoded(text, length, spelt)  # type: ignore[no-any-return]
    return _cased(text, length, spelling == UPPER, spelt)  # type: ignore[no-any-return]


@compiled
def _whole(text: Any, length: int, spelt: Any) -> int:
    """Write a number without a point and zeros behind it."""
    end = 0
    while end < length and _ZERO <= text[end] <= _NINE:
        end += 1
    if end == 0 or end + 1 >= length or text[end] != _POINT:
        return 0
    for at in range(end + 1, length):
        if text[at] != _ZERO:
            return 0
    spelt[:end] = text[:end]
    return end


@compiled
def _cased(text: Any, length: int, upper: bool, spelt: Any) -> int:
    """Write a hexadecimal number, which has no case of its own, in lower or upper case."""
    letters = digits = 0
    for at in range(length):
        byte = text[at]
        letter = byte | 32
        if 97 <= letter <= 102:
            letters += 1
            spelt[at] = letter - 32 * upper
        elif _ZERO <= byte <= _NINE or byte == 45:  # the hyphens of a UUID
            digits += byte != 45
            spelt[at] = byte
        else:
            return 0
    return length if letters > 0 and digits > 0 else 0


@compiled
def is_cased(buffer: Any, start: int, stop: int, known: Any, spelt: Any) -> bool:
    """Return whether a hexadecimal number is known in lower or upper case.

    Parameters
    ----------
    spelt : uint8 array, (LONGEST + PAD,)
        Takes what it is then.
    """
    length = stop - start
    for upper in (False, True):
        if length <= LONGEST and _cased(buffer[start:stop], length, upper, spelt) > 0:
            first, second = key(spelt, 0, length, known.secret)
            if look_up(first, second, known.table) >= 0:
                return True
    return False


@compiled
def _decoded(text: Any, length: int, spelt: Any) -> int:
    """Write text of Windows-1252 as UTF-8."""
    written, beyond = 0, False
    for at in range(length):
        code = np.int64(text[at])
        if code >= 128:
            beyond = True
            code = _CODES[code - 128]
        if written + 3 > LONGEST or code == 0:
            return 0
        if code < 128:
            spelt[written] = code
            written += 1
        elif code < 2048:
            spelt[written], spelt[written + 1] = 192 | code >> 6, 128 | code & 63
            written += 2
        else:
            spelt[written] = 224 | code >> 12
            spelt[written + 1], spelt[written + 2] = 128 | code >> 6 & 63, 128 | code & 63
            written += 3
    return written if beyond else 0
