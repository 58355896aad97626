"""What a recommender may answer, and what is said of every answer that it may not give."""

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import ragged

from harness.core.errors import RecommenderError
from harness.models.recommendations import checked

USERS = pl.Series(["007", "bob", "cid"])
N, K = 5, 3
GOOD = [[0, 1, 2], [4, -1, -1], [-1, -1, -1]]


def check(answer: Any, exclude: list[list[int]] | None = None) -> Any:
    held = None if exclude is None else ragged(exclude)
    return checked("my model", answer, USERS, K, N, held)


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        np.array(GOOD, np.float32),
        np.array(GOOD, ">i4"),
        np.asfortranarray(np.array(GOOD, np.int64)),
        pl.DataFrame(GOOD, orient="row"),
    ],
)
def test_any_whole_numbers_are_accepted(answer: Any) -> None:
    lists = check(answer)
    assert lists.dtype == np.int32
    assert lists.flags.c_contiguous
    assert lists.tolist() == GOOD


def test_no_users_need_no_rows() -> None:
    empty = np.zeros((0, K), np.int32)
    assert checked("my model", empty, USERS[:0], K, N, None).shape == (0, K)


def test_what_is_not_excluded_for_this_user_is_accepted() -> None:
    assert check(GOOD, [[3, 4], [0, 1, 2, 3], []]).tolist() == GOOD


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (np.zeros((3, 2), int), 'model "my model" returned shape (3, 2), expected (3, 3) int32: '
                                "one row per user, k positions wide, −1 where empty"),
        ({}, 'model "my model" returned a dict, expected (3, 3) int32: one row per user'),
        (np.ma.array(GOOD, mask=True), 'model "my model" returned a MaskedArray, expected (3, 3)'),
        ([[0, 1, 2], [0, 1], [0]], 'model "my model" returned a list, which is no array ('),
        (GOOD[:2], 'model "my model" returned shape (2, 3), expected (3, 3)'),
        ([[0, 1, 2], [0, np.nan, 1], GOOD[2]], 'model "my model", user bob, rank 2: found nan; '
         "expected a whole number (1 of 3 users in this batch)"),
        ([GOOD[0], [0, 1, 5], GOOD[2]], 'model "my model", user bob, rank 3: found 5; there is '
                                        "no candidate with this position; expected 0 to 4, or −1 "
                                        "for empty (1 of 3 users"),
        ([GOOD[0], GOOD[1], [0, -2, 1]], 'model "my model", user cid, rank 2: found -2; there is '
                                         "no candidate with this position; expected 0 to 4, or "
                                         "−1 for empty"),
        (np.full((3, 3), 2**64 - 1, np.uint64),
         "user 007, rank 1: found 18446744073709551615; there is no candidate with this position"),
        ([[3, 1, 3], [2, 2, 2], GOOD[2]], 'model "my model", user 007, rank 3: found 3; the item '
                                          "is in the list twice (2 of 3 users in this batch)"),
        (np.array([["a"] * 3] * 3), 'model "my model" returned texts; '
         "expected int32 candidate positions, not ids"),
        (np.array([[None] * 3] * 3), 'model "my model" returned object values'),
    ],
)  # fmt: skip
def test_every_fault_is_named(answer: Any, text: str) -> None:
    with pytest.raises(RecommenderError, match=re.escape(text)):
        check(answer)


def test_an_excluded_item_is_named() -> None:
    with pytest.raises(RecommenderError) as caught:
        check(GOOD, [[3, 4], [2, 4], []])
    assert str(caught.value) == (
        'model "my model", user bob, rank 1: found 4; the item is excluded for this user '
        "(seen_items); do not recommend the items of exclude (1 of 3 users in this batch)"
    )
