"""Products of chosen pairs of rows, where all pairs would be too many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from harness.compiled import compiled
from harness.dataset import Int32
from harness.products import in_threads

Float64 = npt.NDArray[np.float64]

_BLOCK = 256


def pair_products(left: csr_array[Any], right: csr_array[Any], places: Int32) -> Float64:
    """Return the products of each row of `left` with the rows of `right` at its places.

    Parameters
    ----------
    left : csr_array, (n, m)
    right : csr_array, (N, m)
    places : int32 array, (n, s)
        Rows of `right`; −1 = empty.

    Returns
    -------
    float64 array, (n, s)
        0 at empty places.

    Examples
    --------
    >>> left = csr_array(np.array([[1.0, 2.0]]))
    >>> right = csr_array(np.array([[3.0, 0.0], [1.0, 1.0]]))
    >>> pair_products(left, right, np.array([[1, -1, 0]], np.int32)).tolist()
    [[3.0, 0.0, 3.0]]
    """
    found = np.zeros(places.shape)
    given = (*_parts(left), *_parts(right), left.shape[1], places, found)
    in_threads(lambda start: _products(start, min(start + _BLOCK, len(places)), *given),
               range(0, len(places), _BLOCK))  # fmt: skip
    return found


def _parts(matrix: csr_array[Any]) -> tuple[Any, ...]:
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64),
    )


@compiled
def _products(
    first: int, last: int,
    left_starts: Any, left_columns: Any, left_values: Any,
    right_starts: Any, right_columns: Any, right_values: Any,
    width: int, places: Any, found: Any,
) -> None:  # fmt: skip
    row_of = np.zeros(width)
    for row in range(first, last):
        for at in range(left_starts[row], left_starts[row + 1]):
            row_of[left_columns[at]] = left_values[at]
        for slot in range(places.shape[1]):
            place = places[row, slot]
            if place >= 0:
                total = 0.0
                for at in range(right_starts[place], right_starts[place + 1]):
                    total += row_of[right_columns[at]] * right_values[at]
                found[row, slot] = total
        for at in range(left_starts[row], left_starts[row + 1]):
            row_of[left_columns[at]] = 0.0
