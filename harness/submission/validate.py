"""A submission in, everything that is wrong with it out: one pass, all faults, with lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.submission import header
from harness.submission.against import Against
from harness.submission.blocks import Reader
from harness.submission.checks import CHECKS
from harness.submission.findings import Finding, Findings, Place
from harness.submission.formats import Format
from harness.submission.gather import Expected, Gathered, gather
from harness.submission.known import Known, nothing
from harness.submission.opened import Refused, opened
from harness.submission.scan import Form

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return vars(self) | {"places": [vars(place) for place in self.places]}


@dataclass(frozen=True)
class Validation:
    """What was found in a submission.

    Attributes
    ----------
    path : Path
    rows : int
    problems : tuple of Problem
        Errors first, each kind in order of code.
    """

    path: Path
    rows: int
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems for which a platform would refuse the file, or score it wrong."""
        return tuple(p for p in self.problems if p.severity == "error")

    @property
    def valid(self) -> bool:
        """Whether there are no errors."""
        return not self.errors

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        problems = [problem.to_dict() for problem in self.problems]
        return {"schema": SCHEMA, "valid": self.valid, "rows": self.rows, "problems": problems}


def validate(path: Path, against: Against, *, strict: bool = False) -> Validation:
    """Return everything that is wrong with a submission.

    Parameters
    ----------
    strict : bool
        Whether warnings are errors.
    """
    findings = Findings()
    rows, wanted = 0, against.format
    try:
        with opened(path) as file:
            head = header.read(file.stream)
            wanted = against.wanted(head.columns)
            places = header.check(head, wanted, findings)
            if file.encoding != "utf-8":
                findings.note("SUB006")
            if len(places) == len(wanted.columns):
                reader = Reader(file.stream, ord(head.separator), returns=head.returns)
                items = against.items if len(against.items) else nothing(wanted.width)
                answered = np.full(len(against.users), -1, np.int32)
                expected = Expected(against.users, items, answered, 0)
                found = gather(reader, Form.of(head, places, wanted), expected, findings)
                _whole(found, reader, head, findings, against.users)
                rows = found.users.rows
    except Refused as refused:
        findings.note(refused.check, refused.value)
    return Validation(path, rows, _problems(findings, wanted, strict))


def _whole(
    found: Gathered, reader: Reader, head: header.Header, findings: Findings, users: Known
) -> None:
    """Note what only the whole file tells."""
    if head.returns:
        findings.add("SUB010", found.lines, [])
    if found.lines == 1:
        findings.note("SUB004")
    if not reader.ends:
        findings.note("SUB012")
    if users.complete:
        findings.add("SUB201", int(np.count_nonzero(~found.users.known)), [])
    if found.held > 1 and found.same == found.held:
        findings.add("SUB401", found.held, [])
    if found.held > 1 and found.single == found.held:
        findings.add("SUB404", found.held, [])


def _problems(findings: Findings, wanted: Format | None, strict: bool) -> tuple[Problem, ...]:
    found = [
        _problem(code, finding, wanted, strict) for code, finding in sorted(findings.found.items())
    ]
    return tuple(sorted(found, key=lambda problem: problem.severity != "error"))


def _problem(code: str, finding: Finding, wanted: Format | None, strict: bool) -> Problem:
    check = CHECKS[code]
    first = finding.places[0] if finding.places else Place(None, "")
    words = {
        "value": f'"{first.value}"' if check.of else first.value,
        "count": f"{finding.count:,}",
        **({} if wanted is None else _words(wanted)),
    }
    columns = {} if wanted is None else {"user": wanted.user, "items": wanted.items}
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
    )


def _words(wanted: Format) -> dict[str, object]:
    """Return what messages say of a format."""
    return {
        "k": wanted.k,
        "width": wanted.width,
        "between": _BETWEEN[wanted.between],
        "allowed": ",".join(wanted.columns),
    }


_BETWEEN = {" ": "one space", ",": "a comma"}
