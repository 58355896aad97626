"""Resamples: their distribution against what is known of it, and what they may not depend on."""

import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import hashes
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.core.random import streams
from harness.stats.resampling import (
    POISSON,
    Weights,
    exponents,
    once,
    randomized_sums,
    resampled_means,
    resampled_sums,
)

RNG = np.random.default_rng(11)
SPARSE = np.where(RNG.random((300, 3)) < 0.2, RNG.random((300, 3)), 0.0)
WORD = 2**64 - 1


def resampled(kind: str, values: Any, times: int, seed: int = 0) -> Any:
    users = hashes(len(values))
    if kind == "leaderboards":
        grid = exponents(np.abs(values).max(axis=0), len(values))
        sums, _ = resampled_sums(values, users, grid, times, seed, weights=once(1 / 3))
        return np.ldexp(sums[:-1], grid)
    if kind == "flips":
        return flipped(values, users, times, seed)
    return bootstrap(values, users, times, seed)


def bootstrap(values: Any, users: Any, times: int, seed: int = 0) -> Any:
    grid = exponents(np.abs(values).max(axis=0), len(values))
    return resampled_means(*resampled_sums(values, users, grid, times, seed), grid)


def flipped(values: Any, users: Any, times: int, seed: int = 0) -> Any:
    grid = exponents(np.abs(values).max(), len(values))
    return np.ldexp(randomized_sums(values, users, grid, times, seed), grid)


def drawn(users: int, resamples: int, seed: int, weights: Weights = POISSON) -> Any:
    """Return how often each user is drawn, (resamples, users)."""
    grid = np.zeros(users, np.int32)
    sums, _ = resampled_sums(np.eye(users), hashes(users), grid, resamples, seed, weights=weights)
    return sums[:-1]


@pytest.mark.parametrize("kind", ["bootstrap", "leaderboards", "flips"])
def test_the_seed_alone_decides(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither threads nor more resamples change a bit; the input stays; what is 0 stays 0."""
    values = SPARSE.copy()
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    result = resampled(kind, values, 200)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert np.array_equal(result, resampled(kind, values, 200))
    assert np.array_equal(result[:70], resampled(kind, values, 70))
    assert not np.array_equal(result, resampled(kind, values, 200, seed=1))
    assert np.array_equal(values, SPARSE)
    assert not resampled(kind, np.zeros((20, 2)), 70).any()


def test_weights_have_the_moments_of_poissons_distribution() -> None:
    """E w = 1 and E w² = 2 exactly, E w³ = 5 and 2 of 65,536; each chance is its own rounded."""
    at_least = POISSON.at_least.tolist()
    for power, wanted in ((1, 1), (2, 2), (3, 5 + Fraction(2, 65536))):
        steps = [t**power - (t - 1) ** power for t in range(1, 9)]
        assert Fraction(np.dot(steps, at_least), 65536) == wanted
    assert at_least == pytest.approx(65536 * stats.poisson(1).sf(range(8)), abs=1)
    assert [once(share).at_least[0] for share in (1e-9, 1 / 4, 1 - 1e-9)] == [1, 2**14, 65535]


def test_a_resample_is_the_mean_of_who_is_drawn_or_where_nobody_is_of_all() -> None:
    """Two users with 1 and 4 are not drawn with the chance e⁻²; 1 alone, 2.5 or 4 alone."""
    weights = drawn(300, 100, seed=2)
    expected = (weights @ SPARSE) / weights.sum(axis=1, keepdims=True)
    assert bootstrap(SPARSE, hashes(300), 100, seed=2) == pytest.approx(expected, rel=1e-13)
    values, weights = np.array([[1.0], [4.0]]), drawn(2, 20_000, seed=4)
    means = bootstrap(values, hashes(2), 20_000, seed=4)[:, 0]
    assert (weights.sum(axis=1) == 0).mean() == pytest.approx(np.exp(-2), abs=0.01)
    assert set(means[weights.sum(axis=1) == 0]) == {2.5}
    assert set(means[weights[:, 0] == 0]) == {2.5, 4}
    with pytest.raises(ValueError, match="299 users, but 300 rows of values"):
        bootstrap(SPARSE, hashes(299), 10)


HASHES = st.lists(st.integers(0, WORD), min_size=2, max_size=90, unique=True)


@given(HASHES, st.sampled_from([1, 2, 7, 64]), st.randoms(use_true_random=False))
def test_neither_order_nor_parts_of_users_change_a_bit(users: Any, parts: int, order: Any) -> None:
    users = np.array(users, np.uint64)
    values = SPARSE[: len(users)] * 3
    rows = list(range(len(users)))
    order.shuffle(rows)
    shares = np.array_split(rows, parts)
    largest = values.max(axis=0)
    grid, scale = exponents(largest, len(users)), exponents(largest.max(), len(users))
    result = [resampled_sums(values[share], users[share], grid, 70, 5) for share in shares]
    sums, drawn = (np.sum([part[n] for part in result], axis=0) for n in range(2))
    means = resampled_means(sums, drawn, grid)
    assert np.array_equal(means, bootstrap(values, users, 70, 5))
    signed = sum(randomized_sums(values[share], users[share], scale, 70, 5) for share in shares)
    assert np.array_equal(signed, randomized_sums(values, users, scale, 70, 5))


@pytest.mark.parametrize("largest", [5e-324, 0.1, 1 - 2**-53, 1.0, 7e300])
def test_products_and_sums_are_exact(largest: float) -> None:
    """As whole numbers of Python's, which have no end; negative values too.

    None can overflow: everyone drawn eight times, all with the largest value, rounded up by one.
    """
    for n in (1, 2048, 2049, 10**6, 10**9):
        most = int(Fraction(largest) / Fraction(2) ** exponents(largest, n).item()) + 1
        assert 8 * most <= 2**51 + 8
        assert 8 * n * most < 2**63
        assert most > 2**28
    values = np.round(RNG.uniform(-1, 1, (70, 2)) * 2**40) / 2**40 * largest
    values[0] = largest
    grid = exponents(np.abs(values).max(axis=0), 70)
    sums, many = resampled_sums(values, hashes(70), grid, 65, seed=3)
    weights = np.vstack([drawn(70, 65, seed=3), np.ones(70, np.int64)])
    for column, exponent in enumerate(grid.tolist()):
        units = [round(Fraction(v) / Fraction(2) ** exponent) for v in values[:, column].tolist()]
        expected = [sum(map(int.__mul__, row, units)) for row in weights.tolist()]
        assert sums[:, column].tolist() == expected
    assert many.tolist() == weights.sum(axis=1).tolist()


def test_weights_and_signs_are_drawn_as_written_down() -> None:
    """Number by number, in plain Python: what is drawn many at a time is no other."""
    users = hashes(20)
    for purpose, weights in (("bootstrap", POISSON), ("leaderboards", once(0.3))):
        result, keys = drawn(20, 130, 7, weights), streams(7, purpose, 3).tolist()
        for user, user_hash in enumerate(users.tolist()):
            expected = [
                weight for key in keys for weight in weights_plainly(user_hash ^ key, weights)
            ]
            assert result[:, user].tolist() == expected[:130]
    signs, keys = np.sign(flipped(np.eye(20), users, 130, seed=7)), streams(7, "flips", 3)
    for user, user_hash in enumerate(users.tolist()):
        bits = [mixed(user_hash ^ key) >> lane & 1 for key in keys.tolist() for lane in range(64)]
        assert signs[:, user].tolist() == [1 - 2 * bit for bit in bits[:130]]


def weights_plainly(start: int, weights: Weights) -> list[int]:
    """Return how often a user is drawn in 64 resamples: 16 numbers of SplitMix64, four of each."""
    state, result = mixed(start), []
    for _ in range(16):
        state = state + 0x9E3779B97F4A7C15 & WORD
        for quarter in range(4):
            part = mixed(state) >> 16 * quarter & 0xFFFF
            result.append(sum(part < count for count in weights.at_least.tolist()))
    return result


def mixed(bits: int) -> int:
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & WORD
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & WORD
    return bits ^ bits >> 31
