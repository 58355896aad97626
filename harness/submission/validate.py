"""A submission in, everything that is wrong with it out: one pass, all faults, with lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.submission import formats, header, told
from harness.submission.blocks import Reader
from harness.submission.checks import CHECKS
from harness.submission.findings import Finding, Findings, Place
from harness.submission.formats import Format
from harness.submission.gather import Expected, Gathered, gather
from harness.submission.known import Known, nothing
from harness.submission.opened import Refused, opened
from harness.submission.scan import Form

SCHEMA = 1
_FEW = 1e-4
"""Fewer users than this share with a hit are hardly any."""


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


@dataclass(frozen=True)
class Asked:
    """What a submission is checked against.

    Attributes
    ----------
    sample : Path, optional
        A file whose ids are those that must be there.
    items : Path, optional
        A table whose first column, or `item_column`, holds all items.
    format : str, optional
        One of the formats; recognised by the header by default.
    k : int, optional
        The longest list; the format's by default.
    strict : bool
        Whether warnings are errors.
    """

    sample: Path | None = None
    items: Path | None = None
    item_column: str | None = None
    format: str | None = None
    k: int | None = None
    strict: bool = False


def validate(path: Path, asked: Asked) -> Validation:
    """Return everything that is wrong with a submission.

    Raises
    ------
    UsageError, DataError
        An unknown format; a sample or table of items that cannot be used.
    """
    if asked.k is not None and asked.k < 1:
        raise UsageError(f"k is {asked.k}; expected 1 or more")
    users = nothing() if asked.sample is None else told.ids(asked.sample)
    items = nothing() if asked.items is None else told.ids(asked.items, asked.item_column)
    findings = Findings()
    rows, wanted = 0, None
    try:
        with opened(path) as file:
            head = header.read(file.stream)
            wanted = _format(head.columns, asked)
            places = header.check(head, wanted, findings)
            if file.encoding != "utf-8":
                findings.note("SUB006")
            if len(places) == len(wanted.columns):
                reader = Reader(file.stream, ord(head.separator), returns=head.returns)
                form = _form(head, places, wanted)
                known = items if len(items) else nothing(wanted.width)
                answered = np.full(len(users), -1, np.int32)
                found = gather(reader, form, Expected(users, known, answered, 0), findings)
                _whole(found, reader, head, findings, users)
                rows = found.users.rows
    except Refused as refused:
        findings.note(refused.check, refused.value)
    return Validation(path, rows, _problems(findings, wanted, users, asked.strict))


def _format(columns: tuple[str, ...], asked: Asked) -> Format:
    """Return the format that is named, or that of the sample's header, or of the file's own."""
    if asked.format is not None:
        return formats.named(asked.format).cut_at(asked.k)
    model = columns if asked.sample is None else told.columns(asked.sample)
    return formats.recognised(model, asked.k)


def _form(head: header.Header, places: dict[str, int], wanted: Format) -> Form:
    return Form(
        fields=len(head.columns),
        user=places[wanted.user],
        items=places[wanted.items],
        separator=ord(head.separator),
        between=ord(wanted.between),
        **({} if wanted.k is None else {"width": wanted.k}),
    )


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


def _problems(
    findings: Findings, wanted: Format | None, users: Known, strict: bool
) -> tuple[Problem, ...]:
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
