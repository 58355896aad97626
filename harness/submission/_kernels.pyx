"""Loops over the lines of a submission: their users, their lists, and what is wrong with each.

Every place is checked before it is read.
"""

cimport cython
import numpy as np
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from harness.core._kernels cimport fetch, look_up
from harness.core._vector cimport key_in, marks, short_keys
from harness.delimited._delimited cimport (
    NO_ROW, PAD, SHORT, Tally, check, ends_of, key, trim, zeros_below
)

cpdef enum:  # what can be wrong with a line, beside its shape
    NO_ID = 3  # SHAPES
    PADDED_ID
    MANGLED_ID
    UNKNOWN_ID
    ODD_ID
    EMPTY
    ONE_ITEM
    LONG
    REPEATED
    SPACES
    UNKNOWN_ITEM  # this fault and those behind it are of single items
    MISSHAPEN
    ZEROS_LOST
    DECIMAL
    EXPONENT
    LITERAL
    SEPARATOR
    BRACKETS
    RESPELLED
    ALIKE
    COUNT

cpdef enum:  # columns of `starts` and `stops`: the user's id, the list, what orders it
    USER
    LIST
    ORDER

cpdef enum:  # users of lines, beside NO_ROW: not known, without an id
    STRANGER = -1
    NOBODY = -3

cpdef enum:  # of an id that is not known: it may be a known one that was changed
    ASKED = -1

cpdef enum:  # what an item is that is not known
    OTHER  # plainly another item
    ALONE  # in a list without known ones
    BESIDE  # in a list with any known one

cdef enum:
    GROUP = 64  # ids, or lines, that are looked up together: the processor waits for many at a time
    AHEAD = 24  # ids whose slots memory is asked for while others are looked up
    STAMPS = 2048
    LONGEST_WORD = 4  # bytes of a word for nothing, which has no digit
    LONGEST_FORM = 256  # bytes of an id whose form is made here

cdef enum:
    NEWLINE = 10
    RETURN = 13
    QUOTE = 34
    COMMA = 44

cdef enum:  # why a list is looked at closely
    ODD = 1
    SPACED = 2  # not one byte stands between items, and none around

cdef enum:  # what a letter of an id is
    DIGIT = 1
    LOWER = 2
    UPPER = 4
    POINT = 8  # or a plus: in a number it is no plain sign
    DRESS = 16  # ASCII that stands around or between ids: spaces, brackets, quotes, commas
    BEYOND = 32  # no printable ASCII

cdef uint8_t[256] LETTERS

for _byte in range(256):
    LETTERS[_byte] = 0 if 32 < _byte < 127 else BEYOND
for _kind, _letters in (
    (DIGIT, b"0123456789"), (LOWER, b"abcdefghijklmnopqrstuvwxyz"),
    (UPPER, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"), (POINT, b".+"), (DRESS, b" ,;|[](){}'\"`"),
):
    for _byte in _letters:
        LETTERS[_byte] = _kind


cdef int require_table(const uint64_t[:, ::1] table) except -1:
    """Raise ValueError unless it is a table of keys: a place in it is a key's lowest bits."""
    if table.shape[0] & (table.shape[0] - 1) or table.shape[0] == 0 or table.shape[1] != 2:
        raise ValueError(f"a table of shape ({table.shape[0]}, {table.shape[1]})")
    return 0


cdef class Ids:
    """Ids and their codes, as `Known` in keys.py describes them.

    `forms` are keys of the forms of all of them, (a power of two, 2), if none is an exponent.
    """

    cdef const uint64_t[:, ::1] table, forms
    cdef uint64_t low, high
    cdef readonly Py_ssize_t size, width, length
    cdef readonly bint complete, digits, lower, upper, zeros, odd, exact
    cdef bint forms_are_known

    def __init__(self, known, forms=None):
        self.table, self.forms = known.table, known.table if forms is None else forms
        require_table(self.table)
        require_table(self.forms)
        self.forms_are_known = forms is not None
        self.low, self.high = known.secret
        self.size, self.width, self.length = known.size, known.width, known.length
        self.complete, self.digits, self.exact = known.complete, known.digits, known.exact
        self.lower, self.upper = known.lower, known.upper
        self.zeros, self.odd = known.zeros, known.odd


cdef inline uint8_t kinds_of(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except 255 nogil:
    """Return which kinds of letters an id has; one with a point has none where it is no number."""
    cdef uint8_t kinds = 0
    cdef Py_ssize_t place
    cdef const uint8_t* letters = LETTERS  # else it is asked where they are, byte by byte
    check(buffer, start, stop)
    with cython.boundscheck(False):
        for place in range(start, stop):
            kinds |= letters[buffer[place]]
        if kinds & POINT and not (buffer[start] == 45 or 48 <= buffer[start] <= 57):
            kinds &= ~POINT
    return kinds


cdef inline bint is_another(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, Ids ids
) except -1 nogil:
    """Return whether an id that is not known is plainly another; where not, it may be, too.

    Its form (harness/core/alike.py) is itself but for case and zeros in front, and no known one's.
    """
    cdef Py_ssize_t length = stop - start
    cdef uint8_t kinds = kinds_of(buffer, start, stop)
    cdef bint digits = kinds == DIGIT, cased
    if kinds & (POINT | DRESS | BEYOND) or (length <= LONGEST_WORD and not kinds & DIGIT):
        return False
    if is_exponent(buffer, start, stop):
        return False
    if ids.digits and (not digits or (ids.width > 0 and length != ids.width)):
        return False
    if ids.size == 0 or ids.exact:
        return True
    cased = (kinds & LOWER and ids.upper) or (kinds & UPPER and ids.lower)
    if ids.odd:
        pass
    elif length == ids.length:  # zeros in front would make it longer or shorter
        if not cased:
            return True
    elif digits:
        if not ids.zeros and (length == 1 or buffer[start] != 48):
            return True
    elif ids.length > 0 or not cased:
        return True
    return ids.forms_are_known and not has_form(buffer, start, stop, digits, ids)


cdef inline bint is_exponent(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Return whether an id may be an exponent without a point or a plus, such as 1e5."""
    return 3 <= stop - start <= 4 and buffer[start + 1] | 32 == 101 and 48 < buffer[start] <= 57


cdef inline bint has_form(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, bint digits, Ids ids
) except -1 nogil:
    """Return whether the form of a plain id is that of a known one."""
    cdef uint8_t[LONGEST_FORM + PAD] form
    cdef uint64_t[2] halves
    cdef Py_ssize_t place
    cdef uint8_t byte
    if stop - start > LONGEST_FORM:
        return True
    while digits and start < stop - 1 and buffer[start] == 48:
        start += 1
    check(buffer, start, stop)
    with cython.boundscheck(False):
        for place in range(start, stop):
            byte = buffer[place]
            form[place - start] = byte + 32 * (65 <= byte <= 90)
    key_in(form, stop - start, ids.low, ids.high, halves)
    return look_up(halves[0], halves[1], ids.forms) >= 0


def codes(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Ids ids,
    int32_t[::1] codes,
):
    """Write the code of each id, −1 where it is not known."""
    cdef Py_ssize_t row, last, group = 0
    cdef uint64_t[GROUP][2] keys
    with nogil:
        while group < starts.shape[0]:
            last = min(group + GROUP, starts.shape[0])
            for row in range(group, last):
                key(buffer, starts[row], stops[row], ids.low, ids.high, keys[row - group])
                fetch(keys[row - group][0], ids.table)
            for row in range(group, last):
                codes[row] = look_up(keys[row - group][0], keys[row - group][1], ids.table)
            group = last


def looks(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Py_ssize_t width,
):
    """Return what ids look like, of which those before had `width` bytes (−1: there were none).

    Whether all are numbers; how many bytes all have (0: they differ); and whether any holds a
    letter a–z, or A–Z, is a number with a zero in front, or is odd: its form
    (harness/core/alike.py) may be plain ASCII, and differ from it in more than case and zeros.
    """
    cdef Py_ssize_t row, start, stop
    cdef bint digits = True, zeros = False, odd = False
    cdef uint8_t kinds, all_kinds = 0
    with nogil:
        for row in range(starts.shape[0]):
            start, stop = starts[row], stops[row]
            width = stop - start if width < 0 or width == stop - start else 0
            kinds = kinds_of(buffer, start, stop)
            all_kinds |= kinds
            digits &= kinds == DIGIT or kinds == 0 and start == stop
            zeros |= kinds == DIGIT and stop > start + 1 and buffer[start] == 48
            if kinds & DRESS and not (LETTERS[buffer[start]] | LETTERS[buffer[stop - 1]]) & DRESS:
                kinds &= ~DRESS  # a form leaves out what stands around an id
            odd |= kinds & (POINT | DRESS | BEYOND) != 0 or is_exponent(buffer, start, stop)
    return digits, width, all_kinds & LOWER != 0, all_kinds & UPPER != 0, zeros, odd


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
    int8_t[::1] wrong,
):
    """Look every line's user up.

    Ids that are not known are written with `letters`, (256,), and have `length` bytes (0: any
    number). `users` takes codes, STRANGER where the user is not known, NOBODY where there is no id;
    lines that are no rows are passed over. `keys`, (lines, 2), takes the key of every id, `sound`
    whether the id stands there as it should, so that the line's list is the user's, and `wrong`
    the fault of the id; ASKED where it may be a known one that was changed.
    """
    cdef Py_ssize_t line, start, stop
    cdef uint8_t[::1] odd = np.zeros(len(users), np.uint8)
    if keys.shape[1] != 2 or letters.shape[0] != 256:
        raise ValueError("a key has two numbers, and a byte 256 values")
    with nogil:
        for line in range(users.shape[0]):
            start, stop = starts[line, USER], stops[line, USER]
            if not known.exact:
                trim(buffer, &start, &stop)
            key(buffer, start, stop, known.low, known.high, &keys[line, 0])
            odd[line] = start == stop or start > starts[line, USER] or stop < stops[line, USER]
        for line in range(users.shape[0]):  # apart, so that the processor waits for many at a time
            if line + AHEAD < users.shape[0]:
                fetch(keys[line + AHEAD, 0], known.table)
            if users[line] != NO_ROW:
                users[line] = look_up(keys[line, 0], keys[line, 1], known.table)
                sound[line] = users[line] >= 0 and not odd[line]
                if users[line] < 0 and not odd[line]:
                    start, stop = starts[line, USER], stops[line, USER]
                    odd[line] = known.complete or not (
                        is_another(buffer, start, stop, known)
                        if known.size > 0
                        else is_shaped(buffer, start, stop, letters, length)
                    )
        for line in range(users.shape[0]):
            if odd[line] and users[line] != NO_ROW:
                start, stop = starts[line, USER], stops[line, USER]
                trim(buffer, &start, &stop)
                if start == stop:
                    users[line], wrong[line] = NOBODY, NO_ID
                else:
                    wrong[line] = what_is_wrong(
                        buffer, start, stop, users[line] < 0,
                        start > starts[line, USER] or stop < stops[line, USER], known,
                    )


cdef int8_t what_is_wrong(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    bint strange,
    bint padded,
    Ids known,
) except -2 nogil:
    """Return the fault of an id without the spaces around it; ASKED where that is to be told."""
    if strange and known.size > 0 and not known.exact:
        if not is_another(buffer, start, stop, known):
            return ASKED
    if strange and known.complete:
        return UNKNOWN_ID
    if padded and not known.exact:
        return PADDED_ID
    return ODD_ID if strange and known.size == 0 else 0


cdef bint is_shaped(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    const uint8_t[::1] letters,
    Py_ssize_t length,
) except -1 nogil:
    """Return whether an id is written with the letters it should be, and has so many."""
    cdef bint plain = length == 0 or stop - start == length
    cdef Py_ssize_t place
    for place in range(start, stop):
        plain &= letters[buffer[place]]
    return plain


cdef class Strangers:
    """Items of a block that are not known, in order.

    `rows`, (n, 6), has the line of each, its first byte, the byte behind the last, whether it is
    OTHER, ALONE or BESIDE, and the two halves of its key.
    """

    cdef int64_t[:, ::1] held
    cdef Py_ssize_t size

    def __init__(self):
        self.held = np.empty((64, 6), np.int64)

    def __len__(self):
        return self.size

    @property
    def rows(self):
        return np.asarray(self.held)[: self.size]

    cdef int add(self, Words words, Py_ssize_t word, Py_ssize_t line, int kind) except -1 nogil:
        """Add a word of a line's list."""
        cdef Py_ssize_t row = self.size
        if row == self.held.shape[0]:
            with gil:
                self.held = np.concatenate((self.held, np.empty_like(self.held)))
        self.held[row, 0], self.held[row, 3] = line, kind
        self.held[row, 1], self.held[row, 2] = words.begin[word], words.end[word]
        self.held[row, 4] = <int64_t>words.keys[word]
        self.held[row, 5] = <int64_t>words.others[word]
        self.size += 1
        return 0


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
    Strangers strangers,
    Tally tally,
    int32_t[::1] rows,
    int64_t[::1] list_ends,
    int32_t[::1] items,
    uint64_t[::1] sums,
):
    """Read every line's list.

    `wanted` has the row of the truth that a line's list belongs to; −1: it is checked and not kept.
    A list may have `width` positions, and `kept` of them are kept. `rows` and `list_ends` take the
    row of each list that is kept, and where it ends in `items`; there an item that is not known has
    as code the number of known items + its first rank in the list. `sums` takes a number for each
    list as it stands: where two are the same, so are the lists. `strangers` and `tally` take items
    that are not known, and what else is wrong.

    Returns how many lists and items are kept; a sum over the first list, and how many have it.
    """
    cdef Words words = Words(2048)
    cdef int64_t[::1] ends = np.zeros(GROUP + 1, np.int64)
    cdef uint8_t[::1] odd = np.zeros(GROUP, np.uint8)
    cdef int32_t[::1] stamps = np.zeros(STAMPS, np.int32)
    cdef uint64_t halves[2]
    cdef Py_ssize_t line = 0, group, most, row, start, stop, word, n_lists = 0, n_items = 0, n_same = 0
    cdef uint64_t first_sum = 0, total
    with nogil:
        while line < users.shape[0]:
            group = line
            line = end_of_group(starts, stops, group, words.code.shape[0], &most)
            if most > words.code.shape[0]:
                with gil:
                    words.reserve(most)
            stop = 0
            for row in range(group, line):
                if users[row] != NO_ROW:
                    stop = cut_words(buffer, starts[row, LIST], stops[row, LIST], between, words, stop)
                ends[row - group + 1] = stop
            find_keys(buffer, words, stop, known)
            if look_words_up(words, stop, known) > 0 and not known.complete:
                number_words(buffer, words, ends, line - group, known)
            find_odd(starts, stops, group, line, width, words, ends, stamps, sums, odd)
            for row in range(group, line):
                if users[row] == NO_ROW:
                    continue
                start, stop = ends[row - group], ends[row - group + 1]
                if odd[row - group]:
                    check_list(
                        buffer, starts[row, LIST], stops[row, LIST], row, width, known, words,
                        start, stop, strangers, tally,
                    )
                total = sums[row]
                if odd[row - group] == SPACED:  # other spaces make another list
                    key(buffer, starts[row, LIST], stops[row, LIST], known.low, known.high, halves)
                    sums[row] = halves[0]
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
    cdef Py_ssize_t line, more, last = min(group + GROUP, starts.shape[0])
    most[0] = 0
    for line in range(group, last):
        more = most_in(starts[line, LIST], stops[line, LIST])
        if most[0] > 0 and most[0] + more > most_words:
            return line
        most[0] += more
    return last


cdef inline Py_ssize_t most_in(Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Return how many words a list may have."""
    return ((stop - start) >> 1) + 1


cdef Py_ssize_t cut_words(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t between,
    Words words,
    Py_ssize_t count,
) except -1 nogil:
    """Find the words of a list, behind `count` others; return how many there are then."""
    cdef Py_ssize_t begin = start, place = start, end
    cdef uint64_t ends_here
    cdef int64_t* begins
    cdef int64_t* ends
    check(buffer, start, stop)
    if count + most_in(start, stop) > words.code.shape[0]:  # each but the last has one behind it
        raise IndexError(f"more than {words.code.shape[0]} words")
    with cython.boundscheck(False):
        begins, ends = &words.begin[0], &words.end[0]
        while place < stop:
            ends_here = marks(&buffer[place], between, between)
            while ends_here != 0:
                end = place + zeros_below(ends_here)
                if end >= stop:
                    break
                ends_here &= ends_here - 1
                begins[count], ends[count] = begin, end
                count += end > begin
                begin = end + 1
            place += 64
        if begin < stop:
            begins[count], ends[count] = begin, stop
            count += 1
    return count


cdef int find_keys(
    const uint8_t[::1] buffer, Words words, Py_ssize_t count, Ids known
) except -1 nogil:
    """Write the keys of words; `cut_words` has found all of them within the buffer."""
    cdef Py_ssize_t word, place, length, longest = 0
    cdef uint64_t halves[2]
    cdef const uint8_t* bytes
    cdef int64_t* begins
    cdef int64_t* ends
    cdef uint64_t* first
    cdef uint64_t* last
    if count == 0:
        return 0
    if count > words.code.shape[0]:
        raise IndexError(f"{count} words")
    with cython.boundscheck(False):  # pointers, as each use of an array of `words` is checked
        bytes, begins, ends = &buffer[0], &words.begin[0], &words.end[0]
        first, last = &words.first[0], &words.last[0]
        for word in range(count):
            place = begins[word]
            length = ends[word] - place
            longest |= length
            ends_of(bytes + place, length, &first[word], &last[word])
        short_keys(first, last, count, known.low, known.high, &words.keys[0], &words.others[0])
        for word in range(count if longest >= SHORT else 0):
            if ends[word] - begins[word] >= SHORT:
                key_in(
                    bytes + begins[word], ends[word] - begins[word], known.low, known.high, halves
                )
                words.keys[word], words.others[word] = halves[0], halves[1]
    return 0


cdef Py_ssize_t look_words_up(Words words, Py_ssize_t count, Ids known) except -1 nogil:
    """Write the codes of words, −1 is not known; return how many are not."""
    cdef Py_ssize_t word, strange = 0
    cdef uint64_t* keys
    cdef uint64_t* others
    cdef int32_t* codes
    cdef const uint64_t[:, ::1] table = known.table
    if count == 0:
        return 0
    if count > words.code.shape[0]:
        raise IndexError(f"{count} words")
    with cython.boundscheck(False):
        keys, others, codes = &words.keys[0], &words.others[0], &words.code[0]
        for word in range(min(count, AHEAD)):
            fetch(keys[word], table)
        for word in range(count):
            if word + AHEAD < count:
                fetch(keys[word + AHEAD], table)
            codes[word] = look_up(keys[word], others[word], table)
            strange += codes[word] < 0
    return strange


cdef int number_words(
    const uint8_t[::1] buffer, Words words, const int64_t[::1] ends, Py_ssize_t rows, Ids known
) except -1 nogil:
    """Where others may be, give plain ones numbers behind the known; −1 is to be looked at."""
    cdef Py_ssize_t row, word
    for row in range(rows):
        for word in range(ends[row], ends[row + 1]):
            if words.code[word] < 0 and is_another(buffer, words.begin[word], words.end[word], known):
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
    cdef Py_ssize_t row, word, start, stop, count, letters
    cdef uint64_t total, first
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
        count, stamp = stop - start, <int32_t>(row + 1)
        letters, unknown, twice, total = count - 1, 0, False, count
        for word in range(start, stop):
            first = keys[word]
            letters += behinds[word] - begins[word]
            unknown |= codes[word]
            twice |= stamped[first & (STAMPS - 1)] == stamp
            stamped[first & (STAMPS - 1)] = stamp
            total = (total ^ first) * <uint64_t>0x9E3779B97F4A7C15u
        sums[row] = total
        odd[row - group] = 0
        if stops[row, LIST] - starts[row, LIST] != letters:
            odd[row - group] = SPACED
        elif count < 2 or count > width or unknown < 0 or twice:
            odd[row - group] = ODD
    return 0


cdef int check_list(
    const uint8_t[::1] buffer,
    Py_ssize_t begin,
    Py_ssize_t end,
    Py_ssize_t line,
    Py_ssize_t width,
    Ids known,
    Words words,
    Py_ssize_t start,
    Py_ssize_t stop,
    Strangers strangers,
    Tally tally,
) except -1 nogil:
    """Note what is wrong with a list; give items that are not known their codes."""
    cdef Py_ssize_t word, first, count = stop - start, letters = 0, mask
    cdef int noted = 0, kind = ALONE
    if count == 0:
        return tally.note(EMPTY, line, begin, end)
    if count == 1:
        tally.note(ONE_ITEM, line, begin, end)
    if count > width:
        tally.note(LONG, line, begin, end)
    for word in range(start, stop):
        letters += words.end[word] - words.begin[word]
        if 0 <= words.code[word] < known.size:
            kind = BESIDE
    if end - begin != letters + count - 1:  # else one byte stands between items, and none around
        tally.note(SPACES, line, begin, end)
    mask = fill_slots(words, start, stop)
    for word in range(start, stop):
        if words.code[word] < 0:
            if known.complete and is_another(buffer, words.begin[word], words.end[word], known):
                strangers.add(words, word, line, OTHER)
            else:
                strangers.add(words, word, line, kind)
            words.code[word] = <int32_t>(known.size + word - start)
        first = words.slots[slot_of(words, words.keys[word], mask)]
        if first != word:
            noted = tally.note_once(REPEATED, noted, line, words.begin[word], words.end[word])
            words.code[word] = words.code[first]
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


def mark_repeats(
    const uint8_t[::1] first, const int32_t[::1] items, int64_t[::1] last, uint8_t[::1] again
):
    """Mark the rows that hold an item that an earlier row of the same user's holds.

    `first` tells which rows are the first of their users, whose rows stand together. `last`, one an
    item, is below 0; it takes where the user began in whose rows the item was met last.
    """
    cdef Py_ssize_t row, began = 0
    with nogil:
        for row in range(items.shape[0]):
            began = row if first[row] else began
            again[row] = last[items[row]] == began
            last[items[row]] = began


def write_rows(
    const uint8_t[::1] buffer,
    const int64_t[:, ::1] starts,
    const int64_t[:, ::1] stops,
    uint8_t between,
    uint8_t space,
    Py_ssize_t width,
    Ids known,
    const int64_t[:, ::1] strangers,
    const int32_t[::1] texts,
    const uint8_t[::1] pool,
    const int64_t[:, ::1] spans,
    const uint64_t[:, ::1] keys,
    uint8_t[::1] is_plain,
    uint8_t[::1] out,
    int64_t[::1] ends,
):
    """Write plain lines as rows of CSV, each item once, and no more than `width` of a list.

    `between` and `space` are the bytes between items, as they stand and as they are written.
    `strangers` has the rows of `Strangers`, and `texts` what is written
    for each: a row of `spans` and `keys`, or −1 where it stays as it stands. `spans`, (m, 2), tells
    where each text begins and ends in `pool`. `is_plain` tells which lines are written; of these,
    those that need quotes are noted as not plain. `ends` takes where each line ends in `out`.
    """
    cdef Words words = Words(64)
    cdef Py_ssize_t line, column, word, count, mask, begin, place, stranger = 0, written = 0, held
    cdef int commas, odd
    cdef uint8_t byte
    with nogil:
        for line in range(is_plain.shape[0]):
            begin = written
            if is_plain[line]:
                written = copy(buffer, starts[line, USER], stops[line, USER], out, written)
                out[written] = COMMA
                written += 1
                count = most_in(starts[line, LIST], stops[line, LIST])
                if count > words.code.shape[0]:
                    with gil:
                        words.reserve(2 * count)
                count = cut_words(buffer, starts[line, LIST], stops[line, LIST], between, words, 0)
                find_keys(buffer, words, count, known)
                for word in range(count):
                    words.code[word] = -1
                    while stranger < texts.shape[0] and strangers[stranger, 1] < words.begin[word]:
                        stranger += 1
                    if stranger < texts.shape[0] and strangers[stranger, 1] == words.begin[word]:
                        words.code[word] = texts[stranger]
                        if texts[stranger] >= 0:
                            words.keys[word] = keys[texts[stranger], 0]
                mask, held = fill_slots(words, 0, count), 0
                for word in range(count):
                    place = words.code[word]
                    if held == width or words.slots[slot_of(words, words.keys[word], mask)] != word:
                        continue
                    if place >= 0 and spans[place, 0] == spans[place, 1]:
                        continue
                    if held > 0:
                        out[written] = space
                        written += 1
                    held += 1
                    if place >= 0:
                        written = copy(pool, spans[place, 0], spans[place, 1], out, written)
                    else:
                        written = copy(buffer, words.begin[word], words.end[word], out, written)
                for column in range(ORDER, starts.shape[1]):
                    out[written] = COMMA
                    written = copy(
                        buffer, starts[line, column], stops[line, column], out, written + 1
                    )
                commas, odd = 0, 0
                for place in range(begin, written):
                    byte = out[place]
                    commas += byte == COMMA
                    odd |= (byte == QUOTE) | (byte == NEWLINE) | (byte == RETURN)
                if odd or commas >= starts.shape[1]:
                    is_plain[line], written = False, begin
                else:
                    out[written] = NEWLINE
                    written += 1
            ends[line] = written


cdef inline Py_ssize_t copy(
    const uint8_t[::1] source,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint8_t[::1] out,
    Py_ssize_t written,
) except -1 nogil:
    """Copy some bytes, behind which one more has room; return where they end."""
    if start < 0 or start > stop or stop > source.shape[0] or stop - start >= out.shape[0] - written:
        raise IndexError(f"bytes {start} to {stop} of {source.shape[0]}, to {written}")
    if start < stop:
        memcpy(&out[written], &source[start], stop - start)
    return written + stop - start
