"""Loops over ids in bytes: every place is checked before it is read."""

import numpy as np
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from harness.core._kernels cimport fetch, look_up
from harness.delimited._delimited cimport key

cdef enum:
    GROUP = 32
    MET = 1 << 12


cdef int require_table(const uint64_t[:, ::1] table) except -1:
    """Raise ValueError unless it is a table of keys: a place in it is a key's lowest bits."""
    if table.shape[0] & (table.shape[0] - 1) or table.shape[0] == 0 or table.shape[1] != 2:
        raise ValueError(f"a table of shape ({table.shape[0]}, {table.shape[1]})")
    return 0


cdef class Ids:
    """Ids and their codes, as `Known` in keys.py describes them."""

    def __init__(
        self,
        const uint64_t[:, ::1] table,
        const uint64_t[::1] secret,
        Py_ssize_t size,
        bint complete,
        bint digits,
        Py_ssize_t width,
        bint lower,
        bint upper,
        bint zeros,
        bint odd,
        Py_ssize_t length,
        bint exact,
    ):
        require_table(table)
        self.table, self.low, self.high = table, secret[0], secret[1]
        self.size, self.width = size, width
        self.complete, self.digits = complete, digits
        self.lower, self.upper = lower, upper
        self.zeros, self.odd, self.length, self.exact = zeros, odd, length, exact


for _byte in range(256):
    LETTERS[_byte] = 0 if 32 < _byte < 127 else BEYOND
for _kind, _letters in (
    (DIGIT, b"0123456789"), (LOWER, b"abcdefghijklmnopqrstuvwxyz"),
    (UPPER, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"), (POINT, b".+"), (DRESS, b" ,;|[](){}'\"`"),
):
    for _byte in _letters:
        LETTERS[_byte] = _kind


cdef class Memo:
    """What tokens are that are not known, as `Diagnosis.learn` notes it.

    Parameters
    ----------
    rows : uint64 array, (a power of two, 2)
        Keys, and their places in what follows, as `KeyTable` holds them.
    marks : int64 array
        What is wrong with each, 1 << fault.
    meant : uint64 array
        First halves of the keys of items that tokens look like, where they may be others; or 0.
    is_mended : uint8 array
        Whether each is to be written as follows.
    texts, starts, stops : uint8 and int64 arrays
    growth : int
        How many bytes longer than its token any of these is, at most.
    forms : uint64 array, (a power of two, 2), optional
        Keys of the forms of all known ids, if none of these is an exponent.
    """

    def __init__(
        self,
        rows,
        const int64_t[::1] marks,
        const uint64_t[::1] meant,
        const uint8_t[::1] is_mended,
        const uint8_t[::1] texts,
        const int64_t[::1] starts,
        const int64_t[::1] stops,
        Py_ssize_t growth=0,
        forms=None,
    ):
        self.rows, self.table = rows, rows
        self.forms = rows if forms is None else forms
        self.forms_are_known = forms is not None
        require_table(self.table)
        require_table(self.forms)
        self.marks, self.meant, self.is_mended = marks, meant, is_mended
        self.texts, self.starts, self.stops = texts, starts, stops
        self.growth = growth

    def __len__(self):
        return self.marks.shape[0]

    @classmethod
    def nothing(cls, forms=None):
        """Return a memo without tokens."""
        rows, numbers = np.zeros((1 << 12, 2), np.uint64), np.zeros(0, np.int64)
        letters = np.zeros(0, np.uint8)
        return cls(
            rows, numbers, numbers.view(np.uint64), letters, letters, numbers, numbers, forms=forms
        )

    def more(self, rows, marks, meant, is_mended, texts, starts, stops, growth, forms):
        """Return the same with more tokens, whose texts come behind those of the others."""
        cdef Py_ssize_t size = self.texts.shape[0]
        return Memo(
            rows,
            np.concatenate((self.marks, marks)),
            np.concatenate((self.meant, meant)),
            np.concatenate((self.is_mended, is_mended)),
            np.concatenate((self.texts, texts)),
            np.concatenate((self.starts, np.add(starts, size))),
            np.concatenate((self.stops, np.add(stops, size))),
            max(self.growth, growth),
            forms,
        )


cdef class Strangers:
    """Tokens of a block that are neither known nor diagnosed.

    Attributes
    ----------
    keys : uint64 array, (n, 2)
    spans : int64 array, (n, 2)
        Where each begins and ends. One may be there several times, as not all are remembered.
    """

    def __init__(self):
        self.met = np.zeros(MET, np.uint64)
        self.keys_, self.spans_ = np.empty((64, 2), np.uint64), np.empty((64, 2), np.int64)
        self.held = 0

    def __len__(self):
        return self.held

    @property
    def keys(self):
        return np.asarray(self.keys_)[: self.held]

    @property
    def spans(self):
        return np.asarray(self.spans_)[: self.held]

    cdef int add(
        self, uint64_t first, uint64_t second, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Add an id by its key, unless it was among the last."""
        cdef Py_ssize_t slot = <Py_ssize_t>(first & (MET - 1))
        if self.met[slot] == first:
            return 0
        self.met[slot] = first
        if self.held == self.keys_.shape[0]:
            with gil:
                self.keys_ = np.concatenate((self.keys_, np.empty_like(self.keys_)))
                self.spans_ = np.concatenate((self.spans_, np.empty_like(self.spans_)))
        self.keys_[self.held, 0], self.keys_[self.held, 1] = first, second
        self.spans_[self.held, 0], self.spans_[self.held, 1] = start, stop
        self.held += 1
        return 0


def codes(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Ids ids,
    int32_t[::1] found,
):
    """Write the code of each id, −1 where it is not known."""
    cdef Py_ssize_t at, last, group = 0
    cdef uint64_t[GROUP][2] own
    with nogil:
        while group < starts.shape[0]:  # the processor waits for the slots of many at a time
            last = min(group + GROUP, starts.shape[0])
            for at in range(group, last):
                key(buffer, starts[at], stops[at], ids.low, ids.high, own[at - group])
                fetch(own[at - group][0], ids.table)
            for at in range(group, last):
                found[at] = look_up(own[at - group][0], own[at - group][1], ids.table)
            group = last


def looks(
    const uint8_t[::1] buffer,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    Py_ssize_t width,
):
    """Return what ids look like.

    Parameters
    ----------
    width : int
        How long those before were; −1 where there were none.

    Returns
    -------
    digits, width : bool and int
        Whether all are numbers, and how long all are; 0: they differ.
    lower, upper, zeros, odd : bool
        Whether any holds a letter a–z, or A–Z, is a number with a zero in front, or is odd: its form
        (harness/core/alike.py) may be plain ASCII, and differ from it in more than case and zeros.
    """
    cdef Py_ssize_t at, start, stop
    cdef bint digits = True, zeros = False, odd = False
    cdef uint8_t kinds, all_kinds = 0
    with nogil:
        for at in range(starts.shape[0]):
            start, stop = starts[at], stops[at]
            width = stop - start if width < 0 or width == stop - start else 0
            kinds = kinds_of(buffer, start, stop)
            all_kinds |= kinds
            digits &= kinds == DIGIT or kinds == 0 and start == stop
            zeros |= kinds == DIGIT and stop > start + 1 and buffer[start] == 48
            if kinds & DRESS and not (LETTERS[buffer[start]] | LETTERS[buffer[stop - 1]]) & DRESS:
                kinds &= ~DRESS  # a form leaves out what stands around an id
            if kinds & (POINT | DRESS | BEYOND):
                odd |= not keeps_a_letter(buffer, start, stop)
            odd |= is_exponent(buffer, start, stop)
    return digits, width, all_kinds & LOWER != 0, all_kinds & UPPER != 0, zeros, odd


cdef int keeps_a_letter(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop
) except -1 nogil:
    """Return whether an id has a letter of which no form makes ASCII: of most alphabets.

    Those of ß and ſ are ASCII, and no other letter's from U+00C0 to U+017F, U+0391 to U+047F, of
    hiragana and katakana, and of most Chinese and Korean.
    """
    cdef Py_ssize_t at
    cdef uint8_t lead, behind
    for at in range(start, stop - 1):
        lead, behind = buffer[at], buffer[at + 1]
        if behind & 0xC0 != 0x80:
            continue
        if 0xC3 <= lead <= 0xC5:
            if not (lead == 0xC3 and behind == 0x9F or lead == 0xC5 and behind == 0xBF):
                return True
        elif lead == 0xCE and behind >= 0x91 or 0xCF <= lead <= 0xD1:
            return True
        elif lead == 0xE3 and 0x81 <= behind <= 0x83 or 0xE4 <= lead <= 0xE9 or 0xEB <= lead <= 0xEC:
            return True
    return False
