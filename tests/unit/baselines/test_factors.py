"""PureSVD, NMF, ALS, BPR and EASE: two blocks of taste, and NumPy's products and inverses."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import NO_DRAWS, lists, train_of, words

from baselines.als import ALS
from baselines.bpr import BPR
from baselines.ease import EASE, gram
from baselines.nmf import NMF
from baselines.pure_svd import PureSVD
from harness.core.errors import UsageError
from harness.core.plugins import load
from harness.models import guard

# users 0 to 3 like letters, each but one of them; users 4 to 7 like other letters
BLOCKS = words("bcd", "acd", "abd", "abc", "xyz", "wyz", "wxz", "wxy")
MODELS = [PureSVD(2), NMF(2), ALS(2), BPR(8, iterations=200)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_withheld_letter_comes_first_of_what_is_new(model: Any) -> None:
    """The checkerboard: each user's missing item is found by what others of the block have."""
    train = train_of(BLOCKS)
    has = train.matrix[:, train.candidates] > 0
    words = lists(model, train, "01234567", 1, exclude=csr_array(has))
    assert words == list("abcdwxyz")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_unknown_users_and_items_have_no_vectors(model: Any) -> None:
    """Nobody has "!", and "?" has nothing."""
    train = train_of(BLOCKS, candidates="abcdwxyz!", users="?")
    assert lists(model, train, "?", 3) == ["---"]
    assert "!" not in "".join(lists(model, train, "07", 9))


def test_pure_svd_is_the_product_with_the_nearest_matrix_of_that_rank() -> None:
    draw = np.random.default_rng(3)
    has = draw.random((9, 7)) < 0.5
    rows = [(f"{u}", "abcdefg"[i], 1.0) for u, i in np.argwhere(has)]
    model = PureSVD(3).fit(train_of(rows, users="012345678"))
    u, s, v = np.linalg.svd(has.astype(float))
    nearest = (u[:, :3] * s[:3]) @ v[:3]
    known = has.any(axis=1)
    codes = model.recommend(np.arange(9, dtype=np.int32), 7, NO_DRAWS)
    for user in np.flatnonzero(known):
        assert nearest[user, codes[user]] == pytest.approx(sorted(nearest[user])[::-1])


def test_more_factors_than_the_matrix_has_are_all_of_them() -> None:
    train = train_of(words("ab", "c"))
    assert lists(PureSVD(50), train, "01", 3) == ["abc", "cab"]


def test_items_that_the_same_users_have_tie_by_id() -> None:
    """Twins b and c, and what neither block knows, whose scores are all 0."""
    rows = words("bca", "bcd", "cba", "xy", "xz", "yz")
    for factors in (2, 3):
        ranked = lists(PureSVD(factors), train_of(rows), "01", 4)
        assert all("bc" in word for word in ranked)


def test_few_users_with_many_items_need_little_room() -> None:
    items = [f"{n:05}" for n in range(20_000)]
    rows = [(user, item, 1.0) for user in "uv" for item in items]
    model = PureSVD(50).fit(train_of(rows, candidates=items))
    assert model.candidates_.shape == (2, 20_000)


@pytest.mark.parametrize("use", ["baselines.als:ALS", "baselines.bpr:BPR"])
def test_without_implicit_its_package_is_named(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("implicit", "implicit.cpu", "implicit.cpu.als", "implicit.cpu.bpr"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, use.partition(":")[0])
    with pytest.raises(UsageError, match=r'model "m": .* pip install implicit'):
        guard.made("m", use, load('model "m"', use, Path(), "class"), {})


def test_items_without_events_are_in_nobodys_list() -> None:
    train = train_of(words("ab", "a"), candidates="abz", users="x")
    assert lists(EASE(1.0), train, "1x", 3) == ["ba-", "---"]


def dense(x: Any, regularization: float) -> Any:
    """Return the weights as the paper has them."""
    inverse = np.linalg.inv(x.T @ x + regularization * np.eye(x.shape[1]))
    return np.eye(x.shape[1]) - inverse / np.diag(inverse)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 1.0, 300.0]))
def test_ease_as_numpy_inverts(seed: int, regularization: float) -> None:
    has = np.random.default_rng(seed).random((7, 6)) < 0.5
    has[0] = True
    rows = [(f"{u}", "abcdef"[i], 1.0) for u, i in zip(*np.nonzero(has), strict=True)]
    weights = EASE(regularization).fit(train_of(rows, users="0123456")).weights_
    assert weights == pytest.approx(dense(has.astype(float), regularization), abs=1e-6)


def test_ease_of_more_items_than_a_block_holds() -> None:
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
