"""Fill: one list behind the other, each item once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from parts import USERS, Fixed, held, listed, shop

from baselines.fill import Fill
from harness.core.random import Draws


def test_the_first_list_then_what_is_not_there_yet() -> None:
    first, second = Fixed(ann="cb", bob="abcd"), Fixed(ann="abde", bob="e", cid="f")
    assert listed(Fill([first, second]), shop()) == ["cbad", "abcd", "f---"]


def test_a_third_fills_what_two_leave() -> None:
    parts = [Fixed(ann="a"), Fixed(ann="ab", bob="b"), Fixed(ann="cba", bob="cba", cid="cba")]
    assert listed(Fill(parts), shop(), k=3) == ["abc", "bca", "cba"]


def test_every_part_is_asked_the_same() -> None:
    parts, exclude = [Fixed(ann="abcd"), Fixed(ann="b")], held("a")
    users, draws = np.array([0], np.int32), Draws(1, 2, np.zeros(3, np.uint64))
    Fill(parts).fit(shop()).recommend(users, 2, draws, exclude=exclude)
    for part in parts:
        (asked,) = part.asked_
        assert all(a is b for a, b in zip(asked, (users, 2, draws, exclude), strict=True))


words = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6).map("".join)


@given(
    st.lists(st.fixed_dictionaries(dict.fromkeys(USERS, words)), min_size=1, max_size=4),
    st.lists(st.sets(st.sampled_from("abcdef")), min_size=3, max_size=3),
    st.integers(1, 7),
)
def test_equals_plain_python(parts: list[dict[str, str]], exclude: list[set[str]], k: int) -> None:
    expected = []
    for user, gone in zip(USERS, exclude, strict=True):
        own: list[str] = []
        for part in parts:
            own += [item for item in part[user] if item not in gone and item not in own][:k]
        expected.append("".join([*own, *"-" * k][:k]))
    model = Fill([Fixed(**part) for part in parts])
    assert listed(model, shop(), k, held(*map("".join, exclude))) == expected
