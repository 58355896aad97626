"""The declarations of checks, and the page made from them; test_messages.py shows each check."""

import json
from pathlib import Path

from harness.report import rule_docs
from harness.submission.faults import COUNT
from harness.submission.rules import OF_FAULT, RULES

DOCS = Path(__file__).parents[3] / "docs" / "submission-checks.md"


def test_every_fault_of_a_line_has_a_check_but_single_items() -> None:
    """That a list holds one item is nothing, unless all do: SUB404."""
    assert len([fault for fault in OF_FAULT if isinstance(fault, int)]) == COUNT - 1
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
