"""PopularBySegment: groups of users that one can count."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import Row, Table, listed, shop

from baselines.popular_by_segment import PopularBySegment, segments

# ann and bob are 30 and 31, cid is 55, and nobody knows how old new is
AGES: Table = {"user": ["ann", "bob", "cid"], "age": ["30", "31", "55"]}
ROWS: list[Row] = [
    ("ann", "a", 1.0), ("bob", "a", 2.0), ("bob", "b", 3.0),
    ("cid", "c", 1.0), ("cid", "c", 2.0), ("cid", "c", 3.0), ("cid", "b", 4.0),
]  # fmt: skip
VISITS: list[Row] = [("ann", "a", 1.0, "visit"), ("ann", "b", 2.0, "purchase")]
EVERYBODY = "ann bob cid new"


@pytest.mark.parametrize(
    ("rows", "params", "users", "expected"),
    [
        # Below 40: a 2, b 1; from 40: c 3, b 1; all: c 3, a 2, b 2.
        (ROWS, {"bins": [40], "prior": 0}, EVERYBODY, "abc abc cba cab"),
        # Each value is a segment: ann is alone with a, bob with a and b.
        (ROWS, {"prior": 0}, EVERYBODY, "acb abc cba cab"),
        # Last 2.5 days: a 2 below 40, c 2 from 40.
        (ROWS, {"bins": [40], "prior": 0, "window_days": 2.5}, EVERYBODY, "ac- ac- ca- ac-"),
        # Bob had a and b once; of all eight events b has three, a two.
        ([*ROWS, ("cid", "b", 5.0)], {"prior": 0}, "bob", "abc"),
        ([*ROWS, ("cid", "b", 5.0)], {"prior": 1}, "bob", "bac"),
        (VISITS, {"prior": 0}, "ann", "ab-"),
        (VISITS, {"weights": {"visit": 0.5}}, "ann", "ba-"),
        # 0.7 · ½ against ¼
        (VISITS, {"weights": {"visit": 0.7}, "half_life_days": 1}, "ann", "ab-"),
    ],
)
def test_lists_by_hand(rows: list[Row], params: dict[str, Any], users: str, expected: str) -> None:
    model = PopularBySegment("age", **params)
    assert listed(model, shop(rows, "abc", None, AGES), users, 3) == expected.split()


def test_without_a_table_of_users() -> None:
    with pytest.raises(ValueError, match=r"there is no table of users; .* \[data\] users"):
        PopularBySegment("age").fit(shop(ROWS, "abc", None))


@pytest.mark.parametrize("first", ["ab", "ba"])
def test_equal_weights_in_another_order_tie_by_id(first: str) -> None:
    kinds = ("visit", "purchase", "visit"), ("purchase", "visit", "visit")
    rows: list[Row] = [
        (user, item, 1.0, kind)
        for item, three in zip(first, kinds, strict=True)
        for user, kind in zip(["ann", "bob", "cid"], three, strict=True)
    ]
    model = PopularBySegment("age", bins=[99], weights={"visit": 0.1, "purchase": 0.3})
    assert listed(model, shop(rows, "ab", None, AGES), "ann", 2) == ["ab"]


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match='column "age" holds "nan"; bins need numbers'):
        segments(pl.Series("age", ["3", "nan"]), [5], [])
    assert segments(pl.Series("age", [" 31 ", " "]), [5], []).tolist() == [1, -1]


@given(st.lists(st.one_of(st.none(), st.just(""), st.integers(-5, 70).map(str)), min_size=1))
def test_segments_by_bins(values: list[str | None]) -> None:
    numbers = segments(pl.Series("age", values, dtype=pl.String), [0, 18.5, 40], [])
    for value, segment in zip(values, numbers.tolist(), strict=True):
        expected = -1 if not value else sum(float(value) >= edge for edge in (0, 18.5, 40))
        assert segment == expected


def test_segments_by_value_are_places_among_all_values() -> None:
    numbers = segments(pl.Series(["b", None, " a ", "", "b"]), None, ["a", "aa", "b"])
    assert numbers.tolist() == [2, -1, 0, -1, 2]
    assert numbers.dtype == np.int32
