"""Resamples: their distribution against what is known of it, and what they may not depend on."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from harness.core.random import streams
from harness.stats import _kernels
from harness.stats.resampling import bootstrap, public_private, randomized

RNG = np.random.default_rng(11)
SPARSE = np.where(RNG.random((300, 3)) < 0.2, RNG.random((300, 3)), 0.0)
DENSE = RNG.random((150, 2))


def resampled(kind: str, values: Any, times: int, seed: int = 0, threads: int = 2) -> Any:
    match kind:
        case "bootstrap":
            return bootstrap(values, times, seed, threads)
        case "public and private":
            return np.hstack(public_private(values, len(values) // 3, times, seed, threads))
        case _:
            return randomized(values, times, seed, threads)


KINDS = pytest.mark.parametrize("kind", ["bootstrap", "public and private", "flips"])


@KINDS
def test_threads_change_no_bit(kind: str) -> None:
    one, three = (resampled(kind, SPARSE, 200, threads=t) for t in (1, 3))
    assert np.array_equal(one, three)


@KINDS
def test_seeds_draw_other_resamples(kind: str) -> None:
    assert not np.array_equal(resampled(kind, SPARSE, 50, 1), resampled(kind, SPARSE, 50, 2))


@KINDS
def test_fewer_resamples_are_the_first(kind: str) -> None:
    """Of the random signs, in whole blocks of 64."""
    assert np.array_equal(resampled(kind, SPARSE, 200)[:64], resampled(kind, SPARSE, 64))


@KINDS
def test_columns_are_resampled_alike_whatever_stands_beside_them(kind: str) -> None:
    """Equal columns stay equal, so that differences are paired."""
    twice = resampled(kind, np.column_stack([DENSE[:, 0], DENSE[:, 0]]), 100)
    assert np.array_equal(twice[:, 0], twice[:, 1])


@KINDS
def test_what_is_drawn_depends_on_no_other_column(kind: str) -> None:
    """Users with values in other columns alone change nothing."""
    alone = resampled(kind, SPARSE[:, :1], 100)
    if kind != "flips":  # a single column has no difference to flip
        assert resampled(kind, SPARSE, 100)[:, :1] == pytest.approx(alone[:, :1], abs=1e-12)
    two, three = (resampled(kind, SPARSE[:, :c], 100) for c in (2, 3))
    assert two[:, 0] - two[:, 1] == pytest.approx(three[:, 0] - three[:, 1], abs=1e-12)


@KINDS
def test_the_input_stays(kind: str) -> None:
    values = SPARSE.copy()
    resampled(kind, values, 10)
    assert np.array_equal(values, SPARSE)


@KINDS
def test_values_of_zero_stay_zero(kind: str) -> None:
    assert not resampled(kind, np.zeros((20, 2)), 70).any()


@pytest.mark.parametrize("values", [SPARSE, DENSE])
def test_the_bootstrap_has_the_spread_of_samples_with_replacement(values: Any) -> None:
    found = bootstrap(values, 20_000, seed=3)
    error = values.std(axis=0) / np.sqrt(len(values))
    assert found.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=4 * error.max() / 141)
    assert found.std(axis=0) == pytest.approx(error, rel=0.03)


def test_the_bootstrap_is_distributed_as_scipys() -> None:
    """Kolmogorov and Smirnov find no difference at 0.1 %."""
    values = SPARSE[:, :1]
    theirs = stats.bootstrap(
        (values[:, 0],),
        np.mean,
        n_resamples=4000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).bootstrap_distribution
    assert stats.ks_2samp(bootstrap(values, 4000, seed=9)[:, 0], theirs).pvalue > 0.001


def test_every_user_is_drawn_as_often() -> None:
    """Of three users, 3 · 20,000 draws: each 1/3, and how often in one resample is binomial."""
    counts = bootstrap(np.eye(3), 20_000, seed=1) * 3
    assert counts.sum(axis=1) == pytest.approx(np.full(20_000, 3.0))
    assert counts.mean(axis=0) == pytest.approx(1, abs=0.03)
    assert (np.round(counts) == 3).mean(axis=0) == pytest.approx(1 / 27, abs=0.006)


@pytest.mark.parametrize("public", [1, 4, 9])
def test_boards_divide_the_users(public: int) -> None:
    """Ten users with a column each: each on one leaderboard, `public` of them on the first."""
    ours, theirs = public_private(np.eye(10), public, 5000, seed=4)
    assert np.array_equal(np.round(ours * public + theirs * (10 - public)), np.ones((5000, 10)))
    assert np.round(ours * public).sum(axis=1).tolist() == [public] * 5000
    assert (ours > 0).mean(axis=0) == pytest.approx(public / 10, abs=0.03)


def test_two_users_are_apart_as_often_as_combinations_say() -> None:
    """4 of 10 on the public leaderboard: two users share it with the chance 4/10 · 3/9."""
    ours, _theirs = public_private(np.eye(10)[:, :2], 4, 20_000, seed=4)
    assert (ours > 0).all(axis=1).mean() == pytest.approx(12 / 90, abs=0.01)


def test_signs_are_coins_of_their_own() -> None:
    """Users 1, 2, 4, … of one model, 0 of the other: each sum tells all signs."""
    powers = 2.0 ** np.arange(12)
    flipped = randomized(np.column_stack([powers, 0 * powers]), 20_000, seed=6)
    sums = flipped[:, 0] - flipped[:, 1]
    bits = (sums + powers.sum()) / 2
    assert set(np.unique(bits)) <= set(range(4096))
    assert stats.chisquare(np.bincount(bits.astype(int), minlength=4096)).pvalue > 0.001


def test_flips_of_equal_values_are_left_out() -> None:
    """A user whom all models serve alike changes no difference."""
    flipped = randomized(np.array([[1.0, 1.0], [0.5, 0.0]]), 100, seed=1)
    assert set(flipped[:, 0] - flipped[:, 1]) == {0.5, -0.5}


def test_flips_of_many_users_keep_their_variance() -> None:
    differences = DENSE[:, 0] - DENSE[:, 1]
    flipped = randomized(DENSE, 20_000, seed=8)
    sums = flipped[:, 0] - flipped[:, 1]
    assert sums.std() == pytest.approx(np.sqrt((differences**2).sum()), rel=0.03)
    assert sums.mean() == pytest.approx(0, abs=4 * sums.std() / 141)


def test_nobody_has_no_mean() -> None:
    assert np.isnan(bootstrap(np.zeros((0, 2)), resamples=3)).tolist() == [[True, True]] * 3


@pytest.mark.parametrize("users", [2, 127, 128, 129, 400])
@pytest.mark.parametrize("once", [False, True])
def test_users_are_drawn_as_written_down(users: int, once: bool) -> None:
    """Number by number, in plain Python: what is drawn many at a time is no other."""
    picks = users // 3 + 1 if once else users
    keys, everyone = streams(7, "any", 3), np.arange(users)
    drawn = np.empty((3, users), np.uint8)
    draw = _kernels.draw_once if once else _kernels.draw_again
    draw(keys, picks, everyone, np.empty(users, np.uint8), drawn)
    for row, key in zip(drawn.tolist(), keys.tolist(), strict=True):
        assert row == drawn_plainly(key, users, picks, once)


def drawn_plainly(state: int, users: int, picks: int, once: bool) -> list[int]:
    """Return how often each user is drawn: SplitMix64, and Lemire's products of its halves."""
    times, word = [0] * users, 2**64 - 1
    while sum(times) < picks:
        state = state + 0x9E3779B97F4A7C15 & word
        bits = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & word
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & word
        bits ^= bits >> 31
        for half in (bits >> 32, bits & 2**32 - 1)[: picks - sum(times)]:
            user, fair = half * users >> 32, (half * users & 2**32 - 1) >= 2**32 % users
            times[user] += fair and not (once and times[user])
    return times
