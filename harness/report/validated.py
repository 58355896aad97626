"""What was found in a submission, as text: every problem with its place, its count and its cure."""

from __future__ import annotations

from harness.errors import printable
from harness.report.sheet import Sheet
from harness.submission.checks import CHECKS
from harness.submission.fix import Fixed
from harness.submission.problems import Problem, Validation

_EDGE, _LEAST = 18, 30


def text(
    found: Validation, seconds: float | None, width: int | None = None, fix: str = "--fix OUT"
) -> str:
    """Return the report for a terminal of so many columns, or for a file.

    `fix` is what to type to have a fault mended.
    """
    counts = [
        _counted(len(found.errors), "error"),
        _counted(len(found.problems) - len(found.errors), "warning"),
    ]
    parts = [printable(str(found.path)), _counted(found.rows, "row"), ", ".join(counts)]
    parts += [] if seconds is None else [f"{seconds:.1f} s"]
    head = [*_wrapped("   ".join(parts), width)]
    if found.checked:
        head += _wrapped(f"checked as {found.checked}", width)
    told = (_told(problem, width, fix) for problem in found.problems)
    return "\n\n".join(["\n".join(head), *told])


def mended(found: Validation, fixed: Fixed, left: Validation) -> str:
    """Return whether anything was mended, and what the written file still holds that is wrong."""
    done = "mended" if any(problem.fixed for problem in found.problems) else "nothing to mend"
    rows = f", {_counted(fixed.appended, 'missing row')} appended" if fixed.appended else ""
    rows += f", {_counted(fixed.dropped, 'repeated row')} dropped" if fixed.dropped else ""
    codes = ", ".join(problem.code for problem in left.errors)
    rest = f"errors are left: {codes}" if codes else "no errors are left"
    return f"{done}, written to {printable(str(fixed.path))}{rows}; {rest}"


def sheet(found: Validation) -> Sheet:
    """Return the problems as a table."""
    titles = ["check", "severity", "line", "column", "count", "what", "how to mend it"]
    rows = [
        [
            problem.code,
            problem.severity,
            "" if problem.line is None else str(problem.line),
            problem.column or "",
            f"{problem.count:,}",
            problem.message,
            problem.hint,
        ]
        for problem in found.problems
    ]
    return Sheet(titles, rows, left=frozenset({0, 1, 3, 5, 6}))


def records(found: Validation) -> list[dict[str, object]]:
    """Return one record a problem."""
    return [
        {name: value for name, value in vars(problem).items() if name != "places"}
        for problem in found.problems
    ]


def _wrapped(line: str, width: int | None) -> list[str]:
    if width is None:
        return [line]
    from harness.report.fitting import wrapped  # slow to import

    return wrapped(line, max(width, _LEAST))


def _told(problem: Problem, width: int | None, fix: str) -> str:
    where = [] if problem.line is None else [f"line {problem.line:,}"]
    where += [] if problem.column is None else [problem.column]
    place = f"{', '.join(where)}: " if where else ""
    cure = f"{problem.hint}; or {fix}" if problem.fixed else problem.hint
    lines = [f"{place}{problem.message}", *_more(problem), cure]
    room = None if width is None else width - _EDGE
    lines = [part for line in lines for part in _wrapped(line, room)]
    label = f"{problem.code}  {problem.severity}".ljust(_EDGE)
    return "\n".join([label + lines[0], *(" " * _EDGE + line for line in lines[1:])])


def _more(problem: Problem) -> list[str]:
    """Return how many there are, and where the next ones stand."""
    unit = CHECKS[problem.code].of
    if problem.count == 1 or not problem.places:
        return []
    if not unit:  # of the header; missing ids are all named in the message
        values = ", ".join(place.value for place in problem.places[1:])
        return [f"also: {values}"] if problem.line is not None and values else []
    held = f"{problem.count:,} {unit}"
    if problem.count != problem.lines:
        held += f" in {_counted(problem.lines, 'line')}"
    others = [f"{place.line:,}" for place in problem.places[1:] if place.line is not None]
    return [held + (f"; also line {', '.join(others)}" if others else "")]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
