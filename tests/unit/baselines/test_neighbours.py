"""ItemKNN, UserKNN and RP3beta: baskets of letters."""

from typing import Any

import numpy as np
import pytest
from conftest import exactly
from scipy.sparse import csr_array
from shops import lists, train_of, words

from baselines.item_knn import ItemKNN
from baselines.rp3beta import RP3beta
from baselines.user_knn import UserKNN

FOUR = "ab abc c a"
"""Cosines: a b 2/√6, a c 1/√6; users 0 and 3 1/√2, 1 and 3 1/√3, 2 and 3 0."""
WALKS = "ab ab ac b b b"
"""From a to users 0, 1 and 2, a third each; on to b with 1/2 from 0 and 1, to c from 2."""


@pytest.mark.parametrize(
    ("model", "baskets", "user", "expected"),
    [
        (ItemKNN(), FOUR, "3", "bc-"),
        (ItemKNN(min_similarity=0.5), FOUR, "3", "b--"),
        # An owned item is recommended for another one alone.
        (ItemKNN(), "ab ab", "0", "ab"),
        (ItemKNN(), "a a", "0", "--"),
        (ItemKNN(neighbours=10**12), "ab abc", "0", "cab"),  # c = √2, a and b 1 each
        (UserKNN(), "ab abc ad", "0", "abcd"),
        (UserKNN(neighbours=1), "ab abc ad", "0", "abc-"),
        (UserKNN(min_similarity=0.7), FOUR, "3", "ab-"),
        (RP3beta(), WALKS, "3", "a--"),  # c is two walks away
        *((model, "ab ab", "x", "--") for model in (ItemKNN(), UserKNN(), RP3beta())),
    ],
)
def test_lists_by_hand(model: Any, baskets: str, user: str, expected: str) -> None:
    train = train_of(words(*baskets.split()), users="x")
    assert lists(model, train, user, len(expected)) == [expected]


def test_item_knn_neighbours_are_candidates() -> None:
    train = train_of(words("abc", "ab", "a"), candidates="c")
    assert lists(ItemKNN(neighbours=1), train, "2", 1) == ["c"]


def test_user_knn_neighbours_of_the_user_or_of_the_voter() -> None:
    # 2 (ab) is most like 0 and 1 (ab too), then 3 (abc); 3 is as like all three
    train = train_of(words("ab", "ab", "ab", "abc"))
    exclude = csr_array(np.array([[1, 1, 0]], bool))
    assert lists(UserKNN(1), train, "0", 1, exclude) == ["-"], "user 1 has nothing more"
    # 3 votes for the first of those most like them, user 0, and not for 1
    voter = UserKNN(1, neighbours_of="voter")
    assert lists(voter, train, "0", 1, exclude) == ["c"]
    assert lists(voter, train, "1", 1, exclude) == ["-"]


EQUAL: dict[str, Any] = {"alpha": 1, "beta": 0}
"""Steps of RP3beta as likely as they are, to items as popular as they are."""


@pytest.mark.parametrize(
    ("model", "baskets", "expected"),
    [
        # Two users have a and b, one has a and c, one b and c.
        (ItemKNN(2, "dot"), "ab abc", [[0, 2, 1], [2, 0, 1], [1, 1, 0]]),
        (ItemKNN(1, "dot"), "ab abc", [[0, 2, 0], [2, 0, 0], [1, 0, 0]]),
        (
            ItemKNN(1, "dot", neighbours_of="candidate"),
            "ab abc",
            [[0, 2, 1], [2, 0, 0], [0, 0, 0]],
        ),
        (
            ItemKNN(2, "dot", normalize=True),
            "ab abc",
            [[0, 2 / 3, 1 / 3], [2 / 3, 0, 1 / 3], [1 / 2, 1 / 2, 0]],
        ),
        # Users 0 and 1 share two items, 1 and 2 one: 0 and 2 vote for 1 alone, and 1 for 0.
        (UserKNN(1, "dot", neighbours_of="voter"), "ab abc c", [[0, 2, 0], [2, 0, 1], [0, 0, 0]]),
        # From a by users 0 and 1 to b, 2 · 1/3 · 1/2; from b by two of five users to a.
        (RP3beta(**EQUAL), WALKS, [[0, 1 / 3, 1 / 6], [1 / 5, 0, 0], [1 / 2, 0, 0]]),
        (RP3beta(**EQUAL, neighbours=1), WALKS, [[0, 1 / 3, 0], [1 / 5, 0, 0], [1 / 2, 0, 0]]),
        (
            RP3beta(**EQUAL, neighbours=1, neighbours_of="candidate"),
            WALKS,
            [[0, 1 / 3, 1 / 6], [0, 0, 0], [1 / 2, 0, 0]],
        ),
        (RP3beta(**EQUAL, normalize=True), WALKS, [[0, 2 / 3, 1 / 3], [1, 0, 0], [1, 0, 0]]),
        # Three have a, five b; each step of a walk is squared.
        (RP3beta(1, 1), WALKS, [[0, 1 / 15, 1 / 6], [1 / 15, 0, 0], [1 / 6, 0, 0]]),
        (RP3beta(2, 0), WALKS, [[0, 1 / 18, 1 / 36], [1 / 50, 0, 0], [1 / 4, 0, 0]]),
    ],
)
def test_votes_by_hand(model: Any, baskets: str, expected: list[list[float]]) -> None:
    votes = model.fit(train_of(words(*baskets.split()))).votes_.toarray()
    assert votes == exactly(np.array(expected))


@pytest.mark.parametrize("model", [ItemKNN(half_life_days=0.1), UserKNN(half_life_days=0.1)])
def test_squares_of_old_events_do_not_vanish(model: Any) -> None:
    rows = [(user, item, 900.0) for user, item in ("ua", "ub", "va", "wb")]
    assert lists(model, train_of(rows), "v", 2)[0].startswith(("b", "ab"))
