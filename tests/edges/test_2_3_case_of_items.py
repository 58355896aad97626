"""Case 2.3: a true item in another case is told, however long its id is and whoever knows it."""

import polars as pl
import pytest

import harness
from harness.submission.score import SubmissionError


@pytest.mark.parametrize("item", ["a1", "ca9f0", "ca9f02", "0ca9f02b" * 4])
@pytest.mark.parametrize("spelt", [str.upper, str.lower])
def test_by_a_solution_alone_it_is_no_miss(item: str, spelt: type[str]) -> None:
    other = str.lower if spelt is str.upper else str.upper
    solution = pl.DataFrame({"user": ["ann", "bob"], "items": [spelt(item), "x"]})
    file = pl.DataFrame({"user": ["ann", "bob"], "items": [f"z {other(item)}", "x y"]})
    (problem,) = harness.validate(file, solution=solution).errors
    assert (problem.code, problem.value) == ("SUB317", other(item))
    with pytest.raises(SubmissionError, match="SUB317"):
        harness.score(file, solution=solution)


def test_items_that_no_case_makes_true_are_nothing_to_wonder_at() -> None:
    solution = pl.DataFrame({"user": ["ann", "bob"], "items": ["ca9f02", "x"]})
    file = pl.DataFrame({"user": ["ann", "bob"], "items": ["ca9f02 CA9F03 beef01", "x BEEF01"]})
    found = harness.score(file, solution=solution, metrics=["MAP@12"])
    assert found.validation is not None
    assert found.validation.problems == ()
    assert found.metrics["MAP@12"].mean == 1.0
