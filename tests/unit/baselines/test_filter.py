"""Filter: lists without what was had or is out of stock, and full all the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parts import ITEMS, USERS, Fixed, Row, held, listed, shop

from baselines.fill import Fill
from baselines.filter import Filter
from baselines.popular import Popular
from baselines.random_items import RandomItems

ALL = dict.fromkeys(USERS, "abcdef")
ROWS: list[Row] = [
    ("ann", "b", 1),
    ("ann", "b", 2),
    ("ann", "d", 9),
    ("bob", "a", 3),
    ("bob", "f", 4),
    ("cid", "y", 1),
]
"""In stock of four days: a, b and f; y is no candidate."""
BOTH = {"seen": True, "out_of_stock_days": 4}


@pytest.mark.parametrize(
    ("params", "exclude", "expected"),
    [
        ({"seen": True}, None, "acef bcde abcd"),
        ({"out_of_stock_days": 4}, None, "abf- abf- abf-"),
        ({"out_of_stock_days": 3}, None, "ab-- ab-- ab--"),  # an event just so many days ago counts
        ({"out_of_stock_days": 3 - 1e-9}, None, "b--- b--- b---"),
        (BOTH, None, "af-- b--- abf-"),
        ({"seen": True}, held("ae", "", "bcd"), "cf-- bcde aef-"),
        ({"out_of_stock_days": 4}, held("ae", "", "bcd"), "bf-- abf- af--"),
        (BOTH, held("ae", "", "bcd"), "f--- b--- af--"),
    ],
)
def test_lists_by_hand(params: dict[str, Any], exclude: Any, expected: str) -> None:
    assert listed(Filter([Fixed(**ALL)], **params), shop(ROWS), 4, exclude) == expected.split()


def test_nothing_in_stock_is_an_empty_list() -> None:
    assert listed(Filter([Popular()], out_of_stock_days=0.5), shop(ROWS)) == ["----"] * 3


def test_a_random_list_is_full_of_what_is_in_stock() -> None:
    words = listed(Filter([RandomItems()], out_of_stock_days=4), shop(ROWS), k=3)
    assert [sorted(word) for word in words] == [["a", "b", "f"]] * 3


def test_the_part_itself_goes_on_learning_from_all() -> None:
    part, train = Fixed(**ALL), shop(ROWS)
    first, last = [Filter([part], out_of_stock_days=4), part], [part, Filter([part], seen=True)]
    assert listed(Fill(first), train, k=6) == ["abfcde"] * 3
    assert listed(Fill(last), train, k=6) == ["abcdef"] * 3


def test_events_without_times_have_no_stock_but_users() -> None:
    train = shop(ROWS, timed=False)
    assert listed(Filter([Fixed(**ALL)], seen=True), train)[0] == "acef"
    with pytest.raises(ValueError, match="carry no time"):
        Filter([Fixed(**ALL)], out_of_stock_days=4).fit(train)


@given(
    st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.sampled_from("abcdefxy"), st.integers(1, 9)),
        min_size=1,
        max_size=12,
    ),
    st.lists(ITEMS, min_size=3, max_size=3),
    st.permutations("abcdef").map("".join),
    st.one_of(st.none(), st.integers(1, 9)),
    st.integers(1, 7),
)
def test_equals_plain_python(
    rows: list[Row], exclude: list[str], word: str, days: int | None, k: int
) -> None:
    stock = {item for _, item, age in rows if days is None or age <= days}
    expected = []
    for user, excluded in zip(USERS, exclude, strict=True):
        skipped = {*excluded, *(item for who, item, _ in rows if who == user)}
        items = [i for i in word if i not in skipped and (days is None or i in stock)]
        expected.append("".join([*items, *"-" * k][:k]))
    part = Fixed(**dict.fromkeys(USERS, word))
    model = Filter([part], seen=True, out_of_stock_days=days)
    assert listed(model, shop(rows), k, held(*exclude)) == expected


def test_exclude_stays_small() -> None:
    """It has what users had among what is in stock, not all that is out of stock."""
    model: Any = Filter([Fixed(**ALL)], **BOTH).fit(shop(ROWS))
    model.recommend(np.array([0, 1], np.int32), 2, None)
    ((_, _, _, exclude),) = model.model_.asked_
    assert exclude.toarray().tolist() == [[False, True, False], [True, False, True]]
