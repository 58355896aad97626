"""Sums that no order of their terms changes: whole numbers, or exact and rounded once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness.core import _kernels
from harness.core.arrays import Floats, Int32, Int64

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

_MOST_PARTIALS = 2100  # each holds one of a double's 2,098 bits or more; the last may be 0
_LOWEST = -34
"""The slice that the last digit of the smallest double, 2^−1074, lies in."""


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest of some numbers, place by place: of two that are added the larger ones stay."""

    values: Floats | Int64

    def __add__(self, other: Largest) -> Largest:
        """Return the larger numbers of both."""
        return Largest(np.maximum(self.values, other.values))


@dataclass(frozen=True, eq=False)
class Exact:
    """The exact sum of finite numbers, as the few numbers, (m,), that `_kernels.partials` writes.

    Examples
    --------
    >>> (Exact.of(np.array([1e16, 1.0])) + Exact.of(np.array([-1e16]))).total
    1.0

    Notes
    -----
    Source: Shewchuk 1997, Adaptive Precision Floating-Point Arithmetic.
    """

    values: Floats

    @classmethod
    def of(cls, values: Floats) -> Exact:
        """Return the sum of numbers, (n,); OverflowError if it is beyond the largest number."""
        held = np.empty(_MOST_PARTIALS)
        count = _kernels.partials(np.ascontiguousarray(values, np.float64), held)
        if count < 0:
            raise OverflowError("numbers too large to add up")
        return cls(held[:count].copy())

    def __add__(self, other: Exact) -> Exact:
        """Return the sum of both."""
        return Exact.of(np.concatenate((self.values, other.values)))

    @property
    def total(self) -> float:
        """The number that is nearest to the sum."""
        return math.fsum(self.values.tolist())

    @property
    def fraction(self) -> Fraction:
        """The sum itself."""
        return sum(map(Fraction, self.values.tolist()), Fraction())


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

    Examples
    --------
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


def weight_slices(
    item: Int32, weight: Floats, n_items: int, block: int = 1 << 30
) -> dict[str | int, Int64]:
    """Return each item's exact sum of weights, as fixed-point numbers in slices of 32 bits.

    Slices of parts of the events `add` up to those of all: up to 2^31 parts, as a slice of one is
    below 2^32 and int64 holds so many of them.

    Parameters
    ----------
    item : int32 array, (n,)
    weight : float64 array, (n,)
        Finite, from 0.
    block : int
        Weights that are added up before slices are carried: int64 holds 2^31 numbers below 2^32.

    Returns
    -------
    dict of int to int64 array, (n_items,)
        The sum is Σ over keys s of slice s times 2^(32 s); slices that would be 0 are not there.

    Examples
    --------
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
        _kernels.carry(sums)
    columns = enumerate(np.ascontiguousarray(sums.T), first + _LOWEST)
    return {key: column for key, column in columns if column.any()}


def rounded(slices: Mapping[str | int, Any], n: int) -> Floats:
    """Return the numbers, (n,), nearest to sums of `weight_slices`, of two as near the even one.

    A number is infinite where the sum is beyond the largest one.
    """
    keys = [int(key) for key in slices]
    first = min(keys, default=0)
    sums = np.zeros((n, max(keys, default=0) - first + 2), np.int64)
    for key in keys:
        sums[: len(slices[key]), key - first] = slices[key]
    _kernels.carry(sums)
    numbers = np.empty(n)
    _kernels.round_slices(sums, first - _LOWEST, numbers)
    return numbers
