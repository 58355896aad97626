"""PopularBySegment: groups of users that one can count."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import Table, listed, shop

from baselines.popular_by_segment import PopularBySegment, segments

# ann and bob are 30 and 31, cid is 55, and nobody knows how old new is
AGES: Table = {"user": ["ann", "bob", "cid"], "age": ["30", "31", "55"]}
ROWS: list[Any] = [
    ("ann", "a", 1.0), ("bob", "a", 2.0), ("bob", "b", 3.0),
    ("cid", "c", 1.0), ("cid", "c", 2.0), ("cid", "c", 3.0), ("cid", "b", 4.0),
]  # fmt: skip
EVERYBODY = "ann bob cid new"


def test_each_segment_has_its_own_list_then_the_overall_one() -> None:
    train = shop(ROWS, "abcd", None, AGES)
    model = PopularBySegment("age", bins=[40], prior=0)
    # below 40: a 2, b 1; from 40: c 3, b 1; all: c 3, a 2, b 2
    assert listed(model, train, EVERYBODY, 4) == ["abc-", "abc-", "cba-", "cab-"]


def test_every_value_is_a_segment_without_bins() -> None:
    train = shop(ROWS, "abc", None, AGES)
    # ann is alone with a, bob with a and b; the rest from all: c 3, a 2, b 2
    assert listed(PopularBySegment("age", prior=0), train, EVERYBODY, 3) == [
        "acb", "abc", "cba", "cab",
    ]  # fmt: skip


def test_small_segments_lean_on_all() -> None:
    # bob: a 1 + prior·2/7, b 1 + prior·2/7, so the tie stays; a heavy c elsewhere does not enter
    rows = [*ROWS, ("cid", "b", 5.0)]
    train = shop(rows, "abc", None, AGES)
    assert listed(PopularBySegment("age", prior=0), train, "bob", 2) == ["ab"]
    # b now has three of eight events, a two
    assert listed(PopularBySegment("age", prior=1), train, "bob", 2) == ["ba"]


def test_only_the_windows_events_count() -> None:
    train = shop(ROWS, "abc", None, AGES)
    model = PopularBySegment("age", bins=[40], prior=0, window_days=2.5)
    # last 2.5 days: a 2 below 40, c 2 from 40
    assert listed(model, train, EVERYBODY, 3) == ["ac-", "ac-", "ca-", "ac-"]


def test_weights_and_fading() -> None:
    rows: list[Any] = [("ann", "a", 1.0, "visit"), ("ann", "b", 2.0, "purchase")]
    train = shop(rows, "ab", None, AGES)
    assert listed(PopularBySegment("age", prior=0), train, "ann", 2) == ["ab"]
    assert listed(PopularBySegment("age", weights={"visit": 0.5}), train, "ann", 2) == ["ba"]
    fading = PopularBySegment("age", weights={"visit": 0.7}, half_life_days=1)
    assert listed(fading, train, "ann", 2) == ["ab"]  # 0.7 · ½ against ¼


def test_without_a_table_of_users() -> None:
    with pytest.raises(ValueError, match=r"there is no table of users; .* \[data\] users"):
        PopularBySegment("age").fit(shop(ROWS, "abc", None))


def test_equal_weights_in_another_order_tie_by_id() -> None:
    kinds = {"a": ("visit", "purchase", "visit"), "b": ("purchase", "visit", "visit")}
    rows: list[Any] = [
        (user, item, 1.0, kind)
        for item, three in kinds.items()
        for user, kind in zip(["ann", "bob", "cid"], three, strict=True)
    ]
    model = PopularBySegment("age", bins=[99], weights={"visit": 0.1, "purchase": 0.3})
    assert listed(model, shop(rows, "ab", None, AGES), "ann", 2) == ["ab"]
    swapped = [(u, {"a": "b", "b": "a"}[i], d, k) for u, i, d, k in rows]
    assert listed(model, shop(swapped, "ab", None, AGES), "ann", 2) == ["ab"]


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match='column "age" holds "nan"; bins need numbers'):
        segments(pl.Series("age", ["3", "nan"]), [5], [])
    assert segments(pl.Series("age", [" 31 ", " "]), [5], []).tolist() == [1, -1]


@given(st.lists(st.one_of(st.none(), st.just(""), st.integers(-5, 70).map(str)), min_size=1))
def test_segments_by_bins(values: list[str | None]) -> None:
    found = segments(pl.Series("age", values, dtype=pl.String), [0, 18.5, 40], [])
    for value, segment in zip(values, found.tolist(), strict=True):
        expected = -1 if not value else sum(float(value) >= edge for edge in (0, 18.5, 40))
        assert segment == expected


def test_segments_by_value_are_places_among_all_values() -> None:
    found = segments(pl.Series(["b", None, " a ", "", "b"]), None, ["a", "aa", "b"])
    assert found.tolist() == [2, -1, 0, -1, 2]
    assert found.dtype == np.int32
