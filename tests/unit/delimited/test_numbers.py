"""Decimals are read as Python reads them, to the last bit, or left to another reader."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.delimited import _lines
from harness.delimited.blocks import padded


def read(*texts: str) -> list[float | None]:
    """Return the numbers; None where they are left."""
    ends = np.cumsum([0, *(len(text) for text in texts)])
    numbers, left = np.empty(len(texts)), np.ones(len(texts), np.bool_)
    _lines.parse(padded("".join(texts).encode()), ends[:-1], ends[1:], numbers, left)
    return [
        None if skipped else n for n, skipped in zip(numbers.tolist(), left.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4.5", 4.5),
        ("-0.25", -0.25),
        (".5", 0.5),
        ("5.", 5.0),
        ("007", 7.0),
        ("0.01523728813559322", 0.01523728813559322),  # a price of H&M
        ("0.0000000000000000000000000000000001", None),
        ("0.000000000000000000000000000000", 0.0),
        ("123456789012345", 123456789012345.0),
        ("1234567890123456", None),  # a whole number that a float may not hold
        ("", None),
        ("-", None),
        (".", None),
        ("1e5", None),
        ("1.2.3", None),
        ("nan", None),
        ("12345678901234567890.5", None),
    ],
)
def test_numbers_as_they_are_written(text: str, number: float | None) -> None:
    assert read(text) == [number]


@given(st.lists(st.decimals(-(10**9), 10**9, allow_nan=False, places=17), min_size=1))
@example(["9007199254740993.0", "0.50000000000000005551", "4503599627370496.5"])
@example(["9007199254740992.999", "1.00000000000000011102", "1.0000000000000001110"])
def test_what_is_read_is_the_nearest_double(numbers: list[object]) -> None:
    texts = [f"{number}" for number in numbers]
    for text, found in zip(texts, read(*texts), strict=True):
        assert found is None or found == float(text), text


@given(st.lists(st.floats(1e-5, 1e6), min_size=1))
def test_the_shortest_text_of_a_double_is_read_as_it_is(values: list[float]) -> None:
    texts = [repr(value) for value in values]
    plain = [text for text in texts if "e" not in text and len(text.strip("0.")) <= 18]
    found = read(*plain)
    assert [n for n in found if n is not None] == [
        float(text) for text, n in zip(plain, found, strict=True) if n is not None
    ]
