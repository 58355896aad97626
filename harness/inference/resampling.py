"""Marks in, the same under thousands of resamples of users out, for all columns at once.

Resamples are the same for every column, so differences of columns are paired. What is drawn is a
pure function of the seed and of the resample's number; results do not depend on threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.draws import UInt64, generator, streams

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

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
    Source: Efron 1979. Users whose marks are all 0 add nothing, so only how many of the others are
    drawn (binomial), and which, is drawn at random.

    Examples
    --------
    A single user is drawn every time.

    >>> bootstrap(np.array([[0.25, 1.0]]), resamples=2)
    array([[0.25, 1.  ],
           [0.25, 1.  ]])
    """
    from harness.inference import loops  # numba is slow to import

    n = len(values)
    held = _Rows.of(values)
    picks = generator(seed, "bootstrap").binomial(n, held.rows / n, resamples)
    keys = streams(seed, "bootstrap", resamples)
    return _weighted(held, loops.draw_again, keys, picks, threads) / n


def boards(
    values: Floats, public: int, times: int, seed: int = 0, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Return the means of `public` of the n users, drawn without replacement, and of the others.

    Parameters
    ----------
    values : float64 array, (n, columns)
    public : int
        From 1 to n − 1.

    Returns
    -------
    two float64 arrays, (times, columns)
    """
    from harness.inference import loops  # numba is slow to import

    n = len(values)
    held = _Rows.of(values)
    picks = generator(seed, "boards").hypergeometric(held.rows, n - held.rows, public, times)
    sums = _weighted(held, loops.draw_once, streams(seed, "boards", times), picks, threads)
    others = values.sum(axis=0) - sums
    return sums / public, others / (n - public)


def sign_flips(
    values: Floats, times: int = RESAMPLES, seed: int = 0, threads: int | None = None
) -> Floats:
    """Return the sums over users of ±values, a user's sign the same in every column.

    The sum of the flipped differences of two columns is the difference of their sums, so all pairs
    of columns are tested by one pass.

    Parameters
    ----------
    values : float64 array, (n, columns)

    Returns
    -------
    float64 array, (times, columns)
    """
    from harness.inference import loops  # numba is slow to import

    differ = (values != values[:, :1]).any(axis=1)  # flipping equal marks changes no difference
    held = _Rows.of(values[differ])
    sums = np.zeros((times, values.shape[1]))
    keys = streams(seed, "flips", -(-times // _LANES))

    def task(block: int) -> None:
        part = slice(block * _LANES, min((block + 1) * _LANES, times))
        own = np.zeros((held.width, part.stop - part.start))
        loops.add_signed(keys[block : block + 1], held.indptr, held.columns, held.values, own)
        sums[part] = own.T

    _in_threads(task, range(len(keys)), threads)
    return sums


class _Rows(NamedTuple):
    """The users with any mark, as CSR."""

    indptr: Int64
    columns: NDArray[np.int32]
    values: Floats
    width: int

    @property
    def rows(self) -> int:
        return len(self.indptr) - 1

    @classmethod
    def of(cls, values: Floats) -> _Rows:
        """Return the rows of `values`, (n, columns), that are not all 0."""
        found = values != 0
        sizes = found.sum(axis=1)
        indptr = np.concatenate(([0], np.cumsum(sizes[sizes > 0])))
        place = np.flatnonzero(found.ravel())
        columns = (place % values.shape[1]).astype(np.int32)
        return cls(indptr, columns, values.ravel()[place], values.shape[1])


def _weighted(
    held: _Rows, draw: Callable[..., Any], keys: UInt64, picks: Int64, threads: int | None
) -> Floats:
    """Return the weighted sums of every resample, (resamples, columns)."""
    from harness.inference import loops  # numba is slow to import

    sums = np.zeros((len(keys), held.width))
    if held.rows == 0:
        return sums
    # An odd number of cache lines apart, the weights of a user in all lanes do not collide.
    stride = (held.rows // _LINE | 1) * _LINE + 2 * _LINE

    def task(start: int) -> None:
        part = slice(start, min(start + _LANES, len(keys)))
        lanes = part.stop - part.start
        weights, own = np.empty((lanes, stride), np.uint8), np.zeros((held.width, lanes))
        draw(keys[part], picks[part], held.rows, weights)
        loops.add_weighted(held.indptr, held.columns, held.values, weights, own)
        sums[part] = own.T

    _in_threads(task, range(0, len(keys), _LANES), threads)
    return sums


def _in_threads(task: Callable[[int], None], starts: range, threads: int | None) -> None:
    """Do every task; the first alone, so that compiled code is made once."""
    for start in starts[:1]:
        task(start)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        list(pool.map(task, starts[1:]))
