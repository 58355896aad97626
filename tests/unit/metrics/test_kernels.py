"""The pass over the lists: literal rows, and what it refuses; metrics have references."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from conftest import refusal

from harness.metrics import kernels
from harness.metrics.kernels import Tally, tally

Lists = Sequence[Sequence[int]]


def tallied(lists: Lists, truth: Lists, k: int, **kw: Any) -> Tally:
    """Score lists, filled up to one width, against truth given as one list a user."""
    width = max(map(len, lists))
    items = np.array([[*row, *[-1] * (width - len(row))] for row in lists], np.int32)
    indptr = np.cumsum([0, *map(len, truth)])
    indices = np.array([item for row in truth for item in row], np.int32)
    return tally(items.reshape(len(lists), width), indptr, indices, k, **kw)


@pytest.mark.parametrize("long", [kernels.SCANNED_TRUTH, kernels.SCANNED_TRUTH + 1, 5000])
def test_a_long_row_of_truth_is_scored_like_a_short_one(long: int) -> None:
    truth = list(range(0, 2 * long, 2))
    ranked = [1, 0, 0, truth[-1], -1, truth[-1] + 1, 2, truth[long // 2]]
    scored = tallied([ranked, [3]], [truth, [3]], 8)
    assert scored.hits.tolist() == [4, 1]
    assert scored.precision_sum[0] == pytest.approx(1 / 2 + 2 / 4 + 3 / 7 + 4 / 8, abs=1e-15)


def test_inputs_may_be_read_only_in_any_memory_order_and_with_offsets_of_any_width() -> None:
    items = np.asfortranarray(np.array([[1, 9, 2], [9, 8, 3]], np.int32))
    indptr, indices = np.array([0, 2, 3], np.uint8), np.array([1, 2, 3], np.int32)
    for array in (items, indptr, indices):
        array.flags.writeable = False
    assert tally(items, indptr, indices, 3).dcg.tolist() == [1 + 1 / 2, 1 / 2]


ITEMS, INDPTR, INDICES = np.array([[1, 2]], np.int32), np.array([0, 2]), np.array([1, 4], np.int32)

FALLING = {"items": np.zeros((3, 1), np.int32), "truth_indptr": np.array([0, 2, 1, 2], np.uint32)}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"items": ITEMS.astype(np.int64)}, ["items", "2-d int32", "int64", "(1, 2)"]),
        ({"items": np.array([[-7, 2]], np.int32)}, ["items", "user 0", "-7", "-1"]),
        ({"truth_indices": INDICES.astype(float)}, ["truth_indices", "int32", "float64"]),
        ({"truth_indices": INDICES[::-1]}, ["truth_indices", "user 0", "ascending", "found 4, 1"]),
        ({"truth_indices": INDICES - 2}, ["truth_indices", "user 0", "from 0", "found -1"]),
        ({"truth_indptr": np.array([0, 1, 2])}, ["truth_indptr", "(2,)", "(3,)"]),
        ({"truth_indptr": np.array([0.0, 2.0])}, ["truth_indptr", "integer", "float64"]),
        ({"truth_indptr": np.array([1, 2])}, ["truth_indptr", "0 to 2", "from 1 to 2"]),
        ({"relevant": np.array([1])}, ["relevant", "user 0", "from 2", "got 1"]),
        ({"relevant": np.array([2**31])}, ["relevant", "2147483647", "2147483648"]),
        ({"relevant": np.array([2, 2])}, ["relevant", "(1,)", "(2,)"]),
        ({"k": 0}, ["k must", "from 1", "got 0"]),
        (FALLING, ["must not fall, it does at user 1"]),
    ],
)
def test_what_is_refused_and_named(changed: dict[str, Any], named: list[str]) -> None:
    arrays: dict[str, Any] = {"items": ITEMS, "truth_indptr": INDPTR, "truth_indices": INDICES}
    with refusal(ValueError, named):
        tally(**{"k": 2} | arrays | changed)
    assert tallied([[1, -9]], [[1]], 1).hits[0] == 1  # a fault beyond the cut is none
