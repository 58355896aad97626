"""Rows of different lengths in two arrays (CSR)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of item positions of different lengths (CSR): row i is indices[indptr[i]:indptr[i+1]].

    Attributes
    ----------
    indptr : int64 array, one more than there are rows
    indices : int32 array, ascending within a row, none twice
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The length of every row."""
        return np.diff(self.indptr)

    def rows(self, start: int, stop: int) -> Ragged:
        """Return the rows from `start` to `stop`."""
        ends = self.indptr[start : stop + 1]
        return Ragged(ends - ends[0], self.indices[ends[0] : ends[-1]])

    def pick(self, keep: NDArray[np.bool_]) -> Ragged:
        """Return the rows that `keep` marks, in their order."""
        sizes = self.sizes
        indptr = np.concatenate(([0], np.cumsum(sizes[keep])))
        return Ragged(indptr, self.indices[np.repeat(keep, sizes)])
