"""The items of a block's lists: where each begins and ends, its key, its code, and its faults."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from harness.core.arrays import Int32, Int64, UInt64
from harness.core.ids import look_up
from harness.core.jit import compiled
from harness.submission import faults
from harness.submission.fields import LIST, NO_ROW
from harness.submission.keys import PAD, find, key
from harness.submission.repair import AS_IT_IS, DECIMAL, LONGEST, is_cased, is_plain, restored

_GROUP = 64
"""Lines whose items are looked up together: the processor waits for many at a time."""
_WORDS = 2048
_STAMPS = 256
_COMPARED = 32
"""Items of a list that are compared with each other; a longer list is sorted."""
_SUM = np.uint64(0x9E3779B97F4A7C15)


class Words(NamedTuple):
    """The items of some lists.

    Attributes
    ----------
    begin, end : int64 arrays
        First byte, and the byte behind the last.
    first, second : uint64 arrays
        The key.
    code : int32 array
        −1 where it is not known.
    """

    begin: Int64
    end: Int64
    first: UInt64
    second: UInt64
    code: Int32


class Lists(NamedTuple):
    """Lists that are kept.

    Attributes
    ----------
    rows : int32 array
        The row of the truth that each belongs to.
    ends : int64 array
        Where each ends in `items`.
    items : int32 array
        Codes; one that is not known has the number of known items + its first rank in the list.
    """

    rows: Int32
    ends: Int64
    items: Int32


class Read(NamedTuple):
    """How many lists and items are kept; a sum over the first list, and how many have the same."""

    n_lists: int
    n_items: int
    first_sum: int
    n_same: int


@compiled
def read(
    buffer: Any,
    starts: Any,
    stops: Any,
    users: Any,
    wanted: Any,
    between: int,
    width: int,
    kept: int,
    known: Any,
    tally: Any,
    lists: Any,
) -> Read:
    """Read every line's list.

    Parameters
    ----------
    wanted : int32 array, (lines,)
        The row of the truth that a line's list belongs to; −1: it is checked and not kept.
    between : int
        The byte between items.
    width, kept : int
        Positions that a list may have, and those that are kept.
    lists : Lists
        Takes the lists that are kept.
    """
    words = room(_WORDS)
    ends, odd = np.zeros(_GROUP + 1, np.int64), np.zeros(_GROUP, np.bool_)
    mended, stamps = np.zeros(LONGEST + PAD, np.uint8), np.zeros(_STAMPS, np.int64)
    zero: Any = np.int64(0)  # the type of a literal 0 would have callees compiled twice
    line = n_lists = n_items = n_same = zero
    first_sum: Any = np.uint64(0)
    while line < len(users):
        group = line
        line, most = _group(starts, stops, group, len(words.code))
        if most > len(words.code):
            words = room(most)
        held = find_words(
            buffer, starts, stops, users, group, line, between, known.secret, words, ends
        )
        look_words_up(words, held, known)
        if not known.complete:
            number_words(buffer, words, ends, line - group, known)
        _find_odd(starts, stops, users, group, line, width, words, ends, stamps, odd)
        for row in range(group, line):
            if odd[row - group]:
                start, stop = ends[row - group], ends[row - group + 1]
                _check(buffer, starts, stops, row, width, known, words, start, stop, mended, tally)
        first_sum, n_same = _compare(users, group, line, words.first, ends, first_sum, n_same)
        n_lists, n_items = _keep(
            users, wanted, group, line, kept, words.code, ends, lists, n_lists, n_items
        )
    return Read(n_lists, n_items, first_sum, n_same)


@compiled
def _group(starts: Any, stops: Any, group: int, most_words: int) -> tuple[int, int]:
    """Return the line behind those that go together, and how many words they have at most."""
    most = 0
    for line in range(group, min(group + _GROUP, len(starts))):
        own = (stops[line, LIST] - starts[line, LIST]) // 2 + 1
        if most > 0 and most + own > most_words:
            return line, most
        most += own
    return min(group + _GROUP, len(starts)), most


@compiled
def _find_odd(
    starts: Any,
    stops: Any,
    users: Any,
    group: int,
    line: int,
    width: int,
    words: Any,
    ends: Any,
    stamps: Any,
    odd: Any,
) -> None:
    """Find the lines whose lists are to be looked at closely; with all others nothing is wrong.

    A stamp of the same line may be another item's: that no item stands twice is certain, that one
    does is not.
    """
    begin, end, first, code = words.begin, words.end, words.first, words.code
    for row in range(group, line):
        start, stop = np.uint64(ends[row - group]), np.uint64(ends[row - group + 1])
        letters, unknown, twice = 0, np.int32(0), 0
        for word in range(start, stop):
            letters += end[word] - begin[word]
            unknown |= code[word]
        for word in range(start, stop):
            stamp = first[word] & np.uint64(_STAMPS - 1)
            twice |= int(stamps[stamp] == row + 1)
            stamps[stamp] = row + 1
        held = int(stop) - int(start)
        spaced = stops[row, LIST] - starts[row, LIST] != letters + held - 1
        wrong = held < 2 or held > width or unknown < 0 or twice != 0 or spaced
        odd[row - group] = wrong and users[row] != NO_ROW


@compiled
def _compare(
    users: Any, group: int, line: int, first: Any, ends: Any, first_sum: Any, n_same: int
) -> tuple[Any, int]:
    """Count the lists that are like the first one, by a sum that depends on their order.

    Return the sum of the first list, and how many have it now.
    """
    for row in range(group, line):
        if users[row] == NO_ROW:
            continue
        start, stop = np.uint64(ends[row - group]), np.uint64(ends[row - group + 1])
        total = stop - start
        for word in range(start, stop):
            total = (total ^ first[word]) * _SUM
        if n_same == 0:
            first_sum = total
        n_same += total == first_sum
    return first_sum, n_same


@compiled
def _keep(
    users: Any,
    wanted: Any,
    group: int,
    line: int,
    kept: int,
    code: Any,
    ends: Any,
    lists: Any,
    n_lists: int,
    n_items: int,
) -> tuple[int, int]:
    """Copy the lists that are wanted; return how many there are now, and how many items."""
    for row in range(group, line):
        if users[row] == NO_ROW or wanted[row] < 0:
            continue
        start, stop = ends[row - group], ends[row - group + 1]
        for word in range(start, min(stop, start + kept)):
            lists.items[n_items] = code[word]
            n_items += 1
        lists.rows[n_lists], lists.ends[n_lists] = wanted[row], n_items
        n_lists += 1
    return n_lists, n_items


@compiled
def _check(
    buffer: Any,
    starts: Any,
    stops: Any,
    line: int,
    width: int,
    known: Any,
    words: Any,
    start: int,
    stop: int,
    mended: Any,
    tally: Any,
) -> None:
    """Note what is wrong with a list; give items that are not known their codes."""
    begin, end, code = words.begin, words.end, words.code
    at, behind, held = starts[line, LIST], stops[line, LIST], stop - start
    if held == 0:
        faults.note(tally, faults.EMPTY, line, at, behind)
        return
    if held == 1:
        faults.note(tally, faults.ONE_ITEM, line, at, behind)
    if held > width:
        faults.note(tally, faults.LONG, line, at, behind)
    letters, noted = 0, 0
    for word in range(start, stop):
        letters += end[word] - begin[word]
        if code[word] < 0:
            noted = _unknown(buffer, begin[word], end[word], known, mended, noted, line, tally)
            code[word] = known.size + word - start
    if behind - at != letters + held - 1:  # else one byte stands between items, and none around
        faults.note(tally, faults.SPACES, line, at, behind)
    _note_repeats(words, start, stop, noted, line, tally)


@compiled
def _note_repeats(words: Any, start: int, stop: int, noted: int, line: int, tally: Any) -> None:
    """Note items that an earlier rank holds, and give them its code."""
    begin, end, code = words.begin, words.end, words.code
    earliest = _earliest(words.first, start, stop)
    for word in range(start, stop):
        before = earliest[word - start]
        if before != word:
            noted = faults.note_once(tally, faults.REPEATED, noted, line, begin[word], end[word])
            code[word] = code[before]


@compiled
def _earliest(first: Any, start: int, stop: int) -> Any:
    """Return the first word that is the same item as each of the words from `start` to `stop`."""
    earliest = np.arange(start, stop)
    if stop - start <= _COMPARED:
        for word in range(start + 1, stop):
            for before in range(start, word):
                if first[before] == first[word]:
                    earliest[word - start] = before
                    break
        return earliest
    order = np.argsort(first[start:stop], kind="mergesort")  # equal ones stay in their order
    for at in range(1, len(order)):
        word, before = order[at], order[at - 1]
        if first[start + word] == first[start + before]:
            earliest[word] = earliest[before]
    return earliest


@compiled
def _unknown(
    buffer: Any, start: int, stop: int, known: Any, mended: Any, noted: int, line: int, tally: Any
) -> int:
    """Note what is wrong with an item that is not known."""
    complete = known.complete
    own, wrong, length, spelling = restored(buffer, start, stop, known, mended)
    strange = complete and (wrong == 0 or wrong & 1 << faults.MISSHAPEN != 0)
    if not complete and not known.telling:
        wrong &= ~(1 << faults.MISSHAPEN)
    if complete and length > 0 and own < 0:
        strange = True
        wrong &= ~(1 << faults.ZEROS_LOST)
    if spelling != AS_IT_IS:
        strange = False
        wrong |= 1 << (faults.DECIMAL if spelling == DECIMAL else faults.RESPELLED)
    if strange:
        wrong = (wrong & ~(1 << faults.MISSHAPEN)) | 1 << faults.UNKNOWN_ITEM
    for fault in range(faults.FIRST_OF_ITEMS, faults.COUNT):
        if wrong & 1 << fault:
            noted = faults.note_once(tally, fault, noted, line, start, stop)
    return noted


@compiled
def room(words: int) -> Any:
    """Return arrays for so many words."""
    return Words(
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
    begin, end, first, second = words.begin, words.end, words.first, words.second
    held = 0
    for row in range(group, line):
        at, stop = starts[row, LIST], stops[row, LIST]
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
    if known.size == 0:
        words.code[:held] = -1
        return
    for word in range(held):
        words.code[word] = look_up(words.first[word], words.second[word], known.table)


@compiled
def number_words(buffer: Any, words: Any, ends: Any, rows: int, known: Any) -> None:
    """Where others may be, give plain ones numbers behind the known; −1 is to be looked at.

    A plain one that is known in another case is looked at too.
    """
    begin, end, code = words.begin, words.end, words.code
    digits, width = known.digits, known.width
    cased, spelt = known.size > 0 and not digits, np.empty(LONGEST + PAD, np.uint8)
    for row in range(rows):
        for word in range(ends[row], ends[row + 1]):
            start, stop = begin[word], end[word]
            if code[word] >= 0 or not is_plain(buffer, start, stop, digits, width):
                continue
            if not cased or not is_cased(buffer, start, stop, known, spelt):
                code[word] = known.size + word - ends[row]
