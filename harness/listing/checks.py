"""What there is of checks of submissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.core import table
from harness.core.table import Sheet
from harness.submission.rules import RULES
from harness.submission.rules.rule import Column, Rule, Severity, Unit


@dataclass(frozen=True)
class CheckFacts:
    """A check of submissions."""

    code: str
    name: str
    severity: Severity
    says: str
    hint: str
    of: Unit
    """What is counted: ``ids``, ``lists``, ``items`` or ``lines``; empty where it is the file."""
    column: Column
    """``user``, ``items``, or empty."""
    fixed: bool
    """Whether ``--fix`` mends it."""


@dataclass(frozen=True)
class Checks:
    """The checks of submissions."""

    checks: list[CheckFacts]


def document() -> dict[str, Any]:
    """Return the checks of submissions as the JSON document of ``harness list checks``."""
    checks = [
        CheckFacts(
            code=rule.code,
            name=rule.name,
            severity=rule.severity,
            says=rule.says,
            hint=rule.hint,
            of=rule.unit,
            column=rule.column,
            fixed=rule.fixed,
        )
        for rule in RULES.values()
    ]
    return table.document(Checks(checks))


def sheet() -> Sheet:
    """Return the checks of submissions as a table."""
    columns: list[table.Column[Rule]] = [
        table.Column("check", lambda rule: rule.code, "name"),
        table.Column("severity", lambda rule: rule.severity, "name"),
        table.Column("what", lambda rule: rule.name, "words"),
        table.Column("how to fix it", lambda rule: plain(rule.hint), "words"),
        table.Column("mended by", lambda rule: "--fix" if rule.fixed else "", "name"),
    ]
    return Sheet.of(RULES.values(), columns)


def plain(hint: str) -> str:
    """Return a hint as it reads without a file."""
    return hint.format(
        allowed="customer_id,prediction",
        k="k",
        between="one space",
        quoted="NAME",
        between_items="put one space between items",
        apart="put one space between items",
        joined="join the items: ' '.join(items)",
        unless="",
    )
