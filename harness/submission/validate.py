"""A submission in, everything that is wrong with it out: one pass, all faults, with lines."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Int32
from harness.core.errors import counted, printable
from harness.core.progress import doing, stopwatch
from harness.delimited.stream import Refused
from harness.submission import format, order
from harness.submission.expected import Against
from harness.submission.format import Format
from harness.submission.gathered import Gathering, Summary
from harness.submission.problems import Findings, Place, Validation, problems, shown
from harness.submission.rules import OF_FAULT
from harness.submission.scan import scan_file
from harness.submission.source import Source, source

if TYPE_CHECKING:
    import polars as pl

    from harness.protocol.truth import Solution

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Examined:
    """A submission that was read."""

    validation: Validation
    against: Against
    """What it was checked against; whether it is a file with a row an item is told there."""
    summary: Summary | None = None
    """What its rows hold; None where none could be read."""

    @property
    def lists(self) -> Int32 | None:
        """Lists as `Summary` has them, or None."""
        return None if self.summary is None else self.summary.lists


def validate(path: Path | pl.DataFrame, against: Against, *, strict: bool = False) -> Validation:
    """Return everything that is wrong with a submission.

    Parameters
    ----------
    strict : bool
        Whether warnings are errors.
    """
    return examine(path, against, strict=strict).validation


@doing("checking the file")
def examine(
    path: Path | pl.DataFrame,
    against: Against,
    solution: Solution | None = None,
    *,
    places: int | None = None,
    named: bool = False,
    strict: bool = False,
) -> Examined:
    """Return everything that is wrong with a submission, and the lists of the evaluated users.

    Parameters
    ----------
    path : Path or polars.DataFrame
    solution : Solution, optional
        Whose users and items are known to `against`.
    places : int, optional
        Positions of a list that are looked at; all there are by default.
    named : bool
        Whether the ids are kept of items that the solution does not have.
    strict : bool
        Whether warnings are errors.
    """
    took = stopwatch()
    examined = _examined(path, against, solution, places, named, strict)
    name, rows = printable(examined.validation.path.name), counted(examined.validation.rows, "row")
    _log.info("%s: checked %s, %s", name, rows, took())
    return examined


def _examined(
    path: Path | pl.DataFrame,
    against: Against,
    solution: Solution | None,
    places: int | None,
    named: bool,
    strict: bool,
) -> Examined:
    findings, wanted, summary, checked = Findings(), against.format, None, ""
    try:
        with source(path, against, findings) as opened:
            wanted = opened.wanted
            columns = opened.head.columns
            if len(against.users) > 0 and columns:
                known = against.users.has(columns)
                if known.any():  # the first line holds a user
                    findings.note("SUB109", columns[int(known.argmax())], 1)
            if against.zeros:
                findings.note("SUB318", against.zeros)
            for code, odd in against.odd_in_solution(wanted.nothing).items():
                findings.add(code, min(1, len(odd)), [Place(None, shown(value)) for value in odd])
            if opened.readable:
                checked = _checked_as(wanted, against)
                summary = _read(path, opened, against, solution, places, named, findings)
    except Refused as refused:
        findings.note(OF_FAULT[refused.fault], refused.value, refused.line)
    if summary is not None and against.may_be_long and summary.may_be_long:
        long = replace(against, long=True)
        return _examined(path, long, solution, places, named, strict)
    if wanted is not None and summary is not None:
        _ask_order(path, wanted, against, findings)
        _refuse_models(path, wanted, against, findings)
    name = path if isinstance(path, Path) else Path("submission")
    rows = summary or Summary(findings)
    validation = _concluded(name, rows, against, wanted, checked, strict=strict)
    return Examined(validation, against, summary)


_FEWEST = 100
"""Users from which a share says something."""
_HARDLY = 0.001
_MOST = 0.5


def _concluded(
    path: Path,
    summary: Summary,
    against: Against,
    wanted: Format | None,
    checked: str,
    *,
    strict: bool,
) -> Validation:
    """Return everything that is wrong with a submission, of whose rows all is summary."""
    findings, common, hits = summary.findings, summary.common, summary.hits
    nobody = summary.there == 0 if against.required else summary.known == 0
    if len(against.users) > 0 and summary.strangers > 0 and nobody:
        met = [*findings.values("SUB202"), summary.stranger][0]  # others may be there
        (asked,) = against.users.named(np.zeros(1, np.int64))
        findings.add("SUB212", 1, [Place(None, f'found "{met}", expected "{shown(asked)}"')])
    elif against.required and summary.exact == 0 and summary.by_case:
        damaged = findings.found["SUB209"]
        first = damaged.places[0]
        value = f'found "{first.value}", expected "{first.known}"'
        findings.add("SUB213", 1, [Place(None, value)])
        findings.found["SUB213"].mended = damaged.mended
    for code, count in {"SUB401": common.same, "SUB404": common.single}.items():
        if count == common.lists > 1:
            findings.add(code, count, [])
    # Neither says whose lists, nor what would have hit.
    few = hits.users >= _FEWEST and hits.hit < _HARDLY * hits.users
    if few or (hits.hit == 0 and hits.listed > 0):
        findings.note("SUB402", f"{hits.hit:,} of {hits.users:,}")
    if hits.users >= _FEWEST and hits.known > _MOST * hits.items:
        findings.note("SUB403", f"{hits.known:,} of {hits.items:,}")
    items = against.items if wanted is None else against.items_of(wanted)
    all_problems = problems(
        findings,
        wanted,
        strict,
        all_users=against.users.complete,
        digits=items.width if items.digits else 0,
    )
    return Validation(path, summary.rows, all_problems, checked)


def _ask_order(
    path: Path | pl.DataFrame, wanted: Format, against: Against, findings: Findings
) -> None:
    """Ask for each column that may order users' rows; it is no longer said to be unknown.

    Where several order them, the one that is read is compared with the next. Nobody's competition
    forbids such a column where the rows are said to stand in order.
    """
    several = wanted.long or "SUB203" in findings.found
    if wanted.order:
        other = order.otherwise(path, against)
        if other is not None and other[1] > 0:
            findings.add("SUB115", other[1], [Place(None, shown(other[0]))])
        if wanted.order.casefold() in format.SCORES and against.named.order is None:
            findings.note("SUB116", wanted.order, 1)
    if wanted.order or not several:
        return
    for column in order.unsaid(path, against):
        if not against.in_row_order:
            findings.note("SUB111", column, 1)
        if not against.in_row_order or against.format is None:
            findings.forget_column(column)


_AGAIN = ("SUB115", "SUB203", "SUB211", "SUB302", "SUB303", "SUB314", "SUB315", "SUB316", "SUB319")
"""What is found in rows of a user that belong to several lists."""


def _refuse_models(
    path: Path | pl.DataFrame, wanted: Format, against: Against, findings: Findings
) -> None:
    """Note the columns that tell several lists of a user apart, in place of what comes of them."""
    of_one = wanted.order and not wanted.descending and "SUB314" not in findings.found
    several = wanted.long or not {"SUB203", "SUB211"}.isdisjoint(findings.found)
    columns = order.of_models(path, against) if several and not of_one else []
    for column in columns:
        findings.note("SUB114", column, 1)
        findings.forget_column(column)
    for code in _AGAIN if columns else ():
        findings.found.pop(code, None)


def _checked_as(wanted: Format, against: Against) -> str:
    """Return as what a submission is read, and against which ids."""
    items = against.items_of(wanted)
    longest = " of any length" if wanted.k is None else f", up to {counted(wanted.k, 'item')}"
    shape = "one row per item" if wanted.long else f"lists{longest}"
    if wanted.long and wanted.order:
        end = "highest" if wanted.descending else "lowest"
        shape += f", ordered by {shown(wanted.order)}, the {end} first"
    elif wanted.long and against.in_row_order:
        shape += ", in the order of rows"
    if wanted.between != " " and not wanted.long:
        shape += f", {format.NAMES[wanted.between]} between them {against.between_as}".rstrip()
    required = counted(against.required, "id")
    ids = f"{required} required" if against.required else "no id is required"
    known = counted(len(items), "item is known", "items are known")
    if not items.complete:
        known = "items are checked by their form" if items.digits else "items are not checked"
    return f"{wanted.source}; {shape}; {ids}; {known}"


def _read(
    path: Path | pl.DataFrame,
    opened: Source,
    against: Against,
    solution: Solution | None,
    places: int | None,
    named: bool,
    findings: Findings,
) -> Summary:
    """Return what a submission holds, and its lists where there is a solution."""
    gathering = Gathering(
        against,
        opened.wanted,
        opened.form,
        solution,
        findings,
        places=places,
        named=named,
    )
    last = opened.reader.header_lines
    for scanned in scan_file(opened.reader, opened.form, gathering.expected, findings):
        gathering.take(scanned)
        last = scanned.last
    if opened.head.returns:
        findings.add("SUB010", last, [])
    if last == opened.reader.header_lines:
        findings.note("SUB004")
    if not opened.reader.ends:
        findings.note("SUB012")

    def cells(lines: list[int], column: int) -> dict[int, bytes]:
        with source(path, against, Findings()) as again:
            return again.cells(lines, column)

    summary = gathering.finish(cells)
    if opened.line_of is not None:
        findings.name_lines(opened.line_of)
    return summary
