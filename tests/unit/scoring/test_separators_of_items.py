"""What stands between items is named by --separator, or plain in the sample or the solution."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import refusal

import harness
from harness import kaggle
from harness.core.errors import HarnessError
from harness.scoring.terms import Terms
from harness.submission.fix import fix

SOLUTION = "user,items\nann,a;b\nbob,b\n"
LISTS = "user,items\nann,a;x\nbob,x;b\n"
"""MAP@2: ann (1/1)/2, bob (1/2)/1."""
MAP = 1 / 2


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "solution.csv").write_text(SOLUTION)
    (here / "lists.csv").write_text(LISTS)
    (here / "sample.csv").write_text("user,items\nann,q;r\nbob,q;r\n")
    return here


def figure(**options: Any) -> float:
    return harness.score("lists.csv", **options).metrics["MAP@12"].mean


def checked(**options: Any) -> tuple[set[str], str]:
    """Return the codes of what is wrong, and what was checked."""
    result = harness.validate("lists.csv", **options)
    return {problem.code for problem in result.errors}, result.checked


BY: dict[str, Any] = {"solution": "solution.csv"}
SEMICOLON = "lists of any length, a semicolon between them as "


def test_it_is_plain_in_the_solution_or_in_the_sample(folder: Path) -> None:
    assert figure(**BY) == MAP
    errors, how = checked(**BY)
    assert (errors, SEMICOLON + "in the solution" in how) == (set(), True), how
    errors, how = checked(sample="sample.csv")
    assert (errors, SEMICOLON + "in sample.csv" in how) == (set(), True), how
    Path("solution.csv").write_text(SOLUTION.replace(";", " "))  # each is read as it is
    assert figure(**BY, sample="sample.csv") == MAP


def test_it_is_named(folder: Path) -> None:
    Path("sample.csv").write_text("user,items\nann,\nbob,\n")
    errors, how = checked(sample="sample.csv")
    assert ("SUB309" in errors, "between them" in how) == (True, False)
    errors, how = checked(sample="sample.csv", separator=";")
    assert (errors, SEMICOLON + "named" in how) == (set(), True), how
    for solution in (SOLUTION, SOLUTION.replace(";", " ")):
        Path("solution.csv").write_text(solution)
        assert figure(**BY, separator=";") == MAP


def test_commas_within_quotes(folder: Path) -> None:
    Path("solution.csv").write_text('user,items\nann,"a,b"\nbob,b\n')
    Path("lists.csv").write_text('user,items\nann,"a,x"\nbob,"x,b"\n')
    assert figure(**BY) == figure(**BY, separator=",") == MAP


def test_fix_writes_what_is_named(folder: Path) -> None:
    Path("lists.csv").write_text("user,items\nann,a b\nbob,b\n")
    for between, row in ((";", "ann,a;b"), (",", 'ann,"a,b"')):
        against = Terms({**BY, "separator": between}).checking()[0]
        fix(Path("lists.csv"), against, Path("out.csv"))
        assert row in Path("out.csv").read_text().splitlines()


def test_a_config_of_submission_alone(folder: Path) -> None:
    Path("own.toml").write_text(
        '[submission]\nuser = "who"\nitems = "what"\nseparator = ";"\nsample = "asked.csv"\n'
    )
    Path("asked.csv").write_text("who,what\nann,\nbob,\n")
    Path("lists.csv").write_text(LISTS.replace("user,items", "who,what"))
    Path("solution.csv").write_text(SOLUTION.replace(";", " "))
    assert figure(**BY, config="own.toml") == MAP
    _, how = checked(config="own.toml")
    assert "a semicolon between them as the config says; 2 ids required" in how
    Path("lists.csv").write_text("who,what\nann,a;x\n")
    assert checked(**BY, config="own.toml")[0] == {"SUB201"}


def test_an_id_or_several(folder: Path) -> None:
    """One list of five holds a semicolon: that may be a part of an id."""
    rows = [f"u{number},a{number}\n" for number in range(4)]
    Path("solution.csv").write_text("user,items\nann,a;b\n" + "".join(rows))
    Path("lists.csv").write_text("user,items\nann,a;b\n")
    with refusal(HarnessError, '"a;b" among the true items: is it one id, or several'):
        figure(**BY)
    for separator in "; ":
        assert figure(**BY, separator=separator, force=True) == 1 / 5  # ann's one item, or both
        items = Terms({**BY, "separator": separator}).scored_against().items.to_list()
        assert ("a;b" in items) == (separator == " ")


def test_a_host_on_kaggle_may_write_them_so(folder: Path) -> None:
    solution, lists = (pd.read_csv(f"{name}.csv") for name in ("solution", "lists"))
    assert kaggle.score(solution, lists, "user") == MAP
