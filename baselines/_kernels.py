# cython: infer_types=True
"""The baselines' own loops; compiled, and a Python file that runs uncompiled as well."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.harness.core._kernels import holds
else:
    from harness.models._kernels import holds

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
    that would favour some numbers, so that every number is exactly as likely.

    Parameters
    ----------
    pool, swapped : arrays, (the largest of `free`,) and (k,)
        0, 1, 2 …, which it is again afterwards; scratch memory.
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
    found: cython.double[:, ::1],
):
    """Add up rows `first` to `last` of XᵀX."""
    with cython.nogil:
        for item in range(first, last):
            for at in range(item_starts[item], item_starts[item + 1]):
                user = item_users[at]
                weight: cython.double = item_values[at]
                for other in range(user_starts[user], user_starts[user + 1]):
                    found[item, user_items[other]] += weight * user_values[other]


def fuse(
    lists: cython.const[cython.int][:, :, ::1],
    shares: cython.const[cython.longlong][:, ::1],
    shift: cython.int,
    sums: cython.longlong[::1],
    best: cython.longlong[::1],
    fused: cython.int[:, ::1],
):
    """Put the candidates of the highest sums into the rows of `fused`; `sums` are all 0 again.

    Parameters
    ----------
    shift : int
        How many of a sum's lowest bits are rounded away.
    best : array, (k,)
        Scratch memory.
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
                        filled = _put(best, fused[row], filled, total, candidate)
                        sums[candidate] = 0


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(-1, check=False)
def _put(
    best: cython.longlong[::1],
    fused: cython.int[::1],
    filled: cython.Py_ssize_t,
    total: cython.longlong,
    candidate: cython.int,
) -> cython.Py_ssize_t:
    """Put a candidate behind those that are better; return how many are held now."""
    k = fused.shape[0]
    at: cython.Py_ssize_t = filled
    while at > 0 and (
        best[at - 1] < total or (best[at - 1] == total and fused[at - 1] > candidate)
    ):
        at -= 1
    place: cython.Py_ssize_t = min(filled, k - 1)
    while place > at:
        best[place], fused[place] = best[place - 1], fused[place - 1]
        place -= 1
    if at < k:
        best[at], fused[at] = total, candidate
    return min(filled + 1, k)
