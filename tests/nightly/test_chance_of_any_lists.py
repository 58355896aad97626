"""Cumulants of every metric against the enumeration of many lists."""

import pytest
from conftest import exactly
from enumeration import EXACT, cumulants, enumerated
from hypothesis import given, settings
from hypothesis import strategies as st


@st.composite
def any_sizes(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Draw candidates, relevant ones, all relevant items, k."""
    n = draw(st.integers(1, 6))
    r = draw(st.integers(0, n))
    return n, r, draw(st.integers(r, 9)), draw(st.integers(1, 8))


@pytest.mark.parametrize("name", EXACT)
@given(sizes=any_sizes())
@settings(max_examples=200)
def test_equals_the_enumeration_of_any_lists(name: str, sizes: tuple[int, int, int, int]) -> None:
    n, r, relevant, k = sizes
    expected = exactly(enumerated(name, n, r, relevant, k))
    assert cumulants(name, n, r, relevant, k) == expected
