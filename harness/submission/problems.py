"""What is wrong with a submission, as a person is told."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.report.shown import Shown
from harness.submission.checks import CHECKS
from harness.submission.findings import Finding, Findings, Place, shown
from harness.submission.formats import Format
from harness.submission.respell import SURE
from harness.submission.separators import NAMES

if TYPE_CHECKING:
    from harness.report.sheet import Sheet

SCHEMA = 1


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes
    ----------
    code, severity : str
    line : int, optional
        The first physical line, from 1.
    column : str, optional
    value : str
        What stands there, cut and printable.
    count, lines : int
        How many there are, and lines with any.
    message, hint : str
        What is wrong with the first, and how to mend it.
    places : tuple of Place
        The first of them.
    fixed : bool
        Whether ``--fix`` mends it.
    """

    code: str
    severity: str
    line: int | None
    column: str | None
    value: str
    count: int
    lines: int
    message: str
    hint: str
    places: tuple[Place, ...]
    fixed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return vars(self) | {"places": [vars(place) for place in self.places]}


@dataclass(frozen=True, repr=False)
class Validation(Shown):
    """What was found in a submission.

    Attributes
    ----------
    path : Path
    rows : int
    problems : tuple of Problem
        Errors first, each kind in order of code.
    checked : str
        As what it was read, and against which ids.
    """

    path: Path
    rows: int
    problems: tuple[Problem, ...]
    checked: str = ""

    def __repr__(self) -> str:
        """Return the report."""
        from harness.report import validated

        return validated.text(self, None)

    def sheets(self) -> list[Sheet]:
        """Return the problems as a table."""
        from harness.report import validated

        return [validated.sheet(self)]

    def records(self) -> list[dict[str, object]]:
        """Return one record a problem."""
        from harness.report import validated

        return validated.records(self)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems for which a platform would refuse the file, or score it wrong."""
        return tuple(p for p in self.problems if p.severity == "error")

    @property
    def blocked(self) -> Problem | None:
        """The first problem that keeps ``--fix`` from writing anything."""
        return next((p for p in self.problems if CHECKS[p.code].blocks), None)

    @property
    def valid(self) -> bool:
        """Whether there are no errors."""
        return not self.errors

    def summary(self) -> dict[str, Any]:
        """Return how many errors and warnings there are, and what they are."""
        return {
            "errors": len(self.errors),
            "warnings": len(self.problems) - len(self.errors),
            "found": [problem.to_dict() for problem in self.problems],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        problems = [problem.to_dict() for problem in self.problems]
        return {
            "schema": SCHEMA,
            "valid": self.valid,
            "rows": self.rows,
            "checked": self.checked,
            "problems": problems,
        }


def problems(
    findings: Findings, wanted: Format | None, strict: bool, all_items: bool
) -> tuple[Problem, ...]:
    """Return what was found as a person is told, errors first.

    Parameters
    ----------
    all_items : bool
        Whether every item there is is known; else a short one in another case may be another.
    """
    mends = not any(CHECKS[code].blocks for code in findings.found)
    found = [
        _problem(code, finding, wanted, strict, mends and _is_sure(code, finding, all_items))
        for code, finding in sorted(findings.found.items())
    ]
    return tuple(sorted(found, key=lambda problem: problem.severity != "error"))


def _is_sure(code: str, finding: Finding, all_items: bool) -> bool:
    return code != "SUB317" or all_items or all(len(p.value) >= SURE for p in finding.places)


def _problem(
    code: str, finding: Finding, wanted: Format | None, strict: bool, mends: bool
) -> Problem:
    """Return one kind of fault; `mends`: whether ``--fix`` writes anything."""
    check = CHECKS[code]
    rows = wanted is not None and wanted.long
    first = finding.places[0] if finding.places else Place(None, "")
    words = {
        "value": f'"{first.value}"' if check.of else first.value,
        "plain": first.value,
        "quoted": shlex.quote(first.value),
        "values": ", ".join(place.value for place in finding.places),
        "count": f"{finding.count:,}",
        **({} if wanted is None else _words(wanted)),
    }
    columns = {} if wanted is None else {"user": shown(wanted.user), "items": shown(wanted.items)}
    return Problem(
        code,
        "error" if strict else check.severity,
        first.line,
        columns.get(check.column),
        first.value,
        finding.count,
        finding.lines,
        check.says.format(**words),
        check.hint.format(**words),
        tuple(finding.places),
        mends and check.fixed and not (check.of_lists and rows),
    )


def _words(wanted: Format) -> dict[str, object]:
    """Return what messages say of a format."""
    between, allowed = NAMES[wanted.between], ",".join(map(shown, wanted.columns))
    words: dict[str, object] = {"k": wanted.k, "width": wanted.width, "allowed": allowed}
    if wanted.long:
        one = f"write one item a row: {allowed}"
        return words | {"between": "a new row"} | dict.fromkeys(_OF_ITEMS, one)
    put = f"put {between} between items"
    apart = "put the list in quotes" if wanted.between == "," else put
    joined = f"join the items: {wanted.between!r}.join(items)"
    hints = dict(zip(_OF_ITEMS, (put, apart, joined), strict=True))
    return words | {"between": between} | hints


_OF_ITEMS = ("between_items", "apart", "joined")
"""Hints of how to write items: beside each other, in a field, from a list of Python's."""
