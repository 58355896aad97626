"""What a reader sees of a checked submission."""

import csv
import io
from pathlib import Path

import pytest
from conftest import Cli

from harness.core.table import as_csv
from harness.submission import problems
from harness.submission.expected import of_tables
from harness.submission.problems import Validation
from harness.submission.rules.rule import GOOD, ITEMS, SAMPLE
from harness.submission.validate import validate

BAD = GOOD.replace("bob,0706016003", "bob,706016003 706016001\nann,\nzoe,706016002")


@pytest.fixture
def found(here: Path) -> Validation:
    for name, text in {"sample": SAMPLE, "articles": ITEMS, "bad": BAD, "good": GOOD}.items():
        (here / f"{name}.csv").write_text(text)
    return validate(Path("bad.csv"), of_tables(Path("sample.csv"), Path("articles.csv")))


def test_every_problem_has_its_place_its_count_and_its_cure(found: Validation) -> None:
    assert (
        problems.text(found, 0.04)
        == """\
bad.csv   5 rows   3 errors, 1 warning   0.0 s
checked as H&M Personalized Fashion Recommendations, Kaggle 2022; lists, up to 12 items; \
3 ids must be there; 3 items are known

SUB202  error     line 5, customer_id: "zoe" is none of the ids that are asked for
                  write the id as it is asked for; drop the row only if its user is not asked for

SUB203  error     line 4, customer_id: "ann" has a row already
                  give each user one row

SUB305  error     line 3, prediction: "706016003" lost its leading zeros: ids have 10 digits
                  3 items in 2 lines; also line 5
                  write ids as text (pandas: dtype=str); or --fix OUT

SUB301  warning   line 4, prediction: the list is empty
                  recommend something"""
    )


def test_a_column_by_nearly_its_name(found: Validation) -> None:
    """Only where the column that may be meant is not there as well."""
    Path("near.csv").write_text(GOOD.replace("prediction", "predictions"))
    Path("both.csv").write_text("customer_id,prediction,predictions\nann,,\nbob,,\n")
    sample = of_tables(Path("sample.csv"))
    near, both = (validate(Path(f"{name}.csv"), sample) for name in ("near", "both"))
    assert [p.message for p in near.problems if p.code == "SUB102"] == [
        'nobody knows the column "predictions"; did you mean "prediction"?'
    ]
    assert [p.message for p in both.problems if p.code == "SUB102"] == [
        'nobody knows the column "predictions"'
    ]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_lines_are_as_long_as_the_terminal(found: Validation, width: int) -> None:
    lines = problems.text(found, 0.0, width).splitlines()[1:]
    assert max(map(len, lines)) <= max(width, 48)


def test_as_records(found: Validation) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(found.records()))))
    assert [(row["code"], row["line"], row["count"]) for row in rows] == [
        ("SUB202", "5", "1"),
        ("SUB203", "4", "1"),
        ("SUB305", "3", "3"),
        ("SUB301", "4", "1"),
    ]


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["good.csv", "--sample", "sample.csv", "--items", "articles.csv"], 0, "0 errors, 0 warn"),
        (["bad.csv", "--sample", "sample.csv"], 1, "SUB202"),
        (["bad.csv"], 1, "SUB203"),
        (["bad.csv", "--solution", "sample.csv"], 1, "SUB203"),
        (["gone.csv"], 1, "SUB001"),
        (
            ["good.csv", "--sample", "sample.csv", "--strict", "--format", "json"],
            0,
            '"valid": true',
        ),
        (["bad.csv", "--format", "markdown"], 1, "| SUB203 | error | 4 |"),
        (["bad.csv", "--sample", "sample.csv", "--solution", "sample.csv"], 1, "SUB202"),
        (["bad.csv", "--items", "articles.csv"], 1, "SUB305"),
        (["bad.csv", "--k", "0"], 2, "k is 0"),
        (["bad.csv", "--sample", "gone.csv"], 2, "gone.csv: there is no such file"),
        (
            ["bad.csv", "--sample", "sample.csv", "--fix", "bad.csv"],
            2,
            "is read by this command and never touched",
        ),
        (["bad.csv", "--sample", "sample.csv", "--fix", "out.csv"], 1, "errors are left: SUB202"),
        (["sample.csv", "--fix", "out.csv"], 0, "nothing to mend, written to out.csv; no errors"),
    ],
)
def test_the_command(arguments: list[str], status: int, said: str, cli: Cli) -> None:
    found, out, err = cli("validate", *arguments)
    assert (found, "Traceback" in err) == (status, False)
    assert said in out + err
