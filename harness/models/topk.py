"""Lists of the best k: what turns an order of candidates into a list for each user."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32, Int64
from harness.models import _kernels
from harness.models.base import Draws, Recommender
from harness.models.recommendations import EMPTY


def top_k(order: Int32, users: Int32, k: int, exclude: csr_array[Any] | None = None) -> Int32:
    """Return for each user the first `k` items of a shared order, without those in `exclude`.

    Parameters
    ----------
    order : int32 array
        Candidate positions, best first, none twice.
    users : int32 array, (n,)
    exclude : csr_array, (n, n candidates), optional

    Returns
    -------
    int32 array, (n, k)
        −1 if the order has no more items.

    Examples
    --------
    >>> top_k(np.array([4, 2, 0], np.int32), np.array([7, 9], np.int32), 2)
    array([[4, 2],
           [4, 2]], dtype=int32)
    """
    return fill(np.full((len(users), k), EMPTY, np.int32), order, exclude)


def fill(lists: Int32, order: Int32, exclude: csr_array[Any] | None = None) -> Int32:
    """Fill the empty positions of `lists` with the first items of `order` that fit.

    Parameters
    ----------
    lists : int32 array, (n, k)
        Their items stay first; empty positions (−1) come last.
    order : int32 array
        Candidate positions, best first, none twice.
    exclude : csr_array, (n, n candidates), optional

    Examples
    --------
    >>> fill(np.array([[2, -1, -1]], np.int32), np.array([4, 2, 0], np.int32))
    array([[2, 4, 0]], dtype=int32)
    """
    filled = np.array(lists, np.int32, order="C")
    each = np.broadcast_to(np.asarray(order, np.int32), (len(filled), len(order)))
    _kernels.extend(filled, each, True, *excluded_rows(exclude, len(lists)))
    return filled


def extend(lists: Int32, more: Int32, exclude: csr_array[Any] | None = None) -> Int32:
    """Return `lists` with their empty positions filled with the first items of `more` that fit.

    What is there stays ahead. `more` has each user's own candidates, best first; −1 is passed over.
    """
    extended = np.array(lists, np.int32, order="C")
    indptr, excluded = excluded_rows(exclude, len(lists))
    _kernels.extend(extended, np.asarray(more, np.int32), False, indptr, excluded)
    return extended


def ask(
    model: Recommender,
    users: Int32,
    k: int,
    n_candidates: int,
    draws: Draws,
    exclude: csr_array[Any] | None = None,
) -> Int32:
    """Return what a base model of an ensemble recommends, (n, k) int32.

    ValueError where it is no matrix of `k` candidate positions a user.
    """
    answer = model.recommend(users, k, draws, exclude=exclude)
    lists = np.array(answer, np.int32, order="C")  # a model may answer again in the same array
    if lists.shape != (len(users), k):
        raise ValueError(f"{model!r} returned shape {lists.shape}, expected ({len(users)}, {k})")
    if lists.size and not -1 <= lists.min() <= lists.max() < n_candidates:
        raise ValueError(f"{model!r} returned positions outside the {n_candidates} candidates")
    return lists


def first_of(
    starts: Int64, order: Int32, rows: Int32, k: int, exclude: csr_array[Any] | None = None
) -> Int32:
    """Return the first `k` of each row's own order, less what `exclude` holds; −1 behind its end.

    Order i is ``order[starts[i]:starts[i + 1]]``, candidates best first, none twice; `rows` says
    which one each list is made of, −1 for none.
    """
    lists = np.full((len(rows), k), EMPTY, np.int32)
    starts = np.ascontiguousarray(starts, np.int64)
    order = np.ascontiguousarray(order, np.int32)
    rows = np.ascontiguousarray(rows, np.int32)
    indptr, excluded = excluded_rows(exclude, len(rows))
    _kernels.first_of(lists, starts, order, rows, indptr, excluded)
    return lists


def excluded_rows(exclude: csr_array[Any] | None, n: int) -> tuple[Int64, Int64]:
    """Return what each of `n` rows excludes, ascending, as (indptr, places)."""
    if exclude is None:
        return np.zeros(n + 1, np.int64), np.zeros(0, np.int64)
    if exclude.shape[0] != n:
        raise ValueError(f"exclude has {exclude.shape[0]} rows, expected {n}")
    ordered = exclude if exclude.has_sorted_indices else exclude.sorted_indices()
    return ordered.indptr.astype(np.int64), ordered.indices.astype(np.int64)


def skip_excluded(ranks: Int64, indptr: Int64, excluded: Int64) -> Int64:
    """Return the place of the j-th entry that is not excluded, for every j in `ranks`, (n, k).

    Row i excludes the places ``excluded[indptr[i]:indptr[i + 1]]``, ascending. With excluded places
    e₀ < e₁ < …, there are eₜ − t free places before eₜ, so the j-th free place is j plus the number
    of t with eₜ − t ≤ j.

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
