"""Repurchase: own items latest first, then last week's popular ones; and in plain Python."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import DAY, Row, listed, shop

from baselines.repurchase import Repurchase

OLD: list[Row] = [("ann", "c", 15), ("ann", "a", 12), ("ann", "b", 9), ("bob", "d", 16)]
"""Nothing of it is popular: it is all older than a week."""
LAST_WEEK: list[Row] = [("bob", "d", 1), ("bob", "d", 2), ("bob", "c", 3)]
EQUAL: list[Row] = [("ann", "c", 9), ("ann", "a", 9), ("ann", "d", 9), ("ann", "b", 10)]


@pytest.mark.parametrize(
    ("rows", "params", "expected"),
    [
        (OLD, {}, "bac- d--- ----"),
        (OLD, {}, "ba d- --"),  # the last k alone
        (EQUAL, {}, "acdb ---- ----"),
        (EQUAL, {}, "a - -"),
        ([*OLD, ("ann", "c", 8), ("ann", "z", 8)], {}, "cba- d--- ----"),
        # The rest is what was popular in the last week, or in another window.
        ([("ann", "c", 15), ("ann", "a", 12), *LAST_WEEK], {}, "acd- dc-- dc--"),
        ([("ann", "a", 7), ("bob", "b", 9)], {}, "a--- ba-- a---"),
        ([("ann", "a", 7 + 1 / DAY), ("bob", "b", 9)], {}, "a--- b--- ----"),
        ([("ann", "a", 9), ("ann", "b", 1)], {"window_days": 9}, "ba-- ab-- ab--"),
    ],
)
def test_lists_by_hand(rows: list[Row], params: dict[str, Any], expected: str) -> None:
    words = expected.split()
    train = shop(rows, "abcd")
    assert listed(Repurchase(**params), train, "ann bob new", len(words[0])) == words


def test_events_without_times_have_no_latest() -> None:
    with pytest.raises(ValueError, match="carry no time"):
        Repurchase().fit(shop(OLD, "abcd", cutoff=None))


def plain(rows: list[Row], user: str, candidates: str, exclude: set[str], k: int) -> str:
    """Return the list by sorting: own by (age, id), then others by (−count, id)."""
    fits = [row for row in rows if row[1] in candidates and row[1] not in exclude]
    ages: dict[str, float] = {}
    for who, item, age in fits:
        if who == user:
            ages[item] = min(age, ages.get(item, age))
    week = [item for _, item, age in fits if age <= 7]
    own = sorted(ages, key=lambda item: (ages[item], item))
    more = sorted(set(week) - set(own), key=lambda item: (-week.count(item), item))
    return "".join([*own, *more, *"-" * k][:k])


@given(
    st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.sampled_from("abcdef"), st.integers(1, 19)),
        min_size=1,
        max_size=25,
    ),
    st.sets(st.sampled_from("abcdef"), min_size=1).map(sorted).map("".join),
    st.lists(st.sets(st.sampled_from("abcdef")), min_size=3, max_size=3),
    st.integers(1, 7),
)
def test_equals_plain_python(
    rows: list[Row], candidates: str, exclude: list[set[str]], k: int
) -> None:
    held = csr_array(np.array([[c in items for c in candidates] for items in exclude], bool))
    users = ["ann", "bob", "new"]
    expected = [
        plain(rows, user, candidates, items, k) for user, items in zip(users, exclude, strict=True)
    ]
    assert listed(Repurchase(), shop(rows, candidates), " ".join(users), k, held) == expected
