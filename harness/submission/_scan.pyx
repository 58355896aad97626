"""Loops over a block of lines: its fields, its users, its lists, and what is wrong with each."""

import numpy as np
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from harness.core._kernels cimport fetch, look_up
from harness.core._vector cimport count_byte, count_odd
from harness.submission cimport faults
from harness.submission._keys cimport PAD, Ids, check, find, find_in, key
from harness.submission._repair cimport (
    AS_IT_IS, DECIMAL, Restored, Room, is_other, restore,
)
from harness.submission._scan cimport LIST, NO_ID, NO_ROW, ORDER, STRANGER, USER, trim
from harness.submission.faults cimport Tally

cdef enum:
    GROUP = 64  # lines whose items are looked up together: the processor waits for many at a time
    STAMPS = 256


def count_lines(const uint8_t[::1] buffer, Py_ssize_t size, uint8_t end):
    """Return how many bytes end a line."""
    cdef Py_ssize_t lines
    with nogil:
        check(buffer, 0, size)
        lines = count_byte(&buffer[0], size, end)
    return lines


def cut(
    const uint8_t[::1] buffer,
    Py_ssize_t size,
    uint8_t separator,
    uint8_t end,
    const int32_t[::1] wanted,
    int64_t[:, ::1] starts,
    int64_t[:, ::1] stops,
    int32_t[::1] users,
    Tally tally,
):
    """Find the wanted fields of every line; `wanted`, `starts` and the others as in `fields`."""
    cdef Py_ssize_t line, at = 0, begin, field, stop, fields = wanted.shape[0]
    cdef bint ends
    with nogil:
        check(buffer, 0, size)
        for line in range(users.shape[0]):
            begin, field, ends = at, 0, False
            while not ends:
                stop = find_in(&buffer[0], at, size, separator, end)
                if stop >= size:
                    raise IndexError(f"line {line} has no end")
                ends = buffer[stop] == end
                if field < fields and wanted[field] >= 0:
                    starts[line, wanted[field]] = at
                    stops[line, wanted[field]] = behind(buffer, at, stop) if ends else stop
                field += 1
                at = stop + 1
            users[line] = 0
            if field != fields:
                users[line] = NO_ROW
                stop = behind(buffer, begin, at - 1)
                tally.note(shape_of(buffer, begin, stop, field < fields), line, begin, stop)


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
        return faults.BLANK
    return faults.TOO_FEW if few else faults.TOO_MANY


def read_users(
    const uint8_t[::1] buffer,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    Ids known,
    const uint8_t[::1] letters,
    Py_ssize_t length,
    int32_t[::1] users,
    uint64_t[:, ::1] keys,
    uint8_t[::1] sound,
    Tally tally,
):
    """Look every line's user up.

    Parameters
    ----------
    letters, length : bool array, (256,), and int
        What ids that are not known are written with, and how many bytes they have; 0: any number.
    users : int32 array, (lines,)
        Takes codes, STRANGER where the user is not known, NO_ID where there is no id; lines that
        are no rows are passed over.
    keys : uint64 array, (lines, 2)
        Takes the key of every id.
    sound : bool array, (lines,)
        Takes whether the id stands there as it should, so that the line's list is the user's.
    """
    cdef Py_ssize_t line, start, stop
    cdef Room room = Room()
    cdef uint8_t[::1] odd = np.zeros(len(users), np.uint8)
    if keys.shape[1] != 2 or letters.shape[0] != 256:
        raise ValueError("a key has two numbers, and a byte 256 values")
    with nogil:
        for line in range(users.shape[0]):
            start, stop = starts[line, USER], stops[line, USER]
            trim(buffer, &start, &stop)
            key(buffer, start, stop, known.low, known.high, &keys[line, 0])
            fetch(keys[line, 0], known.table)
            odd[line] = start == stop or start > starts[line, USER] or stop < stops[line, USER]
        for line in range(users.shape[0]):  # apart, so that the processor waits for many at a time
            if users[line] != NO_ROW:
                users[line] = look_up(keys[line, 0], keys[line, 1], known.table)
                sound[line] = users[line] >= 0 and not odd[line]
                if users[line] < 0 and not odd[line]:
                    start, stop = starts[line, USER], stops[line, USER]
                    odd[line] = known.complete or not (
                        is_other(buffer, start, stop, known, room)
                        if known.size > 0
                        else is_shaped(buffer, start, stop, letters, length)
                    )
        for line in range(users.shape[0]):
            if odd[line] and users[line] != NO_ROW:
                users[line] = checked(
                    buffer, starts[line, USER], stops[line, USER], known, users[line], room, line, tally
                )


cdef int is_shaped(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    const uint8_t[::1] letters,
    Py_ssize_t length,
) except -1 nogil:
    """Return whether an id is written with the letters it should be, and has so many."""
    cdef bint plain = length == 0 or stop - start == length
    cdef Py_ssize_t at
    for at in range(start, stop):
        plain &= letters[buffer[at]]
    return plain


cdef int32_t checked(
    const uint8_t[::1] buffer,
    Py_ssize_t begin,
    Py_ssize_t end,
    Ids known,
    int32_t code,
    Room room,
    Py_ssize_t line,
    Tally tally,
) except -4 nogil:
    """Note what is wrong with an id, one fault; return its code, or that of what it was."""
    cdef Py_ssize_t start = begin, stop = end
    cdef bint strange = code < 0
    cdef Restored found
    trim(buffer, &start, &stop)
    if start == stop:
        tally.note(faults.NO_ID, line, begin, end)
        return NO_ID
    if strange and known.size > 0:
        restore(buffer, start, stop, known, room, &found)
        code = found.code
    if strange and code >= 0:
        tally.note(faults.MANGLED_ID, line, start, stop)
    elif strange and known.complete:
        tally.note(faults.UNKNOWN_ID, line, start, stop)
    elif start > begin or stop < end:
        tally.note(faults.PADDED_ID, line, begin, end)
    elif strange and known.size == 0:
        tally.note(faults.ODD_ID, line, start, stop)
    return code


def admit(
    const int32_t[::1] users,
    const uint64_t[::1] lists,
    uint8_t[::1] known,
    uint64_t[::1] first,
    int8_t[::1] again,
):
    """Note which known users were there before: 1 with another list, 2 with the same."""
    cdef Py_ssize_t line
    cdef int32_t user
    with nogil:
        for line in range(users.shape[0]):
            user = users[line]
            if user >= 0:
                if known[user]:
                    again[line] = 2 if first[user] == lists[line] else 1
                else:
                    known[user], first[user] = True, lists[line]


cdef class Words:
    """The items of some lists: first byte and the byte behind the last, key, code (−1: unknown)."""

    cdef int64_t[::1] begin, end
    cdef uint64_t[:, ::1] keys
    cdef int32_t[::1] code
    cdef int32_t[::1] slots  # a hash table of words of one list, a power of two

    def __init__(self, Py_ssize_t words):
        self.reserve(words)

    cdef int reserve(self, Py_ssize_t words) except -1:
        """Make room for so many words."""
        self.begin, self.end = np.empty(words, np.int64), np.empty(words, np.int64)
        self.keys = np.empty((words, 2), np.uint64)
        self.code = np.empty(words, np.int32)
        self.slots = np.empty(1 << (2 * int(words)).bit_length(), np.int32)
        return 0


def read_items(
    const uint8_t[::1] buffer,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    const int32_t[::1] users,
    const int32_t[::1] wanted,
    uint8_t between,
    Py_ssize_t width,
    Py_ssize_t kept,
    Ids known,
    Tally tally,
    int32_t[::1] rows,
    int64_t[::1] list_ends,
    int32_t[::1] items,
):
    """Read every line's list.

    Parameters
    ----------
    wanted : int32 array, (lines,)
        The row of the truth that a line's list belongs to; −1: it is checked and not kept.
    between : int
        The byte between items.
    width, kept : int
        Positions that a list may have, and those that are kept.
    rows : int32 array
        Takes the row of the truth that each list that is kept belongs to.
    list_ends : int64 array
        Takes where each ends in `items`.
    items : int32 array
        Takes codes; an item that is not known has the number of known items + its first rank in
        the list.

    Returns
    -------
    n_lists, n_items, first_sum, n_same : int
        How many lists and items are kept; a sum over the first list, and how many have the same.
    """
    cdef Words words = Words(2048)
    cdef Room room = Room()
    cdef int64_t[::1] ends = np.zeros(GROUP + 1, np.int64)
    cdef uint8_t[::1] odd = np.zeros(GROUP, np.uint8)
    cdef int64_t[::1] stamps = np.zeros(STAMPS, np.int64)
    cdef Py_ssize_t line = 0, group, most, row, start, stop, word, n_lists = 0, n_items = 0, n_same = 0
    cdef uint64_t first_sum = 0, total
    with nogil:
        while line < users.shape[0]:
            group = line
            line = end_of_group(starts, stops, group, words.code.shape[0], &most)
            if most > words.code.shape[0]:
                with gil:
                    words.reserve(most)
            find_words(buffer, starts, stops, users, group, line, between, known, words, ends)
            look_words_up(words, ends[line - group], known)
            if not known.complete:
                number_words(buffer, words, ends, line - group, known, room)
            find_odd(starts, stops, users, group, line, width, words, ends, stamps, odd)
            for row in range(group, line):
                if users[row] == NO_ROW:
                    continue
                start, stop = ends[row - group], ends[row - group + 1]
                if odd[row - group]:
                    check_list(
                        buffer, starts[row, LIST], stops[row, LIST], row, width, known, words,
                        start, stop, room, tally,
                    )
                total = sum_of(words, start, stop)
                if n_same == 0:
                    first_sum = total
                n_same += total == first_sum
                if wanted[row] < 0:
                    continue
                for word in range(start, min(stop, start + kept)):
                    items[n_items] = words.code[word]
                    n_items += 1
                rows[n_lists], list_ends[n_lists] = wanted[row], n_items
                n_lists += 1
    return n_lists, n_items, first_sum, n_same


cdef Py_ssize_t end_of_group(
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    Py_ssize_t group,
    Py_ssize_t most_words,
    Py_ssize_t* most,
) except -1 nogil:
    """Return the line behind those that go together; tell how many words they have at most."""
    cdef Py_ssize_t line, own, last = min(group + GROUP, starts.shape[0])
    most[0] = 0
    for line in range(group, last):
        own = ((stops[line, LIST] - starts[line, LIST]) >> 1) + 1
        if most[0] > 0 and most[0] + own > most_words:
            return line
        most[0] += own
    return last


cdef int find_words(
    const uint8_t[::1] buffer,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    const int32_t[::1] users,
    Py_ssize_t group,
    Py_ssize_t line,
    uint8_t between,
    Ids known,
    Words words,
    int64_t[::1] ends,
) except -1 nogil:
    """Find the words of the lists of some lines, and their keys."""
    cdef Py_ssize_t row, at, stop, behind_, held = 0
    for row in range(group, line):
        at, stop = starts[row, LIST], stops[row, LIST]
        while users[row] != NO_ROW and at < stop:
            behind_ = find(buffer, at, stop, between)
            if behind_ > at:
                words.begin[held], words.end[held] = at, behind_
                key(buffer, at, behind_, known.low, known.high, &words.keys[held, 0])
                fetch(words.keys[held, 0], known.table)
                held += 1
            at = behind_ + 1
        ends[row - group + 1] = held
    return 0


cdef int look_words_up(Words words, Py_ssize_t held, Ids known) except -1 nogil:
    """Look words up, all together: the processor waits for many at a time; −1 is not known."""
    cdef Py_ssize_t word
    for word in range(held):
        words.code[word] = (
            -1 if known.size == 0 else look_up(words.keys[word, 0], words.keys[word, 1], known.table)
        )
    return 0


cdef int number_words(
    const uint8_t[::1] buffer,
    Words words,
    const int64_t[::1] ends,
    Py_ssize_t rows,
    Ids known,
    Room room,
) except -1 nogil:
    """Where others may be, give plain ones numbers behind the known; −1 is to be looked at.

    A plain one that is known in another case is looked at too.
    """
    cdef Py_ssize_t row, word, start, stop
    for row in range(rows):
        for word in range(ends[row], ends[row + 1]):
            start, stop = words.begin[word], words.end[word]
            if words.code[word] >= 0:
                continue
            if is_other(buffer, start, stop, known, room):
                words.code[word] = <int32_t>(known.size + word - ends[row])
    return 0


cdef int find_odd(
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    const int32_t[::1] users,
    Py_ssize_t group,
    Py_ssize_t line,
    Py_ssize_t width,
    Words words,
    const int64_t[::1] ends,
    int64_t[::1] stamps,
    uint8_t[::1] odd,
) except -1 nogil:
    """Find the lines whose lists are to be looked at closely; with all others nothing is wrong.

    A stamp of the same line may be another item's: that no item stands twice is certain, that one
    does is not.
    """
    cdef Py_ssize_t row, word, held, letters
    cdef uint64_t stamp
    cdef int32_t unknown
    cdef bint twice
    for row in range(group, line):
        held = ends[row - group + 1] - ends[row - group]
        letters, unknown, twice = 0, 0, False
        for word in range(ends[row - group], ends[row - group + 1]):
            letters += words.end[word] - words.begin[word]
            unknown |= words.code[word]
            stamp = words.keys[word, 0] & (STAMPS - 1)
            twice |= stamps[stamp] == row + 1
            stamps[stamp] = row + 1
        odd[row - group] = (
            held < 2
            or held > width
            or unknown < 0
            or twice
            or stops[row, LIST] - starts[row, LIST] != letters + held - 1
        )
    return 0


cdef uint64_t sum_of(Words words, Py_ssize_t start, Py_ssize_t stop) except? 1 nogil:
    """Return a sum over a list that depends on its order."""
    cdef uint64_t total = stop - start
    cdef Py_ssize_t word
    for word in range(start, stop):
        total = (total ^ words.keys[word, 0]) * <uint64_t>0x9E3779B97F4A7C15u
    return total


cdef int check_list(
    const uint8_t[::1] buffer,
    Py_ssize_t at,
    Py_ssize_t behind_,
    Py_ssize_t line,
    Py_ssize_t width,
    Ids known,
    Words words,
    Py_ssize_t start,
    Py_ssize_t stop,
    Room room,
    Tally tally,
) except -1 nogil:
    """Note what is wrong with a list; give items that are not known their codes."""
    cdef Py_ssize_t word, held = stop - start, letters = 0
    cdef int noted = 0
    if held == 0:
        return tally.note(faults.EMPTY, line, at, behind_)
    if held == 1:
        tally.note(faults.ONE_ITEM, line, at, behind_)
    if held > width:
        tally.note(faults.LONG, line, at, behind_)
    for word in range(start, stop):
        letters += words.end[word] - words.begin[word]
        if words.code[word] < 0:
            noted = note_unknown(
                buffer, words.begin[word], words.end[word], known, room, noted, line, tally
            )
            words.code[word] = <int32_t>(known.size + word - start)
    if behind_ - at != letters + held - 1:  # else one byte stands between items, and none around
        tally.note(faults.SPACES, line, at, behind_)
    return note_repeats(words, start, stop, noted, line, tally)


cdef int note_repeats(
    Words words, Py_ssize_t start, Py_ssize_t stop, int noted, Py_ssize_t line, Tally tally
) except -1 nogil:
    """Note items that an earlier rank holds, and give them its code."""
    cdef Py_ssize_t word, mask = 1, slot
    cdef int32_t before
    while mask < 2 * (stop - start):
        mask *= 2
    for slot in range(mask):
        words.slots[slot] = -1
    mask -= 1
    for word in range(start, stop):
        slot = <Py_ssize_t>(words.keys[word, 0] & <uint64_t>mask)
        while words.slots[slot] >= 0 and words.keys[words.slots[slot], 0] != words.keys[word, 0]:
            slot = (slot + 1) & mask
        before = words.slots[slot]
        if before < 0:
            words.slots[slot] = <int32_t>word
        else:
            noted = tally.note_once(
                faults.REPEATED, noted, line, words.begin[word], words.end[word]
            )
            words.code[word] = words.code[before]
    return 0


cdef int note_unknown(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    Ids known,
    Room room,
    int noted,
    Py_ssize_t line,
    Tally tally,
) except -1 nogil:
    """Note what is wrong with an item that is not known; return the line's faults so far."""
    cdef Restored found
    cdef int wrong, fault
    cdef bint strange
    restore(buffer, start, stop, known, room, &found)
    wrong = found.marks
    strange = known.complete and (wrong == 0 or wrong & 1 << faults.MISSHAPEN != 0)
    if not known.complete and not known.telling:
        wrong &= ~(1 << faults.MISSHAPEN)
    if known.complete and found.length > 0 and found.code < 0:
        strange = True
        wrong &= ~(1 << faults.ZEROS_LOST)
    if found.spelling != AS_IT_IS:
        strange = False
        wrong |= 1 << (faults.DECIMAL if found.spelling == DECIMAL else faults.RESPELLED)
    if strange:
        wrong = (wrong & ~(1 << faults.MISSHAPEN)) | 1 << faults.UNKNOWN_ITEM
    for fault in range(faults.UNKNOWN_ITEM, faults.COUNT):
        if wrong & 1 << fault:
            noted = tally.note_once(fault, noted, line, start, stop)
    return noted


def survey(const uint8_t[::1] buffer, Py_ssize_t size):
    """Count returns that no line end follows, NULs, and bytes beyond ASCII."""
    cdef Py_ssize_t returns, nuls, beyond
    with nogil:
        check(buffer, 0, size)
        count_odd(&buffer[0], size, &returns, &nuls, &beyond)
    return returns, nuls, beyond


def put(
    const int32_t[::1] rows,
    const int64_t[::1] ends,
    const int32_t[::1] items,
    int32_t[:, ::1] lists,
    uint8_t[::1] taken,
):
    """Put lists into their rows; the first of a row stands."""
    cdef Py_ssize_t at, word, start = 0
    with nogil:
        for at in range(rows.shape[0]):
            if not taken[rows[at]]:
                taken[rows[at]] = True
                for word in range(start, ends[at]):
                    lists[rows[at], word - start] = items[word]
            start = ends[at]


cdef double[23] POWERS
for _power in range(23):
    POWERS[_power] = 10.0 ** _power  # exact


def parse(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    double[::1] numbers,
    uint8_t[::1] left,
):
    """Read plain decimals of up to 15 digits, which one division rounds right; tell all others."""
    cdef Py_ssize_t row, at, stop, digits, behind_
    cdef int64_t whole
    cdef bint negative, point, plain
    cdef uint8_t byte
    with nogil:
        for row in range(starts.shape[0]):
            at, stop = starts[row], stops[row]
            negative = at < stop and buffer[at] == 45
            at += negative
            whole, digits, behind_, point, plain = 0, 0, 0, False, at < stop
            while at < stop:
                byte = buffer[at]
                if 48 <= byte <= 57:
                    whole = whole * 10 + (byte - 48) if digits < 15 else whole
                    digits += 1
                    behind_ += point
                elif byte == 46 and not point:
                    point = True
                else:
                    plain = False
                at += 1
            left[row] = not plain or digits == 0 or digits > 15
            numbers[row] = 0.0
            if not left[row]:
                numbers[row] = <double>whole / POWERS[behind_]
            if negative:
                numbers[row] = -numbers[row]
