"""Coded rows into a matrix of lists: as they stand, by rank, or by score.

Users whose code lies beyond the matrix are nobody's: their rows are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compiled import compiled

_SORTED_BY_INSERTION = 64  # shorter rows are sorted faster so


@compiled
def by_order(user: Any, item: Any, start: int, taken: Any, lists: Any, full: bool) -> int:
    """Put every item behind its user's last; return the first row that finds no place, or -1.

    `taken` counts the places of each user. Where the matrix is `full` wide, as wide as anyone
    looks, items without a place are left out.
    """
    n, k = lists.shape
    places = lists.reshape(-1)  # one index is faster than two
    for row in range(start, len(user)):
        u = user[row]
        if u >= n:
            continue
        place = taken[u]
        if place < k:
            places[np.uint64(u) * np.uint64(k) + np.uint64(place)] = item[row]
            taken[u] = place + 1
        elif not full:
            return row
    return -1


@compiled
def by_rank(user: Any, item: Any, rank: Any, lists: Any) -> int:
    """Put every item at its rank, from 1; return the first row whose place is taken, or -1."""
    n, k = lists.shape
    places = lists.reshape(-1)  # one index is faster than two
    for row in range(len(user)):
        u, place = user[row], rank[row] - 1
        if u >= n or place >= k:
            continue
        at = np.uint64(u) * np.uint64(k) + np.uint64(place)
        if places[at] >= 0:
            return row
        places[at] = item[row]
    return -1


@compiled
def by_list(user: Any, sizes: Any, item: Any, taken: Any, lists: Any) -> int:
    """Copy every list; return the first row whose user has a list already, or -1."""
    n, k = lists.shape
    start = 0
    for row in range(len(user)):
        u = user[row]
        if u < n:
            if taken[u] > 0:
                return row
            taken[u] = 1
            for place in range(min(k, sizes[row])):
                lists[u, place] = item[start + place]
        start += sizes[row]
    return -1


@compiled
def by_score(
    user: Any, item: Any, score: Any, id_order: Any, taken: Any, lists: Any, best: Any
) -> None:
    """Keep each user's best items: score descending, then item id.

    `id_order` holds each item's place in the order of ids; `best` the scores of `lists`.
    """
    n, k = lists.shape
    for row in range(len(user)):
        u = user[row]
        if u >= n:
            continue
        new, value, place = item[row], score[row], taken[u]
        while place > 0:
            other, held = lists[u, place - 1], best[u, place - 1]
            if held > value or (held == value and id_order[other] <= id_order[new]):
                break
            if place < k:
                lists[u, place], best[u, place] = other, held
            place -= 1
        if place < k:
            lists[u, place], best[u, place] = new, value
            taken[u] = min(taken[u] + 1, k)


@compiled
def by_user(user: Any, item: Any, starts: Any, rows: Any, sizes: Any) -> None:
    """Group items by user, each row ascending and each item once; `sizes` takes their lengths.

    `starts` holds where each user's row begins in `rows`, and behind it there may be room left.
    """
    sizes[:] = 0
    for entry in range(len(user)):
        u = user[entry]
        rows[starts[u] + sizes[u]] = item[entry]
        sizes[u] += 1
    for u in range(len(sizes)):
        row = rows[starts[u] : starts[u + 1]]
        if len(row) > _SORTED_BY_INSERTION:
            row.sort()
        else:
            _insertion_sort(row)
        kept = 0
        for place in range(len(row)):
            if kept == 0 or row[place] != row[kept - 1]:
                row[kept] = row[place]
                kept += 1
        sizes[u] = kept


@compiled
def _insertion_sort(row: Any) -> None:
    for place in range(1, len(row)):
        new, at = row[place], place
        while at > 0 and row[at - 1] > new:
            row[at] = row[at - 1]
            at -= 1
        row[at] = new


@compiled
def together(rows: Any, starts: Any, sizes: Any, kept: Any) -> None:
    """Put the first entries of every row, as many as `sizes` says, one row behind another."""
    end = 0
    for u in range(len(sizes)):
        for place in range(sizes[u]):
            kept[end] = rows[starts[u] + place]
            end += 1
