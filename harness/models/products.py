"""The largest entries of each row of a matrix product, without ever holding the product.

The best of many are held in a heap whose root is the worst; ties go to the smaller column.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, eye_array

from harness.core.arrays import Bool, Floats, Int32, Int64
from harness.core.jit import compiled
from harness.models.recommendations import EMPTY
from harness.models.topk import excluded_rows

_BLOCKS = 64
_LEAST = 32
_TILE = 2048


def largest_products(
    left: csr_array[Any],
    right: csr_array[Any],
    k: int,
    *,
    row_norms: Floats | None = None,
    column_norms: Floats | None = None,
    shrink: float = 0.0,
    exclude: csr_array[Any] | None = None,
    ordered: bool = True,
) -> tuple[Int32, Floats]:
    """Return the `k` largest positive entries of each row of a (weighed) product of two matrices.

    Entry (i, j) is ``(left @ right)[i, j] / (row_norms[i] · column_norms[j] + shrink)``: with
    norms it is a similarity of rows, without them a score. Every entry is summed in the order of
    `left`'s columns, so neither threads nor other rows change it.

    Parameters
    ----------
    left : csr_array, (n, m)
    right : csr_array, (m, N)
    k : int
    row_norms, column_norms : float64 arrays, (n,) and (N,), optional
        1 by default.
    shrink : float
        Added to the denominator: entries that rest on little become small.
    exclude : csr_array, (n, N), optional
        Entries that are not to be given.
    ordered : bool
        False leaves each row's entries in any order, for who makes a matrix of them.

    Returns
    -------
    columns : int32 array, (n, k)
        Largest first, ties by column; −1 where fewer entries are positive.
    values : float64 array, (n, k)
        0 where there is no entry.

    Examples
    --------
    >>> left = csr_array(np.array([[1.0, 2.0]]))
    >>> right = csr_array(np.array([[3.0, 0.0, 1.0], [0.0, 0.0, 1.0]]))
    >>> columns, values = largest_products(left, right, 3)
    >>> columns.tolist(), values.tolist()
    ([[0, 2, -1]], [[3.0, 3.0, 0.0]])
    """
    n, width = left.shape[0], right.shape[1]
    rows = np.ones(n) if row_norms is None else row_norms.astype(np.float64)
    norms = np.ones(width) if column_norms is None else column_norms.astype(np.float64)
    columns, values = np.full((n, k), EMPTY, np.int32), np.zeros((n, k))
    given = (*_parts(left), *_parts(right), rows, norms, float(shrink))
    held = excluded_rows(exclude, n)

    if k > 0:
        in_threads(
            lambda *rows: _largest(*rows, *given, *held, ordered, columns, values), n, _step(n)
        )
    return columns, values


def largest_scores(
    left: csr_array[Any],
    right: npt.NDArray[Any],
    k: int,
    *,
    allowed: Bool | None = None,
    exclude: csr_array[Any] | None = None,
) -> Int32:
    """Return the columns of the `k` largest entries of each row of ``left @ right``.

    Unlike in `largest_products` every allowed column is ranked, whatever its entry. Entries are
    summed in the order of `left`'s columns, so neither threads nor other rows change them.

    Parameters
    ----------
    left : csr_array, (n, m)
        A row without entries gets no columns.
    right : float32 or float64 array, (m, N)
    k : int
    allowed : bool array, (N,), optional
        Which columns may be given; all by default.
    exclude : csr_array, (n, N), optional
        Entries that are not to be given.

    Returns
    -------
    int32 array, (n, k)
        Largest first, ties by column; −1 where no column is left.

    Examples
    --------
    >>> left = csr_array(np.array([[1.0, 2.0], [0.0, 0.0]]))
    >>> largest_scores(left, np.array([[3.0, 0.0, 1.0], [0.0, -1.0, 1.0]]), 4)
    array([[ 0,  2,  1, -1],
           [-1, -1, -1, -1]], dtype=int32)
    """
    n, width = left.shape[0], right.shape[1]
    columns = np.full((n, k), EMPTY, np.int32)
    may = np.ones(width, np.bool_) if allowed is None else allowed
    starts, middles, _ = _parts(left)
    weights = _scaled(left).astype(right.dtype)
    given = (starts, middles, weights, np.ascontiguousarray(right), may)
    held = excluded_rows(exclude, n)

    if k > 0:
        in_threads(lambda *rows: _largest_dense(*rows, *given, *held, columns), n, _step(n))
    return columns


def _scaled(matrix: csr_array[Any]) -> Floats:
    """Return the entries, each divided by its row's largest: small ones would be 0 as float32."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    largest = np.zeros(matrix.shape[0])
    np.maximum.at(largest, row, np.abs(matrix.data))
    largest[largest == 0] = 1.0
    scaled: Floats = matrix.data / largest[row]
    return scaled


def rows_where(keep: Bool, rows: npt.NDArray[Any]) -> csr_array[Any]:
    """Return dense rows as CSR, one wherever `keep` is true; the others are empty."""
    n, width = rows.shape
    indptr = np.append(0, np.cumsum(keep * width))
    columns = np.tile(np.arange(width, dtype=np.int32), n)
    return csr_array((rows.ravel(), columns, indptr), shape=(len(keep), width))


def as_matrix(columns: Int32, values: Floats, width: int) -> csr_array[Any]:
    """Return what `largest_products` gave as a (n, `width`) CSR matrix."""
    there = columns >= 0
    indptr = np.append(0, np.cumsum(np.count_nonzero(there, axis=1)))
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)  # else scipy makes both kinds of index alike by copying
    return csr_array((values[there], columns[there], indptr), shape=(len(columns), width))


def itself(rows: Int32, among: Int32, n: int) -> csr_array[Any]:
    """Return 1 where a row and a column are the same of `n` items, (rows, among), float64.

    Examples
    --------
    >>> itself(np.array([0, 1, 2]), np.array([2, 0]), 3).toarray().tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    return csr_array(eye_array(n, format="csr")[rows][:, among])


def _step(n: int) -> int:
    """Return the number of rows in a block."""
    return max(_LEAST, -(-n // _BLOCKS))


def in_threads(work: Callable[[int, int], object], n: int, step: int) -> None:
    """Do ``work(first, last)`` on all blocks of `n` rows, a thread a processor."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda start: work(start, min(start + step, n)), range(0, n, step)):
            pass


def _parts(matrix: csr_array[Any]) -> tuple[npt.NDArray[Any], ...]:
    return (
        matrix.indptr.astype(np.uint32 if matrix.nnz < 2**32 else np.uint64),
        matrix.indices.astype(np.uint32),
        matrix.data if matrix.dtype == np.float32 else matrix.data.astype(np.float64, copy=False),
    )


@compiled
def _largest(
    first: int,
    last: int,
    left_starts: Int64,
    left_columns: Int32,
    left_values: Floats,
    right_starts: Int64,
    right_columns: Int32,
    right_values: Floats,
    row_norms: Floats,
    column_norms: Floats,
    shrink: float,
    excluded_starts: Int64,
    excluded: Int64,
    ordered: bool,
    columns: Int32,
    values: Floats,
) -> None:
    """Fill rows `first` to `last` of `columns` and `values`: Gustavson's way, and a heap a row."""
    width = len(column_norms)
    sums, every = np.zeros(width), np.arange(width).astype(np.uint32)
    touched = np.empty(width + 1, np.uint32)
    for row in range(first, last):
        n_touched = np.uint64(0)
        for at in range(left_starts[row], left_starts[row + 1]):
            weight, middle = left_values[at], left_columns[at]
            # Whole numbers without a sign spare the check of an index below 0.
            begin, end = np.uint64(right_starts[middle]), np.uint64(right_starts[middle + 1])
            for other in range(begin, end):
                column = right_columns[other]
                before = sums[column]
                sums[column] = before + weight * right_values[other]
                touched[n_touched] = column
                n_touched += np.uint64(before == 0.0 and n_touched < width)
        for column in excluded[excluded_starts[row] : excluded_starts[row + 1]]:
            sums[column] = 0.0
        # Sums that came back to 0 are here twice; so many that there is no room: look at all.
        met = every if n_touched == width else touched[: np.int64(n_touched)]
        own, places, norm, filled = values[row], columns[row], row_norms[row], 0
        least = 0.0
        for column in met:
            value = sums[column] / (norm * column_norms[column] + shrink)
            sums[column] = 0.0
            if value > 0 and value >= least:
                filled = push(own, places, filled, value, np.int32(column))
                least = own[0] if filled == len(own) else 0.0
        if ordered:
            in_order(own, places, filled)


@compiled
def _largest_dense(
    first: int,
    last: int,
    left_starts: Int64,
    left_columns: Int32,
    left_values: Any,
    right: Any,
    allowed: Bool,
    excluded_starts: Int64,
    excluded: Int64,
    columns: Int32,
) -> None:
    """Fill rows `first` to `last` of `columns`; a tile of `right` at a time stays in the cache."""
    width, k = right.shape[1], columns.shape[1]
    barred = np.where(allowed, 0.0, -np.inf).astype(right.dtype)
    values, filled = np.zeros((last - first, k), right.dtype), np.zeros(last - first, np.int64)
    reached, buffer = excluded_starts[first:last].copy(), np.empty(_TILE, right.dtype)
    for begin in range(0, width, _TILE):
        end = min(begin + _TILE, width)
        tile = buffer[: end - begin]
        for row in range(first, last):
            start, stop, own = left_starts[row], left_starts[row + 1], row - first
            if start == stop:
                continue
            tile[:] = barred[begin:end]
            for at in range(start, stop):
                weight, other = left_values[at], right[left_columns[at], begin:end]
                for column in range(end - begin):
                    tile[column] += weight * other[column]
            while reached[own] < excluded_starts[row + 1] and excluded[reached[own]] < end:
                tile[excluded[reached[own]] - begin] = -np.inf
                reached[own] += 1
            filled[own] = _push_tile(values[own], columns[row], filled[own], tile, begin)
    for row in range(first, last):
        in_order(values[row - first], columns[row], filled[row - first])


@compiled
def _push_tile(values: Any, columns: Any, filled: int, tile: Any, begin: int) -> int:
    """Put a tile's entries among the best; columns rise, so that equal ones stay behind."""
    least = values[0] if filled == len(values) else -np.inf
    for place in range(len(tile)):
        if tile[place] > least:
            filled = push(values, columns, filled, tile[place], begin + place)
            if filled == len(values):
                least = values[0]
    return filled


@compiled
def push(values: Any, columns: Any, filled: int, value: float, column: int) -> int:
    """Put an entry among the best, where it belongs there; return how many are held then."""
    if filled < len(values):
        return int(offer(values, columns, filled, value, column))
    if worse(values[0], columns[0], value, column):
        sink(values, columns, filled, value, column)
    return filled


@compiled
def offer(values: Any, columns: Any, filled: int, value: float, column: int) -> int:
    """Put an entry into a heap that has room; return how many it holds then."""
    at = filled
    while at > 0:
        above = (at - 1) // 2
        if not worse(value, column, values[above], columns[above]):
            break
        values[at], columns[at] = values[above], columns[above]
        at = above
    values[at], columns[at] = value, column
    return filled + 1


@compiled
def sink(values: Any, columns: Any, filled: int, value: float, column: int) -> None:
    """Put an entry in the root's place, and let it sink to where it belongs."""
    at = 0
    while 2 * at + 1 < filled:
        child = 2 * at + 1
        if child + 1 < filled and worse(
            values[child + 1], columns[child + 1], values[child], columns[child]
        ):
            child += 1
        if not worse(values[child], columns[child], value, column):
            break
        values[at], columns[at] = values[child], columns[child]
        at = child
    values[at], columns[at] = value, column


@compiled
def in_order(values: Any, columns: Any, filled: int) -> None:
    """Turn a heap into a list, best first."""
    for last in range(filled - 1, 0, -1):
        value, column = values[last], columns[last]
        values[last], columns[last] = values[0], columns[0]
        sink(values, columns, last, value, column)


@compiled
def worse(value: float, column: int, than: float, than_column: int) -> bool:
    """Return whether an entry goes behind another."""
    return value < than or (value == than and column > than_column)
