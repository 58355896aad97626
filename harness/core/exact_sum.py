"""Sums over users that no order changes: whole numbers, or exact and rounded once.

So the same code serves all users at once, buckets of them on disk, and partitions of a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Floats, Int32, Int64

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

_LOWEST = -34
"""The slice that the last digit of the smallest double, 2^−1074, lies in."""
_UNITS = 1 << (-32 * _LOWEST)
_TOGETHER = 1 << 16


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest of some numbers, place by place: of two that are added the larger ones stay."""

    values: Floats | Int64

    def __add__(self, other: Largest) -> Largest:
        """Return the larger numbers of both."""
        return Largest(np.maximum(self.values, other.values))


@dataclass(frozen=True, eq=False)
class Exact:
    """The exact sum of finite numbers, in units of 2^−1088, of which each is a multiple.

    >>> (Exact.of(np.array([1e16, 1.0])) + Exact.of(np.array([-1e16]))).total
    1.0
    """

    units: int

    @classmethod
    def of(cls, values: Floats) -> Exact:
        """Return the sum of numbers, (n,); OverflowError where one is infinite."""
        numbers = np.asarray(values, np.float64)
        if not np.isfinite(numbers).all():
            raise OverflowError("numbers too large to add up")
        units, only = 0, np.zeros(len(numbers), np.int32)
        for sign in (1.0, -1.0):
            slices = weight_slices(only, np.maximum(sign * numbers, 0.0), 1)
            for key, total in slices.items():
                units += int(sign) * int(total[0]) << 32 * (int(key) - _LOWEST)
        return cls(units)

    def __add__(self, other: Exact) -> Exact:
        """Return the sum of both."""
        return Exact(self.units + other.units)

    @property
    def total(self) -> float:
        """The number that is nearest to the sum; OverflowError if it is beyond the largest one."""
        return self.units / _UNITS

    @property
    def fraction(self) -> Fraction:
        """The sum itself."""
        return Fraction(self.units, _UNITS)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Ids, each once, in no order: of two that are added all stay."""

    values: pl.Series

    def __add__(self, other: Distinct) -> Distinct:
        """Return the ids of both."""
        return Distinct(self.values.clone().append(other.values).unique())


_Sum: TypeAlias = "int | list[Any] | Int64 | csr_array[Any] | Exact | Largest | Distinct | Sums"
Sums: TypeAlias = "Mapping[Any, _Sum]"
"""What parts add up to, by name or number: whole numbers (int, int64 arrays, or sparse matrices),
exact sums, the largest of numbers, distinct ids, lists (joined in any order), or more of these."""


def add(first: Sums, second: Sums) -> Sums:
    """Return two sums as one, key by key; what is missing is 0.

    Arrays of different lengths add up from their beginnings; matrices have one shape.

    >>> total = add({"a": np.array([1, 2])}, {"a": np.array([3]), "b": {7: np.array([4])}})
    >>> total["a"].tolist(), total["b"][7].tolist()
    ([4, 2], [4])
    """
    both = {key: _added(first[key], second[key]) for key in first.keys() & second.keys()}
    return {**first, **second, **both}


def _added(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping):
        return add(first, second)
    if not isinstance(first, np.ndarray) or len(first) == len(second):
        return first + second
    shorter, longer = sorted((first, second), key=len)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


Part = TypeVar("Part")
Total: TypeAlias = Callable[[Callable[[Part], Sums]], Sums]
"""What adds a step, a function of one part of the users, up over all parts."""


def of_parts(parts: Callable[[], Iterable[Part]]) -> Total[Part]:
    """Return what adds up over parts that are at hand one after the other, as often as called."""
    return lambda step: reduce(add, map(step, parts()), {})


def of_one(part: Part) -> Total[Part]:
    """Return what adds up over a single part, all users."""
    return lambda step: add({}, step(part))


def weight_slices(
    item: Int32, weight: Floats, n_items: int, block: int = 1 << 30
) -> dict[str | int, Int64]:
    """Return each item's exact sum of weights, finite and from 0, in slices of 32 bits.

    The sum is Σ over keys s of slice s times 2^(32 s); slices that would be 0 are not there. Slices
    of up to 2^31 parts of the events `add` up to those of all, as int64 holds so many numbers below
    2^32; so many weights, too, are added up before slices are carried, or a smaller `block`.

    >>> slices = weight_slices(np.array([0, 0, 1]), np.array([0.5, 3.0, 1.0]), 2)
    >>> {key: of.tolist() for key, of in slices.items()}  # 3.5 = 3 + 2^31 · 2^−32
    {-1: [2147483648, 0], 0: [3, 1]}
    """
    item = np.ascontiguousarray(item, np.int32)
    weight = np.ascontiguousarray(weight, np.float64)
    first, last = _kernels.slice_span(weight)
    sums = np.zeros((n_items, last - first + 2), np.int64)  # the last column takes what is carried
    for start in range(0, len(item), block):
        part = slice(start, start + block)
        _kernels.add_slices(item[part], weight[part], first, sums)
        for column in range(sums.shape[1] - 1):
            sums[:, column + 1] += sums[:, column] >> 32
            sums[:, column] &= (1 << 32) - 1
    columns = enumerate(np.ascontiguousarray(sums.T), first + _LOWEST)
    return {key: column for key, column in columns if column.any()}


def rounded(slices: Mapping[str | int, Any], n: int) -> Floats:
    """Return the numbers, (n,), nearest to sums of `weight_slices`, of two as near the even one.

    A number is infinite where the sum is beyond the largest one.
    """
    first = min([0, *map(int, slices)])
    numbers = np.empty(n)
    for start in range(0, n, _TOGETHER):
        part = slice(start, start + _TOGETHER)
        sums = np.zeros(len(numbers[part]), object)  # Python's numbers, of any length
        for key, column in slices.items():
            sums[: len(column[part])] += column[part].astype(object) << 32 * (int(key) - first)
        numbers[part] = [_nearest(total, 1 << -32 * first) for total in sums]
    return numbers


def _nearest(units: int, unit: int) -> float:
    try:
        return units / unit
    except OverflowError:
        return math.inf
