"""Making lists: what recommenders need to turn an order of candidates into a list for each user."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from harness.dataset import Int32, Int64
from harness.recommendations import EMPTY


def top_k(
    order: Int32, users: Int32, k: int, exclude: csr_array[Any] | None = None
) -> Int32:
    """Return the first `k` of one shared order for each user, less what `exclude` holds.

    Parameters
    ----------
    order : int32 array
        Candidate positions, best first, none twice.
    users : int32 array, (n,)
    exclude : csr_array, (n, n candidates), optional

    Returns
    -------
    int32 array, (n, k)
        −1 where the order has no more to give.

    Examples
    --------
    >>> top_k(np.array([4, 2, 0], np.int32), np.array([7, 9], np.int32), 2)
    array([[4, 2],
           [4, 2]], dtype=int32)
    """
    ranks: Int64 = np.tile(np.arange(k), (len(users), 1))
    if exclude is not None:
        rank_of = np.full(exclude.shape[1], -1, np.int64)
        rank_of[order] = np.arange(len(order))
        ranks = skip_excluded(ranks, *_excluded_ranks(exclude, rank_of))
    padded = np.append(order, np.full(1, EMPTY, np.int32))
    return padded[np.minimum(ranks, len(order))]


def _excluded_ranks(exclude: csr_array[Any], rank_of: Int64) -> tuple[Int64, Int64]:
    """Return the ranks that each row excludes, ascending, as (indptr, ranks)."""
    n = exclude.shape[0]
    row = np.repeat(np.arange(n), np.diff(exclude.indptr))
    rank = rank_of[exclude.indices]
    row, rank = row[rank >= 0], rank[rank >= 0]
    by_rank = np.lexsort((rank, row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    return indptr, rank[by_rank]


def skip_excluded(ranks: Int64, indptr: Int64, excluded: Int64) -> Int64:
    """Return the place of the j-th entry that is not excluded, for every j in `ranks`.

    Parameters
    ----------
    ranks : int64 array, (n, k)
        j, from 0, among the entries of row i that are not excluded.
    indptr, excluded : int64 arrays
        Row i excludes the places ``excluded[indptr[i]:indptr[i + 1]]``, ascending.

    Notes
    -----
    With excluded places e₀ < e₁ < …, there are eₜ − t free places before eₜ, so the j-th free
    place is j plus the number of t with eₜ − t ≤ j.

    Examples
    --------
    Of the places 0, 1, 2, 3 … without 0 and 2, the free ones are 1, 3, 4 …

    >>> skip_excluded(np.array([[0, 1, 2]]), np.array([0, 2]), np.array([0, 2]))
    array([[1, 3, 4]])
    """
    n = len(ranks)
    row = np.repeat(np.arange(n), np.diff(indptr))
    free_before = excluded - (np.arange(len(excluded)) - indptr[row])
    span = int(max(free_before.max(initial=0), ranks.max(initial=0))) + 1
    keys = row * span + free_before
    asked = np.arange(n)[:, None] * span + ranks
    skipped = np.searchsorted(keys, asked, side="right") - indptr[:-1, None]
    return ranks + skipped


def first_k(rows: Int64, candidates: Int32, n: int, k: int) -> Int32:
    """Return the first `k` distinct candidates of each row, in the order given.

    Parameters
    ----------
    rows : int64 array, ascending
        The row that each entry of `candidates` belongs to, below `n`.

    Examples
    --------
    >>> first_k(np.array([0, 0, 0, 1]), np.array([5, 5, 3, 8], np.int32), 2, 2)
    array([[ 5,  3],
           [ 8, -1]], dtype=int32)
    """
    lists = np.full((n, k), EMPTY, np.int32)
    if len(rows) == 0:
        return lists
    keys = rows * (int(candidates.max()) + 1) + candidates
    first = np.sort(np.unique(keys, return_index=True)[1])
    row, item = rows[first], candidates[first]
    place = np.arange(len(row)) - np.searchsorted(row, np.arange(n))[row]
    lists[row[place < k], place[place < k]] = item[place < k]
    return lists


def fill(lists: Int32, order: Int32, exclude: csr_array[Any] | None, n_candidates: int) -> Int32:
    """Return `lists` with empty places taken by the first of `order` that fit.

    Parameters
    ----------
    lists : int32 array, (n, k)
        Kept as they are, ahead of what is filled in.
    order : int32 array
        Candidate positions, best first, none twice.
    """
    n, k = lists.shape
    rows, places = np.nonzero(lists != EMPTY)
    taken: npt.NDArray[np.int64] = rows * n_candidates + lists[rows, places]
    if exclude is not None:
        row = np.repeat(np.arange(n), np.diff(exclude.indptr))
        taken = np.concatenate([taken, row * n_candidates + exclude.indices])
    taken = np.unique(taken)
    row, held = np.divmod(taken, n_candidates)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    merged = csr_array((np.ones(len(held), np.bool_), held, indptr), shape=(n, n_candidates))
    more = top_k(order, np.arange(n, dtype=np.int32), k, merged)
    both = np.hstack([lists, more])
    kept = np.argsort(both == EMPTY, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(both, kept, axis=1)
