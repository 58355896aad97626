"""EASE: the two-item case by hand, and NumPy's own inverse anywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import lists, train_of, words

from baselines import ease
from baselines.ease import EASE, gram


def test_two_items_by_hand() -> None:
    # XᵀX + λI = [[3, 1], [1, 3]]; its inverse is [[3, −1], [−1, 3]] / 8, so B = 1/3 off diagonal
    train = train_of(words("ab", "a", "b"))
    weights = EASE(regularization=1.0).fit(train).weights_
    assert weights == pytest.approx(np.array([[0, 1 / 3], [1 / 3, 0]]), abs=1e-7)


def test_what_goes_together_comes_first() -> None:
    train = train_of(words("ab", "ab", "abc", "a", "cd"))
    assert lists(EASE(1.0), train, "3", 4)[0][0] == "b"


def test_items_without_events_are_in_nobodys_list() -> None:
    train = train_of(words("ab", "a"), candidates="abz", users="x")
    assert lists(EASE(1.0), train, "1x", 3) == ["ba-", "---"]


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1.0, 300.0]))
def test_as_numpy_inverts(seed: int, regularization: float) -> None:
    has = np.random.default_rng(seed).random((7, 6)) < 0.5
    has[0] = True
    rows = [(f"{u}", "abcdef"[i], 1.0) for u, i in zip(*np.nonzero(has), strict=True)]
    x = has.astype(float)
    inverse = np.linalg.inv(x.T @ x + regularization * np.eye(6))
    expected = np.eye(6) - inverse / np.diag(inverse)
    found = EASE(regularization).fit(train_of(rows, users="0123456")).weights_
    assert found == pytest.approx(expected, abs=1e-6)


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(5)
    users = csr_array((draw.random((40, 23)) < 0.3).astype(np.float32))
    assert gram(users) == pytest.approx((users.T @ users).toarray())
    rows = [(f"{u:02}", "abcdefghijklmnopqrstuvw"[i], 1.0) for u, i in np.argwhere(users.toarray())]
    whole = EASE(2.0).fit(train_of(rows)).weights_
    monkeypatch.setattr(ease, "_BLOCK", 4)
    assert np.array_equal(EASE(2.0).fit(train_of(rows)).weights_, whole)


def test_too_many_items_are_refused_with_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ease, "MAX_ITEMS", 2)
    with pytest.raises(ValueError, match="3 items have events, and EASE inverts") as error:
        EASE().fit(train_of(words("abc")))
    assert "the most is 2 items" in str(error.value)
    assert "shorter window_days, or ItemKNN or RP3beta" in str(error.value)
    with pytest.raises(ValueError, match=r"105,542 items have events, .* 134 GB"):
        ease._require_room(105_542)


def test_old_events_rank_as_new_ones_do() -> None:
    """A weight of 2^−171 is nothing as a 32-bit number, but a user's scale is no matter."""
    rows = [("u", "a", 1200.0), *((f"{n}", item, 1.0) for n in range(1, 8) for item in "ad")]
    rows += [(f"{n}", item, 1.0) for n in range(8, 10) for item in "bc"]
    assert lists(EASE(1.0, half_life_days=7), train_of(rows), "u", 2)[0][0] == "d"
