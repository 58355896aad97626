"""Popular: counts that one can do in the head, and a plain Python count anywhere."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import shops
from hypothesis import given
from hypothesis import strategies as st
from shops import CUTOFF, DAY

from baselines.popular import Popular
from harness.models.base import Train

Row = tuple[str, float] | tuple[str, float, str]


def shop(rows: list[Row], candidates: str = "abcd", cutoff: int | None = CUTOFF) -> Train:
    """Return a shop of (item, days before the cut-off, kind) events; each has a user of its own."""
    numbered = [(f"u{n:02}", *row) for n, row in enumerate(rows)]
    everyone = [row[0] for row in numbered]
    return shops.shop(numbered, candidates, cutoff=cutoff, everyone=everyone)


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
        ([("x", 1), ("x", 1), ("c", 1), ("a", 2), ("a", 2)], {}, "ac--"),
        # An event just so many days before the cut-off counts; a window may be part of a day.
        ([("a", 3), ("a", 3), ("b", 2)], {"window_days": 3}, "ab--"),
        ([("a", 3 + 1 / DAY), ("a", 3 + 1 / DAY), ("b", 2)], {"window_days": 3}, "b---"),
        ([("a", 0.5), ("b", 0.51)], {"window_days": 0.5}, "a---"),
        (HALVES, {"half_life_days": 1}, "dacb"),
        (THREE, {"half_life_days": 365}, "ab--"),
        ([("ba"[item == "b"], age) for item, age, *_ in THREE], {"half_life_days": 365}, "ab--"),
        # Three visits at 1/4 are less than one purchase; at 1/2 they are more.
        (VISITS, {"weights": {"visit": 0.25}}, "ab--"),
        (VISITS, {"weights": {"visit": 0.5}}, "ba--"),
        (VISITS, {"weights": {"visit": 0}}, "a---"),
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
        with pytest.raises(ValueError, match="carry no time"):
            Popular(**params).fit(train)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcde"), st.integers(1, 9), st.sampled_from(["purchase", "visit"])
        ),
        min_size=1,
        max_size=30,
    ),
    st.sets(st.sampled_from("abcde"), min_size=1).map(sorted).map("".join),
    st.one_of(st.none(), st.integers(1, 9)),
    st.sampled_from([{}, {"visit": 0.5}, {"visit": 2, "purchase": 0.25}]),
    st.integers(1, 6),
)
def test_equals_a_plain_count(
    rows: list[Row], candidates: str, window: int | None, weights: Mapping[str, float], k: int
) -> None:
    counts: Counter[str] = Counter()
    for item, age, *kind in rows:
        if item in candidates and (window is None or age <= window):
            counts[item] += weights.get(str(kind[0]), 1)  # type: ignore[assignment]
    order = sorted(counts, key=lambda item: (-counts[item], item))
    expected = "".join([*order, *"-" * k][:k])
    model = Popular(window_days=window, weights=weights)
    assert shops.listed(model, shop(rows, candidates), "u00", k) == [expected]
