"""Decimals are read as Python reads them, to the last bit, or left to it."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from harness.delimited import _delimited
from harness.delimited.blocks import padded


def read(texts: list[str]) -> list[float | None]:
    """Return the number of each text; None: it is left."""
    stops = np.cumsum([len(text) for text in texts], dtype=np.int64)
    starts = np.append(0, stops[:-1])
    numbers, left = np.empty(len(texts)), np.zeros(len(texts), np.bool_)
    _delimited.parse(padded("".join(texts).encode()), starts, stops, numbers, left)
    return [None if is_left else number for number, is_left in zip(numbers, left, strict=True)]


def test_numbers_as_they_are_written() -> None:
    """Of 15 digits, or 19 with a point; 30 zeros in front are none."""
    numbers = {".5": 0.5, "-0.25": -0.25, "5.": 5.0, "007": 7.0, "123456789012345": 123456789012345}
    numbers |= {"0.000000000000000000000000000000": 0.0}
    numbers |= dict.fromkeys(["1e5", "1.2.3", "", "-", ".", "x", "1234567890123456"])
    numbers |= dict.fromkeys(["12345678901234567890.5", f"0.{'0' * 33}1"])
    assert read([*numbers]) == [*numbers.values()]


DECIMALS = st.decimals(-(10**9), 10**9, allow_nan=False, places=17).map(lambda n: f"{n:f}")


@given(st.lists(st.one_of(DECIMALS, st.floats(-1e6, 1e6).map(repr)), min_size=1))
@example(["9007199254740993.0", "0.50000000000000005551", "4503599627370496.5"])
@example(["9007199254740992.999", "1.00000000000000011102", "1.0000000000000001110"])
def test_what_is_read_is_the_nearest_double(texts: list[str]) -> None:
    for text, number in zip(texts, read(texts), strict=True):
        assert number is None or number == float(text)
