"""Coded rows into a matrix of lists: as they stand, by rank, or by score.

Users whose code lies beyond the matrix are nobody's: their rows are left out.
"""

from __future__ import annotations

from typing import Any

from harness.compiled import compiled


@compiled
def by_order(user: Any, item: Any, start: int, taken: Any, lists: Any, full: bool) -> int:
    """Put every item behind its user's last; return the first row that finds no place, or -1.

    `taken` counts the places of each user. Where the matrix is `full` wide, as wide as anyone
    looks, items without a place are left out.
    """
    n, k = lists.shape
    for row in range(start, len(user)):
        u = user[row]
        if u >= n:
            continue
        if taken[u] < k:
            lists[u, taken[u]] = item[row]
            taken[u] += 1
        elif not full:
            return row
    return -1


@compiled
def by_rank(user: Any, item: Any, rank: Any, lists: Any) -> int:
    """Put every item at its rank, from 1; return the first row whose place is taken, or -1."""
    n, k = lists.shape
    for row in range(len(user)):
        u, place = user[row], rank[row] - 1
        if u >= n or place >= k:
            continue
        if lists[u, place] >= 0:
            return row
        lists[u, place] = item[row]
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
