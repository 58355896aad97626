"""EASE: the two-item case by hand, and NumPy's own inverse anywhere."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import lists, train_of, words

from baselines.ease import EASE, gram


def test_two_items_by_hand() -> None:
    # XᵀX + λI = [[3, 1], [1, 3]]; its inverse is [[3, −1], [−1, 3]] / 8, so B = 1/3 off diagonal
    train = train_of(words("ab", "a", "b"))
    weights = EASE(regularization=1.0).fit(train).weights_
    assert weights == pytest.approx(np.array([[0, 1 / 3], [1 / 3, 0]]), abs=1e-7)


def test_items_without_events_are_in_nobodys_list() -> None:
    train = train_of(words("ab", "a"), candidates="abz", users="x")
    assert lists(EASE(1.0), train, "1x", 3) == ["ba-", "---"]


def dense(x: Any, regularization: float) -> Any:
    """Return the weights as the paper has them."""
    inverse = np.linalg.inv(x.T @ x + regularization * np.eye(x.shape[1]))
    return np.eye(x.shape[1]) - inverse / np.diag(inverse)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1.0, 300.0]))
def test_as_numpy_inverts(seed: int, regularization: float) -> None:
    has = np.random.default_rng(seed).random((7, 6)) < 0.5
    has[0] = True
    rows = [(f"{u}", "abcdef"[i], 1.0) for u, i in zip(*np.nonzero(has), strict=True)]
    weights = EASE(regularization).fit(train_of(rows, users="0123456")).weights_
    assert weights == pytest.approx(dense(has.astype(float), regularization), abs=1e-6)


def test_more_items_than_a_block_holds() -> None:
    has = np.random.default_rng(5).random((40, 1100)) < 0.1
    has[0] = True
    x = has.astype(float)
    assert np.array_equal(gram(csr_array(has.astype(np.float32))), x.T @ x)
    rows = [(f"{u:02}", f"{i:04}", 1.0) for u, i in np.argwhere(has)]
    assert np.allclose(EASE(20.0).fit(train_of(rows)).weights_, dense(x, 20.0), atol=1e-6)


def test_too_many_items_are_refused_with_the_memory() -> None:
    train = train_of([("u", f"{item:05}", 1.0) for item in range(30_001)])
    message = r"30,001 items have events, and EASE .*, 11 GB; the most is 30,000 items .*ItemKNN"
    with pytest.raises(ValueError, match=message):
        EASE().fit(train)


def test_old_events_rank_as_new_ones_do() -> None:
    """A weight of 2^−171 is nothing as a 32-bit number, but a user's scale is no matter."""
    rows = [("u", "a", 1200.0), *((f"{n}", item, 1.0) for n in range(1, 8) for item in "ad")]
    rows += [(f"{n}", item, 1.0) for n in range(8, 10) for item in "bc"]
    assert lists(EASE(1.0, half_life_days=7), train_of(rows), "u", 2)[0][0] == "d"
