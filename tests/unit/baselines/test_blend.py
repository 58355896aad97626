"""Blend: reciprocal ranks added up, by hand and in fractions."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parts import USERS, Fixed, held, listed, shop

from baselines.blend import Blend
from baselines.random_items import RandomItems


def test_what_both_list_comes_first() -> None:
    """b has 1/62 + 1/61, a has 1/61 alone, c 1/62."""
    assert listed(Blend([Fixed(ann="ab"), Fixed(ann="bc")]), shop()) == ["bac-", "----", "----"]


def test_a_weight_counts_as_often() -> None:
    """Constant 0: a has 1, c has 3/2, b has 1/2 + 3/1."""
    parts = [Fixed(ann="ab"), Fixed(ann="bc")]
    assert listed(Blend(parts, weights=[1, 3], constant=0), shop())[0] == "bca-"
    assert listed(Blend(parts, weights=[4, 1], constant=0), shop())[0] == "abc-"  # 4, 3, 1/2


def test_a_large_constant_makes_ranks_alike() -> None:
    """With 0, a has 1 and b 1/2 + 1/3 = 5/6; with 60, b's two shares are nearly two."""
    parts = [Fixed(ann="ab"), Fixed(ann="cdb")]
    assert listed(Blend(parts, constant=0), shop(), k=2)[0] == "ac"
    assert listed(Blend(parts), shop(), k=1)[0] == "b"


def test_places_below_the_depth_count_nothing() -> None:
    parts = [Fixed(ann="abc"), Fixed(ann="dec")]
    assert listed(Blend(parts, depth=3), shop(), k=2)[0] == "ca"
    assert listed(Blend(parts, depth=2), shop(), k=2)[0] == "ad"
    assert listed(Blend(parts, depth=1), shop(), k=3)[0] == "cad", "never fewer places than k"


def test_ties_by_item_id() -> None:
    assert listed(Blend([Fixed(ann="fb"), Fixed(ann="ea")]), shop())[0] == "efab"


@pytest.mark.parametrize("order", list(permutations([0, 1, 2])))
def test_equal_sums_tie_whatever_the_order_of_the_parts(order: tuple[int, ...]) -> None:
    """Each of the three has 1/61 + 1/62 + 1/63."""
    words = ["cab", "bca", "abc"]
    parts = [Fixed(ann=words[i]) for i in order]
    assert listed(Blend(parts), shop())[0] == "abc-"


def test_a_tiny_weight_still_lists() -> None:
    parts = [Fixed(ann="b"), Fixed(ann="a")]
    assert listed(Blend(parts, weights=[1e30, 1e-30]), shop())[0] == "ba--"


def test_more_places_than_candidates() -> None:
    parts = [Fixed(ann="ba"), Fixed(ann="b")]
    assert listed(Blend(parts), shop(candidates="ab"), k=5)[0] == "ba---"
    assert [k for _, k, _, _ in parts[0].asked_] == [2]


def test_random_parts_are_asked_with_the_draws() -> None:
    train = shop()
    assert listed(Blend([RandomItems()]), train) == listed(RandomItems(), train)


words = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6).map("".join)


@given(
    st.lists(st.fixed_dictionaries(dict.fromkeys(USERS, words)), min_size=1, max_size=4),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    st.lists(st.sets(st.sampled_from("abcdef")), min_size=3, max_size=3),
    st.integers(1, 7),
    st.integers(1, 7),
)
def test_equals_fractions(
    parts: list[dict[str, str]], weights: list[int], exclude: list[set[str]], depth: int, k: int
) -> None:
    """Place by place the same sums; which of two items with equal sums comes first is not asked."""
    weights, constant = weights[: len(parts)], 9973
    model = Blend([Fixed(**part) for part in parts], weights, depth, constant)
    found = listed(model, shop(), k, held(*map("".join, exclude)))
    for user, gone, word in zip(USERS, exclude, found, strict=True):
        sums: dict[str, Fraction] = {}
        for part, weight in zip(parts, weights, strict=True):
            fits = [item for item in part[user] if item not in gone][: max(k, depth)]
            for rank, item in enumerate(fits, 1):
                sums[item] = sums.get(item, Fraction(0)) + Fraction(weight, constant + rank)
        own = word.rstrip("-")
        assert len(set(own)) == len(own) == min(k, len(sums))
        assert [sums[item] for item in own] == sorted(sums.values(), reverse=True)[:k]


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
