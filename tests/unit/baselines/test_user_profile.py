"""UserProfile: cosines that one can do in the head, and NumPy's anywhere."""

from typing import Any

import numpy as np
import pytest
from shops import Row, Table, listed, shop

from baselines.user_profile import UserProfile

ITEMS: Table = {"id": list("abcpqs"), "genre": ["food", "food", "spa", "food", "spa", "travel"]}
"""The candidates p, q and s are new; r and d have no row."""


def by_genre(**params: Any) -> UserProfile:
    return UserProfile(categories=["genre"], **params)


HAD: list[Row] = [("ann", "a", 9), ("ann", "b", 8), ("ann", "c", 1), ("bob", "c", 9),
    ("cid", "d", 1)]  # fmt: skip


def test_candidates_like_what_the_user_had() -> None:
    """Ann had two foods and a spa, Bob a spa; what Cid had is not described, "new" had nothing."""
    train = shop(HAD, "pqrs", ITEMS)
    assert listed(by_genre(), train, "ann bob cid new") == ["pq--", "q---", "----", "----"]


@pytest.mark.parametrize(
    ("candidates", "params", "expected"),
    [
        ("acps", {}, "apc- c---"),  # what a user had may be a candidate still
        ("pqs", {"window_days": 5}, "q--- ----"),
        ("pqs", {"half_life_days": 1}, "qp-- q---"),  # foods 2^−9 + 2^−8, a spa 2^−1
        ("pqs", {"weights": {"visit": 0.25}}, "qp-- q---"),
        ("pqs", {"counts": True}, "qp-- q---"),  # two foods, and a spa thrice
    ],
)
def test_lists_by_hand(candidates: str, params: dict[str, Any], expected: str) -> None:
    """Ann had a and b as visits long ago, and c three times yesterday; Bob c long ago."""
    rows: list[Row] = [("ann", "a", 9, "visit"), ("ann", "b", 8, "visit"), ("bob", "c", 9)]
    train = shop([*rows, *[("ann", "c", 1.0)] * 3], candidates, ITEMS)
    assert listed(by_genre(**params), train, "ann bob") == expected.split()


def test_unlike_is_not_listed() -> None:
    """Prices at both ends are opposite: cos 180° = −1."""
    items: Table = {"id": list("abcdepq"), "price": ["-999", "1", "2", "3", "999", "-500", "500"]}
    train = shop([("ann", "a", 1), ("bob", "e", 1)], "pq", items)
    assert listed(UserProfile(numbers=["price"]), train, "ann bob", 2) == ["p-", "q-"]


@pytest.mark.parametrize("seed", range(3))
def test_as_numpy_multiplies(seed: int) -> None:
    draw = np.random.default_rng(seed)
    names = "abcdefghijklmn"
    genre, area = draw.integers(0, 4, len(names)), draw.integers(0, 3, len(names))
    items: Table = {
        "id": list(names), "genre": [f"g{i}" for i in genre], "area": [f"a{i}" for i in area],
    }  # fmt: skip
    rows: list[Row] = [
        (("ann", "bob")[u], names[i], float(age))
        for u, i, age in zip(
            draw.integers(0, 2, 12), draw.integers(0, 9, 12), draw.integers(1, 9, 12), strict=True
        )
    ]
    hot = np.hstack([genre[:, None] == np.arange(4), area[:, None] == np.arange(3)]).astype(float)
    found = listed(
        UserProfile(categories=["genre", "area"], half_life_days=3, counts=True),
        shop(rows, names[7:], items), "ann bob", 7,
    )  # fmt: skip
    for user, word in zip(("ann", "bob"), found, strict=True):
        profile = np.zeros(7)
        for who, item, age, *_ in rows:
            profile += (who == user) * 2.0 ** (-age / 3) * hot[names.index(item)]
        score = np.round(hot[7:] @ profile, 9)
        best = sorted((-s, n) for s, n in zip(score, names[7:], strict=True) if s > 0)
        assert word == "".join(n for _, n in best).ljust(7, "-")
