# cython: infer_types=True
"""The baselines' own loops; compiled, and a Python file that runs uncompiled as well."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.harness.core._kernels import holds
    from cython.cimports.harness.models._kernels import in_order, push
    from cython.cimports.libc.math import exp2
else:
    from math import exp2

    from harness.models._kernels import holds, in_order, push

Weight = cython.fused_type(cython.float, cython.double)
_WORD = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_LOW = cython.declare(cython.ulonglong, 0xFFFFFFFF)
_GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
_FIRST = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
_SECOND = cython.declare(cython.ulonglong, 0x94D049BB133111EB)


def distinct(
    keys: cython.const[cython.ulonglong][::1],
    free: cython.const[cython.longlong][::1],
    pool: cython.int[::1],
    swapped: cython.longlong[::1],
    lists: cython.int[:, ::1],
):
    """Write distinct whole numbers below ``free[i]`` for each key, as many as there is room for.

    A Fisher–Yates shuffle that stops after k exchanges, then takes them back, so that a row costs k
    steps however many candidates there are. Each exchange takes a uniform number below `bound` by
    Lemire's method (2019): the high half of a 32-bit draw times the bound, refusing the few draws
    that would favour some numbers, so that every number is exactly as likely. Scratch memory:
    `pool` is 0, 1, 2 … up to the largest of `free`, which it is again afterwards.
    """
    with cython.nogil:
        for row in range(keys.shape[0]):
            state: cython.ulonglong = cython.cast(cython.ulonglong, keys[row])
            taken: cython.longlong = min(lists.shape[1], free[row])
            for place in range(taken):
                bound: cython.ulonglong = free[row] - place
                product: cython.ulonglong = 0
                fair: cython.bint = False
                while not fair:
                    state = (state + _GOLDEN) & _WORD
                    z: cython.ulonglong = state
                    z = ((z ^ (z >> 30)) * _FIRST) & _WORD
                    z = ((z ^ (z >> 27)) * _SECOND) & _WORD
                    product = ((z ^ (z >> 31)) >> 32) * bound
                    low: cython.ulonglong = product & _LOW
                    fair = low >= bound or low >= (_LOW + 1) % bound
                other: cython.longlong = place + (product >> 32)
                pool[place], pool[other] = pool[other], pool[place]
                swapped[place] = other
                lists[row, place] = pool[place]
            for back in range(taken):
                last: cython.longlong = taken - 1 - back
                other = swapped[last]
                pool[last], pool[other] = pool[other], pool[last]


def latest(
    starts: cython.const[cython.longlong][::1],
    items: cython.const[cython.int][::1],
    candidate_of: cython.const[cython.int][::1],
    times: cython.const[cython.longlong][::1],
    indptr: cython.const[cython.longlong][::1],
    excluded: cython.const[cython.longlong][::1],
    lists: cython.int[:, ::1],
):
    """Write the last different candidates of each user, latest first, ties ascending.

    Events of one time stand in item order, so they are walked forwards, and the times backwards.
    """
    k = lists.shape[1]
    with cython.nogil:
        for row in range(lists.shape[0]):
            begin, end = starts[row], starts[row + 1]
            filled: cython.Py_ssize_t = 0
            while end > begin and filled < k:
                start: cython.longlong = end - 1
                while start > begin and times[start - 1] == times[end - 1]:
                    start -= 1
                for event in range(start, end):
                    candidate = candidate_of[items[event]]
                    fits: cython.bint = candidate >= 0 and filled < k
                    fits &= not holds(excluded, indptr[row], indptr[row + 1], candidate)
                    for place in range(filled):
                        fits &= lists[row, place] != candidate
                    if fits:
                        lists[row, filled] = candidate
                        filled += 1
                end = start


@cython.boundscheck(False)
def gram(
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    item_starts: cython.const[cython.longlong][::1],
    item_users: cython.const[cython.int][::1],
    item_values: cython.const[Weight][::1],
    user_starts: cython.const[cython.longlong][::1],
    user_items: cython.const[cython.int][::1],
    user_values: cython.const[Weight][::1],
    products: cython.double[:, ::1],
):
    """Add up rows `first` to `last` of XᵀX."""
    with cython.nogil:
        for item in range(first, last):
            for entry in range(item_starts[item], item_starts[item + 1]):
                user = item_users[entry]
                weight: cython.double = item_values[entry]
                for other in range(user_starts[user], user_starts[user + 1]):
                    products[item, user_items[other]] += weight * user_values[other]


def fuse(
    lists: cython.const[cython.int][:, :, ::1],
    shares: cython.const[cython.longlong][:, ::1],
    shift: cython.int,
    sums: cython.longlong[::1],
    best: cython.longlong[::1],
    fused: cython.int[:, ::1],
):
    """Put the candidates of the highest sums into the rows of `fused`; `sums` are all 0 again.

    The `shift` lowest bits of a sum are rounded away. Scratch memory: `best`, (k,).
    """
    half: cython.longlong = 1
    half <<= shift - 1
    with cython.nogil:
        for row in range(fused.shape[0]):
            for model in range(lists.shape[0]):
                for place in range(lists.shape[2]):
                    candidate = lists[model, row, place]
                    if candidate >= 0:
                        sums[candidate] += shares[model, place]
            filled: cython.Py_ssize_t = 0
            for model in range(lists.shape[0]):
                for place in range(lists.shape[2]):
                    candidate = lists[model, row, place]
                    if candidate >= 0 and sums[candidate] > 0:
                        total = (sums[candidate] + half) >> shift  # rounded
                        if filled < best.shape[0] or total >= best[0]:
                            filled = push(best, fused[row], filled, total, candidate)
                        sums[candidate] = 0
            in_order(best, fused[row], filled)


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

    `room` says where there is room for the pairs of each item; those of all go behind the first
    one's. Scratch memory: `sums`, (width,), 0, which it is again afterwards, and `touched`.
    """
    written = room[first]
    with cython.nogil:
        for item in range(first, last):
            n_touched: cython.Py_ssize_t = 0
            for entry in range(starts[item], starts[item + 1]):
                event = order[entry]
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
            for entry in range(n_touched):
                candidate = touched[entry]
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
            for entry in range(starts[row], starts[row + 1]):
                value: cython.double = values[entry]
                filled = push(best_values[row], best_columns[row], filled, value, columns[entry])
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
    products: cython.double[:, ::1],
):
    """Write the products of rows `first` to `last` of one matrix and chosen rows of another.

    Scratch memory: `row_of`, (width,), 0, which it is again afterwards.
    """
    with cython.nogil:
        for row in range(first, last):
            for entry in range(left_starts[row], left_starts[row + 1]):
                row_of[left_columns[entry]] = left_values[entry]
            for slot in range(places.shape[1]):
                place = places[row, slot]
                if place >= 0:
                    total: cython.double = 0.0
                    for entry in range(right_starts[place], right_starts[place + 1]):
                        total += row_of[right_columns[entry]] * right_values[entry]
                    products[row, slot] = total
            for entry in range(left_starts[row], left_starts[row + 1]):
                row_of[left_columns[entry]] = 0.0
