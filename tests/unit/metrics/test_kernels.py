"""The pass over the lists: literal rows, and what it refuses; metrics have references."""

from typing import Any

import numpy as np
import pytest
from conftest import ragged

from harness.core.arrays import Int32, Ragged
from harness.metrics import kernels
from harness.metrics.kernels import ranks, tally


def lists(*rows: list[int]) -> Int32:
    return np.array(rows, np.int32)


@pytest.mark.parametrize("long", [kernels.SCANNED_TRUTH, kernels.SCANNED_TRUTH + 1, 5000])
def test_a_long_row_of_truth_is_scored_like_a_short_one(long: int) -> None:
    truth = list(range(0, 2 * long, 2))
    ranked = [1, 0, 0, truth[-1], -1, truth[-1] + 1, 2, truth[long // 2]]
    scored = tally(lists(ranked, [3, *[-1] * 7]), ragged([truth, [3]]), 8, np.array([long, 1]))
    assert scored.hits.tolist() == [4, 1]
    assert scored.precision_sum[0] == pytest.approx(1 / 2 + 2 / 4 + 3 / 7 + 4 / 8, abs=1e-15)


def test_lists_may_be_read_only_and_in_any_memory_order() -> None:
    items = np.asfortranarray(lists([1, 9, 2], [9, 8, 3]))
    items.flags.writeable = False
    scored = tally(items, ragged([[1, 2], [3]]), 3, np.array([2, 1]))
    assert scored.dcg.tolist() == [1 + 1 / 2, 1 / 2]
    assert tally(lists([1, -9]), ragged([[1]]), 1, np.array([1])).hits[0] == 1  # beyond the cut


TWO = Ragged(np.array([0, 2]), np.array([1, 4], np.int32))


@pytest.mark.parametrize(
    ("items", "truth", "words"),
    [
        (lists([-7, 2]), TWO, "user 0: positions in lists are from -1"),
        (lists([1, 2]), Ragged(TWO.indptr, TWO.indices[::-1].copy()), "truth from 0 and ascending"),
        (lists([1, 2]), Ragged(TWO.indptr, TWO.indices - 2), "user 0: positions"),
        (lists([1, 2]), Ragged(np.array([0, 3]), TWO.indices), "truth up to 3 of 2 items"),
        (lists([1, 2], [3, 4]), TWO, "2 lists, 1 rows of truth"),
    ],
)
def test_what_the_loops_cannot_read(items: Int32, truth: Ragged, words: Any) -> None:
    for scored in (lambda: tally(items, truth, 2, truth.sizes), lambda: ranks(items, truth, 2)):
        with pytest.raises(ValueError, match=words):
            scored()
    with pytest.raises(ValueError, match="R of 3 users"):
        tally(lists([1, 2]), TWO, 2, np.array([2, 2, 2]))
