"""Case 2.1: explain asks for what orders rows as score does, and takes the same answers."""

import csv
import io
from pathlib import Path

import pytest
from conftest import Cli, is_refused

ROWS = "ann,x,0.1\nann,a,0.9\nbob,b,0.5\nbob,c,0.4\n"
OPTIONS = ("--solution", "truth.csv", "--user", "ann", "--format", "csv")


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    (here / "truth.csv").write_text("user,items\nann,a\nbob,b\n")
    (here / "long.csv").write_text(f"user,item,my pred\n{ROWS}")


def items(text: str) -> list[str]:
    return [row["item"] for row in csv.DictReader(io.StringIO(text))]


def test_it_is_asked_for(cli: Cli) -> None:
    told = 'the column "my pred" holds numbers, which may order the rows of a user'
    options = ("--score-column 'my pred'", "--rank-column 'my pred'", "--row-order")
    is_refused(cli("explain", "long.csv", *OPTIONS), told, *options)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["--score-column", "my pred"], ["a", "x"]),
        (["--rank-column", "my pred"], ["x", "a"]),
        (["--row-order"], ["x", "a"]),
    ],
)
def test_every_answer_is_taken(answer: list[str], expected: list[str], cli: Cli) -> None:
    rows = ROWS.replace("0.1", "1").replace("0.9", "2").replace("0.5", "1").replace("0.4", "2")
    scores = "--score-column" in answer
    Path("long.csv").write_text(f"user,item,my pred\n{ROWS if scores else rows}")
    status, out, _ = cli("explain", "long.csv", *OPTIONS, *answer)
    assert status == 0
    assert items(out) == expected


@pytest.mark.parametrize(
    "content",
    [
        "user,item,note\nann,x,u\nann,a,v\n",  # no numbers
        "user,items,n\nann,x a,7\nbob,b,8\n",  # a row a user
        "user,item,rank,n\nann,x,1,0\nann,a,2,9\n",  # another column orders them
    ],
)
def test_what_orders_no_rows_is_not_asked_for(content: str, cli: Cli) -> None:
    Path("long.csv").write_text(content)
    status, out, _ = cli("explain", "long.csv", *OPTIONS)
    assert status == 0
    assert items(out) == ["x", "a"]
