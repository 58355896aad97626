"""Per-user values in, their means over thousands of resamples of the users out, by column.

Resamples are the same for every column, so differences of columns are paired. Which users are drawn
is a pure function of the seed, the number of users and the resample's number: it depends neither on
the values nor on threads.

A resample is a stream of SplitMix64 (Steele, Lea and Flood 2014) that starts at its own key, so
what it draws depends on nothing else. This module imports numba when a loop is first called.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from harness.core.arrays import Floats, Int32, Int64, UInt64
from harness.core.jit import compiled
from harness.core.random import streams

RESAMPLES = 10_000
"""How many resamples there are unless a person asks for another number."""
_LANES = 64  # resamples whose sums are updated by one step: as many as a number has bits
_LINE = 64


def bootstrap(
    values: Floats, resamples: int = RESAMPLES, seed: int = 0, threads: int | None = None
) -> Floats:
    """Return the means of n users drawn with replacement from the n there are.

    Parameters
    ----------
    values : float64 array, (n, columns)
    resamples : int
        B, how many samples are drawn.

    Returns
    -------
    float64 array, (B, columns)

    Notes
    -----
    Source: Efron 1979.

    Examples
    --------
    A single user is drawn every time.

    >>> bootstrap(np.array([[0.25, 1.0]]), resamples=2)
    array([[0.25, 1.  ],
           [0.25, 1.  ]])
    """
    n = len(values)
    keys = streams(seed, "bootstrap", resamples)
    return _weighted(values, draw_again, n, keys, threads) / n


def public_private(
    values: Floats, public: int, times: int, seed: int = 0, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Return the means of `public` of the n users, drawn without replacement, and of the others.

    So a competition divides its users between the public and the private leaderboard.

    Parameters
    ----------
    values : float64 array, (n, columns)
    public : int
        From 1 to n − 1.

    Returns
    -------
    two float64 arrays, (times, columns)
    """
    n = len(values)
    sums = _weighted(values, draw_once, public, streams(seed, "boards", times), threads)
    return sums / public, (values.sum(axis=0) - sums) / (n - public)


def randomized(
    values: Floats, times: int = RESAMPLES, seed: int = 0, threads: int | None = None
) -> Floats:
    """Return the sums over users of ±values, a user's sign the same in every column.

    With random signs, the sum of the differences of two columns is the difference of their sums, so
    one pass serves the randomization tests of all pairs of columns.

    Parameters
    ----------
    values : float64 array, (n, columns)

    Returns
    -------
    float64 array, (times, columns)
    """
    rows = np.flatnonzero((values != values[:, :1]).any(axis=1))  # others change no difference
    held = _csr(values[rows])
    sums = np.zeros((times, values.shape[1]))
    keys = streams(seed, "flips", -(-times // _LANES))

    def task(block: int) -> None:
        part = slice(block * _LANES, min((block + 1) * _LANES, times))
        own = np.zeros((values.shape[1], part.stop - part.start))
        add_signed(keys[block : block + 1], rows, *held, own)
        sums[part] = own.T

    _in_threads(task, range(len(keys)), threads)
    return sums


def _weighted(
    values: Floats, draw: Callable[..., Any], picks: int, keys: UInt64, threads: int | None
) -> Floats:
    """Return the weighted sums of every resample, (resamples, columns)."""
    n, width = values.shape
    rows = np.flatnonzero((values != 0).any(axis=1))  # the others add nothing
    held = _csr(values[rows])
    sums = np.zeros((len(keys), width))
    # An odd number of cache lines apart, the weights of a user in all lanes do not collide.
    stride = (n // _LINE | 1) * _LINE + 2 * _LINE

    def task(start: int) -> None:
        part = slice(start, min(start + _LANES, len(keys)))
        lanes = part.stop - part.start
        weights, own = np.empty((lanes, stride), np.uint8), np.zeros((width, lanes))
        draw(keys[part], n, picks, weights)
        add_weighted(rows, *held, weights, own)
        sums[part] = own.T

    _in_threads(task, range(0, len(keys), _LANES), threads)
    return sums


def _csr(values: Floats) -> tuple[Int64, Int32, Floats]:
    """Return row ends, columns and values of what is not 0."""
    found = values != 0
    indptr = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
    place = np.flatnonzero(found.ravel())
    return indptr, (place % values.shape[1]).astype(np.int32), values.ravel()[place]


def _in_threads(task: Callable[[int], None], starts: range, threads: int | None) -> None:
    """Do every task; the first alone, so that compiled code is made once."""
    for start in starts[:1]:
        task(start)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        list(pool.map(task, starts[1:]))


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@compiled
def _mixed(state: Any) -> Any:
    """Return SplitMix64's output function."""
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))


@compiled
def draw_again(keys: Any, users: int, picks: int, weights: Any) -> None:
    """Write how often each user is drawn when every resample draws `picks` with replacement.

    Lemire 2019: 32 random bits times the number of users give a user without a division; the few
    products that would favour some users are drawn anew.
    """
    many = np.uint64(users)
    unfair = np.uint64(1 << 32) % many
    for i in range(len(keys)):
        state = keys[i]
        for user in range(users):
            weights[i, user] = 0
        left = picks
        while left > 0:
            state += _GOLDEN
            bits = _mixed(state)
            for _ in range(min(left, 2)):  # a number is two draws
                product = (bits >> _HALF) * many
                bits <<= _HALF
                if (product & _LOW) >= unfair:
                    # A user is drawn once on average: 255 times does not happen.
                    weights[i, np.int64(product >> _HALF)] += np.uint8(1)
                    left -= 1


@compiled
def draw_once(keys: Any, users: int, picks: int, weights: Any) -> None:
    """Write 1 for `picks` of the users, all sets of so many equally likely, 0 for the others."""
    many = np.uint64(users)
    unfair = np.uint64(1 << 32) % many
    fewer = min(picks, users - picks)  # chosen, or left out
    chosen = np.uint8(picks == fewer)
    for i in range(len(keys)):
        state = keys[i]
        for user in range(users):
            weights[i, user] = np.uint8(1) - chosen
        drawn = 0
        while drawn < fewer:
            state += _GOLDEN
            bits = _mixed(state)
            for _ in range(min(fewer - drawn, 2)):
                product = (bits >> _HALF) * many
                bits <<= _HALF
                one = np.int64(product >> _HALF)
                if (product & _LOW) >= unfair and weights[i, one] != chosen:
                    weights[i, one] = chosen
                    drawn += 1


@compiled
def add_weighted(
    rows: Any, indptr: Any, columns: Any, values: Any, weights: Any, sums: Any
) -> None:
    """Add Σ over users of weight · value to sums[column, resample]; `values` are rows of CSR."""
    lanes = len(weights)
    weight = np.empty(lanes)
    for row in range(len(rows)):
        for lane in range(lanes):
            weight[lane] = weights[lane, rows[row]]
        for t in range(indptr[row], indptr[row + 1]):
            value, column = values[t], columns[t]
            for lane in range(lanes):
                sums[column, lane] += value * weight[lane]


@compiled
def add_signed(keys: Any, rows: Any, indptr: Any, columns: Any, values: Any, sums: Any) -> None:
    """Add Σ over users of ±value to sums[column, lane]; a user's random bits are the signs."""
    lanes = sums.shape[1]
    sign = np.empty(lanes)
    for row in range(len(rows)):
        bits = _mixed(keys[0] + np.uint64(rows[row] + 1) * _GOLDEN)
        for lane in range(lanes):
            sign[lane] = 1.0 - 2.0 * np.float64((bits >> np.uint64(lane)) & np.uint64(1))
        for t in range(indptr[row], indptr[row + 1]):
            value, column = values[t], columns[t]
            for lane in range(lanes):
                sums[column, lane] += value * sign[lane]
