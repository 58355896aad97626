"""What is wrong with a submission, as a person is told: in words, as a table, as records."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.core.errors import counted, printable, suggest
from harness.core.io import as_argument, exists, free_beside
from harness.core.table import Column, Sheet, Shown, wrapped
from harness.submission.findings import Finding, Findings, Place, shown
from harness.submission.format import NAMES, Format
from harness.submission.rules import RULES
from harness.submission.rules.rule import Severity


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes
    ----------
    code : str
    severity : str
        ``error`` or ``warning``.
    line : int, optional
        The first physical line, from 1.
    user : str, optional
        Whose list the first is in, of faults of single items.
    column : str, optional
    value : str
        What stands there, cut, and what cannot be seen as its code.
    known : str, optional
        The known id that it means, if one does.
    count : int
        How many there are.
    lines : int
        How many lines have any.
    message : str
        What is wrong with the first.
    hint : str
        How to mend it.
    places : tuple of Place
        The first of them.
    fixed : bool
        Whether ``--fix`` mends it.
    """

    code: str
    severity: Severity
    line: int | None
    user: str | None
    column: str | None
    value: str
    known: str | None
    count: int
    lines: int
    message: str
    hint: str
    places: tuple[Place, ...]
    fixed: bool = False

    def where(self, unit: str = "line") -> str:
        """Return its line and column as the beginning of a sentence, empty where it has none."""
        parts = [] if self.line is None else [f"{unit} {self.line:,}"]
        parts += [] if self.column is None else [self.column]
        return f"{', '.join(parts)}: " if parts else ""


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
    folds : int
        Of how many evaluation sets of a config it was held against the last.
    """

    path: Path
    rows: int
    problems: tuple[Problem, ...]
    checked: str = ""
    folds: int = 1

    def __repr__(self) -> str:
        """Return the report."""
        return text(self, None)

    def sheets(self) -> list[Sheet]:
        """Return the problems as a table."""
        columns: list[Column[Problem]] = [
            Column("check", lambda p: p.code, "name"),
            Column("severity", lambda p: p.severity, "name"),
            Column("line", lambda p: "" if p.line is None else str(p.line)),
            Column("column", lambda p: p.column or "", "name"),
            Column("count", lambda p: f"{p.count:,}"),
            Column("what", lambda p: p.message, "name"),
            Column("how to fix it", lambda p: p.hint, "name"),
        ]
        return [Sheet.of(self.problems, columns)]

    def records(self) -> list[dict[str, object]]:
        """Return one record a problem."""
        return [
            {name: value for name, value in vars(problem).items() if name != "places"}
            for problem in self.problems
        ]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems for which a platform would refuse the file, or score it wrong."""
        return tuple(p for p in self.problems if p.severity == "error")

    @property
    def blocked(self) -> Problem | None:
        """The first problem that keeps ``--fix`` from writing anything."""
        return next((p for p in self.problems if RULES[p.code].blocks), None)

    @property
    def valid(self) -> bool:
        """Whether there are no errors."""
        return not self.errors

    def summary(self, forced: bool) -> dict[str, object]:
        """Return what is wrong with what was to be scored; `forced`: it was, with errors."""
        errors = len(self.errors)
        counts = {"errors": errors, "warnings": len(self.problems) - errors}
        return {"checked": self.checked, **counts, "found": self.problems, "forced": forced}

    def content(self) -> dict[str, object]:
        """Return what JSON holds."""
        own = {"valid": self.valid, "rows": self.rows, "checked": self.checked}
        last = {"fold": self.folds, "folds": self.folds} if self.folds > 1 else {}
        return {**own, **last, "problems": self.problems}


def problems(
    findings: Findings,
    wanted: Format | None,
    strict: bool,
    *,
    all_users: bool = True,
    digits: int = 0,
) -> tuple[Problem, ...]:
    """Return what was found as a person is told, errors first.

    Parameters
    ----------
    all_users : bool
        Whether every user there is is known; else one that is not may be another.
    digits : int
        How many digits every item has; 0 where that is not so.
    """
    ids = {place.value for place in findings.found.get("SUB109", Finding()).places}
    if wanted is not None and not ids.isdisjoint(map(shown, wanted.columns)):
        # A first line that holds a user gave the names of columns.
        wanted = replace(wanted, user="user", items="item" if wanted.long else "items")
    mends = not any(RULES[code].blocks for code in findings.found)
    absent = [place.value for place in findings.found.get("SUB101", Finding()).places]
    found = []
    for code, finding in sorted(findings.found.items()):
        words = {
            "unless": "" if all_users else _UNLESS,
            "digits": f": ids have {digits} digits" if digits else "",
        }
        found.append(_problem(code, finding, wanted, strict, mends, absent, words))
    return tuple(sorted(found, key=lambda problem: problem.severity != "error"))


_UNLESS = '; if it is a different id, use --ids exact (Python: ids="exact")'


def _problem(
    code: str,
    finding: Finding,
    wanted: Format | None,
    strict: bool,
    mends: bool,
    absent: Sequence[str],
    known: Mapping[str, str],
) -> Problem:
    """Return one kind of fault."""
    rule = RULES[code]
    rows = wanted is not None and wanted.long
    first = next(iter(finding.places), Place(None, ""))
    near = suggest(first.value, absent)
    words = {
        "value": f'"{first.value}"' if rule.of else first.value,
        "plain": first.value,
        "quoted": shlex.quote(first.value),
        "values": ", ".join(place.value for place in finding.places),
        "count": f"{finding.count:,}",
        "near": f"; {near}" if near.startswith("did you mean") else "",
        **({"allowed": "user,items or user,item,rank"} if wanted is None else _words(wanted)),
        **known,
    }
    columns = {} if wanted is None else {"user": shown(wanted.user), "items": shown(wanted.items)}
    part = ""
    fixed = mends and rule.fixed and not (rule.of_lists and rows) and finding.mended != 0
    if fixed and finding.mended is not None and finding.mended < finding.count:
        part = f" (--fix fixes {finding.mended:,} of {finding.count:,})"
    return Problem(
        code,
        "error" if strict else rule.severity,
        first.line,
        first.user,
        columns.get(rule.column),
        first.value,
        first.known,
        finding.count,
        finding.lines,
        rule.says.format(**words) + _meant(first, finding.others),
        rule.hint.format(**words) + part,
        tuple(finding.places),
        fixed,
    )


def _meant(place: Place, others: int) -> str:
    """Return which known id is meant, as the end of a message."""
    if place.known is None:
        return ""
    more = counted(others, "other is", "others are")
    which = f'"{place.known}" and {more}' if others else f'"{place.known}" is'
    return f"; {which} known" + ("" if place.user is None else f' (user "{place.user}")')


def _words(wanted: Format) -> dict[str, object]:
    """Return what messages say of a format."""
    between, allowed = NAMES[wanted.between], ",".join(map(shown, wanted.columns))
    words: dict[str, object] = {"k": wanted.k, "allowed": allowed}
    if wanted.long:
        one = f"write one item per row: {allowed}"
        hints = {"between_items": one, "apart": one, "joined": one}
        return words | {"between": "a new row"} | hints
    put = f"put {between} between items"
    hints = {
        "between_items": put,
        "apart": "put the list in quotes" if wanted.between == "," else put,
        "joined": f"join the items: {wanted.between!r}.join(items)",
    }
    return words | {"between": between} | hints


_EDGE, _LEAST = 18, 30


def text(
    found: Validation, seconds: float | None, width: int | None = None, command: str = ""
) -> str:
    """Return the report for a terminal of so many columns, or for a file.

    `command` is what to type before ``--fix`` to have a fault mended, if another one was typed.
    """
    fixed = shlex.quote(as_argument(free_beside(found.path, "fixed")))
    fix, is_file = printable(f"{command} --fix {fixed}".lstrip()), exists(found.path)
    counts = [
        counted(len(found.errors), "error"),
        counted(len(found.problems) - len(found.errors), "warning"),
    ]
    parts = [printable(str(found.path)), counted(found.rows, "row"), ", ".join(counts)]
    parts += [] if seconds is None else [f"{seconds:.1f} s"]
    head = [*_wrapped(f"checked as {found.checked}", width)] if found.checked else []
    head += _wrapped("   ".join(parts), width)
    blocks = ["\n".join(head)]
    room = None if width is None else width - _EDGE
    for problem in found.problems:
        cure = f"{problem.hint}; or {fix}" if problem.fixed and is_file else problem.hint
        lines = [f"{problem.where()}{problem.message}", *_more(problem), cure]
        first, *rest = [part for line in lines for part in _wrapped(line, room)]
        label = f"{problem.code}  {problem.severity}".ljust(_EDGE)
        blocks.append("\n".join([label + first, *(" " * _EDGE + line for line in rest)]))
    return "\n\n".join(blocks)


def mended(found: Validation, fixed: Fixed, left: Validation) -> str:
    """Return whether anything was mended, and what the written file still holds that is wrong."""
    gone = {p.code for p in found.problems} - {p.code for p in left.problems}
    some = gone or fixed.appended or fixed.dropped or any(p.fixed for p in found.problems)
    done = "fixed" if some else "nothing to fix"
    rows = f", {counted(fixed.appended, 'missing row')} added" if fixed.appended else ""
    rows += f", {counted(fixed.dropped, 'repeated row')} removed" if fixed.dropped else ""
    codes = ", ".join(problem.code for problem in left.errors)
    rest = f"errors remain: {codes}" if codes else "no errors remain"
    if not codes and not fixed.compared:
        rest += "; items were not compared (give --solution, --items or --config)"
    return f"{done}, written to {printable(str(fixed.path))}{rows}; {rest}"


def _wrapped(line: str, width: int | None) -> list[str]:
    if width is None:
        return [line]
    return wrapped(line, max(width, _LEAST))


def _more(problem: Problem) -> list[str]:
    """Return how many there are, and where the next ones stand."""
    unit = RULES[problem.code].of
    if problem.count == 1 or not problem.places:
        return []
    if not unit:  # of the header; missing ids are all named in the message
        values = ", ".join(place.value for place in problem.places[1:])
        return [f"also: {values}"] if problem.line is not None and values else []
    held = f"{problem.count:,} {unit}"
    if problem.count != problem.lines:
        held += f" in {counted(problem.lines, 'line')}"
    others = [f"{place.line:,}" for place in problem.places[1:] if place.line is not None]
    return [held + (f"; also line {', '.join(others)}" if others else "")]


@dataclass(frozen=True)
class Fixed:
    """What was written.

    Attributes
    ----------
    path : Path
    appended, dropped : int
        Rows of users who were missing, and rows that stood there again.
    compared : bool
        Whether anything says what items look like.
    """

    path: Path
    appended: int
    dropped: int
    compared: bool = True
