"""A column that may order rows is asked for, and ``--fix`` never drops it unasked."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from conftest import refusal

import harness
from harness.core.errors import HarnessError
from harness.scoring.submissions import SubmissionError, lists_on_terms
from harness.scoring.terms import Terms

ROWS = "ann,c,0.1\nann,b,0.5\nann,a,0.9\nbob,a,0.2\nbob,d,0.8\n"
PLACES = "ann,c,1\nann,b,2\nann,a,3\nbob,a,1\nbob,d,2\n"
IN_ORDER = (1 / 2 + 2 / 3) / 2 / 2 + 1 / 4
"""By score: a b c and d a. As the rows stand, and by the lowest number first: c b a and a d."""
BY = {"solution": "truth.csv"}


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    (here / "truth.csv").write_text("user,items\nann,a b\nbob,d\n")


def write(content: str) -> None:
    Path("long.csv").write_text(content)


@pytest.mark.parametrize(
    ("content", "code", "column"),
    [
        (f"user,item,prediction\n{ROWS}", "SUB111", "prediction"),
        (f"user,item,Unnamed: 7\n{ROWS}", "SUB111", "Unnamed: 7"),
        ("uid,iid,r_ui,est\nann,a,5,1\nann,b,1,2\n", "SUB111", "est"),  # Surprise
        ("user,item,rank,prediction\nann,a,1,0\nann,b,2,9\n", "SUB113", "prediction"),
        ("user,items,n\nann,a b,2\nbob,d,1\n", "SUB113", "n"),  # a row a user: no order of rows
        ("model,user,item\nA,ann,a\nB,ann,b\nA,bob,d\n", "SUB114", "model"),  # two models
        ("user,item,rank,model\nann,a,1,A\nann,b,2,B\nbob,d,1,A\n", "SUB113", "model"),  # a blend
        (",user,item\n0,ann,a\n1,ann,b\n2,bob,d\n", "SUB107", ""),  # the index of a frame
    ],
)
def test_what_may_order_rows_is_asked_for_and_nothing_else(
    content: str, code: str, column: str
) -> None:
    write(content)
    problems = harness.validate("long.csv", **BY).problems
    assert [(problem.code, problem.value) for problem in problems] == [(code, column)]
    step = {"SUB111": "--row-order", "SUB114": "if all rows are one list"}.get(code)
    with pytest.raises(SubmissionError, match=code) if step else nullcontext():
        harness.score("long.csv", **BY, force=step is None)
    with refusal(HarnessError, step) if step else nullcontext():
        lists_on_terms(Path("long.csv"), Terms(BY))


@pytest.mark.parametrize(
    ("rows", "answer", "score", "first", "order"),
    [
        (ROWS, {"score": "column"}, 1, "abc", "ordered by column, the highest first;"),
        (PLACES, {"rank": "column"}, IN_ORDER, "cba", "ordered by column, the lowest first;"),
        (ROWS, {"row_order": True}, IN_ORDER, "cba", "in the order of rows;"),
    ],
)
def test_an_answer_is_enough(
    rows: str, answer: dict[str, Any], score: float, first: str, order: str
) -> None:
    write(f"user,item,column\n{rows}")
    options = {
        key if key == "row_order" else f"{key}_column": value for key, value in answer.items()
    }
    validation = harness.validate("long.csv", **BY, **options)
    assert (validation.valid, f"one row per item, {order}" in validation.checked) == (True, True)
    result = harness.score("long.csv", **BY, metrics=["MAP@10"], **options)
    assert result.metrics["MAP@10"].mean == pytest.approx(score, abs=1e-12)
    _, lists = lists_on_terms(Path("long.csv"), Terms(BY | options))
    assert "".join(lists.items.gather(lists.lists[0])) == first
