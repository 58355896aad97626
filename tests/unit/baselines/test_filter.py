"""Filter: lists without what was had or is out of stock, and full all the same."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parts import USERS, Fixed, Row, held, listed, shop

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


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"seen": True}, "acef bcde abcd"),
        ({"out_of_stock_days": 4}, "abf- abf- abf-"),
        ({"out_of_stock_days": 3}, "ab-- ab-- ab--"),  # an event just so many days ago counts
        ({"out_of_stock_days": 3 - 1e-9}, "b--- b--- b---"),
        ({"out_of_stock_days": 9}, "abdf abdf abdf"),
        ({"seen": True, "out_of_stock_days": 4}, "af-- b--- abf-"),
    ],
)
def test_lists_by_hand(params: dict[str, Any], expected: str) -> None:
    assert listed(Filter([Fixed(**ALL)], **params), shop(ROWS)) == expected.split()


@pytest.mark.parametrize("seen", [True, False])
def test_what_is_excluded_stays_out(seen: bool) -> None:
    exclude = held("ae", "", "bcd")
    model = Filter([Fixed(**ALL)], seen=True)
    assert listed(model, shop(ROWS), 4, exclude) == ["cf--", "bcde", "aef-"]
    model = Filter([Fixed(**ALL)], seen=seen, out_of_stock_days=4)
    expected = ["f---", "b---", "af--"] if seen else ["bf--", "abf-", "af--"]
    assert listed(model, shop(ROWS), 4, exclude) == expected


def test_nothing_in_stock_is_an_empty_list() -> None:
    assert listed(Filter([Popular()], out_of_stock_days=0.5), shop(ROWS)) == ["----"] * 3


def test_a_random_list_is_full_of_what_is_in_stock() -> None:
    found = listed(Filter([RandomItems()], out_of_stock_days=4), shop(ROWS), k=3)
    assert [sorted(row) for row in found] == [["a", "b", "f"]] * 3


def test_the_part_itself_goes_on_learning_from_all() -> None:
    part, train = Fixed(**ALL), shop(ROWS)
    model = Fill([part, Filter([part], out_of_stock_days=4)])
    assert listed(model, train, k=6) == ["abcdef"] * 3
    assert listed(Fill([Filter([part], out_of_stock_days=4), part]), train, k=6) == ["abfcde"] * 3


def test_events_without_times_have_no_stock_and_can_be_seen() -> None:
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
    st.lists(st.sets(st.sampled_from("abcdef")), min_size=3, max_size=3),
    st.permutations("abcdef").map("".join),
    st.one_of(st.none(), st.integers(1, 9)),
    st.integers(1, 7),
)
def test_equals_plain_python(
    rows: list[Row], exclude: list[set[str]], word: str, days: int | None, k: int
) -> None:
    stock = {item for _, item, age in rows if days is None or age <= days}
    expected = []
    for user, gone in zip(USERS, exclude, strict=True):
        had = {item for who, item, _ in rows if who == user}
        left = [i for i in word if i not in gone | had and (days is None or i in stock)]
        expected.append("".join([*left, *"-" * k][:k]))
    part = Fixed(**dict.fromkeys(USERS, word))
    model = Filter([part], seen=True, out_of_stock_days=days)
    assert listed(model, shop(rows), k, held(*map("".join, exclude))) == expected


def test_what_the_model_is_told_stays_small() -> None:
    """Only what users had among what is in stock is excluded, not all that is out of stock."""
    part = Fixed(**ALL)
    model = Filter([part], seen=True, out_of_stock_days=4).fit(shop(ROWS))
    model.recommend(np.array([0, 1], np.int32), 2, None)  # type: ignore[arg-type]
    ((_, _, _, exclude),) = model.model_.asked_  # type: ignore[attr-defined]
    assert exclude.toarray().tolist() == [[False, True, False], [True, False, True]]
