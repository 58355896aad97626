"""Features of users and candidates, each worked out in the head, and the shortlist."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from shops import Row, Table, shop

from baselines.ranker.pair_features import Pairs, attributes

ITEMS: Table = {
    "id": list("abcpq"),
    "genre": ["food", "food", "spa", "food", "spa"],
    "price": ["10", "30", None, "50", "20"],
}
PEOPLE: Table = {"user": ["bob", "ann"], "sex": ["m", "f"], "age": [None, "30"]}
ROWS: list[Row] = [("ann", "a", 9), ("ann", "b", 8), ("ann", "b", 7), ("ann", "c", 2),
    ("bob", "c", 1), ("bob", "p", 1)]  # fmt: skip
"""p and q are candidates, and r, of which nothing is known."""
ANN, BOB, NEW = 0, 1, 3


def pairs(
    rows: list[Row] = ROWS, shown: Any = None, candidates: str = "pqr", **params: Any
) -> Pairs:
    train = shop(rows, candidates, ITEMS, PEOPLE, shown)
    known = attributes(train, ["genre"], ["price"], [], ["sex"], ["age"])
    return Pairs(known, train, recent_days=5, neighbours=2, **params)


def feature(name: str, pairs: Pairs) -> Any:
    """Return a feature of three candidates for three users, (users, candidates)."""
    places = np.tile(np.arange(3, dtype=np.int32), (3, 1))
    values = pairs.features(np.array([ANN, BOB, NEW], np.int32), places)
    assert values.shape == (9, len(pairs.names))
    return values[:, pairs.names.index(name)].reshape(3, 3)


NAN = float("nan")


def test_names_are_of_all_there_is() -> None:
    assert pairs().names == [
        "categories like the profile", "numbers like the profile", "share of genre",
        "own events", "own last event", "price above the user's mean", "activity",
        "sex of the user", "age of the user",
        "content popularity", "popularity", "recent popularity",
        "genre of the item", "price of the item",
    ]  # fmt: skip
    coded = [name for name, code in zip(pairs().names, pairs().categorical, strict=True) if code]
    assert coded == ["sex of the user", "genre of the item"]


LATE: list[Row] = [("ann", "p", 10), ("ann", "p", 5), ("bob", "q", 10)]
VISITS: list[Row] = [("bob", "p", 1, "visit"), ("bob", "c", 1)]
TEN, TWO, MEAN = np.sqrt(10), np.sqrt(2), 70 / 3


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        # Ann: 3 foods and a spa, a profile of (3, 1)/√10; Bob: one of each.
        (
            "categories like the profile",
            {},
            [[3 / TEN, 1 / TEN, 0], [1 / TWO, 1 / TWO, 0], [0, 0, 0]],
        ),
        ("share of genre", {}, [[3 / 4, 1 / 4, 0], [1 / 2, 1 / 2, 0], [0, 0, 0]]),
        (
            "share of genre",
            {"rows": VISITS, "weights": {"visit": 0.25}},
            [[0, 0, 0], [0.2, 0.8, 0], [0, 0, 0]],
        ),
        # Ann's mean is (10 + 30 + 30)/3, the spa's price being unknown, Bob's is 50.
        (
            "price above the user's mean",
            {},
            [[50 - MEAN, 20 - MEAN, NAN], [0, -30, NAN], [NAN] * 3],
        ),
        ("own events", {}, [[0, 0, 0], [1, 0, 0], [0, 0, 0]]),
        ("own events", {"half_life_days": 1.0}, [[0, 0, 0], [1 / 2, 0, 0], [0, 0, 0]]),
        # With 5 recent days an event of 5 days ago is 1/2, one of 10 days ago 1/4.
        ("own last event", {"rows": LATE}, [[1 / 2, 0, 0], [0, 1 / 4, 0], [0, 0, 0]]),
        ("activity", {}, [[4] * 3, [2] * 3, [0] * 3]),
        ("age of the user", {}, [[30] * 3, [NAN] * 3, [NAN] * 3]),
        ("sex of the user", {}, [[0] * 3, [1] * 3, [NAN] * 3]),
        ("price of the item", {}, [[50, 20, NAN]] * 3),
        ("genre of the item", {}, [[0, 1, NAN]] * 3),
        ("days since shown", {"shown": {"p": 3.0, "q": -2.5}}, [[3, -2.5, NAN]] * 3),
        # Six events: p has one of them, and one of the three of the last 5 days.
        ("popularity", {}, [[1 / 6, 0, 0]] * 3),
        ("recent popularity", {}, [[1 / 3, 0, 0]] * 3),
    ],
)
def test_features_by_hand(name: str, params: dict[str, Any], expected: Any) -> None:
    np.testing.assert_allclose(feature(name, pairs(**params)), np.array(expected, np.float64))


def test_content_popularity_is_carried_from_similar_items() -> None:
    """By genre alone: foods a 1, b 2 and p itself 1 of six; the spa c 2 of six; r nothing."""
    train = shop(ROWS, "pqr", ITEMS)
    features = Pairs(attributes(train, ["genre"]), train, recent_days=5, neighbours=2)
    expected = np.array([[(1 + 2 + 1) / 3 / 6, 2 / 6, NAN]] * 3)
    np.testing.assert_allclose(feature("content popularity", features), expected)


def test_empty_places_have_no_row() -> None:
    features = pairs()
    users = np.array([ANN, BOB], np.int32)
    places = np.array([[1, -1], [0, 2]], np.int32)
    every = features.features(users, np.array([[0, 1, 2]] * 2, np.int32))
    assert np.array_equal(features.features(users, places), every[[1, 3, 5]], equal_nan=True)
    assert features.features(users[:0], places[:0]).shape == (0, len(features.names))


def test_a_shortlist_of_all_is_all() -> None:
    users = np.array([ANN, NEW], np.int32)
    assert pairs().shortlist(users, 9).tolist() == [[0, 1, 2], [0, 1, 2]]
    held = csr_array(np.array([[0, 1, 0], [1, 1, 1]], bool))
    assert pairs().shortlist(users, 3, held).tolist() == [[0, 2, -1], [-1, -1, -1]]


def test_half_of_a_shortlist_is_like_the_user() -> None:
    """One place for the most alike, one for the most popular, p; then q, which is like c."""
    assert pairs().shortlist(np.array([ANN, BOB, NEW], np.int32), 2).tolist() == [[0, 1]] * 3


def test_own_items_are_worth_a_look() -> None:
    """Of c and r Bob had r last; it has no attributes, but is his."""
    rows: list[Row] = [("bob", "r", 1), *[("ann", "a", 1.0)] * 3]  # type: ignore[list-item]
    shortlist = pairs(rows, candidates="apr").shortlist(np.array([BOB], np.int32), 2)
    assert shortlist.tolist() == [[0, 2]]
