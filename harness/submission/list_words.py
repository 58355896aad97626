"""Lists into words: where each begins and ends, its key, and its code."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compiled import compiled
from harness.submission.damage import LONGEST, is_plain
from harness.submission.lines import NO_ROW
from harness.submission.respell import is_cased
from harness.submission.words import PAD, find, key, look_up


@compiled
def room(words: int) -> Any:
    """Return arrays for so many words: first byte, byte behind the last, key, code."""
    return (
        np.empty(words, np.int64),
        np.empty(words, np.int64),
        np.empty(words, np.uint64),
        np.empty(words, np.uint64),
        np.empty(words, np.int32),
    )


@compiled
def find_words(
    buffer: Any,
    starts: Any,
    stops: Any,
    users: Any,
    group: int,
    line: int,
    between: int,
    secret: Any,
    words: Any,
    ends: Any,
) -> int:
    """Find the words of the lists of some lines; return how many there are."""
    begin, end, first, second, _code = words
    held = 0
    for row in range(group, line):
        at, stop = starts[row, 1], stops[row, 1]
        while users[row] != NO_ROW and at < stop:
            next_ = find(buffer, at, stop, between)
            if next_ > at:
                begin[held], end[held] = at, next_
                first[held], second[held] = key(buffer, at, next_, secret)
                held += 1
            at = next_ + 1
        ends[row - group + 1] = held
    return held


@compiled
def look_words_up(words: Any, held: int, known: Any) -> None:
    """Look words up, all together: the processor waits for many at a time; −1 is not known."""
    _begin, _end, first, second, code = words
    table, traits, _secret = known
    if traits[3] == 0:
        code[:held] = -1
        return
    for word in range(held):
        code[word] = look_up(first[word], second[word], table)


@compiled
def number_words(buffer: Any, words: Any, ends: Any, rows: int, known: Any) -> None:
    """Where others may be, give plain ones numbers behind the known; −1 is to be looked at.

    A plain one that is known in another case is looked at too.
    """
    begin, end, _first, _second, code = words
    digits, width, size = known[1][1] != 0, known[1][2], known[1][3]
    cased, spelt = size > 0 and not digits, np.empty(LONGEST + PAD, np.uint8)
    for row in range(rows):
        for word in range(ends[row], ends[row + 1]):
            start, stop = begin[word], end[word]
            if code[word] >= 0 or not is_plain(buffer, start, stop, digits, width):
                continue
            if not cased or not is_cased(buffer, start, stop, known, spelt):
                code[word] = size + word - ends[row]
