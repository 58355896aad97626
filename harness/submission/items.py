"""The lists of a block's lines: codes of their items, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compiled import compiled
from harness.submission import faults
from harness.submission.damage import LONGEST, damage
from harness.submission.lines import NO_ROW
from harness.submission.words import PAD, find, key, look_up

_GROUP = 64
"""Lines whose items are looked up together: the processor waits for many at a time."""
_WORDS = 2048
_COMPARED = 32
"""Items of a list that are compared with each other; a longer list is sorted."""
_SUM = np.uint64(0x9E3779B97F4A7C15)


@compiled
def read(
    buffer: Any,
    starts: Any,
    stops: Any,
    users: Any,
    wanted: Any,
    between: int,
    width: int,
    known: Any,
    tally: Any,
    lists: Any,
    same: Any,
) -> tuple[int, int]:
    """Read every line's list; return how many are kept, and how many items they hold.

    Parameters
    ----------
    wanted : int32 array, (lines,)
        The row of the truth that a line's list belongs to; −1: it is checked and not kept.
    between : int
        The byte between items.
    width : int
        Places that are read; the others are counted.
    lists : (rows, ends, items) arrays
        Take, for each list that is kept, the row of the truth, where its items end, and all items:
        codes; one that is not known has the number of known items + its first place in the list.
    same : uint64 array, (2,)
        Takes a sum over the first list, and how many lists have the same.
    """
    slots, ids, _traits = known
    begin, end = np.empty(_WORDS, np.int64), np.empty(_WORDS, np.int64)
    first, second = np.empty(_WORDS, np.uint64), np.empty(_WORDS, np.uint64)
    code = np.empty(_WORDS, np.int32)
    ends = np.empty(_GROUP + 1, np.int64)
    mended = np.zeros(LONGEST + PAD, np.uint8)
    line = n_lists = n_cells = 0
    while line < len(users):
        group, held = line, 0
        ends[0] = 0
        while line < len(users) and line - group < _GROUP:
            if users[line] != NO_ROW:
                most = held + (stops[line, 1] - starts[line, 1]) // 2 + 1
                if most > len(code):
                    if line > group:
                        break
                    begin, end = np.empty(most, np.int64), np.empty(most, np.int64)
                    first, second = np.empty(most, np.uint64), np.empty(most, np.uint64)
                    code = np.empty(most, np.int32)
                held = _words(
                    buffer,
                    starts[line, 1],
                    stops[line, 1],
                    between,
                    (begin, end, first, second),
                    held,
                )
            line += 1
            ends[line - group] = held
        for word in range(held):
            code[word] = look_up(first[word], second[word], slots, ids)
        for row in range(group, line):
            if users[row] == NO_ROW:
                continue
            start, stop = ends[row - group], ends[row - group + 1]
            _check(
                buffer,
                starts[row, 1],
                stops[row, 1],
                row,
                width,
                known,
                (begin[start:stop], end[start:stop], first[start:stop], code[start:stop]),
                mended,
                tally,
            )
            total = np.uint64(stop - start)
            for word in range(start, stop):
                total = (total ^ first[word]) * _SUM
            if same[1] == 0:
                same[0] = total
            same[1] += total == same[0]
            if wanted[row] >= 0:
                kept = min(width, stop - start)
                lists[2][n_cells : n_cells + kept] = code[start : start + kept]
                n_cells += kept
                lists[0][n_lists], lists[1][n_lists] = wanted[row], n_cells
                n_lists += 1
    return n_lists, n_cells


@compiled
def _words(buffer: Any, at: int, stop: int, between: int, words: Any, held: int) -> int:
    """Find the words of a list and their keys; return how many there are now."""
    begin, end, first, second = words
    while at < stop:
        next_ = find(buffer, at, stop, between)
        if next_ > at:
            begin[held], end[held] = at, next_
            first[held], second[held] = key(buffer, at, next_)
            held += 1
        at = next_ + 1
    return held


@compiled
def _check(
    buffer: Any,
    begin: int,
    end: int,
    line: int,
    width: int,
    known: Any,
    words: Any,
    mended: Any,
    tally: Any,
) -> None:
    """Note what is wrong with a list; give items that are not known their codes."""
    starts, stops, first, code = words
    held = len(code)
    if held == 0:
        faults.note(tally, faults.EMPTY, line, begin, end)
        return
    if held == 1:
        faults.note(tally, faults.ONE_ITEM, line, begin, end)
    if held > width:
        faults.note(tally, faults.LONG, line, begin, end)
    # Between words stands one byte, and none before and behind them.
    letters = 0
    for word in range(held):
        letters += stops[word] - starts[word]
    if end - begin != letters + held - 1:
        faults.note(tally, faults.SPACES, line, begin, end)
    marks = 0
    for word in range(held):
        if code[word] < 0:
            marks = _unknown(buffer, starts[word], stops[word], known, mended, marks, line, tally)
            code[word] = len(known[1]) + word
    if held <= _COMPARED or _any_twice(first):
        _note_repeats(starts, stops, first, code, marks, line, tally)


@compiled
def _any_twice(first: Any) -> bool:
    ordered = np.sort(first)
    for word in range(1, len(ordered)):
        if ordered[word] == ordered[word - 1]:
            return True
    return False


@compiled
def _note_repeats(
    starts: Any, stops: Any, first: Any, code: Any, marks: int, line: int, tally: Any
) -> None:
    """Note items that an earlier place holds, and give them its code."""
    if len(first) > _COMPARED:
        _note_many_repeats(starts, stops, first, code, marks, line, tally)
        return
    for word in range(1, len(first)):
        again = 0
        for before in range(word):
            again += first[before] == first[word]
        if again > 0:
            marks = faults.mark(tally, faults.REPEATED, marks, line, starts[word], stops[word])
            for before in range(word):
                if first[before] == first[word]:
                    code[word] = code[before]
                    break


@compiled
def _note_many_repeats(
    starts: Any, stops: Any, first: Any, code: Any, marks: int, line: int, tally: Any
) -> None:
    order = np.argsort(first, kind="mergesort")  # equal ones stay in their order
    earliest = np.arange(len(first))
    for place in range(1, len(order)):
        word, before = order[place], order[place - 1]
        if first[word] == first[before]:
            earliest[word] = earliest[before]
    for word in range(len(first)):
        if earliest[word] != word:
            marks = faults.mark(tally, faults.REPEATED, marks, line, starts[word], stops[word])
            code[word] = code[earliest[word]]


@compiled
def _unknown(
    buffer: Any, start: int, stop: int, known: Any, mended: Any, marks: int, line: int, tally: Any
) -> int:
    """Note what is wrong with an item that is not known."""
    slots, ids, traits = known
    complete = traits[0] != 0
    wrong, length = damage(buffer, start, stop, traits[1] != 0, traits[2], mended)
    strange = complete and (wrong == 0 or wrong & 1 << faults.MISSHAPEN != 0)
    if complete and length > 0:
        first, second = key(mended, 0, length)
        if look_up(first, second, slots, ids) < 0:
            strange = True
            wrong &= ~(1 << faults.ZEROS_LOST)
    if strange:
        wrong = (wrong & ~(1 << faults.MISSHAPEN)) | 1 << faults.UNKNOWN_ITEM
    for fault in range(faults.FIRST_OF_ITEMS, faults.COUNT):
        if wrong & 1 << fault:
            marks = faults.mark(tally, fault, marks, line, start, stop)
    return marks
