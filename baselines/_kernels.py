# cython: infer_types=True
"""The baselines' own loops; compiled, and a Python file that runs uncompiled as well."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.harness.core._kernels import holds, sort
else:
    from harness.models._kernels import holds

    def sort(numbers, scratch, low, high):
        """Sort a part of an array, the smallest first."""
        numbers[low:high].sort()


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


def count_gaps(
    user_starts: cython.const[cython.longlong][::1],
    items: cython.const[cython.int][::1],
    times: cython.const[cython.longlong][::1],
    cutoff: cython.longlong,
    day: cython.longlong,
    keys: cython.longlong[::1],
    scratch: cython.longlong[::1],
    closed: cython.longlong[::1],
    open_: cython.longlong[::1],
):
    """Count the gaps of every pair of user and item, by days.

    Parameters
    ----------
    keys, scratch : arrays, (the most events of a user,)
        Scratch memory.
    """
    with cython.nogil:
        for user in range(user_starts.shape[0] - 1):
            first = user_starts[user]
            n: cython.longlong = user_starts[user + 1] - first
            for at in range(n):
                keys[at] = cython.cast(cython.longlong, items[first + at]) * n + at
            sort(keys, scratch, 0, n)  # by item; events of an item stay in order of time
            item: cython.longlong = -1
            age: cython.longlong = 0
            for at in range(n):
                before: cython.longlong = item
                last: cython.longlong = age
                item = keys[at] // n
                age = -((times[first + keys[at] % n] - cutoff) // day)
                if item == before and last > age:
                    closed[last - age] += 1
                if at + 1 == n or keys[at + 1] // n != item:
                    open_[age - 1] += 1


def last_days(
    user_starts: cython.const[cython.longlong][::1],
    items: cython.const[cython.int][::1],
    times: cython.const[cython.longlong][::1],
    cutoff: cython.longlong,
    day: cython.longlong,
    candidate_of: cython.const[cython.int][::1],
    keys: cython.longlong[::1],
    scratch: cython.longlong[::1],
    starts: cython.longlong[::1],
    own: cython.int[::1],
    ages: cython.int[::1],
):
    """Write the candidates that each user had, ascending, and how many days ago they last did.

    Parameters
    ----------
    keys, scratch : arrays, (the most events of a user,)
        Scratch memory.
    """
    written: cython.Py_ssize_t = 0
    with cython.nogil:
        for user in range(user_starts.shape[0] - 1):
            first = user_starts[user]
            n: cython.longlong = user_starts[user + 1] - first
            for at in range(n):
                keys[at] = cython.cast(cython.longlong, items[first + at]) * n + at
            sort(keys, scratch, 0, n)
            for at in range(n):
                item = keys[at] // n
                if candidate_of[item] >= 0 and (at + 1 == n or keys[at + 1] // n != item):
                    own[written] = candidate_of[item]
                    ages[written] = -((times[first + keys[at] % n] - cutoff) // day)
                    written += 1
            starts[user + 1] = written


def order_by(
    places: cython.const[cython.longlong][::1],
    starts: cython.const[cython.longlong][::1],
    keys: cython.longlong[::1],
    scratch: cython.longlong[::1],
    own: cython.const[cython.int][::1],
    ordered: cython.int[::1],
):
    """Write each user's items in order of `places`, ties as they are.

    Parameters
    ----------
    keys, scratch : arrays, (the most items of a user,)
        Scratch memory.
    """
    with cython.nogil:
        for user in range(starts.shape[0] - 1):
            first = starts[user]
            n: cython.longlong = starts[user + 1] - first
            for at in range(n):
                keys[at] = places[first + at] * n + at
            sort(keys, scratch, 0, n)
            for at in range(n):
                ordered[first + at] = own[first + keys[at] % n]


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


def unite(
    users: cython.const[cython.int][::1],
    starts: cython.const[cython.longlong][::1],
    items: cython.const[cython.int][::1],
    candidate_of: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    places: cython.const[cython.longlong][::1],
    scratch: cython.longlong[::1],
    ends: cython.longlong[::1],
    both: cython.longlong[::1],
):
    """Write the candidates of each user's events and of `places`, ascending, each once.

    Parameters
    ----------
    scratch : array, as long as `both`
        Scratch memory.
    """
    written: cython.Py_ssize_t = 0
    with cython.nogil:
        for row in range(users.shape[0]):
            first: cython.Py_ssize_t = written
            last: cython.Py_ssize_t = written
            for at in range(indptr[row], indptr[row + 1]):
                both[last] = places[at]
                last += 1
            for event in range(starts[users[row]], starts[users[row] + 1]):
                candidate = candidate_of[items[event]]
                if candidate >= 0:
                    both[last] = candidate
                    last += 1
            sort(both, scratch, first, last)
            for at in range(first, last):
                if at == first or both[at] != both[written - 1]:
                    both[written] = both[at]
                    written += 1
            ends[row + 1] = written


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
