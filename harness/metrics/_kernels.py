# cython: boundscheck=False, infer_types=True
"""The loops over lists and truth; compiled, and a Python file that runs uncompiled as well."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.harness.core._kernels import search
    from cython.cimports.harness.core._vector import flag
else:
    from bisect import bisect_left

    def search(ascending, low, end, wanted):
        """Return where `wanted` stands in an ascending row, or the row's end."""
        place = bisect_left(ascending, wanted, low, end)
        return place if place < end and ascending[place] == wanted else end

    def flag(lists, row, n, wanted, low, high, flags):
        """Flag where numbers stand first in the first n of a row; return how many do."""
        row = list(lists[row, :n])
        ranks = [row.index(number) for number in wanted[low:high] if number in row]
        for rank in ranks:
            flags[rank] = True
        return len(ranks)


def tally(
    items: cython.const[cython.int][:, ::1],
    indptr: cython.const[cython.longlong][::1],
    indices: cython.const[cython.int][::1],
    relevant: cython.const[cython.int][::1],
    discount: cython.const[cython.double][::1],
    scanned: cython.Py_ssize_t,
    hit: cython.uchar[::1],
    matched: cython.uchar[::1],
    precision_sum: cython.double[::1],
    dcg: cython.double[::1],
    hits: cython.int[::1],
    early_hits: cython.int[::1],
    first_hit: cython.int[::1],
    length: cython.int[::1],
):
    """Score every user's list; return the first user that is faulty, or -1.

    Up to `scanned` true items a scan per item beats a search per rank. Scratch memory: `hit`, 0,
    of the cut-off, and `matched`, of the longest row of truth.
    """
    cut = discount.shape[0]
    faulty: cython.Py_ssize_t = -1
    with cython.nogil:
        for user in range(items.shape[0]):
            filled: cython.int = 0
            unknown: cython.int = False
            row, end = indptr[user], indptr[user + 1]
            for i in range(cut):
                item = items[user, i]
                filled += item >= 0
                unknown |= item < -1
            last: cython.int = -1
            ascending: cython.bint = True
            for t in range(row, end):
                wanted = indices[t]
                ascending &= wanted > last
                last = wanted
            if unknown or not ascending:
                faulty = user
                break
            n_hits: cython.int
            if end - row > scanned:
                n_hits = _flag_by_search(items, user, indices, row, end, matched, hit)
            else:
                n_hits = flag(items, user, cut, indices, row, end, hit)
            seen: cython.int = 0
            early: cython.int = 0
            first: cython.int = 0
            precision: cython.double = 0.0
            gain: cython.double = 0.0
            rank: cython.int = 0
            while seen < n_hits:
                if hit[rank]:
                    hit[rank] = False
                    seen += 1
                    early += rank < relevant[user]
                    first = rank + 1 if seen == 1 else first
                    precision += seen / (rank + 1)
                    gain += discount[rank]
                rank += 1
            precision_sum[user], dcg[user] = precision, gain
            hits[user], early_hits[user] = seen, early
            first_hit[user], length[user] = first, filled
    return faulty


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _flag_by_search(
    items: cython.const[cython.int][:, ::1],
    user: cython.Py_ssize_t,
    indices: cython.const[cython.int][::1],
    row: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    matched: cython.uchar[::1],
    hit: cython.uchar[::1],
) -> cython.int:
    """Search each listed item in a long row of truth; flag it unless it was found before."""
    hits: cython.int = 0
    for t in range(end - row):
        matched[t] = False
    for i in range(hit.shape[0]):
        place = search(indices, row, end, items[user, i])
        if place < end and not matched[place - row]:
            matched[place - row] = True
            hit[i] = True
            hits += 1
    return hits


def ranks(
    items: cython.const[cython.int][:, ::1],
    indptr: cython.const[cython.longlong][::1],
    indices: cython.const[cython.int][::1],
    cut: cython.Py_ssize_t,
    rank_of: cython.int[::1],
):
    """Write the rank of every true item; return the first user that is faulty, or -1."""
    faulty: cython.Py_ssize_t = -1
    with cython.nogil:
        for user in range(items.shape[0]):
            row, end = indptr[user], indptr[user + 1]
            for t in range(row, end):
                if indices[t] < 0 or (t > row and indices[t] <= indices[t - 1]):
                    faulty = user
            for i in range(cut):
                if items[user, i] < -1:
                    faulty = user
                place = search(indices, row, end, items[user, i])
                if place < end and rank_of[place] == 0:
                    rank_of[place] = i + 1
            if faulty >= 0:
                break
    return faulty


def count_again(
    users: cython.const[cython.int][::1],
    starts: cython.const[cython.longlong][::1],
    item: cython.const[cython.int][::1],
    candidate: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    truth: cython.const[cython.int][::1],
    seen: cython.uchar[::1],
    counts: cython.longlong[::1],
):
    """Write how many entries of each row of truth are a candidate of the user's own events.

    Scratch memory: `seen`, 0, of the entries of truth.
    """
    with cython.nogil:
        for row in range(users.shape[0]):
            first, last = indptr[row], indptr[row + 1]
            for event in range(starts[users[row]], starts[users[row] + 1]):
                place = search(truth, first, last, candidate[item[event]])
                if place < last and not seen[place]:
                    seen[place] = True
                    counts[row] += 1
