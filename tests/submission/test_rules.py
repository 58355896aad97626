"""Every check is shown by an example that it finds, and told in docs/submission-checks.md."""

import json
from pathlib import Path

import pytest

from harness.report import rule_docs
from harness.submission.expected import Against, of_tables
from harness.submission.faults import COUNT
from harness.submission.format import FORMATS
from harness.submission.rules import EXAMPLES, OF_FAULT, RULES
from harness.submission.rules.rule import GOOD, ITEMS, SAMPLE
from harness.submission.validate import validate

DOCS = Path(__file__).parents[2] / "docs" / "submission-checks.md"
WITHOUT_EXAMPLE = {
    "SUB001",
    "SUB002",
    "SUB018",
    "SUB019",
    "SUB020",
    "SUB108",
    "SUB110",
    "SUB214",
    "SUB317",
    "SUB318",
    "SUB402",
    "SUB403",
}
"""What no text of three rows shows; tested elsewhere."""


def against(folder: Path, code: str) -> Against:
    if code in ("SUB210", "SUB312"):  # where nobody says which ids there are
        return Against(format=FORMATS["hm"])
    (folder / "sample.csv").write_text(SAMPLE)
    (folder / "articles.csv").write_text(ITEMS)
    return of_tables(folder / "sample.csv", folder / "articles.csv")


@pytest.mark.parametrize("code", RULES)
def test_its_example_is_found(tmp_path: Path, code: str) -> None:
    if code in WITHOUT_EXAMPLE:
        pytest.skip("no text of three rows shows it")
    path = tmp_path / "submission.csv"
    path.write_bytes(EXAMPLES[code])
    found = {problem.code: problem for problem in validate(path, against(tmp_path, code)).problems}
    assert code in found
    assert "{" not in found[code].message + found[code].hint


def test_the_good_file_is_good(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_text(GOOD)
    assert validate(path, against(tmp_path, "")).problems == ()


def test_every_fault_of_a_line_has_a_check_but_single_items() -> None:
    """That a list holds one item is nothing, unless all do: SUB404."""
    assert len(OF_FAULT) == COUNT - 1
    assert len(set(OF_FAULT.values())) == len(OF_FAULT)


def test_codes_are_of_one_shape_and_in_order() -> None:
    assert list(RULES) == sorted(RULES)
    assert all(len(code) == 6 and code[3] in "01234" for code in RULES)


def test_the_page_is_made_from_the_declarations() -> None:
    assert DOCS.read_text(encoding="utf-8") == rule_docs.checks_page()


def test_the_list_is_whole() -> None:
    document = rule_docs.checks_document()
    json.dumps(document)
    assert [check["code"] for check in document["checks"]] == list(RULES)
