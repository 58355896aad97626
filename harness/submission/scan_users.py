"""The users of a block's lines: codes of those that are known, keys of all, each admitted once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from harness.core.arrays import Bool, Int32, Int64, UInt64
from harness.core.ids import KeyTable, look_up
from harness.core.jit import compiled
from harness.submission import faults
from harness.submission.fields import NO_ROW, USER, trimmed
from harness.submission.keys import PAD, key
from harness.submission.repair import LONGEST, restored

STRANGER, NO_ID = -1, -3
"""The user of a row whose id is not known, and is empty."""


class Shape(NamedTuple):
    """What ids look like.

    Attributes
    ----------
    letters : bool array, (256,)
        Whether each byte may stand in one.
    length : int
        How many bytes it has; 0: any number.
    """

    letters: Bool
    length: int


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
    shape : Shape
        What ids that are not known look like.
    users : int32 array, (lines,)
        Takes codes, STRANGER where the user is not known, NO_ID where there is no id; lines that
        are no rows are passed over.
    keys : uint64 array, (lines, 2)
        Takes the key of every id.
    sound : bool array, (lines,)
        Takes whether the id stands there as it should, so that the line's list is the user's.
    """
    odd = np.zeros(len(users), np.bool_)
    for line in range(len(users)):
        start, stop = trimmed(buffer, starts[line, USER], stops[line, USER])
        keys[line, 0], keys[line, 1] = key(buffer, start, stop, known.secret)
        odd[line] = start == stop or start > starts[line, USER] or stop < stops[line, USER]
    for line in range(len(users)):  # apart, so that the processor waits for many at a time
        if users[line] != NO_ROW:
            users[line] = look_up(keys[line, 0], keys[line, 1], known.table)
            sound[line] = users[line] >= 0 and not odd[line]
            odd[line] |= users[line] < 0 and (
                known.complete
                or known.size > 0
                or not _is_shaped(buffer, starts[line, USER], stops[line, USER], shape)
            )
    mended = np.zeros(LONGEST + PAD, np.uint8)
    for line in range(len(users)):
        if odd[line] and users[line] != NO_ROW:
            users[line] = _checked(
                buffer,
                starts[line, USER],
                stops[line, USER],
                known,
                users[line],
                mended,
                line,
                tally,
            )


@compiled
def _is_shaped(buffer: Any, start: int, stop: int, shape: Any) -> bool:
    """Return whether an id is written with the letters it should be, and has so many."""
    plain = shape.length == 0 or stop - start == shape.length
    for at in range(start, stop):
        plain &= shape.letters[buffer[at]]
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
    strange = code < 0
    if strange and known.size > 0:
        code, _marks, _length, _spelling = restored(buffer, start, stop, known, mended)
    if strange and code >= 0:
        faults.note(tally, faults.MANGLED_ID, line, start, stop)
    elif strange and known.complete:
        faults.note(tally, faults.UNKNOWN_ID, line, start, stop)
    elif padded:
        faults.note(tally, faults.PADDED_ID, line, begin, end)
    elif strange and known.size == 0:
        faults.note(tally, faults.ODD_ID, line, start, stop)
    return code


_OTHER, _SAME = 1, 2
_FEW = 1 << 10


class Again(NamedTuple):
    """Lines of a block whose users were there before, with another list and with the same one."""

    other: Int64
    same: Int64


class Admitted:
    """Which users a file has.

    Attributes
    ----------
    known, torn : bool arrays, one a known user
        Who has a row, and who has a line that is none.
    rows : int
    """

    def __init__(self, n_known: int) -> None:
        self.known: Bool = np.zeros(n_known, np.bool_)
        self.torn: Bool = np.zeros(n_known, np.bool_)
        self.rows = 0
        self._lists = np.zeros(n_known, np.uint64)
        self._strangers = KeyTable()
        self._strange_lists = np.zeros(_FEW, np.uint64)

    @property
    def strangers(self) -> int:
        """How many users are not known."""
        return len(self._strangers)

    def admit(self, users: Int32, keys: UInt64, lists: UInt64) -> Again:
        """Take in the users of a block's lines, and keys of what else stands there."""
        self.rows += int(np.count_nonzero(users != NO_ROW))
        again = np.zeros(len(users), np.int8)
        _admit(users, lists, self.known, self._lists, again)
        strange = np.flatnonzero(users == STRANGER)
        if len(strange) > 0:
            before = self.strangers
            codes = self._strangers.codes(np.ascontiguousarray(keys[strange]))
            self._room(self.strangers)
            new = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1] < codes
            self._strange_lists[codes[new]] = lists[strange[new]]
            same = self._strange_lists[codes] == lists[strange]
            again[strange] = np.where(new, 0, np.where(same, _SAME, _OTHER))
        return Again(np.flatnonzero(again == _OTHER), np.flatnonzero(again == _SAME))

    def _room(self, strangers: int) -> None:
        if strangers > len(self._strange_lists):
            more = np.zeros(2 * strangers, np.uint64)
            more[: len(self._strange_lists)] = self._strange_lists
            self._strange_lists = more


@compiled
def _admit(users: Any, lists: Any, known: Any, first: Any, again: Any) -> None:
    for line in range(len(users)):
        user = users[line]
        if user >= 0:
            if known[user]:
                again[line] = _SAME if first[user] == lists[line] else _OTHER
            else:
                known[user], first[user] = True, lists[line]
