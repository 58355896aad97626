"""Blend, Fill and Filter: models made of others, whose lists stand in a dict."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any, Self

import numpy as np
import pytest
import shops
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import CUTOFF, Row

from baselines.blend import Blend
from baselines.fill import Fill
from baselines.filter import Filter
from baselines.random_items import RandomItems
from harness.core.arrays import Int32
from harness.core.random import Draws, id_hashes
from harness.models.base import Train
from harness.models.topk import extend

USERS = ["ann", "bob", "cid"]
ITEMS = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6).map("".join)
LISTS = st.fixed_dictionaries(dict.fromkeys(USERS, ITEMS))


class Fixed:
    """Gives each user the candidates of a word, in its order; `asked_` has all calls."""

    def __init__(self, **words: str) -> None:
        self.words = words

    def fit(self, train: Train) -> Self:
        items = train.candidate_ids.to_list()
        width = max(map(len, self.words.values()), default=0)
        self.lists_ = np.full((len(train.user_ids), width), -1, np.int32)
        for row, user in enumerate(train.user_ids.to_list()):
            known = [items.index(item) for item in self.words.get(user, "") if item in items]
            self.lists_[row, : len(known)] = known
        self.asked_: list[Any] = []
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        self.asked_.append((users, k, draws, exclude))
        return extend(np.full((len(users), k), -1, np.int32), self.lists_[users], exclude)


def shop(rows: list[Row] | None = None, candidates: str = "abcdef", *, timed: bool = True) -> Train:
    """Return a shop of (user, item, days before the cut-off) events."""
    rows = rows or [("cid", "z", 19)]
    return shops.shop(rows, candidates, cutoff=CUTOFF if timed else None, everyone=USERS)


def listed(model: Any, train: Train, k: int = 4, exclude: Any = None) -> list[str]:
    draws = Draws(7, 0, id_hashes(train.user_ids))
    return shops.listed(model, train, " ".join(USERS), k, exclude, draws)


def held(rows: Sequence[str]) -> csr_array[Any]:
    return csr_array(np.array([[c in row for c in "abcdef"] for row in rows], bool))


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
def test_blends_by_hand(parts: str, params: dict[str, Any], k: int, expected: str) -> None:
    model = Blend([Fixed(ann=word) for word in parts.split()], **params)
    assert listed(model, shop(), k) == [expected, "-" * k, "-" * k]


@pytest.mark.parametrize("model", [Blend([RandomItems()]), Fill([RandomItems()])])
def test_random_parts_get_the_draws(model: Any) -> None:
    assert listed(model, shop()) == listed(RandomItems(), shop())


def test_blends_of_longer_lists_keep_the_best() -> None:
    """One hundred candidates in falling order in one part, rising in the other: the ends lead."""
    names = "".join(chr(0x4E00 + i) for i in range(100))
    blend = Blend([Fixed(ann=names), Fixed(ann=names[::-1])])
    assert listed(blend, shop(candidates=names))[0] == names[0] + names[99] + names[1] + names[98]


@given(
    st.lists(LISTS, min_size=1, max_size=4),
    st.lists(ITEMS, min_size=3, max_size=3),
    st.integers(1, 7),
)
def test_fill_equals_plain_python(parts: list[dict[str, str]], exclude: list[str], k: int) -> None:
    expected = []
    for user, excluded in zip(USERS, exclude, strict=True):
        items: list[str] = []
        for part in parts:
            items += [i for i in part[user] if i not in excluded and i not in items][:k]
        expected.append("".join([*items, *"-" * k][:k]))
    model = Fill([Fixed(**part) for part in parts])
    assert listed(model, shop(), k, held(exclude)) == expected


ALL = dict.fromkeys(USERS, "abcdef")
ROWS: list[Row] = [("ann", "b", 1), ("ann", "b", 2), ("ann", "d", 9), ("bob", "a", 3),
    ("bob", "f", 4), ("cid", "y", 1)]  # fmt: skip
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
        ({"seen": True}, held(["ae", "", "bcd"]), "cf-- bcde aef-"),
    ],
)
def test_filters_by_hand(params: dict[str, Any], exclude: Any, expected: str) -> None:
    assert listed(Filter([Fixed(**ALL)], **params), shop(ROWS), 4, exclude) == expected.split()


def test_the_part_itself_goes_on_learning_from_all() -> None:
    part, train = Fixed(**ALL), shop(ROWS)
    first, last = [Filter([part], out_of_stock_days=4), part], [part, Filter([part], seen=True)]
    assert listed(Fill(first), train, k=6) == ["abfcde"] * 3
    assert listed(Fill(last), train, k=6) == ["abcdef"] * 3


def test_events_without_times_have_no_stock_but_users() -> None:
    train = shop(ROWS, timed=False)
    assert listed(Filter([Fixed(**ALL)], seen=True), train)[0] == "acef"
    with pytest.raises(ValueError, match="have no times"):
        Filter([Fixed(**ALL)], out_of_stock_days=4).fit(train)


def test_exclude_of_filter_stays_small() -> None:
    """It has what users had among what is in stock, not all that is out of stock."""
    model: Any = Filter([Fixed(**ALL)], **BOTH).fit(shop(ROWS))
    model.recommend(np.array([0, 1], np.int32), 2, None)
    ((_, _, _, exclude),) = model.model_.asked_
    assert exclude.toarray().tolist() == [[False, True, False], [True, False, True]]
