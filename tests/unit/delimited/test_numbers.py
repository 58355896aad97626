"""Decimals are read as Python reads them, to the last bit, however they are written."""

from math import isnan

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from harness.delimited.blocks import Block, padded
from harness.submission.lists import numbers_in


def read(texts: list[str]) -> list[float]:
    stops = np.cumsum([len(text) for text in texts], dtype=np.int64)
    block = Block(padded("".join(texts).encode()), int(stops[-1]), ord(","))
    return numbers_in(block, np.append(0, stops[:-1]), stops).tolist()


def test_numbers_as_they_are_written() -> None:
    numbers = {".5": 0.5, "-0.25": -0.25, "5.": 5.0, "007": 7.0, "1e5": 100000.0}
    numbers |= {f"0.{'0' * 33}1": 1e-34, "0.000000000000000000000000000000": 0.0}
    numbers |= {"12345678901234567890.5": 12345678901234567000.0}
    numbers |= {"9007199254740993": 9007199254740992.0}  # which a float does not hold
    assert read([*numbers]) == [*numbers.values()]
    assert all(map(isnan, read(["", "-", ".", "x", "1.2.3", "nan", "inf", "1e999"])))


DECIMALS = st.decimals(-(10**9), 10**9, allow_nan=False, places=17).map(lambda n: f"{n:f}")


@given(st.lists(st.one_of(DECIMALS, st.floats(-1e6, 1e6).map(repr)), min_size=1))
@example(["9007199254740993.0", "0.50000000000000005551", "4503599627370496.5"])
@example(["9007199254740992.999", "1.00000000000000011102", "1.0000000000000001110"])
def test_what_is_read_is_the_nearest_double(texts: list[str]) -> None:
    assert read(texts) == [float(text) for text in texts]
