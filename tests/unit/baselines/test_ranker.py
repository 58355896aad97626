"""Ranker: it learns what decides, leaves out what is new, and depends on nothing it should not."""

from typing import Any

import numpy as np
import pytest
from shops import CUTOFF, DAY, NO_DRAWS, Row, Table, listed, shop
from threadpoolctl import threadpool_limits

from baselines.ranker import Ranker, rehearsal
from harness.models.base import Train

ITEMS: Table = {
    "id": list("abcdefghijklmnopqrst"),
    "genre": ["food", "spa"] * 10,
    "price": [str(100 + 7 * i) for i in range(20)],
}


def ranker(**params: Any) -> Ranker:
    return Ranker(**{"categories": ["genre"], "trees": 20, "negatives": 5, **params})


def of(train: Train, users: str = "ann bob", k: int = 4, **params: Any) -> list[str]:
    return listed(ranker(**params), train, users, k)


CROWD = [*(f"u{i:02}" for i in range(60)), "new"]
"""The even ones like foods."""


def crowd(candidates: str = "qrst") -> Train:
    """Return a shop of 60 users who had half of the old and of the new items of their taste.

    The items i … p are new within the last week.
    """
    draw = np.random.default_rng(0)
    rows: list[Row] = [
        (user, name, 9.0 if place < 8 else 1.0)
        for number, user in enumerate(CROWD[:60])
        for place, name in enumerate("abcdefghijklmnop")
        if place % 2 == number % 2 and draw.random() < 0.5
    ]
    return shop(rows, candidates, ITEMS, everyone=CROWD)


def test_it_learns_that_taste_decides() -> None:
    """All candidates are new: q and s are foods, r and t are spas."""
    lists = ranker().fit(crowd()).recommend(np.arange(60, dtype=np.int32), 2, NO_DRAWS)
    assert np.sort(lists, axis=1).tolist() == [[0, 2], [1, 3]] * 30


def test_more_places_than_candidates_or_the_shortlist_has() -> None:
    for params, empty in (({}, 2), ({"shortlist": 2}, 3)):
        words = of(crowd("qrs"), "u00 u01", k=5, **params)
        assert [word.count("-") for word in words] == [empty, empty]


BOTH: list[Row] = [(user, "a", age) for user in ("ann", "bob") for age in (9.0, 1.0)]
OLD: list[Row] = [("ann", "a", 9), ("bob", "b", 10)]
VISIT: list[Row] = [("ann", "a", 1, "visit"), ("ann", "b", 9), ("bob", "b", 9)]


@pytest.mark.parametrize(
    ("rows", "candidates", "params", "expected"),
    [
        (BOTH, "a", {}, "a---"),  # everybody has it, so no other pair can be drawn
        (BOTH, "ab", {}, "ab--"),
        (BOTH, "qr", {}, "----"),  # nothing was new in the last week to learn new items from
        (OLD, "ab", {}, "----"),  # nothing in the window is nothing learnt
        (OLD, "ab", {"window_days": 9}, "ab--"),
        (VISIT, "ab", {"weights": {"visit": 0}}, "----"),
        (VISIT, "ab", {"weights": {"visit": 0.5}}, "ab--"),
    ],
)
def test_lists_where_little_is_known(
    rows: list[Row], candidates: str, params: dict[str, Any], expected: str
) -> None:
    assert of(shop(rows, candidates, ITEMS), trees=2, **params) == [expected] * 2


def test_a_window_has_days() -> None:
    with pytest.raises(ValueError, match="no last days to learn from"):
        ranker().fit(shop(OLD, "qr", ITEMS, cutoff=None))


def scores(**params: Any) -> Any:
    model = ranker(numbers=["price"], **{"trees": 5, **params}).fit(crowd())
    places = np.tile(np.arange(4, dtype=np.int32), (60, 1))
    features = model.pairs_.features(np.arange(60, dtype=np.int32), places)
    return model.trees_.decision_function(features)


def test_the_seed_is_all_that_is_drawn_whatever_the_threads() -> None:
    with threadpool_limits(1):
        alone = scores()
    with threadpool_limits(4):
        assert np.array_equal(scores(), alone)
    assert len(np.unique(alone)) > 3
    assert not np.array_equal(scores(seed=1), alone)


def test_who_else_is_asked_for_does_not_show() -> None:
    """Of many users, whose features are worked out in several blocks."""
    model, few = ranker(shortlist=3).fit(crowd()), np.arange(60, dtype=np.int32)
    expected = np.tile(model.recommend(few, 4, NO_DRAWS), (20, 1))
    assert np.array_equal(model.recommend(np.tile(few, 20), 4, NO_DRAWS), expected)


SHOWN = {"a": 30.0, "n": 0.0, "m": -2.0, "x": 7.0, "y": 0.1, "z": 7.1}


def rehearsed(events: str, candidates: str, days: float, shown: Any = None) -> Train:
    """Return the rehearsal of a user's events, words of an item and days before the cut-off."""
    rows: list[Row] = [("ann", event[0], float(event[1:])) for event in events.split()]
    return rehearsal(shop(rows, candidates, shown=shown, extra="".join(shown or "z")), days)


def test_events_of_a_rehearsal_lie_before_the_window() -> None:
    past = rehearsed("a9 a7.5 a7 a1 b8", "ab", 7)
    assert past.frame["item"].to_list() == ["a", "b", "a"]
    assert past.cutoff == CUTOFF - 7 * DAY
    assert len(past.dataset.events) == 3


@pytest.mark.parametrize(
    ("events", "candidates", "days", "shown", "expected"),
    [
        # Of three candidates one is new, so all that was met; "x" is met in the window, "n" never.
        ("a9 b8 x3", "abn", 7, None, "abx"),
        # Two of three are new. "x" and "y" are first met in the window, "a" before.
        ("a9 a3 x7 x3 y0.5 z7.5", "anm", 7, None, "xy"),
        ("a9 a3 x7 x3 y0.5 z7.5", "anm", 8, None, "xyz"),
        # The table says that "n" is shown from the cut-off on, although it was seen before.
        ("a9 n8 x3 h3", "nm", 7, SHOWN, "xy"),
    ],
)
def test_candidates_of_a_rehearsal_are_as_new_as_those_of_the_task(
    events: str, candidates: str, days: int, shown: Any, expected: str
) -> None:
    assert "".join(rehearsed(events, candidates, days, shown).candidate_ids) == expected
