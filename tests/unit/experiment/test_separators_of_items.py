"""What stands between items is named by --separator, or plain in the sample or the solution."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, is_refused

import harness
from harness.core.errors import HarnessError, UsageError
from harness.experiment.terms import Terms

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
    found = harness.validate("lists.csv", **options)
    return {problem.code for problem in found.errors}, found.checked


BY: dict[str, Any] = {"solution": "solution.csv"}
SEMICOLON = "lists, a semicolon between them as "


def test_it_is_plain_in_the_solution_or_in_the_sample(folder: Path) -> None:
    assert figure(**BY) == MAP
    errors, said = checked(**BY)
    assert (errors, SEMICOLON + "in the solution" in said) == (set(), True), said
    errors, said = checked(sample="sample.csv")
    assert (errors, SEMICOLON + "in sample.csv" in said) == (set(), True), said
    Path("solution.csv").write_text(SOLUTION.replace(";", " "))  # each is read as it is
    assert figure(**BY, sample="sample.csv") == MAP


@pytest.mark.parametrize(
    ("lists", "told"),
    [
        (["q;r", "q;r"], True),
        ([["q", "r"], ["q;r"]], False),  # no texts: they say nothing
        ([{"q": 1}, {"q": 2}], False),
    ],
)
def test_it_is_plain_in_a_sample_in_parquet(folder: Path, lists: list[object], told: bool) -> None:
    pl.DataFrame({"user": ["ann", "bob"], "items": lists}).write_parquet("sample.parquet")
    errors, said = checked(sample="sample.parquet")
    assert (not errors, "as in sample.parquet" in said) == (told, told), said


def test_it_is_named(folder: Path) -> None:
    Path("sample.csv").write_text("user,items\nann,\nbob,\n")
    errors, said = checked(sample="sample.csv")
    assert ("SUB309" in errors, "between them" in said) == (True, False)
    errors, said = checked(sample="sample.csv", separator=";")
    assert (errors, SEMICOLON + "named" in said) == (set(), True), said
    for solution in (SOLUTION, SOLUTION.replace(";", " ")):
        Path("solution.csv").write_text(solution)
        assert figure(**BY, separator=";") == MAP
    Path("lists.csv").write_text(LISTS.replace(";", "|"))
    (problem,) = harness.validate("lists.csv", sample="sample.csv", separator=";").errors
    assert problem.hint == "put a semicolon between items"


def test_commas_within_quotes(folder: Path) -> None:
    Path("solution.csv").write_text('user,items\nann,"a,b"\nbob,b\n')
    Path("lists.csv").write_text('user,items\nann,"a,x"\nbob,"x,b"\n')
    assert figure(**BY) == figure(**BY, separator=",") == MAP


def test_fix_writes_what_is_named(folder: Path, cli: Cli) -> None:
    Path("lists.csv").write_text("user,items\nann,a b\nbob,b\n")
    for between, row in ((";", "ann,a;b"), (",", 'ann,"a,b"')):
        options = ("--solution", "solution.csv", "--separator", between, "--fix", "out.csv")
        assert cli("validate", "lists.csv", *options)[0] == 0
        assert row in Path("out.csv").read_text().splitlines()


def test_rows_of_one_item_have_none(folder: Path) -> None:
    Path("lists.csv").write_text("user,item,rank\nann,a,1\nann,x,2\nbob,x,1\nbob,b,2\n")
    assert figure(**BY, separator=";") == MAP


def test_a_config_of_submission_alone(folder: Path) -> None:
    Path("own.toml").write_text(
        '[submission]\nuser = "who"\nitems = "what"\nseparator = ";"\nsample = "asked.csv"\n'
    )
    Path("asked.csv").write_text("who,what\nann,\nbob,\n")
    Path("lists.csv").write_text(LISTS.replace("user,items", "who,what"))
    for solution in (SOLUTION, SOLUTION.replace(";", " ")):
        Path("solution.csv").write_text(solution)
        assert figure(**BY, config="own.toml") == MAP
    _, said = checked(config="own.toml")
    assert "a semicolon between them as the config says; 2 ids must be there" in said
    Path("lists.csv").write_text("who,what\nann,a;x\n")
    assert checked(**BY, config="own.toml")[0] == {"SUB201"}


def test_what_such_a_config_cannot_do(folder: Path, cli: Cli) -> None:
    Path("own.toml").write_text('[submission]\nseparator = ";"\n')
    told = "--solution SOLUTION; this config has no [data]"
    is_refused(cli("score", "lists.csv", "--config", "own.toml"), told)
    is_refused(cli("run", "own.toml"), "[data] is missing")
    Path("own.toml").write_text('[submission]\nseparator = "/"\n')
    told = "[submission] separator = '/'; allowed:"
    with pytest.raises(UsageError, match=re.escape(told)):
        figure(**BY, config="own.toml")


def test_explain_reads_lists_in_the_same_way(folder: Path, cli: Cli) -> None:
    def items(*arguments: str) -> list[str]:
        out = cli("explain", "lists.csv", *arguments, "--user", "ann", "--format", "json")[1]
        return [place["item"] for place in json.loads(out)["users"][0]["places"]]

    log = "user,item,time\nann,a,2020-01-01\nbob,b,2020-01-01\nann,b,2020-01-09\n"
    toml = small.toml(submission={"separator": ";"})
    small.write(folder, {"log.csv": log, "shop.toml": toml})
    assert items("--config", "shop.toml") == ["a", "x"]
    Path("solution.csv").write_text(SOLUTION.replace(";", " "))
    Path("own.toml").write_text('[submission]\nseparator = ";"\n')
    for named in (("--separator", ";"), ("--config", "own.toml")):
        assert items("--solution", "solution.csv", *named) == ["a", "x"]


def test_a_config_with_data_says_it_itself(folder: Path, cli: Cli) -> None:
    config = str(Path(__file__).parents[2] / "configs" / "demo.toml")
    for command in ("validate", "score", "explain"):
        options = ["--user", "ann"] if command == "explain" else []
        arguments = (command, "lists.csv", "--config", config, "--separator", ";", *options)
        is_refused(cli(*arguments), "leave --separator out, and set separator under [submission]")


def test_a_separator_that_is_none(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"--separator is '/'; expected one of ' ' \(one space\)"):
        harness.validate("lists.csv", separator="/")


@pytest.mark.parametrize("separator", [None, ";", " "])
def test_an_id_or_several(folder: Path, separator: str | None) -> None:
    """One list of five holds a semicolon: that may be a part of an id."""
    rows = [f"u{number},a{number}\n" for number in range(4)]
    Path("solution.csv").write_text("user,items\nann,a;b\n" + "".join(rows))
    Path("lists.csv").write_text("user,items\nann,a;b\n")
    if separator is None:
        with pytest.raises(HarnessError, match=r'"a;b" among the true items: one id, or several'):
            harness.score("lists.csv", solution="solution.csv")
        return
    found = harness.score("lists.csv", solution="solution.csv", separator=separator, force=True)
    assert found.metrics["MAP@12"].mean == 1 / 5  # ann's one item, or both of hers
    terms = Terms.of(solution="solution.csv", separator=separator)
    assert ("a;b" in terms.scored_against().items.to_list()) == (separator == " ")


def test_lists_as_python_prints_them_are_refused_still(folder: Path) -> None:
    Path("solution.csv").write_text("user,items\nann,\"['a', 'b']\"\nbob,\"['b']\"\n")
    with pytest.raises(HarnessError, match="without brackets, quotes and commas"):
        harness.score("lists.csv", solution="solution.csv")


def test_a_host_on_kaggle_may_write_them_so(folder: Path) -> None:
    import pandas as pd

    from harness.kaggle import score

    solution, lists = (pd.read_csv(f"{name}.csv") for name in ("solution", "lists"))
    assert score(solution, lists, "user") == MAP
