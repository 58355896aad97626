"""Baselines that learn from sums over users: any log, any division of users, the same lists."""

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import KINDS, USERS, Row, Table, shop

from baselines import co_visitation
from baselines.blend import Blend
from baselines.co_visitation import CoVisitation
from baselines.content_popular import ContentPopular
from baselines.fill import Fill
from baselines.filter import Filter
from baselines.popular import Popular
from baselines.popular_by_segment import PopularBySegment
from baselines.random_items import RandomItems
from baselines.repurchase import Repurchase
from baselines.repurchase_gaps import RepurchaseGaps
from baselines.trending import Trending
from harness.core.arrays import Int32
from harness.core.random import Draws, id_hashes
from harness.models.base import Train
from harness.models.sums import fits_in_parts
from harness.testing import fitted_in_parts, parts_of

VISITS = {"visit": 0.3}
MODELS: dict[str, Any] = {
    "popular": lambda: Popular(),
    "popular, weighed": lambda: Popular(window_days=9, half_life_days=3, weights=VISITS),
    "trending": lambda: Trending(4),
    "trending, weighed": lambda: Trending(3, weights=VISITS),
    "random": lambda: RandomItems(),
    "popular by segment": lambda: PopularBySegment("age", half_life_days=3, weights=VISITS),
    "popular by bins": lambda: PopularBySegment("age", [30.5], prior=1.5, window_days=None),
    "repurchase": lambda: Repurchase(5),
    "repurchase when due": lambda: RepurchaseGaps(3, 5),
    "co-visitation": lambda: CoVisitation(4, 2, 3, neighbours=2),
    "co-visitation, window": lambda: CoVisitation(half_life_days=None, window_days=9),
    "content popular": lambda: ContentPopular(
        ["genre"], neighbours=2, half_life_days=5, weights=VISITS
    ),
    "fill": lambda: Fill([Repurchase(2), Trending(3), Popular()]),
    "blend": lambda: Blend([RepurchaseGaps(), RandomItems(), Popular()], weights=[3, 1, 2]),
    "filter, seen": lambda: Filter([Popular()], seen=True),
    "filter, out of stock": lambda: Filter([RandomItems()], out_of_stock_days=3),
    "filter of blends": lambda: Filter([Blend([Fill([Repurchase()]), Popular()])], True, 9),
}
AGES: Table = {"user": [*USERS[:3]], "age": ["30", "31", "30"]}
GENRES: Table = {"item": [*"abcdez"], "genre": [*"xyxyx", None]}
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


def lists_of(model: Any, train: Train) -> list[list[int]]:
    everyone = np.arange(len(train.user_ids), dtype=np.int32)
    draws = Draws(7, 0, id_hashes(train.user_ids))
    found: list[list[int]] = model.recommend(everyone, 4, draws).tolist()
    return found


def in_parts(model: Any, train: Train, part: Int32) -> list[list[int]]:
    parts = parts_of(train, part)
    fitted = fitted_in_parts(model, train, parts)
    found: list[Any] = [[]] * len(part)
    for number, own in enumerate(parts):
        rows = lists_of(fitted.for_users(own), own)  # type: ignore[attr-defined]
        for user, row in zip(np.flatnonzero(part == number), rows, strict=True):
            found[user] = row
    return found


@pytest.mark.parametrize("name", MODELS)
@given(ROWS, st.lists(st.integers(0, 3), min_size=len(USERS), max_size=len(USERS)))
def test_lists_are_those_of_all_users_at_once(name: str, rows: list[Row], part: list[int]) -> None:
    model, train = MODELS[name], shop(rows, "abcde", GENRES, AGES)
    assert fits_in_parts(model())
    found = in_parts(model(), train, np.array(part, np.int32))
    assert found == lists_of(model().fit(train), train)


@given(
    ROWS,
    st.lists(st.integers(0, 3), min_size=len(USERS), max_size=len(USERS)),
    st.sampled_from([1, 8, 99]),
)
def test_pairs_need_not_fit_into_memory_together(
    rows: list[Row], part: list[int], most: int
) -> None:
    """Where one pair does, every item has a step of its own; each has two items a block."""
    train = shop(rows, "abcde")
    expected = CoVisitation().fit(train)
    with patch.multiple(co_visitation, _PAIRS=most, _BLOCK=2):
        found: Any = fitted_in_parts(
            CoVisitation(), train, parts_of(train, np.array(part, np.int32))
        )
    assert np.array_equal(found.votes_.toarray(), expected.votes_.toarray())


def test_parts_may_be_empty() -> None:
    """Nobody is in part 2, and those of parts 0 and 1 have no events."""
    train = shop([("ann", "a", 1)], "ab", GENRES, AGES)
    for make in MODELS.values():
        found = in_parts(make(), train, np.array([3, 1, 1, 0], np.int32))
        assert found == lists_of(make().fit(train), train)


def test_events_without_times_have_parts_too() -> None:
    train = replace(shop([("ann", "b", 1), ("bob", "b", 1), ("cid", "a", 1)], "ab"), cutoff=None)
    assert in_parts(Popular(), train, np.array([0, 1, 2, 2], np.int32)) == [[1, 0, -1, -1]] * 4
