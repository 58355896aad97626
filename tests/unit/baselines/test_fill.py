"""Fill: one list behind the other, each item once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from parts import ITEMS, LISTS, USERS, Fixed, held, listed, shop

from baselines.fill import Fill
from harness.core.random import Draws


def test_the_first_list_then_what_the_next_ones_add() -> None:
    parts = [Fixed(ann="cb", bob="abcd"), Fixed(ann="abd", bob="e", cid="f"), Fixed(cid="fb")]
    assert listed(Fill(parts), shop()) == ["cbad", "abcd", "fb--"]


def test_every_part_gets_the_same_arguments() -> None:
    parts, exclude = [Fixed(ann="abcd"), Fixed(ann="b")], held("a")
    users, draws = np.array([0], np.int32), Draws(1, 2, np.zeros(3, np.uint64))
    Fill(parts).fit(shop()).recommend(users, 2, draws, exclude=exclude)
    for part in parts:
        (asked,) = part.asked_
        assert all(a is b for a, b in zip(asked, (users, 2, draws, exclude), strict=True))


@given(
    st.lists(LISTS, min_size=1, max_size=4),
    st.lists(ITEMS, min_size=3, max_size=3),
    st.integers(1, 7),
)
def test_equals_plain_python(parts: list[dict[str, str]], exclude: list[str], k: int) -> None:
    expected = []
    for user, excluded in zip(USERS, exclude, strict=True):
        items: list[str] = []
        for part in parts:
            items += [i for i in part[user] if i not in excluded and i not in items][:k]
        expected.append("".join([*items, *"-" * k][:k]))
    model = Fill([Fixed(**part) for part in parts])
    assert listed(model, shop(), k, held(*exclude)) == expected
