"""ContentKNN: items lead to items of the same users, and those to candidates like them."""

from typing import Any

import numpy as np
import pytest
from shops import Row, Table, listed, shop

from baselines.content_knn import ContentKNN

ITEMS: Table = {"id": list("abcpqs"), "genre": ["food", "spa", "travel", "food", "spa", "travel"]}
"""The candidates p, q and s are new, r and d have no row."""


def by_genre(**params: Any) -> ContentKNN:
    return ContentKNN(categories=["genre"], **params)


HAD: list[Row] = [("ann", "a", 9), ("bob", "a", 8), ("bob", "b", 1), ("cid", "d", 1)]
"""a and b share one of their users: cosine 1/√2."""


def test_own_items_and_their_neighbours_lead_to_candidates() -> None:
    """Ann had food, and Bob food and a spa: food 1 + 1/√2 = spa for him, so by id."""
    train = shop(HAD, "pqrs", ITEMS)
    assert listed(by_genre(), train, "ann bob cid new") == ["pq--", "pq--", "----", "----"]
    assert listed(by_genre(window_days=5), train, "ann bob", 2) == ["--", "q-"]


def test_each_item_leads_to_the_most_similar_candidates() -> None:
    """Price 12 is nearest to 10, and 28 to 30."""
    items: Table = {"id": list("abpq"), "price": ["10", "30", "12", "28"]}
    rows: list[Row] = [("ann", "a", 1), ("bob", "b", 1)]
    model = ContentKNN(numbers=["price"], carried=1)
    assert listed(model, shop(rows, "pq", items), "ann bob", 2) == ["p-", "q-"]


def test_a_candidate_with_events_is_reached_without_attributes() -> None:
    """Bob had d and r, Cid has d: r stands for itself, though nothing is known of it."""
    train = shop([("bob", "d", 3), ("bob", "r", 3), ("cid", "d", 1)], "pqrs", ITEMS)
    assert listed(by_genre(), train, "cid") == ["r---"]


def test_only_the_nearest_items_count() -> None:
    """Of two neighbours of a, c shares two users of two, b one of two."""
    rows: list[Row] = [(u, i, 1.0) for u, i in (("bob", "a"), ("cid", "a"), ("bob", "c"),
        ("cid", "c"), ("bob", "b"), ("ann", "a"))]  # fmt: skip
    train = shop(rows, "pqs", ITEMS)
    assert listed(by_genre(), train, "ann") == ["psq-"]
    assert listed(by_genre(neighbours=1), train, "ann") == ["ps--"]


@pytest.mark.parametrize("seed", range(3))
def test_as_numpy_multiplies(seed: int) -> None:
    """With as many neighbours as items nothing is cut off: w·(I + S)·C, written out."""
    draw = np.random.default_rng(seed)
    names, users = "abcdefghij", ("ann", "bob", "cid")
    genre, area = draw.integers(0, 4, 10), draw.integers(0, 3, 10)
    items: Table = {
        "id": list(names), "genre": [f"g{i}" for i in genre], "area": [f"a{i}" for i in area],
    }  # fmt: skip
    pairs = [(draw.integers(0, 3), draw.integers(0, 7)) for _ in range(12)]
    history = np.zeros((3, 10))
    for user, item in pairs:
        history[user, item] += 1
    rows: list[Row] = [(users[user], names[item], 1.0) for user, item in pairs]
    lengths = np.maximum(np.sqrt((history**2).sum(axis=0)), 1e-9)
    alike = history.T @ history / np.outer(lengths, lengths)
    np.fill_diagonal(alike, 1)
    content = ((genre[:, None] == genre) + 1.0 * (area[:, None] == area)) / 2
    score = history @ alike @ content[:, 5:]
    model = ContentKNN(categories=["genre", "area"], neighbours=10, carried=10, counts=True)
    found = listed(model, shop(rows, names[5:], items), "ann bob cid", 5)
    for user, word in enumerate(found):
        places = [names[5:].index(name) for name in word.rstrip("-")]
        assert sorted(places) == np.flatnonzero(score[user] > 1e-9).tolist()
        assert (np.diff(score[user][places]) < 1e-9).all()  # sums of another order may tie
