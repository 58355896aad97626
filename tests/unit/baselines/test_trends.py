"""Trending, Repurchase, RepurchaseGaps and CoVisitation: days and letters that one can count."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import DAY, Row, listed, lists, shop, train_of, words

from baselines.co_visitation import CoVisitation, powers_of_two
from baselines.repurchase import Repurchase
from baselines.repurchase_gaps import RepurchaseGaps
from baselines.trending import Trending
from harness.testing import fitted_in_parts, parts_of


def sales(**counts: tuple[int, int]) -> Any:
    """Return events of items by how many lie in the last week and in the week before."""
    rows = []
    for item, (now, before) in counts.items():
        rows += [(f"{item}{n:03}", item, 3.0) for n in range(now)]
        rows += [(f"{item}{n:03}", item, 10.0) for n in range(before)]
    return train_of(rows)


@pytest.mark.parametrize(
    ("model", "counts", "expected"),
    [
        # Prior 1, undamped: a 5·6/21 = 10/7, b 4·5/1 = 20; c had nothing this week.
        (Trending(damping=1, prior=1), {"a": (5, 20), "b": (4, 0), "c": (0, 9)}, "ba"),
        # Without the trend it is this week's sales, and with a large prior nearly so.
        (Trending(damping=0), {"a": (5, 20), "b": (4, 0), "c": (0, 9)}, "ab"),
        (Trending(), {"b": (2, 1), "a": (2, 1), "c": (3, 1)}, "cab"),  # ties by item id
        # In windows of 10 days both days 3 and 10 are "now".
        (Trending(window_days=10, damping=0), {"a": (1, 0), "b": (0, 2)}, "ba"),
    ],
)
def test_trends_by_hand(model: Trending, counts: Any, expected: str) -> None:
    assert "".join("abc"[place] for place in model.fit(sales(**counts)).order_) == expected


EVENTS = st.lists(
    st.tuples(st.sampled_from("uvw"), st.sampled_from("abcd"), st.integers(1, 9)), min_size=1
)


@given(EVENTS, st.sampled_from([1, 3, 20]))
def test_chances_as_a_life_table_counts_them(rows: list[tuple[str, str, int]], ahead: int) -> None:
    train = train_of([(user, item, day - 0.25) for user, item, day in rows], candidates="abc")
    pairs: dict[tuple[str, str], list[int]] = {}
    for user, item, day in sorted(set(rows), key=lambda row: -row[2]):
        pairs.setdefault((user, item), []).append(day)
    gaps = [a - b for days in pairs.values() for a, b in pairwise(days)]
    open_ = [days[-1] - 1 for days in pairs.values()]
    model = RepurchaseGaps(horizon_days=ahead).fit(train)
    for age, chance in enumerate(model.chances_):
        stays = 1.0
        for day in range(age, age + ahead):
            watched = sum(g >= day for g in gaps) + sum(o >= day for o in open_)
            stays *= 1 - (gaps.count(day) / watched if watched else 0)
        assert chance == pytest.approx(1 - stays, abs=1e-12)
    for user in sorted({user for user, _, _ in rows}):
        mine = {i: days[-1] for (u, i), days in pairs.items() if u == user and i in "abc"}
        best = sorted(mine, key=lambda i: (-model.chances_[mine[i]], mine[i], i))
        assert lists(model, train, user, 4)[0].startswith("".join(best))


@pytest.mark.parametrize(
    ("rows", "params", "expected"),
    [
        # a → b for x and y; b → a never; in one basket it counts both ways.
        ("xa9 xb8 ya9 yb8 za9 ua1 vb1", {}, "b- --"),
        ("xa9 xb9 ua1 vb1", {}, "b- a-"),
        # Pairs too far apart, or out of the window, do not count.
        ("xa9 xb1 ua1 vb1", {"within_days": 8}, "b- --"),
        ("xa9 xb1 ua1 vb1", {"within_days": 8, "window_days": 5}, "-- --"),
        # The last basket decides.
        ("xa8 xb8 yc8 yd8 ua5 uc2 vb1", {}, "d- a-"),
        ("xa8 xb8 yc8 yd8 ua5 uc2 vb1", {"within_days": 1, "basket_days": 4}, "bd a-"),
        # Pairs need not fade: of 1 and 1 the first, or else the latest.
        ("xa9 xb9 ya2 yc2 ua1 vb1", {}, "cb a-"),
        ("xa9 xb9 ya2 yc2 ua1 vb1", {"half_life_days": None}, "bc a-"),
        # Fewer neighbours keep the heaviest.
        ("xa9 xb8 xc7 ua1 vb1", {"neighbours": 1}, "b- c-"),
    ],
)
def test_lists_after_pairs(rows: str, params: dict[str, Any], expected: str) -> None:
    events = [(user, item, float(day)) for user, item, day in rows.split()]
    assert lists(CoVisitation(**params), train_of(events), "uv", 2) == expected.split()


@pytest.mark.parametrize(
    ("count", "pairs", "halvings", "power"),
    [
        (1, 1, 0, 61),  # 1 < 2^1: the pair is at most 2^61
        (1, 2**22 - 1, 0, 40),
        (1000, 2**40, 0, 21),  # no weight is above 1, however many events there are
        (2**-100, 1, 1, 61 + 97),  # at most 2^−99 · 2^1, and 2 for what is rounded
        (2**-100, 1, 7e9, 61),
        (0, 0, 0, 62),
    ],
)
def test_pairs_are_multiplied_so_that_all_fit_into_62_bits(
    count: float, pairs: int, halvings: float, power: int
) -> None:
    powers = powers_of_two(np.array([float(count)]), np.array([pairs]), halvings)
    assert powers.tolist() == [2.0**power]


def test_pairs_need_not_fit_into_memory_together() -> None:
    """Where one pair does, every item has a step of its own; each has two items a block."""

    class Small(CoVisitation):
        pairs_at_a_time = 1
        items_at_a_time = 2

    train = train_of(words("abc", "acd", "bd", "dca"))
    parts = parts_of(train, np.array([0, 1, 1, 0], np.int32))
    fitted: Any = fitted_in_parts(Small(), train, parts)
    expected = CoVisitation().fit(train).votes_.toarray()
    assert np.array_equal(fitted.votes_.toarray(), expected)


def test_pairs_of_old_events_count_as_those_of_late_ones() -> None:
    """600 half-lives ago all weigh 2^−500; a → b twice, a → c once, of three events of a."""
    rows = [(user, item, 600.0) for user, item in ("xa", "xb", "ya", "yb", "za", "zc")]
    votes = CoVisitation(half_life_days=1).fit(train_of(rows)).votes_.toarray()
    assert votes[0] == pytest.approx([0, 2 / 3, 1 / 3])


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
        ([*OLD, ("ann", "c", 8), ("ann", "z", 8)], {}, "cba- d--- ----"),
        # The rest is what was popular in the last week, or in another window.
        ([("ann", "c", 15), ("ann", "a", 12), *LAST_WEEK], {}, "acd- dc-- dc--"),
        ([("ann", "a", 7 + 1 / DAY), ("bob", "b", 9)], {}, "a--- b--- ----"),
        ([("ann", "a", 9), ("ann", "b", 1)], {"window_days": 9}, "ba-- ab-- ab--"),
    ],
)
def test_own_items_then_popular_ones(
    rows: list[Row], params: dict[str, Any], expected: str
) -> None:
    words = expected.split()
    train = shop(rows, "abcd")
    assert listed(Repurchase(**params), train, "ann bob new", len(words[0])) == words


def test_events_without_times_have_no_latest() -> None:
    with pytest.raises(ValueError, match="have no times"):
        Repurchase().fit(shop(OLD, "abcd", cutoff=None))
