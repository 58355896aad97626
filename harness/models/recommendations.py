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
    raw = _matrix(name, answer, users, k)
    items = _whole(name, raw, users, n_candidates)
    indptr, indices = np.zeros(len(items) + 1, np.int64), np.zeros(0, np.int64)
    if exclude is not None:
        indptr, indices = exclude.indptr, exclude.indices.astype(np.int64)
    whole = np.ascontiguousarray(items, np.int32 if items.dtype == np.int32 else np.int64)
    if len(items) == 0 or _kernels.are_good(whole, n_candidates, indptr, indices):
        return np.ascontiguousarray(items, np.int32)
    # What is wrong, and where, is worked out at leisure.
    _refuse_unknown(name, users, items, n_candidates)
    _refuse(name, users, items, repeats(items), "the item is in the list twice")
    if exclude is not None:
        rows = np.arange(len(items), dtype=np.int64)
        held = np.repeat(rows, exclude.sizes) * n_candidates + exclude.indices
        asked = rows[:, None] * n_candidates + items
        _refuse(
            name,
            users,
            items,
            np.isin(asked, held) & (items != EMPTY),
            (
                "the item is excluded for this user (seen_items); do not recommend the items of "
                "exclude"
            ),
        )
    raise AssertionError("the compiled check and the explaining one disagree")


def _matrix(name: str, answer: Any, users: pl.Series, k: int) -> npt.NDArray[Any]:
    """Return the answer as an array of a row for each user and `k` columns, of whatever type."""
    if isinstance(answer, np.ma.MaskedArray):
        raise RecommenderError(
            f'model "{name}" returned a masked array; write −1 in the masked cells'
        )
    try:
        raw = np.asarray(answer)
    except Exception as error:
        if not isinstance(error, ValueError):
            raise RecommenderError(
                f'model "{name}" returned a {type(answer).__name__}, which is not an array '
                f"({type(error).__name__}); expected ({len(users)}, {k}) int32"
            ) from error
        raise RecommenderError(
            f'model "{name}" returned rows of different lengths, expected ({len(users)}, {k})'
        ) from error
    if raw.ndim != 2 or raw.shape[1:] != (k,):
        returned = f"shape {raw.shape}" if raw.ndim > 0 else f"a {type(answer).__name__}"
        raise RecommenderError(
            f'model "{name}" returned {returned}, expected ({len(users)}, {k}): one row '
            "per user, k positions wide, −1 where empty"
        )
    if len(raw) != len(users):
        missing = ""
        if len(raw) < len(users):
            missing = f"; user {users[len(raw)]} is the first without a row"
        raise RecommenderError(
            f'model "{name}" returned {len(raw):,} rows for {len(users):,} users{missing}'
        )
    return raw


def _whole(name: str, raw: Any, users: pl.Series, n_candidates: int) -> Any:
    """Return the same values in a type that fits int64, or say why there is none."""
    if raw.dtype.kind not in "iuf":
        values = "texts" if raw.dtype.kind in "SU" else f"{raw.dtype} values"
        raise RecommenderError(
            f'model "{name}" returned {values}; expected int32 candidate positions, not ids'
        )
    if np.can_cast(raw.dtype, np.int64):
        return raw
    if raw.dtype.kind == "f":
        bad = ~np.isfinite(raw) | (raw != np.floor(raw))
        _refuse(name, users, raw, bad, "expected a whole number")
    _refuse_unknown(name, users, raw, n_candidates)
    return raw.astype(np.int64)


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
