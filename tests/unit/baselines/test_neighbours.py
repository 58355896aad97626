"""ItemKNN, UserKNN and RP3beta: baskets of letters, and dense NumPy anywhere."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
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


def test_item_knn_of_inner_products_goes_by_numbers() -> None:
    # with a: b twice, c once; by the cosine c (1/√3) is as like a as b (2/√(3·4)) is
    train = train_of(words("ab", "ab", "ac", "b", "b"))
    votes = ItemKNN(similarity="dot").fit(train).votes_.toarray()
    assert votes.tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]


def test_item_knn_neighbours_of_an_item_or_of_a_candidate() -> None:
    # pairs: ab ab ab, ac ac, bd: inner products a b 3, a c 2, b d 1
    train = train_of(words("ab", "ab", "ab", "ac", "ac", "bd"))

    def votes(of: str) -> Any:
        model = ItemKNN(1, "dot", neighbours_of=of).fit(train)
        return {
            "abcd"[i] + "abcd"[j]: model.votes_[i, j]
            for i, j in np.argwhere(model.votes_.toarray())
        }

    assert votes("item") == {"ab": 3, "ba": 3, "ca": 2, "db": 1}
    assert votes("candidate") == {"ba": 3, "ab": 3, "ac": 2, "bd": 1}


def test_equal_neighbours_of_a_candidate_go_by_item_id() -> None:
    train = train_of(words("ac", "bc"))
    model = ItemKNN(1, neighbours_of="candidate").fit(train)
    assert model.votes_.toarray()[:, 2].tolist() == [pytest.approx(2**-0.5), 0, 0]


def test_normalized_all_items_say_as_much() -> None:
    # inner products: a b 2, a c 1; b a 2; c a 1
    train = train_of(words("ab", "ab", "ac"))
    votes = ItemKNN(similarity="dot", normalize=True).fit(train).votes_.toarray()
    assert votes.tolist() == [[0, 2 / 3, 1 / 3], [1, 0, 0], [1, 0, 0]]


def test_items_that_are_hardly_alike_are_no_neighbours() -> None:
    # cosines: a b 2/√6, a c 1/√6
    train = train_of(words("ab", "abc", "c", "a"))
    assert lists(ItemKNN(min_similarity=0.5), train, "3", 3) == ["b--"]
    assert lists(UserKNN(min_similarity=1.0), train, "3", 3) == ["---"]
    # users 0 and 3: 1/√2; 1 and 3: 1/√3
    assert lists(UserKNN(min_similarity=0.7), train, "3", 3) == ["ab-"]


def test_user_knn_neighbours_of_the_user_or_of_the_voter() -> None:
    # 2 (ab) is most like 0 and 1 (ab too), then 3 (abc); 3 is as like all three
    train = train_of(words("ab", "ab", "ab", "abc"))
    exclude = csr_array(np.array([[1, 1, 0]], bool))
    assert lists(UserKNN(1), train, "0", 1, exclude) == ["-"], "user 1 has nothing more"
    # 3 votes for the first of those most like them, user 0, and not for 1
    voter = UserKNN(1, neighbours_of="voter")
    assert lists(voter, train, "0", 1, exclude) == ["c"]
    assert lists(voter, train, "1", 1, exclude) == ["-"]


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


def test_rp3beta_neighbours_and_shares() -> None:
    # as above, β = 0: a → b 1/3, a → c 1/6, b → a 1/5, c → a ½
    train = train_of(words("ab", "ab", "ac", "b", "b", "b"))

    def votes(**given: Any) -> Any:
        return RP3beta(1.0, 0.0, **given).fit(train).votes_.toarray()

    share = votes(normalize=True)
    assert share == pytest.approx(np.array([[0, 2 / 3, 1 / 3], [1, 0, 0], [1, 0, 0]]))
    of = votes(neighbours=1, neighbours_of="candidate")
    assert of == pytest.approx(np.array([[0, 1 / 3, 1 / 6], [0, 0, 0], [1 / 2, 0, 0]]))


def test_alpha_flattens_the_steps() -> None:
    train = train_of(words("ab", "ab", "ac"))
    steps = RP3beta(alpha=0.5, beta=0.0).fit(train).votes_.toarray()
    assert steps[0, 1] == pytest.approx(2 * (1 / 3) ** 0.5 * (1 / 2) ** 0.5)


@pytest.mark.parametrize("model", [ItemKNN(), UserKNN(), RP3beta()])
def test_who_has_nothing_gets_nothing(model: Any) -> None:
    assert lists(model, train_of(words("ab", "ab"), users="x"), "x", 2) == ["--"]


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


def largest(rows: Any, k: int) -> Any:
    """Return a matrix with the k largest entries of each row alone, of equal ones the first."""
    kept = np.zeros_like(rows)
    for own, row in zip(kept, rows, strict=True):
        best = sorted(range(len(row)), key=lambda j: (-round(row[j], 12), j))[:k]
        own[best] = row[best]
    return kept


def shares(rows: Any) -> Any:
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)


def chosen(alike: Any, k: int, of: str, normalize: bool) -> Any:
    """Return what items say of candidates, as the parameters are defined."""
    votes = largest(alike.T, k).T if of == "candidate" else largest(alike, k)
    return shares(votes) if normalize else votes


def walks(x: Any) -> Any:
    """Return RP3beta's chances from item to item with α = 0.7 and β = 0.4."""
    to_items = shares(x) ** 0.7 * (x > 0)
    to_users = shares(x.T) ** 0.7 * (x.T > 0)
    popularity = x.sum(axis=0)
    alike = to_users @ to_items / np.where(popularity > 0, popularity, 1) ** 0.4
    np.fill_diagonal(alike, 0)
    return alike


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.sampled_from(["item", "candidate"]),
    st.booleans(),
)
def test_votes_as_numpy_says(seed: int, k: int, of: str, normalize: bool) -> None:
    has = np.random.default_rng(seed).random((7, 5)) < 0.5
    has[0] = True
    rows = [(f"{u}", "abcde"[i], 1.0) for u, i in zip(*np.nonzero(has), strict=True)]
    train, x = train_of(rows, users="0123456"), has.astype(float)
    both = x.T @ x
    np.fill_diagonal(both, 0)
    given: Any = {"neighbours_of": of, "normalize": normalize}
    inner = ItemKNN(k, "dot", **given).fit(train).votes_.toarray()
    assert inner == pytest.approx(chosen(both, k, of, normalize), rel=1e-12)
    shared = x @ x.T
    np.fill_diagonal(shared, 0)
    voters = UserKNN(k, "dot", neighbours_of="voter").fit(train).votes_.toarray()
    assert voters.tolist() == largest(shared.T, k).T.tolist()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.sampled_from(["item", "candidate"]),
    st.booleans(),
)
def test_walks_as_numpy_says(seed: int, k: int, of: str, normalize: bool) -> None:
    """Weights are drawn, as no two roundings of a power decide a tie alike."""
    rng = np.random.default_rng(seed)
    days = rng.uniform(0.01, 1, (7, 5))
    has = rng.random((7, 5)) < 0.5
    has[0] = True
    x = has * 2.0**-days
    rows = [(f"{u}", "abcde"[i], float(days[u, i])) for u, i in zip(*np.nonzero(has), strict=True)]
    given_: Any = {"neighbours_of": of, "normalize": normalize}
    model = RP3beta(0.7, 0.4, k, half_life_days=1, **given_)
    walked = model.fit(train_of(rows, users="0123456")).votes_.toarray()
    assert walked == pytest.approx(chosen(walks(x), k, of, normalize), rel=1e-9)


@pytest.mark.parametrize("model", [ItemKNN(half_life_days=0.1), UserKNN(half_life_days=0.1)])
def test_squares_of_old_events_do_not_vanish(model: Any) -> None:
    rows = [(user, item, 900.0) for user, item in (*zip("uuv", "aba", strict=True), ("w", "b"))]
    assert lists(model, train_of(rows), "v", 2)[0].startswith(("b", "ab"))


def test_more_neighbours_than_items_take_no_more_room() -> None:
    train = train_of(words("ab", "abc"))
    model = ItemKNN(neighbours=10**12)
    assert lists(model, train, "0", 3) == lists(ItemKNN(neighbours=3), train, "0", 3)
