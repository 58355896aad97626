"""The users of a block's lines: codes of those that are known, keys of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compiled import compiled
from harness.submission import faults
from harness.submission.damage import LONGEST
from harness.submission.lines import NO_ROW, trimmed
from harness.submission.respell import restored
from harness.submission.words import PAD, key, look_up

STRANGER, NO_ID = -1, -3
"""The user of a row whose id is not known, and is empty."""


@compiled
def read(
    buffer: Any,
    starts: Any,
    stops: Any,
    known: Any,
    shape: Any,
    users: Any,
    keys: Any,
    sound: Any,
    tally: Any,
) -> None:
    """Look every line's user up.

    Parameters
    ----------
    shape : int64 array, (257,)
        Whether each byte may stand in an id that is not known, and how many it has; 0: any number.
    users : int32 array, (lines,)
        Takes codes, STRANGER where the user is not known, NO_ID where there is no id; lines that
        are no rows are passed over.
    keys : uint64 array, (lines, 2)
        Takes the key of every id.
    sound : bool array, (lines,)
        Takes whether the id stands there as it should, so that the line's list is the user's.
    """
    table, traits, secret = known
    odd = np.zeros(len(users), np.bool_)
    for line in range(len(users)):
        start, stop = trimmed(buffer, starts[line, 0], stops[line, 0])
        keys[line, 0], keys[line, 1] = key(buffer, start, stop, secret)
        odd[line] = start == stop or start > starts[line, 0] or stop < stops[line, 0]
    for line in range(len(users)):  # apart, so that the processor waits for many at a time
        if users[line] != NO_ROW:
            users[line] = look_up(keys[line, 0], keys[line, 1], table)
            sound[line] = users[line] >= 0 and not odd[line]
            odd[line] |= users[line] < 0 and (
                traits[0] != 0
                or traits[3] != 0
                or not _is_shaped(buffer, starts[line, 0], stops[line, 0], shape)
            )
    mended = np.zeros(LONGEST + PAD, np.uint8)
    for line in range(len(users)):
        if odd[line] and users[line] != NO_ROW:
            users[line] = _checked(
                buffer, starts[line, 0], stops[line, 0], known, users[line], mended, line, tally
            )


@compiled
def _is_shaped(buffer: Any, start: int, stop: int, shape: Any) -> bool:
    """Return whether an id is written with the letters it should be, and has so many."""
    plain = shape[256] == 0 or stop - start == shape[256]
    for at in range(start, stop):
        plain &= shape[buffer[at]] != 0
    return bool(plain)


@compiled
def _checked(
    buffer: Any, begin: int, end: int, known: Any, code: int, mended: Any, line: int, tally: Any
) -> int:
    """Note what is wrong with an id, one fault; return its code, or that of what it was."""
    start, stop = trimmed(buffer, begin, end)
    if start == stop:
        faults.note(tally, faults.NO_ID, line, begin, end)
        return NO_ID
    padded = start > begin or stop < end
    strange, complete = code < 0, known[1][0] != 0
    if strange and known[1][3] != 0:
        code, _marks, _length, _spelling = restored(buffer, start, stop, known, mended)
    if strange and code >= 0:
        faults.note(tally, faults.MANGLED_ID, line, start, stop)
    elif strange and complete:
        faults.note(tally, faults.UNKNOWN_ID, line, start, stop)
    elif padded:
        faults.note(tally, faults.PADDED_ID, line, begin, end)
    elif strange and known[1][3] == 0:
        faults.note(tally, faults.ODD_ID, line, start, stop)
    return code
