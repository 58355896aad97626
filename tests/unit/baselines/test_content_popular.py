"""ContentPopular: means that one can do in the head, and NumPy's anywhere."""

from typing import Any

import numpy as np
from shops import Row, Table, listed, shop

from baselines.content_popular import ContentPopular

ITEMS: Table = {"id": ["c", "a", "b", "p", "q"], "genre": ["spa", "food", "food", "food", "spa"]}
"""The candidates p and q are new; r has no row, nor has d."""
SOLD: list[Row] = [("ann", "a", 9), ("bob", "a", 9), ("cid", "a", 2), ("ann", "b", 2),
    ("bob", "c", 5), ("cid", "d", 1)]  # fmt: skip


def by_genre(**params: Any) -> ContentPopular:
    return ContentPopular(categories=["genre"], **params)


def test_new_items_are_as_popular_as_those_like_them() -> None:
    """Food was had 3 and 1 times, 2 on average; spas once; of r nothing is known."""
    assert listed(by_genre(), shop(SOLD, "pqr", ITEMS), "ann new") == ["pq--", "pq--"]
    assert listed(by_genre(window_days=3), shop(SOLD, "pqr", ITEMS), "ann") == ["p---"]


def test_own_events_count_as_one_neighbour_more() -> None:
    """q has 8 events of its own and c has 1: (8 + 1)/2 is more than p's 2. r has 3 alone."""
    more: list[Row] = [*[("ann", "q", 3.0)] * 8, *[("ann", "r", 3.0)] * 3]  # type: ignore[list-item]
    assert listed(by_genre(), shop([*SOLD, *more], "pqr", ITEMS), "ann") == ["qrp-"]


def test_only_the_most_similar_are_asked() -> None:
    """Price 10 is like 10 and not like 30; the one nearest item of p is had thrice, of q once."""
    items: Table = {"id": list("abpq"), "price": ["10", "30", "12", "28"]}
    rows: list[Row] = [("ann", "b", 1), ("ann", "a", 1), ("bob", "b", 1), ("cid", "b", 1)]
    model = ContentPopular(numbers=["price"], neighbours=1)
    assert listed(model, shop(rows, "pq", items), "ann", 2) == ["qp"]


def test_weights_and_half_life() -> None:
    """Food: 2 visits at 1/4, a spa: 1 purchase; a half-life of a day leaves it 1/16."""
    rows: list[Row] = [("ann", "a", 1, "visit"), ("bob", "a", 1, "visit"), ("ann", "c", 5)]
    train = shop(rows, "pq", ITEMS)
    assert listed(by_genre(), train, "ann", 2) == ["pq"]
    assert listed(by_genre(weights={"visit": 0.25}), train, "ann", 2) == ["qp"]
    assert listed(by_genre(weights={"visit": 0.25}, half_life_days=1), train, "ann", 2) == ["pq"]


def test_as_numpy_counts() -> None:
    """Prices alone: cosines by hand, and the mean over the 3 most similar and oneself."""
    draw = np.random.default_rng(3)
    names = "abcdefghijkl"
    prices = draw.integers(1, 50, len(names)).astype(np.float64)
    rows: list[Row] = [("ann", names[i], 2.0) for i in draw.integers(0, 9, 60)]
    items: Table = {"id": list(names), "price": [str(p) for p in prices]}
    train = shop(rows, "ghijkl", items)
    low, middle, high = np.percentile(prices, [25, 50, 75])
    z = (prices - middle) / ((high - low) / 1.3489795003921634)
    angle = np.clip(z, -3, 3) * np.pi / 6
    cosine = np.cos(angle[:, None] - angle)
    count = np.array([sum(row[1] == name for row in rows) for name in names])
    score = {}
    for item in range(6, 12):
        others = [i for i in np.argsort(-cosine[item], kind="stable") if count[i] and i != item]
        weight = {i: cosine[item, i] for i in others[:3]} | ({item: 1.0} if count[item] else {})
        score[names[item]] = sum(weight[i] * count[i] for i in weight) / sum(weight.values())
    best = "".join(sorted(score, key=lambda name: -score[name]))
    assert listed(ContentPopular(numbers=["price"], neighbours=3), train, "ann", 6) == [best]
