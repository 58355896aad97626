"""Case 2.3: a true item in another case is told, however long its id is and whoever knows it."""

from pathlib import Path

import polars as pl
import pytest

import harness
from harness.experiment.submissions import SubmissionError
from harness.experiment.terms import Terms
from harness.submission.fix import fix


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


@pytest.mark.parametrize(
    ("item", "mended"),
    [("B7", False), ("CA9F02", False), ("CA9F02B1", True)],  # of eight signs none is by chance
)
def test_a_short_item_may_be_another_that_no_solution_knows(
    tmp_path: Path, item: str, mended: bool
) -> None:
    (tmp_path / "solution.csv").write_text(f"user,items\nann,{item}\nbob,x\n")
    (tmp_path / "lists.csv").write_text(f"user,items\nann,{item.lower()} z\nbob,x\n")
    (problem,) = harness.validate(tmp_path / "lists.csv", solution=tmp_path / "solution.csv").errors
    assert (problem.code, problem.fixed) == ("SUB317", mended)
    terms = Terms(solution=tmp_path / "solution.csv")
    fix(tmp_path / "lists.csv", terms.checking()[0], tmp_path / "fixed.csv")
    first = (tmp_path / "fixed.csv").read_text().splitlines()[1]
    assert first == f"ann,{item if mended else item.lower()} z"
