"""Loops over ids in bytes: every place is checked before it is read."""

cimport cython
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from harness.core._kernels cimport fetch, look_up
from harness.delimited._bytes cimport check, key

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
        bint telling,
        bint zeros,
        bint odd,
        Py_ssize_t length,
        bint exact,
    ):
        require_table(table)
        self.table, self.low, self.high = table, secret[0], secret[1]
        self.size, self.width = size, width
        self.complete, self.digits, self.telling = complete, digits, telling
        self.lower, self.upper = lower, upper
        self.zeros, self.odd, self.length, self.exact = zeros, odd, length, exact


cdef class Aliases:
    """Ids that are not known and alike to one that is, as `Alike` in alike.py finds them.

    Parameters
    ----------
    table : uint64 array, (a power of two, 2)
        Keys, and their places in what follows, as `KeyTable` holds them.
    codes : int32 array
        Of the known ids; −1 where several are alike.
    marks : int64 array
        What is wrong with each, 1 << fault.
    texts, starts, stops : uint8 and int64 arrays
        What each certainly is, where anything.
    forms : uint64 array, (a power of two, 2), optional
        Keys of the forms of all known ids, if none of these is an exponent.
    """

    def __init__(
        self,
        const uint64_t[:, ::1] table,
        const int32_t[::1] codes,
        const int64_t[::1] marks,
        const uint8_t[::1] texts,
        const int64_t[::1] starts,
        const int64_t[::1] stops,
        forms=None,
    ):
        self.table, self.forms = table, table if forms is None else forms
        self.forms_are_known = forms is not None
        require_table(self.table)
        require_table(self.forms)
        self.codes, self.marks = codes, marks
        self.texts, self.starts, self.stops = texts, starts, stops
        self.longest = np.subtract(stops, starts).max(initial=0)


cdef class Strangers:
    """Ids of a block that are not known and may be alike to one that is.

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


def held(const uint64_t[:, ::1] keys, const uint64_t[:, ::1] table, uint8_t[::1] found):
    """Write whether a table of keys, as `KeyTable` holds them, has each key."""
    cdef Py_ssize_t at
    require_table(table)
    if keys.shape[1] != 2:
        raise ValueError("a key has two numbers")
    with nogil:
        for at in range(keys.shape[0]):
            found[at] = look_up(keys[at, 0], keys[at, 1], table) >= 0


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
        Whether any holds a letter a–z, or A–Z, is a number with a zero in front, or is odd.
    """
    cdef Py_ssize_t at, start, stop
    cdef bint digits = True, own, zeros = False, odd = False
    cdef Looks look
    look.lower = look.upper = False
    with nogil:
        for at in range(starts.shape[0]):
            start, stop = starts[at], stops[at]
            width = stop - start if width < 0 or width == stop - start else 0
            check(buffer, start, stop)
            own = look_at(buffer, start, stop, &look)
            digits &= own
            zeros |= own and stop > start + 1 and buffer[start] == 48
            odd |= look.odd
    return digits, width, bool(look.lower), bool(look.upper), zeros, odd
