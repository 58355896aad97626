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
from harness.models import _kernels
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
    overlap: float | None = None,
    exclude: csr_array[Any] | None = None,
    ordered: bool = True,
) -> tuple[Int32, Floats]:
    """Return the `k` largest positive entries of each row of a (weighed) product of two matrices.

    Entry (i, j) is ``s / (row_norms[i] · column_norms[j] + shrink)`` of s, the product's entry, or
    with an overlap ``s / (row_norms[i] + column_norms[j] + overlap · s + shrink)``: with norms it
    is a similarity of rows, without them (1) a score. `exclude` holds entries that are not to be
    given. Every entry is summed in the order of `left`'s columns, so neither threads nor other rows
    change it.

    Columns are (n, k) int32, largest first, ties by column, −1 where fewer entries are positive;
    values are float64, 0 there. Not `ordered`, for a matrix, a row's entries are in any order.
    """
    n, width = left.shape[0], right.shape[1]
    _require_shape("right", right, (left.shape[1], width))
    _require_shape("row_norms", row_norms, (n,))
    _require_shape("column_norms", column_norms, (width,))
    rows = np.ones(n) if row_norms is None else row_norms.astype(np.float64)
    norms = np.ones(width) if column_norms is None else column_norms.astype(np.float64)
    columns, values = np.full((n, k), EMPTY, np.int32), np.zeros((n, k))
    left_starts, left_columns, left_values = _parts(left)
    right_starts, right_columns, right_values = _parts(right)
    excluded_starts, excluded = _excluded(exclude, (n, width))

    def block(first: int, last: int) -> None:
        sums, touched = np.zeros(width), np.empty(width + 1, np.int32)
        _kernels.largest_products(
            first, last, left_starts, left_columns, left_values,
            right_starts, right_columns, right_values, rows, norms,
            overlap is not None, overlap or 0.0, float(shrink),
            excluded_starts, excluded, ordered, sums, touched, columns, values,
        )  # fmt: skip

    if k > 0:
        in_threads(block, n, _step(n))
    return columns, values


def largest_scores(
    left: csr_array[Any],
    right: npt.NDArray[Any],
    k: int,
    *,
    allowed: Bool | None = None,
    exclude: csr_array[Any] | None = None,
) -> Int32:
    """Return the columns of the `k` largest entries of each row of ``left @ right``, (n, k) int32.

    Unlike in `largest_products` every allowed column is ranked, whatever its entry; ties by column,
    −1 where no column is left. A row of `left` without entries gets no columns. Entries are summed
    in the order of `left`'s columns, so neither threads nor other rows change them.
    """
    n, width = left.shape[0], right.shape[1]
    _require_shape("right", right, (left.shape[1], width))
    _require_shape("allowed", allowed, (width,))
    columns = np.full((n, k), EMPTY, np.int32)
    barred = np.zeros(width, right.dtype)
    if allowed is not None:
        barred[~allowed] = -np.inf
    starts, middles, _ = _parts(left)
    weights = _scaled(left).astype(right.dtype)
    dense = np.ascontiguousarray(right)
    excluded_starts, excluded = _excluded(exclude, (n, width))

    def block(first: int, last: int) -> None:
        reached, filled = excluded_starts[first:last].copy(), np.zeros(last - first, np.int64)
        tile, values = np.empty(_TILE, right.dtype), np.zeros((last - first, k), right.dtype)
        _kernels.largest_scores(
            first, last, starts, middles, weights, dense, barred,
            excluded_starts, excluded, reached, filled, tile, values, columns,
        )  # fmt: skip

    if k > 0:
        in_threads(block, n, _step(n))
    return columns


def _excluded(exclude: csr_array[Any] | None, shape: tuple[int, int]) -> tuple[Int64, Int64]:
    """Return what each row of a product excludes, ascending."""
    _require_shape("exclude", exclude, shape)
    return excluded_rows(exclude, shape[0])


def _require_shape(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError for another shape: the loops check no bounds."""
    if array is not None and array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")


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
    """Return 1 where a row and a column are the same of `n` items, (rows, among), float64."""
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
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int32),
        np.ascontiguousarray(matrix.data, None if matrix.dtype == np.float32 else np.float64),
    )
