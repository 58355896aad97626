"""Faults of lines, counted while these are read: how often, and where first."""

import numpy as np


cdef class Tally:
    """Faults that were counted; none at first.

    Parameters
    ----------
    faults : int
        How many different ones there are.

    Attributes
    ----------
    counts, lines : int64 array, (faults,)
        How often each fault was found, and in how many lines.
    mended : int64 array, (faults,)
        How often what it is of can be mended.
    examples : int64 array, (faults, EXAMPLES, 3)
        The first of each: a line of the block, its first byte and the byte behind the last.
    """

    def __init__(self, Py_ssize_t faults=SHAPES):
        self.counts = self._counts = np.zeros(faults, np.int64)
        self.lines = self._lines = np.zeros(faults, np.int64)
        self.mended = self._mended = np.zeros(faults, np.int64)
        self.examples = self._examples = np.zeros((faults, EXAMPLES, 3), np.int64)

    def copy(self):
        """Return the same, which is counted further apart from this one."""
        cdef Tally other = Tally(len(self.counts))
        other.counts[:], other.lines[:], other.examples[:] = self.counts, self.lines, self.examples
        other.mended[:] = self.mended
        return other

    cdef int note(
        self, int fault, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Count a fault and its line; remember where it is, if it is among the first."""
        cdef Py_ssize_t at = self._lines[fault]
        if at < EXAMPLES:
            self._examples[fault, at, 0] = line
            self._examples[fault, at, 1] = start
            self._examples[fault, at, 2] = stop
        self._counts[fault] += 1
        self._lines[fault] += 1
        return 0

    cdef int note_once(
        self, int fault, int noted, Py_ssize_t line, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Count a fault that a line may have several times, the line once.

        `noted` holds the line's faults so far, 1 << fault each; return it with this one.
        """
        if noted & 1 << fault:
            self._counts[fault] += 1
        else:
            self.note(fault, line, start, stop)
        return noted | 1 << fault
