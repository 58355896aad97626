"""A file is rid of a fault when you follow the hint on it."""

from dataclasses import replace
from pathlib import Path

import pytest
from checking import LONG, ROWS, against, by_solution, checked, codes

from harness.submission.format import FORMATS
from harness.submission.problems import Problem, Validation
from harness.submission.rules import EXAMPLES
from harness.submission.rules.rule import GOOD

BOTH = GOOD.replace("bob,0706016003", "bob,0706016003 0706016001")
RENAMED = LONG.replace("article_id,rank", "prediction,rank")
HASH = f"customer_id,prediction\n{1:064},0706016001 0706016002\n"
FOLLOWED: dict[str, str] = {
    "SUB203": GOOD.replace("bob,0706016003", "bob,0706016001"),
    **dict.fromkeys(["SUB205", "SUB309", "SUB310", "SUB311"], BOTH),
    **dict.fromkeys(["SUB210", "SUB312"], HASH),
    **dict.fromkeys(["SUB313", "SUB314", "SUB316"], RENAMED),
    "SUB315": RENAMED.replace("rank", "score"),
}
"""What a file is when somebody has done what the hint of a rule says; of others it is `GOOD`."""


def fault(result: Validation, code: str) -> Problem:
    return next(problem for problem in result.problems if problem.code == code)


@pytest.mark.parametrize("code", EXAMPLES)
def test_a_file_is_rid_of_what_its_hint_is_followed_on(tmp_path: Path, code: str) -> None:
    known = against(tmp_path, code)
    assert code in codes(tmp_path, EXAMPLES[code], known)
    after = checked(tmp_path, FOLLOWED.get(code, GOOD), known)
    assert code not in {problem.code for problem in after.problems}
    assert after.valid


def test_a_header_to_write_is_one(tmp_path: Path) -> None:
    """No sample names the columns: the first row would be its own header."""
    path, truth = tmp_path / "lists.csv", "user,items\nann,a\nbob,b\n"
    for header, rows in (
        ("user,items", "ann,a b\nbob,b\n"),
        ("user,item", "ann,a\nbob,b\nbob,a\n"),
    ):
        path.write_text(rows)
        hint = fault(by_solution(path, truth).validation, "SUB109").hint
        assert hint == f"write a header that names each column: {header}"
        path.write_text(f"{header}\n{rows}")
        assert by_solution(path, truth).validation.valid


@pytest.mark.parametrize(
    ("between", "code", "hint"),
    [
        (",", "SUB205", "put the list in quotes"),
        (",", "SUB310", "join the items: ','.join(items)"),
        ("|", "SUB205", "put a bar between items"),
    ],
)
def test_a_hint_knows_what_stands_between_items(
    tmp_path: Path, between: str, code: str, hint: str
) -> None:
    known = replace(against(tmp_path), format=replace(FORMATS["hm"], between=between))
    assert fault(checked(tmp_path, EXAMPLES[code], known), code).hint == hint


@pytest.mark.parametrize("code", ["SUB205", "SUB309", "SUB310"])
def test_a_hint_knows_that_a_row_holds_an_item(tmp_path: Path, code: str) -> None:
    hint = fault(checked(tmp_path, ROWS[code][0]), code).hint
    assert hint == "write one item a row: customer_id,article_id,rank"
