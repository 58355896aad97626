"""What a reader sees of a checked submission."""

from pathlib import Path

import polars as pl
import pytest
from checking import against, checked

from harness.core.table import as_csv
from harness.submission import problems
from harness.submission.expected import Against
from harness.submission.fix import fix, report
from harness.submission.problems import Validation
from harness.submission.rules import GOOD
from harness.submission.validate import validate

BAD = GOOD.replace("bob,0706016003", "bob,706016003 706016001\nann,\nzoe,706016002")


@pytest.fixture
def bad(here: Path) -> Validation:
    """Return what is wrong with bad.csv, which is read in its own folder."""
    return checked(Path(), BAD, name="bad.csv")


def test_every_problem_has_its_place_its_count_and_its_cure(bad: Validation) -> None:
    assert (
        problems.text(bad, 0.04)
        == """\
checked as a file of users and items; lists, up to 12 items; 3 ids required; 3 items are known
bad.csv   5 rows   3 errors, 1 warning   0.0 s

SUB202  error     line 5, customer_id: "zoe" is not one of the required ids
                  write the id as required; remove the row only if its user is not required

SUB203  error     line 4, customer_id: "ann" has a row already
                  give each user one row

SUB305  error     line 3, prediction: "706016003" lost its leading zeros: ids have 10 digits; \
"0706016003" is known (user "bob")
                  3 items in 2 lines; also line 5
                  write ids as text (pandas: dtype=str); or --fix bad-fixed.csv

SUB301  warning   line 4, prediction: the list is empty
                  recommend at least one item"""
    )


def test_lines_are_as_long_as_the_terminal(bad: Validation) -> None:
    assert max(map(len, problems.text(bad, 0.0, 60).splitlines())) <= 60


@pytest.mark.parametrize(
    ("name", "fixed"),
    [
        ("a.b.csv", "a.b-fixed.csv"),
        ("old.csv", "old-fixed-2.csv"),  # old-fixed.csv is there
        ("lists.v2.CSV", "lists.v2-fixed.csv"),
        (".hidden.csv", ".hidden-fixed.csv"),
        ("-dash.csv", "./-dash-fixed.csv"),
        ("my lists", "'my lists-fixed.csv'"),
    ],
)
def test_a_file_to_mend_into_is_a_free_one_beside(here: Path, name: str, fixed: str) -> None:
    Path("old-fixed.csv").touch()
    assert f"; or --fix {fixed}\n" in problems.text(checked(Path(), BAD, name=name), None)


def test_a_frame_is_not_mended(here: Path) -> None:
    frame = pl.read_csv(BAD.encode(), schema_overrides=[pl.String] * 2)
    result = validate(frame, against(Path()))
    assert "SUB305" in repr(result)
    assert "--fix" not in repr(result)


def test_as_records(bad: Validation) -> None:
    header, row, *_ = as_csv(bad.records()).splitlines()
    assert header == "code,severity,line,user,column,value,known,count,lines,message,hint,fixed"
    assert row.startswith('SUB202,error,5,,customer_id,zoe,,1,1,"""zoe"" is not one of the')


@pytest.mark.parametrize(
    ("content", "items", "text"),
    [
        (BAD, True, "fixed, written to out.csv; errors remain: SUB202, SUB203"),
        (GOOD, True, "nothing to fix, written to out.csv; no errors remain"),
        (
            GOOD.replace("ann,0706016001 0706016002", "bob,0706016003"),
            True,
            "fixed, written to out.csv, 1 missing row added, 1 repeated row removed; no errors "
            "remain",
        ),
        (
            GOOD,
            False,
            "nothing to fix, written to out.csv; no errors remain; items were not compared (give "
            "--solution, --items or --config)",
        ),
    ],
)
def test_what_was_mended(here: Path, content: str, items: bool, text: str) -> None:
    known = against(Path()) if items else Against()
    before = checked(Path(), content, known)
    fixed = fix(Path("submission.csv"), known, Path("out.csv"))
    assert report(before, fixed, validate(Path("out.csv"), known)) == text
