"""More users than one block of a thread holds: neither threads nor batches show in the lists."""

import os
from typing import Any

import numpy as np
import pytest
from shops import NO_DRAWS, Row, Table, shop

from baselines.content_knn import ContentKNN
from baselines.content_popular import ContentPopular
from baselines.ranker import Ranker
from baselines.user_profile import UserProfile
from harness.models.base import Train

EVERYONE = [f"u{i:03}" for i in range(600)]
ITEMS = "abcdefghijklmnopqrstuvwxyz"
COLUMNS: dict[str, Any] = {"categories": ["genre"], "numbers": ["price"], "texts": ["text"]}
MODELS = [
    ContentPopular(**COLUMNS, half_life_days=3),
    UserProfile(**COLUMNS, half_life_days=3),
    ContentKNN(**COLUMNS, half_life_days=3, neighbours=4, carried=3),
    Ranker(**COLUMNS, user_numbers=["age"], trees=10, half_life_days=3),
    Ranker(**COLUMNS, trees=10, shortlist=5),
]


@pytest.fixture(scope="module")
def train() -> Train:
    draw = np.random.default_rng(7)
    users, items = draw.integers(0, 600, 5_000), draw.integers(0, 20, 5_000)
    ages = 19 * draw.random(5_000)
    rows: list[Row] = [
        (EVERYONE[u], ITEMS[i], float(age)) for u, i, age in zip(users, items, ages, strict=True)
    ]
    table: Table = {
        "id": list(ITEMS),
        "genre": [f"g{i}" for i in draw.integers(0, 5, 26)],
        "price": [str(i) for i in draw.integers(100, 999, 26)],
        "text": [f"{a}{b} {b}{a}" for a, b in draw.choice(list("xyz"), (26, 2))],
    }
    people: Table = {"user": list(EVERYONE), "age": [str(i) for i in draw.integers(15, 80, 600)]}
    return shop(rows, ITEMS[12:], table, people, everyone=EVERYONE)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_neither_threads_nor_batches_show(
    model: Any, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = np.arange(600, dtype=np.int32)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    expected = model.fit(train).recommend(users, 6, NO_DRAWS)
    assert (expected >= 0).any()
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    again = model.fit(train)
    for batch in (600, 257, 100):
        found = [again.recommend(users[i : i + batch], 6, NO_DRAWS) for i in range(0, 600, batch)]
        assert np.array_equal(np.concatenate(found), expected)
