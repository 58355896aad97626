"""ItemKNN, UserKNN and RP3beta: baskets of letters, and dense NumPy anywhere."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import NO_DRAWS, Row, lists, train_of, words

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


def largest(rows: Any, k: int) -> Any:
    """Return a matrix with the k largest entries of each row alone, of equal ones the first."""
    kept = np.zeros_like(rows)
    for row, values in zip(kept, rows, strict=True):
        best = sorted(range(len(values)), key=lambda j: (-round(values[j], 12), j))[:k]
        row[best] = values[best]
    return kept


def shares(rows: Any) -> Any:
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)


def chosen(alike: Any, k: int, neighbours_of: str, normalize: bool) -> Any:
    """Return what items say of candidates, as the parameters are defined."""
    votes = largest(alike.T, k).T if neighbours_of == "candidate" else largest(alike, k)
    return shares(votes) if normalize else votes


def walks(x: Any) -> Any:
    """Return RP3beta's chances from item to item with α = 0.7 and β = 0.4."""
    to_items = shares(x) ** 0.7 * (x > 0)
    to_users = shares(x.T) ** 0.7 * (x.T > 0)
    popularity = x.sum(axis=0)
    alike = to_users @ to_items / np.where(popularity > 0, popularity, 1) ** 0.4
    np.fill_diagonal(alike, 0)
    return alike


def rows_of(days: Any) -> list[Row]:
    """Return an event of users "0" to "6" and items "a" to "e" where there are days."""
    return [(f"{u}", "abcde"[i], float(days[u, i])) for u, i in np.argwhere(days > 0)]


SEEDS, SIZES, SIDES = (
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.sampled_from(["item", "candidate"]),
)


@given(SEEDS, SIZES, SIDES, st.booleans())
def test_votes_as_numpy_says(seed: int, k: int, neighbours_of: str, normalize: bool) -> None:
    has = np.random.default_rng(seed).random((7, 5)) < 0.5
    has[0] = True
    train, x = train_of(rows_of(has), users="0123456"), has.astype(float)
    both = x.T @ x
    np.fill_diagonal(both, 0)
    model = ItemKNN(k, "dot", neighbours_of=neighbours_of, normalize=normalize).fit(train)
    expected = chosen(both, k, neighbours_of, normalize)
    assert model.votes_.toarray() == pytest.approx(expected, rel=1e-12)
    for row, scores in zip(
        model.recommend(np.arange(7, dtype=np.int32), 3, NO_DRAWS), x @ expected, strict=True
    ):
        best = np.sort(scores[scores > 0])[::-1][:3]
        assert scores[row[row >= 0]] == pytest.approx(best, rel=1e-12)
    shared = x @ x.T
    np.fill_diagonal(shared, 0)
    voters = UserKNN(k, "dot", neighbours_of="voter").fit(train).votes_.toarray()
    assert voters.tolist() == largest(shared.T, k).T.tolist()


@given(SEEDS, SIZES, SIDES, st.booleans())
def test_walks_as_numpy_says(seed: int, k: int, neighbours_of: str, normalize: bool) -> None:
    """Weights are drawn, as no two roundings of a power decide a tie alike."""
    draw = np.random.default_rng(seed)
    days = draw.uniform(0.01, 1, (7, 5))
    has = draw.random((7, 5)) < 0.5
    has[0] = True
    model = RP3beta(0.7, 0.4, k, half_life_days=1, neighbours_of=neighbours_of, normalize=normalize)
    votes = model.fit(train_of(rows_of(days * has), users="0123456")).votes_.toarray()
    expected = chosen(walks(has * 2.0**-days), k, neighbours_of, normalize)
    assert votes == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("model", [ItemKNN(half_life_days=0.1), UserKNN(half_life_days=0.1)])
def test_squares_of_old_events_do_not_vanish(model: Any) -> None:
    rows = [(user, item, 900.0) for user, item in ("ua", "ub", "va", "wb")]
    assert lists(model, train_of(rows), "v", 2)[0].startswith(("b", "ab"))
