"""Blend: reciprocal ranks added up, by hand and in fractions."""

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parts import ITEMS, LISTS, USERS, Fixed, held, listed, shop

from baselines.blend import Blend
from baselines.random_items import RandomItems


@pytest.mark.parametrize(
    ("parts", "params", "k", "expected"),
    [
        # b has 1/62 + 1/61, a has 1/61 alone, c 1/62.
        ("ab bc", {}, 4, "bac-"),
        # Constant 0: a has 1, c has 3/2, b has 1/2 + 3/1; then 4, 1/2 and 3.
        ("ab bc", {"weights": [1, 3], "constant": 0}, 4, "bca-"),
        ("ab bc", {"weights": [4, 1], "constant": 0}, 4, "abc-"),
        # With 0, a has 1 and b 1/2 + 1/3 = 5/6; with 60, b's two shares are nearly two.
        ("ab cdb", {"constant": 0}, 2, "ac"),
        ("ab cdb", {}, 1, "b"),
        # Places below the depth count nothing, but never fewer than k places count.
        ("abc dec", {"depth": 3}, 2, "ca"),
        ("abc dec", {"depth": 2}, 2, "ad"),
        ("abc dec", {"depth": 1}, 3, "cad"),
        # Ties by item id, however the three are added: each has 1/61 + 1/62 + 1/63.
        ("fb ea", {}, 4, "efab"),
        *((" ".join(words), {}, 4, "abc-") for words in permutations(["cab", "bca", "abc"])),
        ("b a", {"weights": [1e30, 1e-30]}, 4, "ba--"),
    ],
)
def test_lists_by_hand(parts: str, params: dict[str, Any], k: int, expected: str) -> None:
    model = Blend([Fixed(ann=word) for word in parts.split()], **params)
    assert listed(model, shop(), k) == [expected, "-" * k, "-" * k]


def test_more_places_than_candidates() -> None:
    parts = [Fixed(ann="ba"), Fixed(ann="b")]
    assert listed(Blend(parts), shop(candidates="ab"), k=5)[0] == "ba---"
    assert [k for _, k, _, _ in parts[0].asked_] == [2]


def test_random_parts_get_the_draws() -> None:
    train = shop()
    assert listed(Blend([RandomItems()]), train) == listed(RandomItems(), train)


@given(
    st.lists(LISTS, min_size=1, max_size=4),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    st.lists(ITEMS, min_size=3, max_size=3),
    st.integers(1, 7),
    st.integers(1, 7),
)
def test_equals_fractions(
    parts: list[dict[str, str]], weights: list[int], exclude: list[str], depth: int, k: int
) -> None:
    """Place by place the same sums; which of two items with equal sums comes first is open."""
    weights, constant = weights[: len(parts)], 9973
    model = Blend([Fixed(**part) for part in parts], weights, depth, constant)
    words = listed(model, shop(), k, held(*exclude))
    for user, excluded, word in zip(USERS, exclude, words, strict=True):
        sums: dict[str, Fraction] = {}
        for part, weight in zip(parts, weights, strict=True):
            fits = [item for item in part[user] if item not in excluded][: max(k, depth)]
            for rank, item in enumerate(fits, 1):
                sums[item] = sums.get(item, Fraction(0)) + Fraction(weight, constant + rank)
        items = word.rstrip("-")
        assert len(set(items)) == len(items) == min(k, len(sums))
        assert [sums[item] for item in items] == sorted(sums.values(), reverse=True)[:k]


def test_lists_longer_than_k_keep_the_best() -> None:
    """One hundred candidates in falling order in one part, rising in the other: the ends lead."""
    n = 100
    rank = np.arange(1, n + 1)
    sums = 1 / (60 + rank) + 1 / (60 + rank[::-1])
    best = sorted(range(n), key=lambda i: (-round(sums[i], 15), i))[:4]
    names = [chr(0x4E00 + i) for i in range(n)]
    train = shop(candidates="".join(names))
    parts = [Fixed(ann="".join(names)), Fixed(ann="".join(reversed(names)))]
    assert listed(Blend(parts), train, k=4)[0] == "".join(names[i] for i in best)
