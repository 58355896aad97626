"""Sums of arrays: those of `math.fsum`, to the last bit, whatever the order."""

import operator
from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from math import fsum, inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from harness.core.exact_sum import Exact, Largest, Sums, add, rounded, weight_slices


@given(st.lists(st.lists(st.floats(-1e300, 1e300), max_size=20), min_size=1, max_size=9))
def test_the_sum_is_fsum_to_the_last_bit_and_so_are_sums_of_parts(parts: list[list[float]]) -> None:
    every = [value for part in parts for value in part]
    sums = [Exact.of(np.array(part)) for part in parts]
    assert Exact.of(np.array(every)).total == fsum(every)
    assert reduce(operator.add, sums).total == reduce(operator.add, sums[::-1]).total == fsum(every)


@pytest.mark.parametrize("values", [[1e308, 1e308], [1e308, -1e308, 1e308, 1e308], [inf]])
def test_sums_beyond_the_largest_number_are_refused(values: list[float]) -> None:
    with pytest.raises(OverflowError, match="too large"):
        _ = Exact.of(np.tile(values, 2000)).total


def numbers(sums: Mapping[Any, Any]) -> dict[Any, Any]:
    return {
        key: numbers(part) if isinstance(part, dict) else part.tolist()
        for key, part in sums.items()
    }


def test_sums_add_up_key_by_key_from_the_beginnings_of_arrays() -> None:
    """The largest of whole numbers stays whole: 2^62 + 1 is no double."""
    first: Sums = {"a": np.array([1, 2, 3]), "b": {0: np.array([5])}}
    other: Sums = {"a": np.array([10]), "b": {0: np.array([6, 7]), 1: np.array([8])}, "c": {}}
    total = {"a": [11, 2, 3], "b": {0: [11, 7], 1: [8]}, "c": {}}
    assert numbers(add(first, other)) == numbers(add(other, first)) == total
    pairs = [csr_array(np.array([row])) for row in ([0, 2, 1], [4, 0, 3])]
    matrix: Any = add({"pairs": pairs[0]}, {"pairs": pairs[1]})["pairs"]
    assert (matrix.toarray().tolist(), matrix.dtype) == ([[4, 2, 4]], np.int64)
    parts = Largest(np.array([2**62 + 1, -5])), Largest(np.array([2**62, -4]))
    assert (parts[0] + parts[1]).values.tolist() == [2**62 + 1, -4]


WEIGHTS = st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 5e-324, 2.0**-500, 2.0**53, 1e300])
WEIGHTS |= st.floats(0, 1e300) | st.floats(0, 1)
EVENTS = st.lists(st.tuples(st.integers(0, 2), WEIGHTS, st.integers(0, 2)), max_size=60)


@given(EVENTS)
def test_weights_are_added_exactly_and_rounded_once(events: list[tuple[int, float, int]]) -> None:
    total: Any = {}
    for part in range(3):
        rows = [(item, weight) for item, weight, place in events if place == part]
        items = np.array([item for item, _ in rows], np.int32)
        weights = np.array([weight for _, weight in rows], float)
        total = add(weight_slices(items, weights, 3), total)
    for item, number in enumerate(rounded(total, 3).tolist()):
        terms = [weight for code, weight, _ in events if code == item]
        assert number == fsum(terms) == float(sum(map(Fraction, terms)))


def test_slices_are_carried_before_they_could_overflow() -> None:
    """Seven times 2^32 − 1/2 in blocks of two: 7 · 2^32 − 4 + 1/2, all slices below 2^32."""
    item, weight = np.zeros(7, np.int32), np.full(7, 2.0**32 - 0.5)
    slices = weight_slices(item, weight, 1, block=2)
    assert numbers(slices) == {-1: [2**31], 0: [2**32 - 4], 1: [6]}


@given(st.lists(st.integers(0, 2**63 - 2**33), max_size=4), st.integers(-32, 26))
def test_slices_that_are_full_are_carried_and_rounded_to_even(full: list[int], low: int) -> None:
    slices = {low + place: np.array([value]) for place, value in enumerate(full)}
    exact = sum(Fraction(2) ** (32 * (low + place)) * value for place, value in enumerate(full))
    assert rounded(slices, 1).tolist() == [float(exact)]


def test_of_two_numbers_as_near_the_even_one_is_taken() -> None:
    """From 2^53 doubles are the even numbers: 2^53 + 1 is halfway, and above it with 2^−32 more."""
    columns = {-1: np.array([0, 1, 0, 2**31]), 0: np.array([1, 1, 3, 2]), 1: np.full(4, 2**21)}
    assert (rounded(columns, 4) - 2.0**53).tolist() == [0, 2, 4, 2]


def test_sums_of_nothing_beyond_the_largest_number_and_of_no_weights() -> None:
    assert weight_slices(np.zeros(1, np.int32), np.zeros(1), 2) == {}
    slices = weight_slices(np.zeros(2, np.int32), np.array([1.7e308, 1.7e308]), 1)
    assert rounded(slices, 1).tolist() == [inf]
    for weight in (-1.0, inf, nan):
        with pytest.raises(ValueError, match="weights are finite"):
            weight_slices(np.zeros(1, np.int32), np.array([weight]), 1)
