"""Baselines that learn from sums over users: any log, any division of users, the same lists."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from every_baseline import BASELINES
from hypothesis import given
from hypothesis import strategies as st
from shops import USERS, Row, Table, shop

from baselines.co_visitation import CoVisitation
from harness.core.arrays import Int32
from harness.core.random import Draws, id_hashes
from harness.models.base import Train
from harness.models.sums import fits_in_parts
from harness.testing import fitted_in_parts, parts_of

IN_PARTS = {name: model for name, model in BASELINES.items() if fits_in_parts(model)}
KINDS = ("event", "visit")
AGES: Table = {"user": [*USERS[:3]], "sex": [*"fmf"], "age": ["30", "31", "50"]}
ITEMS: Table = {
    "item": [*"abcdez"],
    "genre": [*"xyxyx", None],
    "price": ["1", "2", "3", "5", None, "8"],
    "text": ["soup", "hot soup", "spa", "hot spa", "", "bread"],
}
ROWS = st.lists(
    st.tuples(
        st.sampled_from(USERS[:3]),
        st.sampled_from("abcdef"),
        st.sampled_from([0.25, 1, 1.5, 2, 3, 7, 12.125, 19]),
        st.sampled_from(KINDS),
    ),
    min_size=1,
    max_size=40,
)
PARTS = st.lists(st.integers(0, 3), min_size=len(USERS), max_size=len(USERS))


def lists_of(model: Any, train: Train) -> Any:
    everyone = np.arange(len(train.user_ids), dtype=np.int32)
    return model.recommend(everyone, 4, Draws(7, 0, id_hashes(train.user_ids))).tolist()


def in_parts(model: Any, train: Train, part: Int32) -> list[list[int]]:
    """Return every user's list from a model that learns from the parts of users."""
    parts = parts_of(train, part)
    fitted: Any = fitted_in_parts(deepcopy(model), train, parts)
    lists: list[Any] = [[]] * len(part)
    for number, users in enumerate(parts):
        rows = lists_of(fitted.for_users(users), users)
        for user, row in zip(np.flatnonzero(part == number), rows, strict=True):
            lists[user] = row
    return lists


def test_baselines_that_learn_from_sums() -> None:
    assert {type(model).__name__ for model in IN_PARTS.values()} == {
        *("RandomItems", "Popular", "PopularBySegment", "Trending", "ContentPopular"),
        *("Repurchase", "RepurchaseGaps", "CoVisitation", "Fill", "Blend", "Filter"),
    }


@pytest.mark.parametrize("model", IN_PARTS.values(), ids=IN_PARTS)
@given(ROWS, PARTS)
def test_lists_are_those_of_all_users_at_once(model: Any, rows: list[Row], part: list[int]) -> None:
    train = shop(rows, "abcde", ITEMS, AGES, kinds=KINDS)
    expected = lists_of(deepcopy(model).fit(train), train)
    assert in_parts(model, train, np.array(part, np.int32)) == expected


@given(ROWS, PARTS, st.sampled_from([1, 8, 99]))
def test_pairs_need_not_fit_into_memory_together(
    rows: list[Row], part: list[int], most: int
) -> None:
    """Where one pair does, every item has a step of its own; each has two items a block."""

    class Small(CoVisitation):
        pairs_at_a_time = most
        items_at_a_time = 2

    train = shop(rows, "abcde", kinds=KINDS)
    fitted: Any = fitted_in_parts(Small(), train, parts_of(train, np.array(part, np.int32)))
    expected = CoVisitation().fit(train)
    assert np.array_equal(fitted.votes_.toarray(), expected.votes_.toarray())
