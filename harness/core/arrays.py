"""The types of arrays in signatures, rows of different lengths, and repeated items in rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from harness.core import _kernels

Bool = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.integer[Any]]
"""Whole numbers of any width."""
Whole = TypeVar("Whole", Int32, Int64)


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of items of different lengths (CSR): row i is indices[indptr[i]:indptr[i+1]]."""

    indptr: Int64
    indices: Int32  # ascending within a row, none twice

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def sizes(self) -> Int64:
        """The length of every row."""
        return np.diff(self.indptr)

    def rows(self, start: int, stop: int) -> Ragged:
        """Return the rows from `start` to `stop`, without a copy of their items."""
        ends = self.indptr[start : stop + 1]
        return Ragged(ends - ends[0], self.indices[ends[0] : ends[-1]])

    def gather(self, order: Counts) -> Ragged:
        """Return some rows, in another order."""
        sizes = self.sizes[order]
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        places = np.repeat(self.indptr[:-1][order] - indptr[:-1], sizes) + np.arange(indptr[-1])
        return Ragged(indptr, self.indices[places])


def stacked(parts: Sequence[Ragged]) -> Ragged:
    """Return the rows of all, one behind the other."""
    sizes = np.concatenate([part.sizes for part in parts])
    indices = np.concatenate([part.indices for part in parts])
    return Ragged(np.concatenate(([0], np.cumsum(sizes))), indices)


def counts_of(item: Int32, n_items: int) -> Int64:
    """Return how often each item is in `item`."""
    counts = np.zeros(n_items, np.int64)
    _kernels.count(np.ascontiguousarray(item), counts)
    return counts


def distinct(numbers: Whole) -> Whole:
    """Return each of some whole numbers once, ascending: `np.unique`, without its hash table.

    Sorted in the processor's wide registers they are found many times faster.
    """
    ascending = np.sort(numbers)
    once: Whole = ascending[np.append(True, ascending[1:] != ascending[:-1])[: len(ascending)]]
    return once


def places(numbers: Counts, n: int) -> Int32:
    """Return where each of the numbers below `n` stands in `numbers`, −1 where it does not.

    >>> places(np.array([2, 0]), 4).tolist()
    [1, -1, 0, -1]
    """
    place = np.full(n, -1, np.int32)
    place[numbers] = np.arange(len(numbers), dtype=np.int32)
    return place


def repeats(lists: Counts) -> Bool:
    """Return whether an earlier position of the same row holds the same item; −1 is no item.

    >>> repeats(np.array([[3, 5, 3, -1, -1]])).tolist()
    [[False, False, True, False, False]]
    """
    order = np.argsort(lists, axis=1, kind="stable")
    ranked = np.take_along_axis(lists, order, axis=1)
    again = np.zeros(lists.shape, np.bool_)
    again[:, 1:] = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] >= 0)
    result = np.zeros(lists.shape, np.bool_)
    np.put_along_axis(result, order, again, axis=1)
    return result
