"""Per-user values in, their means over thousands of resamples of the users out, by column.

Resamples are the same for every column, so differences of columns are paired. Which users are drawn
is a pure function of the seed, the number of users and the resample's number: it depends neither on
the values nor on threads.

A resample is a stream of SplitMix64 (Steele, Lea and Flood 2014) that starts at its own key, so
what it draws depends on nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from harness.core.arrays import Floats, Int32, Int64, UInt64
from harness.core.random import streams
from harness.stats import _kernels

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
    if n == 0:
        return np.full((resamples, values.shape[1]), np.nan)
    keys = streams(seed, "bootstrap", resamples)
    return _weighted(values, _kernels.draw_again, n, keys, threads) / n


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
    sums = _weighted(values, _kernels.draw_once, public, streams(seed, "boards", times), threads)
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
        own = np.zeros((values.shape[1], _LANES))
        _kernels.add_signed(keys[block], rows, *held, own)
        part = sums[block * _LANES : (block + 1) * _LANES]
        part[:] = own.T[: len(part)]

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
    stride = (len(rows) // _LINE | 1) * _LINE + 2 * _LINE

    def task(start: int) -> None:
        part = slice(start, min(start + _LANES, len(keys)))
        lanes = part.stop - part.start
        weights, own = np.empty((lanes, stride), np.uint8), np.zeros((width, lanes))
        draw(keys[part], picks, rows, np.empty(n, np.uint8), weights)
        _kernels.add_weighted(*held, weights, np.empty(lanes), own)
        sums[part] = own.T

    _in_threads(task, range(0, len(keys), _LANES), threads)
    return sums


def _csr(values: Floats) -> tuple[Int64, Int32, Floats]:
    """Return row ends, columns and values of what is not 0."""
    found = values != 0
    indptr = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
    place = np.flatnonzero(found.ravel())
    return (
        indptr,
        (place % values.shape[1]).astype(np.int32),
        values.ravel()[place].astype(np.float64, copy=False),
    )


def _in_threads(task: Callable[[int], None], starts: range, threads: int | None) -> None:
    """Do every task."""
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        list(pool.map(task, starts))
