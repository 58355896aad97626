"""Cumulants of every metric against the enumeration of many lists."""

import pytest
from conftest import exactly
from enumeration import EXACT, any_sizes, cumulants, enumerated
from hypothesis import given, settings


@pytest.mark.parametrize("name", EXACT)
@given(sizes=any_sizes())
@settings(max_examples=200)
def test_equals_the_enumeration_of_any_lists(name: str, sizes: tuple[int, int, int, int]) -> None:
    assert cumulants(name, *sizes) == exactly(enumerated(name, *sizes))
