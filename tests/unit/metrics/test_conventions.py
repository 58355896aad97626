"""MAP@k under every convention: worked cases and the tools' columns; peers/ has the tools."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import exactly, ragged
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness.metrics import DIVISORS, Block, Judgments, parse, per_user
from harness.metrics.conventions import CONVENTIONS, EXAMPLE, map_by_convention


def matrix(lists: Sequence[str]) -> NDArray[np.int32]:
    """Return one row a list, an item a letter, - and what is missing empty."""
    width = max([1, *map(len, lists)])
    cells = [[-1 if c == "-" else ord(c) for c in row.ljust(width, "-")] for row in lists]
    return np.array(cells, np.int32).reshape(len(lists), width)


def key_of(truths: Sequence[str]) -> Judgments:
    """Return the key of texts of true items, a letter each."""
    rows = ragged(set(map(ord, truth)) for truth in truths)
    return Judgments(rows, rows.sizes)


def by_convention(lists: Sequence[str], truths: Sequence[str], k: int) -> dict[str, float | None]:
    return map_by_convention(matrix(lists), key_of(truths), k)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_convention_is_told_in_full_and_its_worked_example_comes_out(name: str) -> None:
    convention = CONVENTIONS[name]
    assert all([convention.divisor_text, convention.repeats_text, convention.tools])
    assert convention.divisor in {*DIVISORS, "places"}
    result = by_convention([str(EXAMPLE["list"]).replace(" ", "")], ["abcde"], 4)
    assert (EXAMPLE["truth"], EXAMPLE["k"]) == ("a b c d e", 4)
    assert result[name] == exactly(convention.value)
    steps = convention.steps.removeprefix("a b: ")
    assert pd.eval(steps, local_dict={"min": min}) == exactly(convention.value)


COLUMNS = (
    "ml_metrics", "ir_measures", "rectools", "rectools-k", "replay", "recommenders",
    "recommenders-map", "lenskit", "elliot",
)  # fmt: skip


@pytest.mark.parametrize(
    ("row", "truth", "figures"),
    [
        ("abcdefghij", "abcdefghijkl", (1, 0.8333, 0.8333, 1, 1, 1, 0.8333, 1, 1)),
        ("xa", "a", (0.5, 0.5, 0.5, 0.05, 0.5, 0.5, 0.5, 0.5, 0.1929)),
        ("a", "abc", (0.3333, 0.3333, 0.3333, 0.1, 0.3333, 0.3333, 0.3333, 1, 0.2929)),
        ("aab", "ab", (0.8333, 1, 1, 0.3, 1.5, 1.5, 1.5, 1.5, 0.6287)),
        ("a", "", (0, None, None, None, None, None, None, None, None)),
        ("", "a", (0, 0, 0, 0, 0, None, None, None, None)),
    ],
)
def test_the_columns_of_the_published_table(row: str, truth: str, figures: tuple[Any, ...]) -> None:
    """Table 2b of research/features.md: one user, k = 10; None is a user who is not averaged."""
    result = by_convention([row], [truth], 10)
    for name, figure in zip(COLUMNS, figures, strict=True):
        expected = None if figure is None else pytest.approx(figure, abs=5e-5)
        assert result[name] == expected, name


def test_a_user_without_truth_or_list_is_averaged_by_some() -> None:
    result = by_convention(["a", "a"], ["a", ""], 1)
    everyone = {name for name, value in result.items() if value == 0.5}
    assert everyone == {"ml_metrics", "trec", "k", "retrieved", "hits", "spark"}
    assert {value for name, value in result.items() if name not in everyone} == {1}
    result = by_convention(["a", ""], ["a", "a"], 1)
    left_out = {name for name, value in result.items() if value == 1}
    assert left_out == {"trec_eval", "recommenders", "recommenders-map", "lenskit", "elliot"}
    assert {value for name, value in result.items() if name not in left_out} == {0.5}


@pytest.mark.parametrize(
    ("row", "truth", "k", "names", "expected"),
    [
        # A hit at 1; R is 2 and the copy at 3 grows it: 1 / (2 + 1).
        ("axa", "ab", 2, ["rectools"], 1 / 3),
        # trec_eval is given items and scores, a and b; map_cut.2 sees both.
        ("aab", "ab", 2, ["trec_eval", "ir_measures"], 1),
        # An empty place uses its rank: P(2) = 1/2, of one true item; one place holds an item.
        ("-a", "a", 10, ["kaggle", "trec", "retrieved", "hits", "replay", "lenskit"], 1 / 2),
    ],
)
def test_copies_and_empty_places(
    row: str, truth: str, k: int, names: list[str], expected: float
) -> None:
    result = by_convention([row], [truth], k)
    assert [result[name] for name in names] == [exactly(expected)] * len(names)


words = st.text("abcd", max_size=6)
evaluation_sets = st.lists(st.tuples(words, st.text("abc", max_size=3)), min_size=1, max_size=5)


@given(evaluation_set=evaluation_sets, k=st.integers(1, 7), random=st.randoms())
def test_ours_are_the_metric_under_each_divisor_in_any_order_and_blocks_of_users(
    evaluation_set: list[tuple[str, str]], k: int, random: Random
) -> None:
    lists, truths = [row[0] for row in evaluation_set], [row[1] for row in evaluation_set]
    result = by_convention(lists, truths, k)
    for divisor in DIVISORS:
        block = Block(matrix(lists), key_of(truths), k)
        values = per_user(parse(f"MAP(divisor={divisor})@{k}"), block)
        name = "ml_metrics" if divisor == "kaggle" else divisor  # H&M averages fewer
        assert result[name] == exactly(values.mean()), divisor
    assert map_by_convention(matrix(lists), key_of(truths), k, block=2) == result
    again = random.sample(evaluation_set, len(evaluation_set))
    assert by_convention([row[0] for row in again], [row[1] for row in again], k) == result
