"""Popular and PopularBySegment: counts that one can do in the head, and in plain Python."""

from typing import Any

import numpy as np
import polars as pl
import pytest
import shops
from shops import CUTOFF, DAY

from baselines.popular import Popular
from baselines.popular_by_segment import PopularBySegment, segments
from harness.models.base import Train

Row = tuple[str, float] | tuple[str, float, str]


def shop(rows: list[Row], cutoff: int | None = CUTOFF) -> Train:
    """Return a shop of (item, days before the cut-off, kind) events; each has a user of its own."""
    numbered = [(f"u{n:02}", *row) for n, row in enumerate(rows)]
    everyone = [row[0] for row in numbered]
    return shops.shop(numbered, "abcd", cutoff=cutoff, everyone=everyone)


HALVES: list[Row] = [("a", 1), *[("b", age) for age in (2, 3)], *[("c", 2)] * 2, *[("d", 2)] * 3]
"""With a half-life of 1 day: a = 1/2; b = 1/4 + 1/8 = 3/8; c = 2·1/4 = a; d = 3·1/4 = 3/4."""
THREE: list[Row] = [("b", 3), ("b", 4), ("b", 5), ("a", 5), ("a", 3), ("a", 4)]
"""Added up as they come, the same three weights differ in the last bit."""
VISITS: list[Row] = [("a", 1, "purchase"), *[("b", 1, "visit")] * 3]


@pytest.mark.parametrize(
    ("rows", "params", "expected"),
    [
        # Most events first, ties by item id; items without events leave places empty.
        ([("c", 1), ("b", 1), ("b", 2), ("a", 9), ("c", 3), ("d", 4)], {}, "bcad"),
        # An event just so many days before the cut-off counts; a window may be part of a day.
        ([("a", 3 + 1 / DAY), ("a", 3 + 1 / DAY), ("b", 2)], {"window_days": 3}, "b---"),
        (HALVES, {"half_life_days": 1}, "dacb"),
        (THREE, {"half_life_days": 365}, "ab--"),
        ([("ba"[item == "b"], age) for item, age, *_ in THREE], {"half_life_days": 365}, "ab--"),
        # Three visits at 1/4 are less than one purchase.
        (VISITS, {"weights": {"visit": 0.25}}, "ab--"),
        # a = 1/2·1/2, b = 1/8, c = 1/4·1/2 = b; d is too old.
        (
            [("a", 1, "visit"), ("b", 3), ("c", 2, "visit"), *[("d", 5)] * 99],
            {"window_days": 4, "half_life_days": 1, "weights": {"visit": 0.5}},
            "abc-",
        ),
    ],
)
def test_lists_by_hand(rows: list[Row], params: dict[str, Any], expected: str) -> None:
    assert shops.listed(Popular(**params), shop(rows), "u00") == [expected]


def test_events_without_times_have_no_age() -> None:
    train = shop([("a", 1)], cutoff=None)
    assert shops.listed(Popular(), train, "u00") == ["a---"]
    for params in ({"window_days": 7}, {"half_life_days": 7}):
        with pytest.raises(ValueError, match="have no times"):
            Popular(**params).fit(train)


# ann and bob are 30 and 31, cid is 55, and nobody knows how old new is
AGES: shops.Table = {"user": ["ann", "bob", "cid"], "age": ["30", "31", "55"]}
ROWS: list[shops.Row] = [
    ("ann", "a", 1.0), ("bob", "a", 2.0), ("bob", "b", 3.0),
    ("cid", "c", 1.0), ("cid", "c", 2.0), ("cid", "c", 3.0), ("cid", "b", 4.0),
]  # fmt: skip
BOTH_KINDS: list[shops.Row] = [("ann", "a", 1.0, "visit"), ("ann", "b", 2.0, "purchase")]
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
        (BOTH_KINDS, {"prior": 0}, "ann", "ab-"),
        (BOTH_KINDS, {"weights": {"visit": 0.5}}, "ann", "ba-"),
        # 0.7 · ½ against ¼
        (BOTH_KINDS, {"weights": {"visit": 0.7}, "half_life_days": 1}, "ann", "ab-"),
    ],
)
def test_lists_of_segments_by_hand(
    rows: list[shops.Row], params: dict[str, Any], users: str, expected: str
) -> None:
    model = PopularBySegment("age", **params)
    assert shops.listed(model, shops.shop(rows, "abc", None, AGES), users, 3) == expected.split()


def test_without_a_table_of_users() -> None:
    with pytest.raises(ValueError, match=r"there is no table of users; .* \[data\] users"):
        PopularBySegment("age").fit(shops.shop(ROWS, "abc", None))


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match='column "age" holds "nan"; bins need numbers'):
        segments(pl.Series("age", ["3", "nan"]), [5], [])
    assert segments(pl.Series("age", [" 31 ", " "]), [5], []).tolist() == [1, -1]


def test_segments_by_value_are_places_among_all_values() -> None:
    numbers = segments(pl.Series(["b", None, " a ", "", "b"]), None, ["a", "aa", "b"])
    assert numbers.tolist() == [2, -1, 0, -1, 2]
    assert numbers.dtype == np.int32
