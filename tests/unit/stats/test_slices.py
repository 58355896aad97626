"""Slices of users by what is known of them: who is where, and which are too small."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import hashes
from hypothesis import given
from hypothesis import strategies as st

from harness.core.exact_sum import of_one
from harness.metrics import parse
from harness.metrics.scores import ScoreTable
from harness.stats.figures import results_of
from harness.stats.slices import ProfiledUsers, Slice, Slices

METRIC = parse("MAP@2")


def sliced(column: list[Any], user_scores: Any = None) -> list[Slice]:
    n = len(column)
    values = np.array([np.arange(n) / n if user_scores is None else user_scores])
    profile = pl.DataFrame({"user": [f"u{i}" for i in range(n)], "by": column})
    part = ProfiledUsers(hashes(n), {"m": ScoreTable({METRIC: values})}, profile)
    (slices,) = results_of([Slices(["m"], METRIC, ["by"])], of_one(part))
    return list(slices)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (list(range(1, 9)), {"1 to 2": 2, "3 to 4": 2, "5 to 6": 2, "7 to 8": 2}),
        ([0, 0, 0, 0, 0, 0, 1, 2, 3, 9], {"0": 6, "1": 1, "2 to 9": 3}),
        (["20", "31", " ", None, "20"], {"20": 2, "31": 1, "no value": 2}),
        ([None, None], {"no value": 2}),
        (["1", "x"], {"1": 1, "x": 1}),
        ([0.5, float("nan")], {"0.5": 1, "NaN": 1}),
        ([1234567, 1234568], {"1,234,567": 1, "1,234,568": 1}),
    ],
)
def test_who_is_in_which_slice(column: list[Any], expected: dict[str, int]) -> None:
    assert {part.label: part.users for part in sliced(column)} == expected


def test_the_rarest_values_stand_together() -> None:
    column = [chr(97 + i) for i in range(10) for _ in range(10 - i)]
    result = sliced(column)
    assert [part.label for part in result[:2]] == ["a", "b"]
    assert {part.label: part.users for part in result}["2 other values"] == 2 + 1


numbers = st.integers(0, 30).map(float) | st.floats(allow_nan=False, width=16)
texts = st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=60)


@given(st.lists(st.none() | numbers, min_size=1) | texts)
def test_every_user_is_in_one_slice(column: list[Any]) -> None:
    assert sum(part.users for part in sliced(column)) == len(column)


def test_figures_of_a_slice() -> None:
    first, second = sliced(["x", "x", "y"], [1.0, 0.5, 0.25])
    assert (first.models["m"].mean, second.models["m"].mean) == (0.75, 0.25)
    assert second.models["m"].ci95 is None


def test_small_slices_are_marked() -> None:
    for users, hits, small in ((100, 10, False), (99, 50, True), (100, 9, True)):
        (part,) = sliced(["x"] * users, [0.5] * hits + [0.0] * (users - hits))
        assert part.small is small
