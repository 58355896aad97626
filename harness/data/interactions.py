"""Events added up: by item, or as a users × items matrix of counts or weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from harness.core.arrays import Bool, Int32, Int64
from harness.data.dataset import Events


def count_matrix(events: Events, starts: Int64, n_items: int) -> csr_array[Any]:
    """Return how many events each user has with each item, (users, items), float32."""
    counts = np.ones(len(events), np.float32)
    # SciPy sorts and sums in place, so it must have arrays of its own.
    shape = (len(starts) - 1, n_items)
    matrix = csr_array((counts, events.item.copy(), starts.copy()), shape=shape)
    matrix.sum_duplicates()
    return matrix


def ones_like(matrix: csr_array[Any]) -> csr_array[Any]:
    """Return a matrix with 1 wherever `matrix` has an entry."""
    ones = np.ones(len(matrix.data), matrix.dtype)
    return csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)


def pair_matrix(
    user: Int32, item: Int32, value: npt.NDArray[Any], shape: tuple[int, int], counts: bool
) -> csr_array[Any]:
    """Return a CSR matrix of the sum, or the largest, of the values of each pair (user, item)."""
    pairs = user.astype(np.int64) * shape[1] + item
    # From the smallest weight up: equal weights in another order make equal sums.
    order = np.lexsort((value, pairs)) if counts else np.argsort(pairs, kind="stable")
    pairs, value = pairs[order], value[order]
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    merge = np.add if counts else np.maximum
    data = merge.reduceat(value, first) if len(first) > 0 else value
    rows, columns = np.divmod(pairs[first], shape[1])
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=shape[0])))
    matrix = csr_array((data, columns.astype(np.int32), indptr), shape=shape)
    matrix.eliminate_zeros()
    return matrix


def descending(values: npt.NDArray[Any], keep: Bool) -> Int32:
    """Return the positions that `keep` selects, the largest value first, ties by position."""
    order = np.argsort(-values, kind="stable")
    return order[keep[order]].astype(np.int32)
