"""Per-user values in, their means over thousands of resamples of the users out, by column.

Resamples are the same for every column, so differences of columns are paired. How often a user is
drawn, and the user's sign, is a pure function of the seed, the hash of the user's id and the
resample's number. Values are rounded to whole multiples of a power of two, whose sums are exact. So
neither the order of users, nor how they are divided among threads or machines, changes a bit.

Random bits are those of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from harness.core.arrays import Floats, Int32, Int64, UInt64
from harness.core.progress import doing
from harness.core.random import streams
from harness.stats import _kernels

RESAMPLES = 10_000
"""How many resamples there are unless a person asks for another number."""
MOST_RESAMPLES = 1_000_000
_BITS = 48  # of a value: times a weight, up to 8, a product stays exact
_BITS_OF_SUMS = 59  # of a value times the users: times a weight, a sum stays below 2^63
_LANES = 64  # resamples whose sums are updated by one step: as many as a number has bits
_FEW = 16  # users whose weights are drawn at a time


class Weights(NamedTuple):
    """65,536 times the chance that a user is drawn once, or once, twice, … eight times or more.

    The numbers are the last axis; several rows are drawn by the same random bits.
    """

    stream: str
    at_least: npt.NDArray[np.uint16]


# Of Poisson's distribution with mean 1, rounded; of three times or more one goes to four, so that
# weights have mean 1 and variance 1 exactly, and the third moment but for 2 / 65,536.
POISSON = Weights("bootstrap", np.array([41427, 17317, 5262, 1245, 240, 39, 5, 1], np.uint16))


def once(share: ArrayLike) -> Weights:
    """Return weights of 1 for shares of the users, to the nearest 65,536th, and of 0 for others."""
    chances = np.rint(np.asarray(share) * (1 << 16)).clip(1, (1 << 16) - 1)
    return Weights("leaderboards", chances[..., None].astype(np.uint16))


def exponents(largest: ArrayLike, n: int) -> Int32:
    """Return the powers of two to whose multiples values are rounded, so that no sum can overflow.

    They depend on the largest absolute value of all `n` users, one a column: for values below 1,
    multiples of 2^−48 up to 2,048 users, and of 2^−39 for a million.
    """
    bits = min(_BITS, _BITS_OF_SUMS - (n - 1).bit_length())
    return np.asarray(np.frexp(largest)[1] - bits, np.int32)


def resampled_sums(
    values: Floats,
    users: UInt64,
    grid: Int32,
    resamples: int,
    seed: int,
    weights: Weights = POISSON,
) -> tuple[Int64, Int64]:
    """Return Σ w·v, (…, B + 1, columns), and Σ w, (…, B + 1); those of parts of the users add up.

    `values` are (n, columns), `users` their `harness.core.random.id_hashes`; sums are in units of
    `grid`, the `exponents` of all users. In the last row each user is drawn once. Where `weights`
    have rows, sums have one more axis, in front.

    Source: Hanley and MacGibbon 2006, Creating non-parametric bootstrap samples using Poisson
    frequencies; Chamandy, Muralidharan, Najmi and Naidu 2012, Estimating uncertainty for massive
    data streams.
    """
    indptr, columns, numbers = _csr(values, users)
    numbers = np.rint(np.ldexp(numbers, -grid[columns]))
    below = np.atleast_2d(weights.at_least)

    def draw(key: np.uint64) -> Int64:
        sums = np.zeros((len(below), values.shape[1], _LANES), np.int64)
        drawn = np.zeros((len(below), 1, _LANES), np.int64)
        scratch = np.empty((len(below), _FEW, _LANES), np.uint16)
        _kernels.add_drawn(key, users, below, indptr, columns, numbers, scratch, sums, drawn[:, 0])
        return np.concatenate((sums, drawn), axis=1)

    everyone = np.zeros(values.shape[1] + 1, np.int64)
    np.add.at(everyone, columns, numbers.astype(np.int64))
    everyone[-1] = len(users)
    sums = np.empty((len(below), resamples + 1, len(everyone)), np.int64)
    sums[:, :-1] = _in_threads(draw, resamples, seed, weights.stream)
    sums[:, -1] = everyone
    sums = sums.reshape(*weights.at_least.shape[:-1], *sums.shape[1:])
    return sums[..., :-1], sums[..., -1]


def resampled_means(sums: Int64, drawn: Int64, grid: Int32) -> Floats:
    """Return Σ w·v / Σ w of all users, (B, columns); where nobody is drawn, the mean of all."""
    nobody = drawn == 0
    sums, drawn = np.where(nobody[:, None], sums[-1], sums), np.where(nobody, drawn[-1], drawn)
    return np.asarray(np.ldexp(sums[:-1] / drawn[:-1, None], grid), np.float64)


def randomized_sums(values: Floats, users: UInt64, grid: Int32, times: int, seed: int) -> Int64:
    """Return Σ ±v, (times, columns), a user's sign the same in every column; parts add up.

    Sums of differences are differences of these, so one pass serves the tests of all pairs. They
    are in units of `grid`, `exponents` of the largest value of all users and columns.
    """
    rows = np.flatnonzero((values != values[:, :1]).any(axis=1))  # others change no difference
    users = users[rows]
    indptr, columns, numbers = _csr(values[rows], users)
    units = np.rint(np.ldexp(numbers, -grid)).astype(np.int64)

    def draw(key: np.uint64) -> Int64:
        sums = np.zeros((values.shape[1], _LANES), np.int64)
        _kernels.add_signed(key, users, indptr, columns, units, sums)
        return sums

    return _in_threads(draw, times, seed, "flips")


def _csr(values: Floats, users: UInt64) -> tuple[Int64, Int32, Floats]:
    """Return row ends, columns and values of what is not 0."""
    if len(users) != len(values):
        raise ValueError(f"{len(users)} users, but {len(values)} rows of values")
    rows, columns = values.nonzero()
    indptr = np.searchsorted(rows, np.arange(len(values) + 1))
    return indptr, columns.astype(np.int32), values[rows, columns]


def _in_threads(draw: Callable[[np.uint64], Int64], times: int, seed: int, stream: str) -> Int64:
    """Return the sums of `times` draws, (…, times, columns); one call makes 64 of them."""
    keys, blocks = streams(seed, stream, -(-times // _LANES)), list[Int64]()
    pool = ThreadPoolExecutor(os.cpu_count())
    with pool, doing("resampling", len(keys) * _LANES, " draws") as stage:
        for block in pool.map(draw, keys):
            blocks.append(block)
            stage.update(_LANES)
    sums = np.concatenate(blocks, axis=-1)
    return sums.swapaxes(-1, -2)[..., :times, :]
