"""Every rule by its example: the words of docs/submission-checks.md, and what else is there."""

from dataclasses import replace
from pathlib import Path

import pytest
from checking import ROWS, against, by_solution, checked
from conftest import ROOT
from pages.checks import page

from harness.delimited import blocks
from harness.submission.expected import Against
from harness.submission.format import FORMATS
from harness.submission.problems import Findings, Problem, Validation, problems
from harness.submission.rules import EXAMPLES, GOOD, OF_FAULT, RULES
from harness.submission.validate import validate

PAGE = (ROOT / "docs" / "submission-checks.md").read_text(encoding="utf-8")
SECTIONS = {section[:6]: section for section in PAGE.split("\n## ")}
LINES = {
    1: "SUB009 SUB101 SUB102 SUB103 SUB104 SUB105 SUB106 SUB107 SUB109 SUB111 SUB114",
    2: "SUB210",
    4: "SUB202 SUB203 SUB211 SUB215",
    5: "SUB005",
    None: "SUB003 SUB004 SUB006 SUB007 SUB010 SUB012 SUB013 SUB014 SUB015 SUB016 SUB112 SUB201"
    " SUB212 SUB213 SUB401 SUB404",
}
"""Of examples whose fault is not on line 3."""
AT = {code: line for line, codes in LINES.items() for code in codes.split()}
COUNTS = {"SUB010": 4, "SUB210": 4, "SUB310": 2, "SUB401": 3, "SUB404": 3}
"""Of what an example has more than one."""
BESIDE = {
    "SUB020": "SUB014 SUB015 SUB021",
    "SUB101": "SUB109",
    "SUB102": "SUB101 SUB109",
    "SUB110": "SUB313 SUB314 SUB315 SUB316",
    "SUB201": "SUB004 SUB017 SUB102 SUB103 SUB104 SUB107 SUB208 SUB212 SUB213",
    "SUB202": "SUB005 SUB017 SUB212 SUB215",
    "SUB203": "SUB111",
    "SUB209": "SUB008 SUB213",
    "SUB210": "SUB312",
    "SUB303": "SUB302",
    "SUB310": "SUB011",
    "SUB404": "SUB111",
}
"""What is found beside the fault that an example shows, with the examples."""
OF_FORMAT = {"12": "k", "votes": "NAME"}
"""What stands in the page for a part of a hint."""
NOTED = (
    "SUB001 SUB002 SUB018 SUB019 SUB020 SUB108 SUB110 SUB113 SUB115 SUB116 SUB214 SUB318 SUB319 "
    "SUB320 SUB321 SUB322 SUB323 SUB402 SUB403"
)
"""Rules that no text of three rows shows."""


def test_every_rule_is_here() -> None:
    assert list(RULES) == sorted([*EXAMPLES, *NOTED.split()])
    assert len(set(OF_FAULT.values())) == len(OF_FAULT)
    assert page() == PAGE


def is_on_the_page(code: str, hint: str) -> bool:
    for part, instead in OF_FORMAT.items():
        hint = hint.replace(part, instead)
    return f"; to fix it: {hint}" in SECTIONS[code]


SIZES = [(code, size) for code in EXAMPLES for size in (64, 1 << 22)]


@pytest.mark.parametrize(("code", "size"), [case for case in SIZES if case != ("SUB014", 64)])
def test_an_example_has_the_words_of_the_page(
    tmp_path: Path, code: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of 64 bytes and in one; the file of 16 megabytes in one alone."""
    monkeypatch.setattr(blocks, "SIZE", size)
    faults = {
        p.code: p for p in checked(tmp_path, EXAMPLES[code], against(tmp_path, code)).problems
    }
    problem = faults.pop(code)
    assert (problem.line, problem.count) == (AT.get(code, 3), COUNTS.get(code, 1))
    place = "" if problem.line is None else f"line {problem.line}: "
    assert f"\n> {place}{problem.message}\n" in SECTIONS[code] + "\n"
    assert is_on_the_page(code, problem.hint), problem.hint
    assert set(faults) == {beside for beside, examples in BESIDE.items() if code in examples}


@pytest.mark.parametrize("code", NOTED.split())
def test_what_is_noted_is_told_in_words_with_what_was_found(code: str) -> None:
    findings = Findings()
    findings.note(code, "x.csv", 7)
    (problem,) = problems(findings, FORMATS["hm"], False)
    column = {"user": "customer_id", "items": "prediction", "": None}[RULES[code].column]
    assert (problem.code, problem.line, problem.column) == (code, 7, column)
    says = RULES[code].says
    assert ("x.csv" in problem.message) == ("{value" in says)
    assert is_on_the_page(code, problem.hint)


def test_files_that_are_none(tmp_path: Path) -> None:
    for name, code in (("gone.csv", "001"), (".", "002"), ("a" * 300, "001"), ("\0.csv", "001")):
        (problem,) = validate(tmp_path / name, against(tmp_path)).problems
        assert problem.code == f"SUB{code}"


def test_a_column_by_nearly_its_name(tmp_path: Path) -> None:
    """Only where the column that may be meant is not there as well."""
    near = checked(tmp_path, GOOD.replace("prediction", "predictions"))
    both = checked(tmp_path, "customer_id,prediction,predictions\nann,,\nbob,,\n")
    assert [[p.message for p in r.problems if p.code == "SUB102"] for r in (near, both)] == [
        ['the column "predictions" is unknown; did you mean "prediction"?'],
        ['the column "predictions" is unknown'],
    ]


def test_a_column_that_steers_a_terminal_is_shown_without(tmp_path: Path) -> None:
    faults = checked(tmp_path, "user,\x1b[2J,date\nann,,\n", Against()).problems
    assert [p.column for p in faults if p.code == "SUB301"] == [r"\u001b[2J"]
    (further,) = (p for p in faults if p.code == "SUB113")
    assert further.message == 'the column "date" is not read'


# Hints that depend on the file.


def fault(result: Validation, code: str) -> Problem:
    return next(problem for problem in result.problems if problem.code == code)


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
    path.write_text("ann,a,1\nbob,b,1\n")  # several columns may hold the items
    assert fault(by_solution(path, truth).validation, "SUB109").hint.endswith("user,item,rank")


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
    assert hint == "write one item per row: customer_id,article_id,rank"
