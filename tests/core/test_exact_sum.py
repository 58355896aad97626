"""Sums of arrays: those of `math.fsum`, to the last bit, whatever the order."""

from math import fsum, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.exact_sum import exact_sum


@given(st.lists(st.floats(-1e300, 1e300), max_size=60))
def test_the_sum_is_fsum_to_the_last_bit(values: list[float]) -> None:
    assert exact_sum(np.array(values)) == fsum(values)


@pytest.mark.parametrize("values", [[1e308, 1e308], [1e308, -1e308, 1e308, 1e308], [inf]])
def test_sums_beyond_the_largest_number_are_refused(values: list[float]) -> None:
    """Nothing is written beyond the places there are."""
    with pytest.raises(OverflowError, match="too large"):
        exact_sum(np.tile(values, 2000))


def test_numbers_that_share_no_bit_have_a_place_each() -> None:
    """Each is one bit far from the others: as many partials as there are numbers."""
    values = np.ldexp(1.0, np.arange(-1074, 1020, 3))
    assert exact_sum(values) == fsum(values)
    assert exact_sum(-values[::-1]) == -fsum(values)


def test_numbers_of_any_type_are_added() -> None:
    assert exact_sum(np.array([1, 2])) == 3.0  # type: ignore[arg-type]
    assert exact_sum(np.array([0.5, 9, 0.25], np.float32)[::2]) == 0.75  # type: ignore[arg-type]
