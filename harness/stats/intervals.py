"""Intervals of a mean over users: one that knows of skewness, Student's, the bootstrap's."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from harness.core.arrays import Floats
from harness.core.exact_sum import Exact, Largest, Sums
from harness.core.steps import Part, Steps, found, of_one

Interval = tuple[float, float]

LEVEL = 0.05
"""Tests are two-sided at this level; intervals cover 1 − LEVEL."""


Columns = Callable[[Part], Sequence[Callable[[], Floats]]]
"""Of a part of the users, columns of their values, (n,) each, which are made when they are asked
for: there may be many."""


@dataclass(frozen=True)
class Sample:
    """What a sample of n values tells of their mean.

    Attributes
    ----------
    error : float
        The standard error s/√n, s with n − 1; 0 for a single value.
    skewness : float
        Of the mean: that of the values, m₃/s³, over √n; 0 where no value differs.
    hits : int
        Values that are not 0.
    freedom : float
        Degrees of freedom of the standard error: n − 1, or fewer where some values weigh more.
    """

    n: int
    mean: float
    error: float
    skewness: float
    hits: int
    freedom: float

    @classmethod
    def of(cls, values: Floats) -> Sample:
        """Return what `values`, (n,), tell."""
        own: Columns[Floats] = lambda part: [lambda: part]  # noqa: E731
        return found(sample_steps(own), of_one(values))[0]


def sample_steps(
    columns: Columns[Part], freedom: float | None = None, users: int | None = None
) -> Steps[Part, list[Sample]]:
    """Yield three steps; return what each column tells of all users.

    Parameters
    ----------
    users : int, optional
        How many there are, where columns leave users out who have 0 in all of them.
    freedom : float, optional
        Degrees of freedom, where they are not the users less one.
    """
    first: Any = yield partial(in_turn, _first, columns)
    held = [_Column.of(first[at], users) for at in range(len(first))]
    second: Any = yield partial(in_turn, [column.squares for column in held], columns)
    held = [column.with_squares(second.get(at)) for at, column in enumerate(held)]
    third: Any = yield partial(in_turn, [column.cubes for column in held], columns)
    samples = [column.sample(third.get(at)) for at, column in enumerate(held)]
    return samples if freedom is None else [replace(own, freedom=freedom) for own in samples]


def in_turn(
    steps: Callable[[Floats], Sums] | Sequence[Callable[[Floats], Sums]],
    columns: Columns[Part],
    part: Part,
) -> Sums:
    """Return the sums of every column, by its number; those of columns without any are left out.

    Parameters
    ----------
    steps : callable, or one a column
    """
    makes = columns(part)
    several = [steps] * len(makes) if callable(steps) else steps

    def sums(at: int) -> Sums:
        return several[at](makes[at]())

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy lets go of Python's lock
        answers = (pool.map if len(makes) > 1 else map)(sums, range(len(makes)))
        return {at: answer for at, answer in enumerate(answers) if answer}


def _first(values: Floats) -> Sums:
    ends = [values.max(initial=-np.inf), -values.min(initial=np.inf)]
    others = values[values != 0]
    sizes = np.array([len(values), len(others)])
    return {"sizes": sizes, "sum": Exact.of(others), "ends": Largest(np.array(ends))}


@dataclass(frozen=True)
class _Column:
    """What is known of a column so far; most values are 0, and are added up at once."""

    n: int
    hits: int
    total: float
    high: float
    low: float
    deviation: float = 0.0

    @classmethod
    def of(cls, sums: Any, users: int | None) -> _Column:
        rows, hits = sums["sizes"].tolist()
        high, low = sums["ends"].values.tolist()
        n = rows if users is None else users
        if n > rows:
            high, low = max(high, 0.0), max(low, 0.0)
        return cls(n, hits, sums["sum"].total, high, -low)

    @property
    def mean(self) -> float:
        """The mean, of which there is none of no values; of equal ones it is their value."""
        if self._alike:
            return self.high if self.n else math.nan
        return self.total / self.n

    @property
    def _alike(self) -> bool:
        return self.n < 2 or self.high == self.low

    def squares(self, values: Floats) -> Sums:
        """Return the sum of squares about the mean of what is not 0."""
        if self._alike:
            return {}
        centred = values[values != 0] - self.mean
        return {"sum": Exact.of(centred * centred)}

    def with_squares(self, sums: Any) -> _Column:
        """Return the same with the standard deviation."""
        if sums is None:
            return self
        zeros = self.n - self.hits
        squares = sums["sum"].total + zeros * self.mean**2
        return replace(self, deviation=math.sqrt(squares / (self.n - 1)))

    def cubes(self, values: Floats) -> Sums:
        """Return the sum of cubes about the mean of what is not 0, in standard deviations."""
        if self.deviation == 0:
            return {}
        own = (values[values != 0] - self.mean) / self.deviation
        return {"sum": Exact.of(own * own * own)}  # NumPy's power takes ten times as long

    def sample(self, sums: Any) -> Sample:
        """Return what the column tells."""
        n, mean, hits = self.n, self.mean, self.hits
        if sums is None:  # all alike, or too small to be squared
            return Sample(n, mean, 0.0, 0.0, hits, n - 1)
        zeros, root = n - hits, math.sqrt(n)
        third = sums["sum"].total - zeros * (self.mean / self.deviation) ** 3
        return Sample(n, mean, self.deviation / root, third / n / root, hits, n - 1)


def student(sample: Sample) -> Interval | None:
    """Return the t interval, mean ± t_{0.975, n−1} · s/√n; None without a degree of freedom.

    Source: Student 1908.
    """
    if sample.freedom <= 0:
        return None
    half = _t_quantile(1 - LEVEL / 2, sample.freedom) * sample.error
    return sample.mean - half, sample.mean + half


def percentile(resampled: Floats) -> Interval:
    """Return the ends between which 95 % of the resampled means lie, (B,).

    Source: Efron 1979, the percentile method.
    """
    low, high = np.quantile(resampled, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def skewed(sample: Sample, low: float = -math.inf, high: float = math.inf) -> Interval | None:
    """Return the interval of a mean of skewed values that lie from `low` to `high`.

    Most users score 0 and a few score high, so the t statistic of a mean leans to the left, and
    Student's interval misses the truth more often than it says (7 to 17 % for 50 to 10 hits).
    Hall's transformation of the statistic takes the skewness out.

    Returns
    -------
    (float, float) or None
        Within `low` and `high`; None for a single user, and where all have one value in between,
        which show no spread.

    Notes
    -----
    Source: Hall 1992, On the removal of skewness by transformation, JRSS B 54: with T the t
    statistic and a = skewness/√n, g(T) = T + a·T²/3 + a²·T³/27 + a/6 is normal but for terms of
    1/n. Where every user has the lowest (or highest) value there is, the other end is that of a
    share of which none was seen: 1 − 0.025^(1/n) of the range (Clopper and Pearson 1934).

    Examples
    --------
    No hit among 100 users: up to 3.6 % could have one.

    >>> low, high = skewed(Sample.of(np.zeros(100)), 0, 1)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    if sample.freedom <= 0:
        return None
    if sample.error == 0:
        reach = (high - low) * (1 - (LEVEL / 2) ** (1 / sample.n))
        if sample.mean not in (low, high) or not math.isfinite(reach):
            return None
        return (float(low), low + reach) if sample.mean == low else (high - reach, float(high))
    quantile = _t_quantile(1 - LEVEL / 2, sample.freedom)
    first = sample.mean - sample.error * back(quantile, sample.skewness)
    last = sample.mean - sample.error * back(-quantile, sample.skewness)
    return max(first, low), min(last, high)


def forth(t: float, skewness: float) -> float:
    """Return Hall's g(T), which is normal where T is the t statistic of a skewed mean."""
    return t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6


def back(z: float, skewness: float) -> float:
    """Return the T whose g(T) is z: 3((1 + a(z − a/6))^⅓ − 1)/a, without dividing by a small a."""
    step = z - skewness / 6
    root = math.cbrt(1 + skewness * step)
    return 3 * step / (root * root + root + 1)


def _t_quantile(share: float, freedom: float) -> float:
    from scipy import special  # slow to import

    return float(special.stdtrit(freedom, share))
