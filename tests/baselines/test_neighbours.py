"""ItemKNN, UserKNN and RP3beta: baskets of letters, and dense NumPy anywhere."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import NO_DRAWS, lists, train_of, words

from baselines.item_knn import ItemKNN
from baselines.rp3beta import RP3beta
from baselines.user_knn import UserKNN


def test_item_knn_finds_what_goes_together() -> None:
    # a and b are had by the same two; c by one of them and another: cos(a, c) = 1/(√2 √2)
    train = train_of(words("ab", "abc", "c", "a"))
    # user 3 has a (three users): cos(a, b) = 2/√6, cos(a, c) = 1/√6
    assert lists(ItemKNN(), train, "3", 3) == ["bc-"]
    assert lists(ItemKNN(neighbours=1), train, "3", 3) == ["b--"]


def test_item_knn_recommends_an_owned_item_only_for_another() -> None:
    train = train_of(words("ab", "ab"))
    assert lists(ItemKNN(), train, "0", 2) == ["ab"], "each for the other: both 1, ties by id"
    assert lists(ItemKNN(), train_of(words("a", "a")), "0", 2) == ["--"]


def test_item_knn_adds_up_over_the_users_items() -> None:
    # c goes with a and with b once each, d with a twice: Σ decides
    train = train_of(words("ac", "bc", "ad", "ad", "ab"))
    # user 4 has a and b: c = 1/√(4·2) + 1/√(2·2), d = 2/√(4·2)
    assert lists(ItemKNN(), train, "4", 4)[0][:2] == "cd"


def test_item_knn_neighbours_are_candidates() -> None:
    train = train_of(words("abc", "ab", "a"), candidates="c")
    assert lists(ItemKNN(neighbours=1), train, "2", 1) == ["c"]


def test_user_knn_recommends_what_the_likest_users_have() -> None:
    # user 0 shares ab with 1 and a with 2
    train = train_of(words("ab", "abc", "ad"))
    assert lists(UserKNN(), train, "0", 4) == ["abcd"]
    assert lists(UserKNN(neighbours=1), train, "0", 4) == ["abc-"]


def test_rp3beta_walks_and_takes_popularity_back() -> None:
    # from a: to users 0, 1, 2 (1/3 each); on to b with 1/2 from 0 and 1, to c with 1/2 from 2
    train = train_of(words("ab", "ab", "ac", "b", "b", "b"))
    # user 2 has a and c; b scores 1/3·½·2 from a; without β b leads c's return (½·1)
    model = RP3beta(alpha=1.0, beta=0.0)
    rows = model.fit(train).votes_.toarray()
    a, b, c = range(3)
    assert rows[a, b] == pytest.approx(1 / 3)
    assert rows[a, c] == pytest.approx(1 / 6)
    assert rows[b, a] == pytest.approx(1 / 5)  # of b's five users two also have a, half the time
    back = RP3beta(alpha=1.0, beta=1.0).fit(train).votes_.toarray()
    assert back[a, b] == pytest.approx(1 / 3 / 5)
    assert back[a, c] == pytest.approx(1 / 6 / 1)
    # user 3 has b alone: a is all there is; c is two walks away
    assert lists(RP3beta(), train, "3", 3) == ["a--"]


def test_alpha_flattens_the_steps() -> None:
    train = train_of(words("ab", "ab", "ac"))
    steps = RP3beta(alpha=0.5, beta=0.0).fit(train).votes_.toarray()
    assert steps[0, 1] == pytest.approx(2 * (1 / 3) ** 0.5 * (1 / 2) ** 0.5)


@pytest.mark.parametrize("model", [ItemKNN(), UserKNN(), RP3beta()])
def test_who_has_nothing_gets_nothing(model: Any) -> None:
    assert lists(model, train_of(words("ab", "ab"), users="x"), "x", 2) == ["--"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ItemKNN(neighbours=0), "neighbours is 0; expected a whole number from 1 up"),
        (UserKNN(neighbours=2.5), "neighbours is 2.5; expected a whole number"),  # type: ignore
        (RP3beta(alpha=0), "alpha is 0; expected a number above 0"),
        (RP3beta(beta=-1), "beta is -1; expected a number from 0 up"),
        (ItemKNN(similarity="pearson"), "similarity is 'pearson'; allowed: cosine"),
    ],
)
def test_parameters_that_cannot_be(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(train_of(words("ab")))


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 5))
def test_item_knn_as_numpy_says(seed: int, neighbours: int, k: int) -> None:
    has = np.random.default_rng(seed).random((6, 5)) < 0.5
    has[0] = True
    rows = [(f"{u}", "abcde"[i], 1.0) for u, i in zip(*np.nonzero(has), strict=True)]
    train = train_of(rows, users="012345")
    x = has.astype(float)
    norms = np.sqrt(x.sum(axis=0))
    cosine = np.round(x.T @ x / np.outer(norms, norms), 12)
    np.fill_diagonal(cosine, 0)
    kept = np.zeros_like(cosine)
    for i, row in enumerate(cosine):
        best = sorted(range(5), key=lambda j: (-row[j], j))[:neighbours]
        kept[i, best] = row[best]
    found = ItemKNN(neighbours).fit(train).recommend(np.arange(6, dtype=np.int32), k, NO_DRAWS)
    for user, places in enumerate(found):
        scores = x[user] @ kept
        listed = [p for p in places if p >= 0]
        assert len(listed) == min(k, np.count_nonzero(scores))
        best = sorted(scores[scores > 0])[::-1][: len(listed)]
        assert scores[listed] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("model", [ItemKNN(half_life_days=0.1), UserKNN(half_life_days=0.1)])
def test_squares_of_old_events_do_not_vanish(model: Any) -> None:
    rows = [(user, item, 900.0) for user, item in (*zip("uuv", "aba", strict=True), ("w", "b"))]
    assert lists(model, train_of(rows), "v", 2)[0].startswith(("b", "ab"))


def test_more_neighbours_than_items_take_no_more_room() -> None:
    train = train_of(words("ab", "abc"))
    model = ItemKNN(neighbours=10**12)
    assert lists(model, train, "0", 3) == lists(ItemKNN(neighbours=3), train, "0", 3)
