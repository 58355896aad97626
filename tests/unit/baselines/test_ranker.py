"""Ranker: it learns what decides, leaves out what is new, and depends on nothing it should not."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from shops import NO_DRAWS, USERS, Row, Table, listed, shop
from threadpoolctl import threadpool_limits

from baselines.ranker import Ranker
from harness.models.base import Train

ITEMS: Table = {
    "id": list("abcdefghijklmnopqrst"),
    "genre": ["food", "spa"] * 10,
    "price": [str(100 + 7 * i) for i in range(20)],
}
PEOPLE: Table = {"user": ["ann", "cid"], "age": ["30", None]}


def ranker(**params: Any) -> Ranker:
    return Ranker(**{"categories": ["genre"], "trees": 20, "negatives": 5, **params})


def of(train: Train, users: str = "ann bob", k: int = 4, **params: Any) -> list[str]:
    return listed(ranker(**params), train, users, k)


def many(seed: int = 0, n: int = 120) -> list[Row]:
    """Return random events of all but "new", most with items of the user's own genre.

    The items i … p are new within the last week.
    """
    draw = np.random.default_rng(seed)
    users = draw.integers(0, 3, n)
    items = np.where(draw.random(n) < 0.7, 2 * draw.integers(0, 8, n) + users % 2,
                     draw.integers(0, 16, n))  # fmt: skip
    ages = draw.random(n) * np.where(items < 8, 19, 7)
    return [
        (USERS[u], str(ITEMS["id"][i]), float(a))
        for u, i, a in zip(users, items, ages, strict=True)
    ]


CROWD = [f"u{i:02}" for i in range(60)]
"""The even ones like foods."""


def crowd() -> Train:
    """Return a shop of 60 users who had half of the old and of the new items of their taste."""
    draw = np.random.default_rng(0)
    rows: list[Row] = [
        (user, name, 9.0 if place < 8 else 1.0)
        for number, user in enumerate(CROWD)
        for place, name in enumerate("abcdefghijklmnop")
        if place % 2 == number % 2 and draw.random() < 0.5
    ]
    return shop(rows, "qrst", ITEMS, everyone=CROWD)


def test_it_learns_that_taste_decides() -> None:
    """All candidates are new: q and s are foods, r and t are spas."""
    found = ranker().fit(crowd()).recommend(np.arange(60, dtype=np.int32), 2, NO_DRAWS)
    assert np.sort(found, axis=1).tolist() == [[0, 2], [1, 3]] * 30


def test_who_has_no_history_and_what_has_no_attributes_is_ranked() -> None:
    """Neither "u" nor "v" has a row."""
    found = of(shop(many(), "qruv", ITEMS, PEOPLE), "new ann", user_numbers=["age"])
    assert [set(word) for word in found] == [set("qruv")] * 2


def test_more_places_than_candidates_or_shortlist() -> None:
    train = shop(many(), "qrs", ITEMS)
    assert [word[3:] for word in of(train, k=5)] == ["--", "--"]
    assert [word.count("-") for word in of(train, k=5, shortlist=2)] == [3, 3]


def test_what_is_excluded_is_not_scored() -> None:
    held = csr_array(np.array([[1, 0, 1], [1, 1, 1]], bool))
    train = shop(many(), "qrs", ITEMS)
    assert listed(ranker(), train, "ann bob", 2, held) == ["r-", "--"]
    assert listed(ranker(shortlist=2), train, "ann bob", 2, held) == ["r-", "--"]


def test_it_can_learn_where_there_is_nothing_to_tell_from() -> None:
    """A candidate that everybody touched: the draw finds no other."""
    rows: list[Row] = [(user, "a", age) for user in ("ann", "bob") for age in (9.0, 1.0)]
    assert of(shop(rows, "a", ITEMS), k=2) == ["a-", "a-"]


def test_new_candidates_are_learnt_from_new_items() -> None:
    """Nothing was new in the last week, so nothing says what becomes of new items."""
    rows: list[Row] = [(user, "a", age) for user in ("ann", "bob") for age in (9.0, 1.0)]
    assert of(shop(rows, "ab", ITEMS)) == ["ab--", "ab--"]
    assert of(shop(rows, "qr", ITEMS)) == ["----", "----"]


def test_nothing_in_the_window_is_nothing_learnt() -> None:
    train = shop([("ann", "a", 9), ("bob", "b", 10)], "ab", ITEMS)
    assert of(train) == ["----", "----"]
    assert of(train, window_days=9) == ["ab--", "ab--"]


def test_weights_may_leave_kinds_out() -> None:
    rows: list[Row] = [("ann", "a", 1, "visit"), ("ann", "b", 9), ("bob", "b", 9)]
    train = shop(rows, "ab", ITEMS)
    assert of(train, weights={"visit": 0}) == ["----", "----"]
    assert of(train, weights={"visit": 0.5}) == ["ab--", "ab--"]


def test_a_window_has_days() -> None:
    with pytest.raises(ValueError, match="no last days to learn from"):
        ranker().fit(shop(many(), "qr", ITEMS, cutoff=None))


def scores(**params: Any) -> Any:
    """Return the scores of all users and candidates of the crowd."""
    model = ranker(numbers=["price"], **params).fit(crowd())
    places = np.tile(np.arange(4, dtype=np.int32), (60, 1))
    features = model.pairs_.features(np.arange(60, dtype=np.int32), places)
    return model.trees_.decision_function(features)


def test_threads_do_not_matter() -> None:
    with threadpool_limits(1):
        alone = scores()
    with threadpool_limits(4):
        assert np.array_equal(scores(), alone)
    assert len(np.unique(alone)) > 3


def test_the_seed_is_all_that_is_drawn() -> None:
    assert np.array_equal(scores(), scores())
    assert not np.array_equal(scores(), scores(seed=1))


@pytest.mark.parametrize("shortlist", [500, 3])
def test_batches_do_not_matter(shortlist: int) -> None:
    train = shop(many(n=300), "klmnopqrst", ITEMS)
    model = ranker(shortlist=shortlist).fit(train)
    users = np.arange(4, dtype=np.int32)
    together = model.recommend(users, 5, NO_DRAWS)
    alone = [model.recommend(users[[i]], 5, NO_DRAWS)[0].tolist() for i in range(4)]
    assert together.tolist() == alone
