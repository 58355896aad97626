"""Recommendations: every model's lists in one shape, checked before anything is scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Bool, Int32, Ragged, repeats
from harness.core.errors import RecommenderError
from harness.models import _kernels

EMPTY = -1


@dataclass(frozen=True, eq=False)
class Recommendations:
    """One model's lists: candidate positions, best first.

    `items` are (n users, k) in the evaluation set's order, ``EMPTY`` (−1) where there is no item.
    `strange` has the ids of the positions behind the last candidate's, null where nobody knows
    them: only precomputed recommendations have such items, which use their rank and never hit.
    `warnings` say what looks odd about the places of items in their file.
    """

    items: Int32
    strange: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))
    warnings: tuple[str, ...] = ()


def checked(
    name: str,
    answer: Any,
    users: pl.Series,
    k: int,
    n_candidates: int,
    exclude: Ragged | None,
) -> Int32:
    """Return a recommender's answer as a (n, k) int32 matrix, or say what is wrong with it.

    The RecommenderError names the model and the first such user: too few or too many rows, another
    width than `k`, values that are no whole numbers, a position that is no candidate, an item
    twice, or one that `exclude` holds.
    """
    items = _matrix(name, answer, (len(users), k))
    if not np.can_cast(items.dtype, np.int64):
        bad = ~np.isfinite(items) | (items != np.floor(items))
        _refuse(name, users, items, bad, "expected a whole number")
        _refuse_unknown(name, users, items, n_candidates)
        items = items.astype(np.int64)
    indptr, indices = np.zeros(len(items) + 1, np.int64), np.zeros(0, np.int64)
    if exclude is not None:
        indptr, indices = exclude.indptr, exclude.indices.astype(np.int64)
    whole = np.ascontiguousarray(items, np.int32 if items.dtype == np.int32 else np.int64)
    if len(items) > 0 and not _kernels.are_good(whole, n_candidates, indptr, indices):
        # What is wrong, and where, is worked out at leisure.
        _refuse_unknown(name, users, items, n_candidates)
        _refuse(name, users, items, repeats(items), "the item is in the list twice")
        rows = np.arange(len(items), dtype=np.int64)
        held = np.repeat(rows, np.diff(indptr)) * n_candidates + indices
        bad = np.isin(rows[:, None] * n_candidates + items, held) & (items != EMPTY)
        cure = "do not recommend the items of exclude"
        says = f"the item is excluded for this user (seen_items); {cure}"
        _refuse(name, users, items, bad, says)
        raise AssertionError("the compiled check and the explaining one disagree")
    return np.ascontiguousarray(items, np.int32)


def _matrix(name: str, answer: Any, shape: tuple[int, int]) -> npt.NDArray[Any]:
    """Return the answer as an array of numbers, a row for each user and `k` columns."""
    expected = f"expected {shape} int32: one row per user, k positions wide, −1 where empty"
    returned = f'model "{name}" returned a {type(answer).__name__}'
    try:
        array = np.asarray(answer)
    except Exception as error:
        raise RecommenderError(
            f"{returned}, which is no array ({type(error).__name__}); {expected}"
        ) from error
    if isinstance(answer, np.ma.MaskedArray) or array.ndim == 0:
        raise RecommenderError(f"{returned}, {expected}")
    if array.shape != shape:
        raise RecommenderError(f'model "{name}" returned shape {array.shape}, {expected}')
    if array.dtype.kind not in "iuf":
        values = "texts" if array.dtype.kind in "SU" else f"{array.dtype} values"
        raise RecommenderError(
            f'model "{name}" returned {values}; expected int32 candidate positions, not ids'
        )
    return array


def _refuse_unknown(name: str, users: pl.Series, items: Any, n_candidates: int) -> None:
    bad = (items < EMPTY) | (items >= n_candidates)
    expected = f"expected 0 to {n_candidates - 1}, or −1 for empty"
    _refuse(name, users, items, bad, f"there is no candidate with this position; {expected}")


def _refuse(name: str, users: pl.Series, items: Any, bad: Bool, reason: str) -> None:
    rows = bad.any(axis=1)
    if not rows.any():
        return
    row = int(rows.argmax())
    rank = int(bad[row].argmax())
    raise RecommenderError(
        f'model "{name}", user {users[row]}, rank {rank + 1}: found {items[row, rank]}; {reason}'
        f" ({int(rows.sum()):,} of {len(users):,} users in this batch)"
    )
