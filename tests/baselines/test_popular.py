"""Popular: counts that one can do in the head, and a plain Python count anywhere."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import shops
from hypothesis import given
from hypothesis import strategies as st
from shops import CUTOFF, DAY, NO_DRAWS

from baselines.popular import Popular
from harness.models.base import Train

Row = tuple[str, float] | tuple[str, float, str]


def shop(rows: list[Row], candidates: str = "abcd", cutoff: int | None = CUTOFF) -> Train:
    """Return a shop of (item, days before the cut-off, kind) events; each has a user of its own."""
    numbered = [(f"u{n:02}", *row) for n, row in enumerate(rows)]
    everyone = [row[0] for row in numbered]
    return shops.shop(numbered, candidates, cutoff=cutoff, everyone=everyone)


def listed(train: Train, k: int = 4, exclude: Any = None, users: int = 1, **params: Any) -> Any:
    """Return each user's list as a word of candidate ids, with "-" where it is empty."""
    first = " ".join(train.user_ids.to_list()[:users])
    return shops.listed(Popular(**params), train, first, k, exclude)


def test_most_events_first_ties_by_item_id() -> None:
    train = shop([("c", 1), ("b", 1), ("b", 2), ("a", 9), ("c", 3), ("d", 4)])
    assert listed(train) == ["bcad"]
    assert listed(train, k=2) == ["bc"]


def test_items_without_events_leave_places_empty() -> None:
    assert listed(shop([("d", 1)]), k=3) == ["d--"]
    assert listed(shop([("b", 1), ("a", 1)]), k=6) == ["ab----"]


def test_items_that_are_no_candidates_are_not_listed() -> None:
    train = shop([("x", 1), ("x", 1), ("x", 1), ("c", 1), ("a", 2), ("a", 2)], candidates="bc")
    assert listed(train, k=2) == ["c-"]


def test_positions_are_among_the_candidates() -> None:
    model = Popular().fit(shop([("c", 1)], candidates="bcd"))
    assert model.recommend(np.zeros(1, np.int32), 1, NO_DRAWS).tolist() == [[1]]


MICROSECOND = 1 / DAY


@pytest.mark.parametrize(
    ("age", "found"),
    [(3 - MICROSECOND, "ab"), (3, "ab"), (3 + MICROSECOND, "b-"), (4, "b-")],
)
def test_an_event_just_window_days_before_the_cut_off_counts(age: float, found: str) -> None:
    train = shop([("a", age), ("a", age), ("b", 2)])
    assert listed(train, k=2, window_days=3) == [found]


def test_a_window_may_be_part_of_a_day() -> None:
    assert listed(shop([("a", 0.5), ("b", 0.51)]), k=2, window_days=0.5) == ["a-"]


def test_half_life_by_hand() -> None:
    """Half-life 1 day: a = 1/2; b = 1/4 + 1/8 = 3/8; c = 2·1/4 = a; d = 3·1/4 = 3/4."""
    rows: list[Row] = [("a", 1), ("b", 2), ("b", 3), ("c", 2), ("c", 2)]
    train = shop([*rows, ("d", 2), ("d", 2), ("d", 2)])
    assert listed(train, half_life_days=1) == ["dacb"]
    assert listed(train, half_life_days=1000) == ["dcba"]


def test_equal_ages_tie_whatever_their_order() -> None:
    """Added up as they come, the same three weights differ in the last bit."""
    rows: list[Row] = [("b", 3), ("b", 4), ("b", 5), ("a", 5), ("a", 3), ("a", 4)]
    assert listed(shop(rows), 2, half_life_days=365) == ["ab"]
    turned: list[Row] = [("a" if item == "b" else "b", age) for item, age in rows]
    assert listed(shop(turned), 2, half_life_days=365) == ["ab"]


def test_half_life_counts_parts_of_days() -> None:
    """Half-life 2: an event of yesterday counts 2^(−1/2) = 0.71, two of 4 days ago 1/2."""
    train = shop([("b", 1), ("a", 4), ("a", 4)])
    assert listed(train, k=2, half_life_days=2) == ["ba"]
    assert listed(train, k=2, half_life_days=4) == ["ab"]  # 2^(−1/4) = 0.84 against 1


def test_kinds_weigh_what_is_asked() -> None:
    """Three visits at 1/4 are less than one purchase; at 1/2 they are more."""
    train = shop([("a", 1, "purchase"), *[("b", 1, "visit")] * 3])
    assert listed(train, k=2) == ["ba"]
    assert listed(train, k=2, weights={"visit": 0.25}) == ["ab"]
    assert listed(train, k=2, weights={"visit": 0.5}) == ["ba"]
    assert listed(train, k=2, weights={"visit": 0.5, "purchase": 2}) == ["ab"]
    assert listed(train, k=2, weights={"visit": 0}) == ["a-"]


def test_window_half_life_and_weights_go_together() -> None:
    """Window 4, half-life 1, visits 1/2: a = 1/2·1/2, b = 1/8, c = 1/4·1/2 = b; d is too old."""
    train = shop([("a", 1, "visit"), ("b", 3), ("c", 2, "visit"), *[("d", 5)] * 99])
    params = {"window_days": 4, "half_life_days": 1, "weights": {"visit": 0.5}}
    assert listed(train, **params) == ["abc-"]


@pytest.mark.parametrize("name", ["window_days", "half_life_days"])
def test_events_without_times_have_no_age(name: str) -> None:
    train = shop([("a", 1)], cutoff=None)
    assert listed(train, k=1) == ["a"]
    with pytest.raises(ValueError, match="carry no time"):
        Popular(**{name: 7}).fit(train)


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
    found = listed(shop(rows, candidates), k, window_days=window, weights=weights)
    assert found == [expected]
