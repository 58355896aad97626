"""Loops over the lists of a block of lines: their items, and what is wrong with each."""

cimport cython
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from harness.core._kernels cimport fetch, look_up
from harness.core._vector cimport key_in, marks, short_keys
from harness.delimited._delimited cimport NO_ROW, SHORT, Tally, check, ends_of, key, zeros_below
from harness.submission cimport faults
from harness.submission._keys cimport Ids, Memo, Strangers, is_another, place_in
from harness.submission._scan cimport LIST

cdef enum:
    GROUP = 64  # lines whose items are looked up together: the processor waits for many at a time
    STAMPS = 2048
    AHEAD = 24  # ids whose slots memory is asked for while others are looked up

cdef enum:  # why a list is looked at closely
    ODD = 1
    SPACED = 2  # not one byte stands between items, and none around


cdef class Words:
    """The items of some lists: first byte and the byte behind the last, key, code (−1: unknown).

    `first` and `last` are what keys of short ones are made of.
    """

    cdef int64_t[::1] begin, end
    cdef uint64_t[::1] first, last, keys, others
    cdef int32_t[::1] code
    cdef int32_t[::1] slots  # a hash table of words of one list, a power of two

    def __init__(self, Py_ssize_t words):
        self.reserve(words)

    cdef int reserve(self, Py_ssize_t words) except -1:
        """Make room for so many words."""
        self.begin, self.end = np.empty(words, np.int64), np.empty(words, np.int64)
        self.first, self.last = np.empty(words, np.uint64), np.empty(words, np.uint64)
        self.keys, self.others = np.empty(words, np.uint64), np.empty(words, np.uint64)
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
    Memo memo,
    Strangers strangers,
    Tally tally,
    int32_t[::1] rows,
    int64_t[::1] list_ends,
    int32_t[::1] items,
    uint64_t[::1] sums,
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
    memo, strangers : Memo and Strangers
        What tokens are that are not known; and those that are not in the memo, which are to be
        diagnosed before the lists are read again.
    rows : int32 array
        Takes the row of the truth that each list that is kept belongs to.
    list_ends : int64 array
        Takes where each ends in `items`.
    items : int32 array
        Takes codes; an item that is not known has the number of known items + its first rank in
        the list.
    sums : uint64 array, (lines,)
        Takes a number for each list as it stands: where two are the same, so are the lists.

    Returns
    -------
    n_lists, n_items, first_sum, n_same : int
        How many lists and items are kept; a sum over the first list, and how many have the same.
    """
    cdef Words words = Words(2048)
    cdef int64_t[::1] ends = np.zeros(GROUP + 1, np.int64)
    cdef uint8_t[::1] odd = np.zeros(GROUP, np.uint8)
    cdef int32_t[::1] stamps = np.zeros(STAMPS, np.int32)
    cdef uint64_t own[2]
    cdef Py_ssize_t line = 0, group, most, row, start, stop, word, n_lists = 0, n_items = 0, n_same = 0
    cdef uint64_t first_sum = 0, total
    with nogil:
        while line < users.shape[0]:
            group = line
            line = end_of_group(starts, stops, group, words.code.shape[0], &most)
            if most > words.code.shape[0]:
                with gil:
                    words.reserve(most)
            find_words(buffer, starts, stops, users, group, line, between, words, ends)
            find_keys(buffer, words, ends[line - group], known)
            if look_words_up(words, ends[line - group], known) > 0 and not known.complete:
                number_words(buffer, words, ends, line - group, known, memo)
            find_odd(starts, stops, group, line, width, words, ends, stamps, sums, odd)
            for row in range(group, line):
                if users[row] == NO_ROW:
                    continue
                start, stop = ends[row - group], ends[row - group + 1]
                if odd[row - group]:
                    check_list(
                        buffer, starts[row, LIST], stops[row, LIST], row, width, known, memo,
                        words, start, stop, strangers, tally,
                    )
                total = sums[row]
                if odd[row - group] == SPACED:  # other spaces make another list
                    key(buffer, starts[row, LIST], stops[row, LIST], known.low, known.high, own)
                    sums[row] = own[0]
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
        own = most_in(starts[line, LIST], stops[line, LIST])
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
    Words words,
    int64_t[::1] ends,
) except -1 nogil:
    """Find the words of the lists of some lines."""
    cdef Py_ssize_t row, held = 0
    for row in range(group, line):
        if users[row] != NO_ROW:
            held = cut_words(buffer, starts[row, LIST], stops[row, LIST], between, words, held)
        ends[row - group + 1] = held
    return 0


cdef Py_ssize_t cut_words(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t between,
    Words words,
    Py_ssize_t held,
) except -1 nogil:
    """Find the words of a list, behind `held` others; return how many there are then."""
    cdef Py_ssize_t begin = start, at = start, end
    cdef uint64_t found
    cdef int64_t* begins
    cdef int64_t* ends
    check(buffer, start, stop)
    if held + most_in(start, stop) > words.code.shape[0]:  # each but the last has one behind it
        raise IndexError(f"more than {words.code.shape[0]} words")
    with cython.boundscheck(False):
        begins, ends = &words.begin[0], &words.end[0]
        while at < stop:
            found = marks(&buffer[at], between, between)
            while found != 0:
                end = at + zeros_below(found)
                if end >= stop:
                    break
                found &= found - 1
                begins[held], ends[held] = begin, end
                held += end > begin
                begin = end + 1
            at += 64
        if begin < stop:
            begins[held], ends[held] = begin, stop
            held += 1
    return held


cdef inline Py_ssize_t most_in(Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Return how many words a list may have."""
    return ((stop - start) >> 1) + 1


cdef int find_keys(
    const uint8_t[::1] buffer, Words words, Py_ssize_t held, Ids known
) except -1 nogil:
    """Write the keys of words; `cut_words` has found all of them within the buffer."""
    cdef Py_ssize_t word, place, length, longest = 0
    cdef uint64_t found[2]
    cdef const uint8_t* bytes
    cdef int64_t* begins
    cdef int64_t* ends
    cdef uint64_t* first
    cdef uint64_t* last
    if held == 0:
        return 0
    if held > words.code.shape[0]:
        raise IndexError(f"{held} words")
    with cython.boundscheck(False):  # pointers, as each use of an array of `words` is checked
        bytes, begins, ends = &buffer[0], &words.begin[0], &words.end[0]
        first, last = &words.first[0], &words.last[0]
        for word in range(held):
            place = begins[word]
            length = ends[word] - place
            longest |= length
            ends_of(bytes + place, length, &first[word], &last[word])
        short_keys(first, last, held, known.low, known.high, &words.keys[0], &words.others[0])
        for word in range(held if longest >= SHORT else 0):
            if ends[word] - begins[word] >= SHORT:
                key_in(bytes + begins[word], ends[word] - begins[word], known.low, known.high, found)
                words.keys[word], words.others[word] = found[0], found[1]
    return 0


cdef Py_ssize_t look_words_up(Words words, Py_ssize_t held, Ids known) except -1 nogil:
    """Write the codes of words, −1 is not known; return how many are not."""
    cdef Py_ssize_t word, strange = 0
    cdef uint64_t* keys
    cdef uint64_t* others
    cdef int32_t* codes
    cdef const uint64_t[:, ::1] table = known.table
    if held == 0:
        return 0
    if held > words.code.shape[0]:
        raise IndexError(f"{held} words")
    with cython.boundscheck(False):
        keys, others, codes = &words.keys[0], &words.others[0], &words.code[0]
        for word in range(min(held, AHEAD)):
            fetch(keys[word], table)
        for word in range(held):
            if word + AHEAD < held:
                fetch(keys[word + AHEAD], table)
            codes[word] = look_up(keys[word], others[word], table)
            strange += codes[word] < 0
    return strange


cdef int number_words(
    const uint8_t[::1] buffer,
    Words words,
    const int64_t[::1] ends,
    Py_ssize_t rows,
    Ids known,
    Memo memo,
) except -1 nogil:
    """Where others may be, give plain ones numbers behind the known; −1 is to be looked at."""
    cdef Py_ssize_t row, word
    for row in range(rows):
        for word in range(ends[row], ends[row + 1]):
            if words.code[word] >= 0:
                continue
            if is_another(buffer, words.begin[word], words.end[word], known, memo):
                words.code[word] = <int32_t>(known.size + word - ends[row])
    return 0


cdef int find_odd(
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    Py_ssize_t group,
    Py_ssize_t line,
    Py_ssize_t width,
    Words words,
    const int64_t[::1] ends,
    int32_t[::1] stamps,
    uint64_t[::1] sums,
    uint8_t[::1] odd,
) except -1 nogil:
    """Find the lines whose lists are to be looked at closely; with all others nothing is wrong.

    A stamp of the same line may be another item's: that no item stands twice is certain, that one
    does is not. `sums` takes a sum over each list that depends on its order.
    """
    cdef Py_ssize_t row, word, start, stop, held, letters
    cdef uint64_t total, own
    cdef int32_t unknown, stamp
    cdef bint twice
    cdef int64_t* begins
    cdef int64_t* behinds
    cdef uint64_t* keys
    cdef int32_t* codes
    cdef int32_t* stamped
    if stamps.shape[0] < STAMPS:
        raise IndexError(f"{stamps.shape[0]} stamps")
    with cython.boundscheck(False):
        begins, behinds, keys = &words.begin[0], &words.end[0], &words.keys[0]
        codes, stamped = &words.code[0], &stamps[0]
    for row in range(group, line):
        start, stop = ends[row - group], ends[row - group + 1]
        if stop > words.code.shape[0]:
            raise IndexError(f"{stop} words")
        held, stamp = stop - start, <int32_t>(row + 1)
        letters, unknown, twice, total = held - 1, 0, False, held
        for word in range(start, stop):
            own = keys[word]
            letters += behinds[word] - begins[word]
            unknown |= codes[word]
            twice |= stamped[own & (STAMPS - 1)] == stamp
            stamped[own & (STAMPS - 1)] = stamp
            total = (total ^ own) * <uint64_t>0x9E3779B97F4A7C15u
        sums[row] = total
        odd[row - group] = 0
        if stops[row, LIST] - starts[row, LIST] != letters:
            odd[row - group] = SPACED
        elif held < 2 or held > width or unknown < 0 or twice:
            odd[row - group] = ODD
    return 0


cdef int check_list(
    const uint8_t[::1] buffer,
    Py_ssize_t at,
    Py_ssize_t behind_,
    Py_ssize_t line,
    Py_ssize_t width,
    Ids known,
    Memo memo,
    Words words,
    Py_ssize_t start,
    Py_ssize_t stop,
    Strangers strangers,
    Tally tally,
) except -1 nogil:
    """Note what is wrong with a list; give items that are not known their codes."""
    cdef Py_ssize_t word, held = stop - start, letters = 0, mask
    cdef int noted = 0
    if held == 0:
        return tally.note(faults.EMPTY, line, at, behind_)
    if held == 1:
        tally.note(faults.ONE_ITEM, line, at, behind_)
    if held > width:
        tally.note(faults.LONG, line, at, behind_)
    mask = fill_slots(words, start, stop)
    for word in range(start, stop):
        letters += words.end[word] - words.begin[word]
        if words.code[word] < 0:
            noted = note_unknown(
                buffer, words, word, mask, known, memo, noted, line, strangers, tally
            )
            words.code[word] = <int32_t>(known.size + word - start)
    if behind_ - at != letters + held - 1:  # else one byte stands between items, and none around
        tally.note(faults.SPACES, line, at, behind_)
    for word in range(start, stop):
        at = words.slots[slot_of(words, words.keys[word], mask)]
        if at != word:
            noted = tally.note_once(
                faults.REPEATED, noted, line, words.begin[word], words.end[word]
            )
            words.code[word] = words.code[at]
    return 0


cdef Py_ssize_t fill_slots(Words words, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Put the words of a list into the hash table, of the same ones the first; return its mask."""
    cdef Py_ssize_t word, mask = 1, slot
    while mask < 2 * (stop - start):
        mask *= 2
    for slot in range(mask):
        words.slots[slot] = -1
    mask -= 1
    for word in range(start, stop):
        slot = slot_of(words, words.keys[word], mask)
        if words.slots[slot] < 0:
            words.slots[slot] = <int32_t>word
    return mask


cdef inline Py_ssize_t slot_of(Words words, uint64_t key, Py_ssize_t mask) except -1 nogil:
    """Return the slot of the word with a key, or a free one."""
    cdef Py_ssize_t slot = <Py_ssize_t>(key & <uint64_t>mask)
    while words.slots[slot] >= 0 and words.keys[words.slots[slot]] != key:
        slot = (slot + 1) & mask
    return slot


cdef int note_unknown(
    const uint8_t[::1] buffer,
    Words words,
    Py_ssize_t word,
    Py_ssize_t mask,
    Ids known,
    Memo memo,
    int noted,
    Py_ssize_t line,
    Strangers strangers,
    Tally tally,
) except -1 nogil:
    """Note what is wrong with an item that is not known; return the line's faults so far."""
    cdef Py_ssize_t start = words.begin[word], stop = words.end[word]
    cdef int64_t wrong = 0
    cdef uint64_t meant
    cdef int32_t place
    cdef int fault
    cdef bint is_mended = False
    if known.complete and is_another(buffer, start, stop, known, memo):
        wrong = 1 << faults.UNKNOWN_ITEM
    else:
        place = place_in(memo, words.keys[word], words.others[word])
        if place < 0:
            strangers.add(words.keys[word], words.others[word], start, stop)
        else:
            wrong, meant = memo.marks[place], memo.meant[place]
            is_mended = memo.is_mended[place] or wrong & 1 << faults.SEPARATOR
            # In one list with the item that it looks like, it may be another.
            if meant != 0 and words.slots[slot_of(words, meant, mask)] >= 0:
                wrong, is_mended = 1 << faults.ALIKE, False
    for fault in range(faults.UNKNOWN_ITEM, faults.COUNT):
        if wrong & 1 << fault:
            noted = tally.note_once(fault, noted, line, start, stop)
            tally._mended[fault] += is_mended
    return noted


def mark_repeats(
    const uint8_t[::1] first, const int32_t[::1] items, int64_t[::1] last, uint8_t[::1] again
):
    """Mark the rows that hold an item that an earlier row of the same user's holds.

    Parameters
    ----------
    first : bool array
        Which rows are the first of their users, whose rows stand together.
    last : int64 array, one an item
        Below 0; takes where the user began in whose rows it was met last.
    """
    cdef Py_ssize_t row, began = 0
    with nogil:
        for row in range(items.shape[0]):
            began = row if first[row] else began
            again[row] = last[items[row]] == began
            last[items[row]] = began


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
