# cython: infer_types=True
"""The baselines' loops over pairs of items; they run uncompiled as well."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.harness.models._kernels import in_order, push
    from cython.cimports.libc.math import exp2
else:
    from math import exp2

    from harness.models._kernels import in_order, push


@cython.boundscheck(False)
def count_pairs(
    users: cython.const[cython.int][::1],
    items: cython.const[cython.int][::1],
    times: cython.const[cython.longlong][::1],
    span: cython.double,
    counts: cython.longlong[::1],
):
    """Add up how many other events users have with each of an item, or up to `span` after it."""
    low: cython.Py_ssize_t = 0
    high: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t = users.shape[0]
    with cython.nogil:
        for event in range(n):
            if users[low] != users[event] or times[low] != times[event]:
                low = event
            while high < n and users[high] == users[event] and times[high] - times[event] <= span:
                high += 1
            counts[items[event]] += high - low - 1


@cython.boundscheck(False)
@cython.cdivision(True)
def pairs(
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    starts: cython.const[cython.longlong][::1],
    order: cython.const[cython.longlong][::1],
    users: cython.const[cython.int][::1],
    candidates: cython.const[cython.int][::1],
    times: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    scales: cython.const[cython.double][::1],
    span: cython.double,
    half: cython.double,
    room: cython.const[cython.longlong][::1],
    sums: cython.longlong[::1],
    touched: cython.int[::1],
    sizes: cython.longlong[::1],
    columns: cython.int[::1],
    values: cython.longlong[::1],
):
    """Add up the pairs of items `first` to `last`, in whole numbers: weights times `scales`.

    Parameters
    ----------
    room : array, (items + 1,)
        Where there is room for the pairs of each item; those of all go behind the first one's.
    sums, touched : arrays, (width,) and (width + 1,)
        Scratch memory: 0, which it is again afterwards, and anything.
    """
    written = room[first]
    with cython.nogil:
        for item in range(first, last):
            n_touched: cython.Py_ssize_t = 0
            for at in range(starts[item], starts[item + 1]):
                event = order[at]
                other: cython.longlong = event  # then the first of the user at the same time
                before: cython.longlong = -1
                scale: cython.double = 0.0
                while (
                    other > 0
                    and users[other - 1] == users[event]
                    and times[other - 1] == times[event]
                ):
                    other -= 1
                while other < users.shape[0] and users[other] == users[event]:
                    gap = times[other] - times[event]
                    candidate = candidates[other]
                    if gap > span:
                        break
                    if candidate >= 0 and candidate != candidates[event]:
                        if gap != before:  # a basket is of one time
                            scale = scales[item] * exp2(-gap / half)
                            before = gap
                        weight = cython.cast(cython.longlong, weights[other] * scale + 0.5)
                        touched[n_touched] = candidate
                        n_touched += (sums[candidate] == 0) & (weight > 0)
                        sums[candidate] += weight
                    other += 1
            sizes[item] = n_touched
            for at in range(n_touched):
                candidate = touched[at]
                columns[written], values[written] = candidate, sums[candidate]
                sums[candidate] = 0
                written += 1


@cython.boundscheck(False)
def heaviest(
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    starts: cython.const[cython.int][::1],
    columns: cython.const[cython.int][::1],
    values: cython.const[cython.longlong][::1],
    best_columns: cython.int[:, ::1],
    best_values: cython.double[:, ::1],
):
    """Write the largest of each row of a matrix, ties by column."""
    with cython.nogil:
        for row in range(first, last):
            filled: cython.Py_ssize_t = 0
            for at in range(starts[row], starts[row + 1]):
                value: cython.double = values[at]
                filled = push(best_values[row], best_columns[row], filled, value, columns[at])
            in_order(best_values[row], best_columns[row], filled)


@cython.boundscheck(False)
def pair_products(
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    left_starts: cython.const[cython.longlong][::1],
    left_columns: cython.const[cython.longlong][::1],
    left_values: cython.const[cython.double][::1],
    right_starts: cython.const[cython.longlong][::1],
    right_columns: cython.const[cython.longlong][::1],
    right_values: cython.const[cython.double][::1],
    places: cython.const[cython.int][:, ::1],
    row_of: cython.double[::1],
    found: cython.double[:, ::1],
):
    """Write the products of rows `first` to `last` of one matrix and chosen rows of another.

    Parameters
    ----------
    row_of : array, (width,)
        Scratch memory: 0, which it is again afterwards.
    """
    with cython.nogil:
        for row in range(first, last):
            for at in range(left_starts[row], left_starts[row + 1]):
                row_of[left_columns[at]] = left_values[at]
            for slot in range(places.shape[1]):
                place = places[row, slot]
                if place >= 0:
                    total: cython.double = 0.0
                    for at in range(right_starts[place], right_starts[place + 1]):
                        total += row_of[right_columns[at]] * right_values[at]
                    found[row, slot] = total
            for at in range(left_starts[row], left_starts[row + 1]):
                row_of[left_columns[at]] = 0.0
