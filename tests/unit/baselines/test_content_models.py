"""ContentPopular, UserProfile and ContentKNN: sums by hand."""

from typing import Any

import pytest
from shops import Row, Table, listed, shop

from baselines.content_knn import ContentKNN
from baselines.content_popular import ContentPopular
from baselines.user_profile import UserProfile

GENRE = ["genre"]
ITEMS: Table = {
    "id": list("abctpqs"),
    "genre": ["food", "food", "spa", "travel", "food", "spa", "travel"],
}
"""The candidates p, q and s are new; r and d have no row."""
SOLD: list[Row] = [("ann", "a", 9), ("bob", "a", 9), ("cid", "a", 2), ("ann", "b", 2),
    ("bob", "c", 5), ("cid", "d", 1)]  # fmt: skip
VISITS: list[Row] = [("ann", "a", 1, "visit"), ("bob", "a", 1, "visit"), ("ann", "c", 5)]
MORE: list[Row] = [*[("ann", "q", 3.0)] * 8, *[("ann", "r", 3.0)] * 3]


@pytest.mark.parametrize(
    ("rows", "params", "expected"),
    [
        # Food was had 3 and 1 times, 2 on average; spas once; of r nothing is known.
        (SOLD, {}, "pq--"),
        # q has 8 events of its own and c has 1: (8 + 1)/2 is more than p's 2. r has 3 alone.
        ([*SOLD, *MORE], {}, "qrp-"),
        # Food: 2 visits at 1/4, a spa: 1 purchase; a half-life of a day leaves it 1/16.
        (VISITS, {"weights": {"visit": 0.25}}, "qp--"),
        (VISITS, {"weights": {"visit": 0.25}, "half_life_days": 1}, "pq--"),
    ],
)
def test_new_items_are_as_popular_as_those_like_them(
    rows: list[Row], params: dict[str, Any], expected: str
) -> None:
    assert listed(ContentPopular(GENRE, **params), shop(rows, "pqr", ITEMS), "ann") == [expected]


LIKED: list[Row] = [("ann", "a", 9, "visit"), ("ann", "b", 8, "visit"), ("bob", "c", 9),
    ("cid", "d", 1), *[("ann", "c", 1.0)] * 3]  # fmt: skip


@pytest.mark.parametrize(
    ("candidates", "params", "expected"),
    [
        # Ann had two foods and a spa, Bob a spa; Cid had what is not described, "new" nothing.
        ("pqrs", {}, "pq-- q--- ---- ----"),
        ("acps", {}, "apc- c--- ---- ----"),  # what a user had may be a candidate still
        ("pqs", {"weights": {"visit": 0.25}}, "qp-- q--- ---- ----"),
    ],
)
def test_candidates_like_the_profile(
    candidates: str, params: dict[str, Any], expected: str
) -> None:
    train = shop(LIKED, candidates, ITEMS)
    assert listed(UserProfile(GENRE, **params), train, "ann bob cid new") == expected.split()


def test_unlike_is_not_listed() -> None:
    """Prices at both ends are opposite: cos 180° = −1."""
    items: Table = {"id": list("abcdepq"), "price": ["-999", "1", "2", "3", "999", "-500", "500"]}
    train = shop([("ann", "a", 1), ("bob", "e", 1)], "pq", items)
    assert listed(UserProfile(numbers=["price"]), train, "ann bob", 2) == ["p-", "q-"]


SHARED: list[Row] = [("ann", "a", 9), ("bob", "a", 8), ("bob", "c", 1), ("cid", "d", 1)]
"""a and c share one of their users: cosine 1/√2."""
NEAREST: list[Row] = [("bob", "a", 1), ("cid", "a", 1), ("bob", "t", 1), ("cid", "t", 1),
    ("bob", "c", 1), ("ann", "a", 1)]  # fmt: skip
"""Cosines: a t 2/√6, a c 1/√3, t c 1/√2; with all of them Bob has s 2.5, p 2.4, q 2.3."""


@pytest.mark.parametrize(
    ("rows", "candidates", "params", "expected"),
    [
        # Ann had food, and Bob food and a spa: food 1 + 1/√2 = spa for him, so by id.
        (SHARED, "pqrs", {}, "pq-- pq-- ----"),
        (NEAREST, "pqs", {}, "psq- spq- psq-"),
        (NEAREST, "pqs", {"neighbours": 1}, "ps-- spq- ps--"),
        # Bob had d and r, Cid has d: r stands for itself, though nothing is known of it.
        ([("bob", "d", 3), ("bob", "r", 3), ("cid", "d", 1)], "pqrs", {}, "---- r--- r---"),
    ],
)
def test_items_and_their_neighbours_lead_to_candidates(
    rows: list[Row], candidates: str, params: dict[str, Any], expected: str
) -> None:
    train = shop(rows, candidates, ITEMS)
    assert listed(ContentKNN(GENRE, **params), train, "ann bob cid") == expected.split()


def test_each_item_leads_to_the_most_similar_candidates() -> None:
    """Price 12 is nearest to 10, and 28 to 30."""
    items: Table = {"id": list("abpq"), "price": ["10", "30", "12", "28"]}
    rows: list[Row] = [("ann", "a", 1), ("bob", "b", 1)]
    model = ContentKNN(numbers=["price"], carried=1)
    assert listed(model, shop(rows, "pq", items), "ann bob", 2) == ["p-", "q-"]
