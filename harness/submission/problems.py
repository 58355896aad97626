"""What is wrong with a submission: counted while it is read, then put into words."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.core.errors import counted, printable, suggest, visible
from harness.core.io import as_argument, exists, free_beside
from harness.core.table import Column, Sheet, Shown, wrapped
from harness.delimited._delimited import EXAMPLES
from harness.submission.format import NAMES, Format
from harness.submission.rules import RULES, Severity

_SHOWN = 80
MOST_BYTES = 4 * (_SHOWN + 1)
"""Bytes of a value of which more are not shown."""


@dataclass(frozen=True)
class Place:
    """Where a fault is."""

    line: int | None
    """A physical line, from 1."""
    value: str
    """What stands there, cut and visible."""
    user: str | None = None
    """Whose list it is in, where it is an item."""
    known: str | None = None
    """The known id that it means, if one does."""


@dataclass
class Finding:
    """One kind of fault: how many there are, how many lines have any, and the first of them.

    The first may mean `further` known ids beside the one of its place. ``--fix`` mends `mended` of
    them, as far as that is known; None: as its rule says.
    """

    count: int = 0
    lines: int = 0
    places: list[Place] = field(default_factory=list)
    further: int = 0
    mended: int | None = None


class Findings:
    """Every kind of fault by the code of its rule."""

    def __init__(self) -> None:
        self.found: dict[str, Finding] = {}

    def add(self, code: str, count: int, places: list[Place], lines: int | None = None) -> None:
        """Take in `count` faults and the first of them; nothing where there are none."""
        if count > 0:
            finding = self.found.setdefault(code, Finding())
            finding.count += count
            finding.lines += count if lines is None else lines
            places = sorted([*finding.places, *places], key=lambda place: place.line or 0)
            finding.places = places[:EXAMPLES]

    def note(self, code: str, value: str = "", line: int | None = None) -> None:
        """Take in one fault."""
        self.add(code, 1, [Place(line, shown(value))])

    def values(self, code: str) -> list[str]:
        """Return the first values of a kind of fault."""
        return [place.value for place in self.found.get(code, Finding()).places]

    def name_lines(self, line_of: Callable[[int], int]) -> None:
        """Name the lines of a file whose rows were counted so far."""
        for finding in self.found.values():
            finding.places = [
                place if place.line is None else replace(place, line=line_of(place.line))
                for place in finding.places
            ]

    def forget_column(self, column: str) -> None:
        """Take back that a column is unknown, or not read."""
        value = shown(column)
        for code in ("SUB102", "SUB113"):
            if value in self.values(code):
                finding = self.found[code]
                finding.places = [place for place in finding.places if place.value != value]
                finding.count, finding.lines = finding.count - 1, finding.lines - 1
                if finding.count == 0:
                    del self.found[code]


def shown(value: str | bytes) -> str:
    """Return a value cut and visible."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return visible(text[:_SHOWN]) + ("…" if len(text) > _SHOWN else "")


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
        document = {"valid": self.valid, "rows": self.rows, "checked": self.checked}
        last = {"fold": self.folds, "folds": self.folds} if self.folds > 1 else {}
        return {**document, **last, "problems": self.problems}


def problems(
    findings: Findings,
    wanted: Format | None,
    strict: bool,
    *,
    all_users: bool = True,
    digits: int = 0,
) -> tuple[Problem, ...]:
    """Return what was found in words, errors first.

    An unknown user may be another one, unless `all_users` are known. All items have so many
    `digits`; 0: they do not.
    """
    first_line = findings.values("SUB109")
    if wanted is not None and any(shown(column) in first_line for column in wanted.columns):
        # A first line that holds a user gave the names of columns.
        wanted = replace(wanted, user="user", items="item" if wanted.long else "items")
    words = {
        "allowed": "user,items or user,item,rank",
        "unless": "" if all_users else _UNLESS,
        "digits": f": ids have {digits} digits" if digits else "",
    }
    words |= {} if wanted is None else _words(wanted)
    kinds = [_problem(code, findings, wanted, strict, words) for code in sorted(findings.found)]
    return tuple(sorted(kinds, key=lambda problem: problem.severity != "error"))


_UNLESS = '; if it is a different id, use --ids exact (Python: ids="exact")'


def _problem(
    code: str, findings: Findings, wanted: Format | None, strict: bool, words: dict[str, str]
) -> Problem:
    """Return one kind of fault; `words` has what messages say of the file."""
    rule, finding = RULES[code], findings.found[code]
    first = next(iter(finding.places), Place(None, ""))
    near = suggest(first.value, findings.values("SUB101"))
    words = words | {
        "value": f'"{first.value}"' if rule.unit else first.value,
        "plain": first.value,
        "quoted": shlex.quote(first.value),
        "values": ", ".join(place.value for place in finding.places),
        "count": f"{finding.count:,}",
        "near": f"; {near}" if near.startswith("did you mean") else "",
    }
    meant = ""
    if first.known is not None:
        more = f" and {counted(finding.further, 'other is', 'others are')}"
        meant = f'; "{first.known}"{more if finding.further else " is"} known'
        meant += "" if first.user is None else f' (user "{first.user}")'
    columns = {} if wanted is None else {"user": shown(wanted.user), "items": shown(wanted.items)}
    rows = wanted is not None and wanted.long
    fixed = rule.fixed and not (rule.of_lists and rows) and finding.mended != 0
    fixed = fixed and not any(RULES[code].blocks for code in findings.found)
    part = ""
    if fixed and finding.mended is not None and finding.mended < finding.count:
        part = f" (--fix fixes {finding.mended:,} of {finding.count:,})"
    return Problem(
        code=code,
        severity="error" if strict else rule.severity,
        line=first.line,
        user=first.user,
        column=columns.get(rule.column),
        value=first.value,
        known=first.known,
        count=finding.count,
        lines=finding.lines,
        message=rule.says.format(**words) + meant,
        hint=rule.hint.format(**words) + part,
        places=tuple(finding.places),
        fixed=fixed,
    )


def _words(wanted: Format) -> dict[str, str]:
    """Return what messages say of a format."""
    between, allowed = NAMES[wanted.between], ",".join(map(shown, wanted.columns))
    put = f"put {between} between items"
    hints = {
        "between": between,
        "between_items": put,
        "apart": "put the list in quotes" if wanted.between == "," else put,
        "joined": f"join the items: {wanted.between!r}.join(items)",
    }
    if wanted.long:
        hints = dict.fromkeys(hints, f"write one item per row: {allowed}")
        hints["between"] = "a new row"
    return {"k": str(wanted.k), "allowed": allowed, **hints}


_EDGE, _LEAST = 18, 30


def text(
    validation: Validation, seconds: float | None, width: int | None = None, command: str = ""
) -> str:
    """Return the report for a terminal of so many columns, or for a file.

    `command` is what to type before ``--fix`` to have a fault mended, if another one was typed.
    """
    fixed = shlex.quote(as_argument(free_beside(validation.path, "fixed")))
    fix, is_file = printable(f"{command} --fix {fixed}".lstrip()), exists(validation.path)
    counts = [
        counted(len(validation.errors), "error"),
        counted(len(validation.problems) - len(validation.errors), "warning"),
    ]
    parts = [printable(str(validation.path)), counted(validation.rows, "row"), ", ".join(counts)]
    parts += [] if seconds is None else [f"{seconds:.1f} s"]
    head = [*_wrapped(f"checked as {validation.checked}", width)] if validation.checked else []
    head += _wrapped("   ".join(parts), width)
    blocks = ["\n".join(head)]
    room = None if width is None else width - _EDGE
    for problem in validation.problems:
        cure = f"{problem.hint}; or {fix}" if problem.fixed and is_file else problem.hint
        lines = [f"{problem.where()}{problem.message}", *_more(problem), cure]
        first, *rest = [part for line in lines for part in _wrapped(line, room)]
        label = f"{problem.code}  {problem.severity}".ljust(_EDGE)
        blocks.append("\n".join([label + first, *(" " * _EDGE + line for line in rest)]))
    return "\n\n".join(blocks)


def _wrapped(line: str, width: int | None) -> list[str]:
    if width is None:
        return [line]
    return wrapped(line, max(width, _LEAST))


def _more(problem: Problem) -> list[str]:
    """Return how many there are, and where the next ones stand."""
    unit = RULES[problem.code].unit
    if problem.count == 1 or not problem.places:
        return []
    if not unit:  # of the header; missing ids are all named in the message
        values = ", ".join(place.value for place in problem.places[1:])
        return [f"also: {values}"] if problem.line is not None and values else []
    held = f"{problem.count:,} {unit}"
    if problem.count != problem.lines:
        held += f" in {counted(problem.lines, 'line')}"
    further = [f"{place.line:,}" for place in problem.places[1:] if place.line is not None]
    return [held + (f"; also line {', '.join(further)}" if further else "")]
