# cython: cdivision=True, infer_types=True
"""The loops over lists and products; compiled, and a Python file that runs uncompiled as well."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.harness.core._kernels import holds
    from cython.cimports.harness.core._vector import add_scaled
    from cython.cimports.libc.math import INFINITY
else:
    from bisect import bisect_left

    INFINITY = float("inf")

    def holds(ascending, low, high, wanted):
        """Return whether a part of an ascending array holds a number."""
        place = bisect_left(ascending, wanted, low, high)
        return place < high and ascending[place] == wanted

    def add_scaled(to, matrix, row, begin, n, factor):
        """Add a piece of a row, scaled, to the first n numbers."""
        to[:n] += factor * matrix[row, begin : begin + n]

    Real = cython.fused_type(cython.float, cython.double)
    Number = cython.fused_type(cython.float, cython.double, cython.longlong)
Left = cython.fused_type(cython.float, cython.double)
Right = cython.fused_type(cython.float, cython.double)
Position = cython.fused_type(cython.int, cython.longlong)


def first_of(
    lists: cython.int[:, ::1],
    starts: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    rows: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    excluded: cython.const[cython.longlong][::1],
):
    """Fill each list with the first of its own order that is not excluded."""
    k = lists.shape[1]
    with cython.nogil:
        for row in range(lists.shape[0]):
            filled: cython.Py_ssize_t = 0
            which = rows[row]
            if which < 0:
                continue
            low, high = indptr[row], indptr[row + 1]
            last: cython.longlong = excluded[high - 1] if low < high else -1
            for entry in range(starts[which], starts[which + 1]):
                if filled == k:
                    break
                candidate = order[entry]
                if candidate > last or not holds(excluded, low, high, candidate):
                    lists[row, filled] = candidate
                    filled += 1


def extend(
    lists: cython.int[:, ::1],
    more: cython.const[cython.int][:, :],
    distinct: cython.bint,
    indptr: cython.const[cython.longlong][::1],
    excluded: cython.const[cython.longlong][::1],
):
    """Fill the empty positions of each list with the first of its row of `more` that fit.

    Where no row of `more` holds an item twice (`distinct`), only what was there before is compared.
    """
    k = lists.shape[1]
    with cython.nogil:
        for row in range(lists.shape[0]):
            filled: cython.Py_ssize_t = 0
            while filled < k and lists[row, filled] >= 0:
                filled += 1
            before: cython.Py_ssize_t = filled
            for column in range(more.shape[1]):
                if filled == k:
                    break
                candidate = more[row, column]
                fits: cython.bint = candidate >= 0
                fits &= not holds(excluded, indptr[row], indptr[row + 1], candidate)
                for place in range(before if distinct else filled):
                    fits &= lists[row, place] != candidate
                if fits:
                    lists[row, filled] = candidate
                    filled += 1


@cython.boundscheck(False)
def are_good(
    items: cython.const[Position][:, ::1],
    n_candidates: cython.longlong,
    indptr: cython.const[cython.longlong][::1],
    excluded: cython.const[cython.longlong][::1],
):
    """Return whether all items are candidates, none twice in a row, and none is excluded."""
    if indptr.shape[0] <= items.shape[0]:
        raise IndexError(f"{indptr.shape[0]} bounds of {items.shape[0]} rows")
    good: cython.bint = True
    with cython.nogil:
        for row in range(items.shape[0]):
            low, high = indptr[row], indptr[row + 1]
            for place in range(items.shape[1]):
                item: Position = items[row, place]
                if item == -1:
                    continue
                twice: cython.int = False
                for earlier in range(place):
                    twice |= items[row, earlier] == item
                good &= 0 <= item < n_candidates and not twice
                good &= not holds(excluded, low, high, item)
            if not good:
                break
    return good


@cython.boundscheck(False)
def largest_products(
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    left_starts: cython.const[cython.longlong][::1],
    left_columns: cython.const[cython.int][::1],
    left_values: cython.const[Left][::1],
    right_starts: cython.const[cython.longlong][::1],
    right_columns: cython.const[cython.int][::1],
    right_values: cython.const[Right][::1],
    row_norms: cython.const[cython.double][::1],
    column_norms: cython.const[cython.double][::1],
    added: cython.bint,
    overlap: cython.double,
    shrink: cython.double,
    excluded_starts: cython.const[cython.longlong][::1],
    excluded: cython.const[cython.longlong][::1],
    ordered: cython.bint,
    sums: cython.double[::1],
    touched: cython.int[::1],
    columns: cython.int[:, ::1],
    values: cython.double[:, ::1],
):
    """Fill rows `first` to `last` of `columns` and `values`: Gustavson's way, and a heap a row.

    Norms are multiplied, or `added`, which alone may have an overlap. Scratch memory: `sums`,
    (width,), 0, which it is again afterwards, and `touched`, (width + 1,).
    """
    width = sums.shape[0]
    k = columns.shape[1]
    with cython.nogil:
        for row in range(first, last):
            n_touched: cython.Py_ssize_t = 0
            for entry in range(left_starts[row], left_starts[row + 1]):
                weight: Left = left_values[entry]
                middle = left_columns[entry]
                for other in range(right_starts[middle], right_starts[middle + 1]):
                    column = right_columns[other]
                    before = sums[column]
                    sums[column] = before + weight * right_values[other]
                    touched[n_touched] = column
                    n_touched += (before == 0.0) & (n_touched < width)
            for entry in range(excluded_starts[row], excluded_starts[row + 1]):
                sums[excluded[entry]] = 0.0
            # Sums that came back to 0 are here twice; so many that there is no room: look at all.
            filled: cython.Py_ssize_t = 0
            least: cython.double = 0.0
            for met in range(n_touched):
                column = met if n_touched == width else touched[met]
                norms: cython.double = row_norms[row] * column_norms[column]
                if added:
                    norms = row_norms[row] + column_norms[column] + overlap * sums[column]
                value = sums[column] / (norms + shrink)
                sums[column] = 0.0
                if value > 0 and value >= least:
                    filled = push(values[row], columns[row], filled, value, column)
                    least = values[row, 0] if filled == k else 0.0
            if ordered:
                in_order(values[row], columns[row], filled)


@cython.boundscheck(False)
def largest_scores(
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    left_starts: cython.const[cython.longlong][::1],
    left_columns: cython.const[cython.int][::1],
    left_values: cython.const[Real][::1],
    right: cython.const[Real][:, ::1],
    barred: cython.const[Real][::1],
    excluded_starts: cython.const[cython.longlong][::1],
    excluded: cython.const[cython.longlong][::1],
    reached: cython.longlong[::1],
    filled: cython.longlong[::1],
    tile: Real[::1],
    values: Real[:, ::1],
    columns: cython.int[:, ::1],
):
    """Fill rows `first` to `last` of `columns`; a tile of `right` at a time stays in the cache.

    `barred` is 0, or −∞ where a column may not be given. Scratch memory, with the rows from
    `first` on: `reached`, `excluded_starts` of the rows; `filled` and `values`, 0; and `tile`.
    """
    width = right.shape[1]
    with cython.nogil:
        begin: cython.Py_ssize_t = 0
        while begin < width:
            end: cython.Py_ssize_t = min(begin + tile.shape[0], width)
            for row in range(first, last):
                if left_starts[row] == left_starts[row + 1]:
                    continue
                slot: cython.Py_ssize_t = row - first
                for column in range(end - begin):
                    tile[column] = barred[begin + column]
                for entry in range(left_starts[row], left_starts[row + 1]):
                    add_scaled(
                        tile, right, left_columns[entry], begin, end - begin, left_values[entry]
                    )
                while reached[slot] < excluded_starts[row + 1] and excluded[reached[slot]] < end:
                    tile[excluded[reached[slot]] - begin] = -INFINITY
                    reached[slot] += 1
                filled[slot] = _push_tile(
                    values[slot], columns[row], filled[slot], tile, begin, end - begin
                )
            begin = end
        for row in range(first, last):
            in_order(values[row - first], columns[row], filled[row - first])


@cython.boundscheck(False)
@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _push_tile(
    values: Real[::1],
    columns: cython.int[::1],
    filled: cython.Py_ssize_t,
    tile: Real[::1],
    begin: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Put a tile's entries among the best; columns rise, so that equal ones stay behind."""
    least: Real = values[0] if filled == values.shape[0] else -INFINITY
    for place in range(length):
        if tile[place] > least:
            filled = push(values, columns, filled, tile[place], begin + place)
            if filled == values.shape[0]:
                least = values[0]
    return filled


@cython.boundscheck(False)
@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push(
    values: Number[::1],
    columns: cython.int[::1],
    filled: cython.Py_ssize_t,
    value: Number,
    column: cython.int,
) -> cython.Py_ssize_t:
    """Put an entry among the best, where it belongs there; return how many are held then."""
    if filled < values.shape[0]:
        _offer(values, columns, filled, value, column)
        return filled + 1
    if _worse(values[0], columns[0], value, column):
        _sink(values, columns, filled, value, column)
    return filled


@cython.boundscheck(False)
@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _offer(
    values: Number[::1],
    columns: cython.int[::1],
    filled: cython.Py_ssize_t,
    value: Number,
    column: cython.int,
) -> cython.void:
    """Put an entry into a heap that has room."""
    hole: cython.Py_ssize_t = filled
    while hole > 0:
        above: cython.Py_ssize_t = (hole - 1) >> 1
        if not _worse(value, column, values[above], columns[above]):
            break
        values[hole], columns[hole] = values[above], columns[above]
        hole = above
    values[hole], columns[hole] = value, column


@cython.boundscheck(False)
@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _sink(
    values: Number[::1],
    columns: cython.int[::1],
    filled: cython.Py_ssize_t,
    value: Number,
    column: cython.int,
) -> cython.void:
    """Put an entry in the root's place, and let it sink to where it belongs."""
    hole: cython.Py_ssize_t = 0
    while 2 * hole + 1 < filled:
        child: cython.Py_ssize_t = 2 * hole + 1
        if child + 1 < filled and _worse(
            values[child + 1], columns[child + 1], values[child], columns[child]
        ):
            child += 1
        if not _worse(values[child], columns[child], value, column):
            break
        values[hole], columns[hole] = values[child], columns[child]
        hole = child
    values[hole], columns[hole] = value, column


@cython.boundscheck(False)
@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def in_order(
    values: Number[::1], columns: cython.int[::1], filled: cython.Py_ssize_t
) -> cython.void:
    """Turn a heap into a list, best first."""
    for last in range(filled - 1, 0, -1):
        value, column = values[last], columns[last]
        values[last], columns[last] = values[0], columns[0]
        _sink(values, columns, last, value, column)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _worse(value: Number, column: cython.int, than: Number, than_column: cython.int) -> cython.bint:
    """Return whether an entry goes behind another."""
    return value < than or (value == than and column > than_column)
