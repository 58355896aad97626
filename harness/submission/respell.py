"""Ids that are known in another spelling: another case, decimals, the bytes of Windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compiled import compiled
from harness.submission.damage import LONGEST, damage
from harness.submission.words import PAD, key, look_up

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
    table, traits, secret = known
    marks, length = damage(buffer, start, stop, traits[1] != 0, traits[2], mended)
    code = -1
    if length > 0:
        first, second = key(mended, 0, length, secret)
        code = look_up(first, second, table)
    if code >= 0 or length == 0 or traits[1] != 0 or traits[3] == 0:
        return code, marks, length, AS_IT_IS
    spelt = np.empty(LONGEST + PAD, np.uint8)
    for spelling in range(DECIMAL, WINDOWS + 1):
        own = _spelt(spelling, mended, length, spelt)
        if own > 0:
            first, second = key(spelt, 0, own, secret)
            code = look_up(first, second, table)
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
    table, _traits, secret = known
    length = stop - start
    for upper in (False, True):
        if length <= LONGEST and _cased(buffer[start:stop], length, upper, spelt) > 0:
            first, second = key(spelt, 0, length, secret)
            if look_up(first, second, table) >= 0:
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
