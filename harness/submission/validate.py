"""A submission in, everything that is wrong with it out: one pass, all faults, with lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Int32, Ragged
from harness.core.errors import counted
from harness.delimited.stream import Refused
from harness.delimited.tally import EXAMPLES
from harness.submission import format, order
from harness.submission.admitted import Admitted
from harness.submission.expected import Against
from harness.submission.findings import Findings, Place, shown
from harness.submission.format import Format
from harness.submission.lists import Answers, Fault, LongLists, WideLists
from harness.submission.problems import Validation, problems
from harness.submission.rules import OF_FAULT
from harness.submission.scan import Expected
from harness.submission.scan_file import ScannedBlock, scan_file
from harness.submission.source import Source, source

if TYPE_CHECKING:
    import polars as pl

    from harness.protocol.truth import Solution


class Gathered:
    """What a submission holds.

    Attributes
    ----------
    users : Admitted
    lines : int
        Physical lines so far.
    answered, evaluated : int
        Rows of the file whose lists are of evaluated users, and rows that mean such users.
    """

    def __init__(
        self,
        expected: Expected,
        lists: WideLists | LongLists,
        findings: Findings,
        header: int,
        size: int,
    ) -> None:
        self.findings = findings
        self.users = Admitted(len(expected.users), size)
        self.lists = lists
        self.lines = header
        self.answered = self.evaluated = 0
        self._is_evaluated = expected.answered >= 0

    @property
    def users_outside(self) -> int:
        """How many users of the file the solution does not evaluate."""
        return self.users.strangers + int(np.count_nonzero(self.users.known & ~self._is_evaluated))

    def take(self, scanned: ScannedBlock) -> None:
        """Take in the next block."""
        block, found, seen = scanned.block, scanned.found, scanned.seen
        for fault in np.flatnonzero(found.tally.counts).tolist():
            if fault in OF_FAULT:
                self._note(scanned, fault)
        self.lists.take(scanned, self.users, self.findings)
        self.users.torn[found.torn] = True
        self.findings.add("SUB010", seen.returns, [])
        self._note_lines("SUB008", map(scanned.line_of, seen.nuls))
        where = [Place(scanned.line_of(line), shown(what)) for line, what in seen.undecodable]
        self.findings.add("SUB005", len(where), where)
        self._note_lines("SUB011", scanned.before + 1 + block.unclosed)
        self._note_lines("SUB017", scanned.before + 1 + block.torn)
        self.answered += int(np.count_nonzero(self._is_evaluated[found.users[found.sound]]))
        self.evaluated += int(np.count_nonzero(self._is_evaluated[found.users[found.users >= 0]]))
        self.lines = scanned.last

    def _note(self, scanned: ScannedBlock, fault: int) -> None:
        tally = scanned.found.tally
        count, lines = int(tally.counts[fault]), int(tally.lines[fault])
        where = scanned.places(tally.examples[fault, : min(lines, EXAMPLES)])
        self.findings.add(OF_FAULT[fault], count, where, lines)

    def _note_lines(self, code: str, lines: Iterable[int]) -> None:
        found = [Place(int(line), "") for line in lines]
        self.findings.add(code, len(found), found)


_FEWEST = 100
"""Users from which a share says something."""
_HARDLY = 0.001
_MOST = 0.5


def note(lists: Int32, solution: Solution, findings: Findings) -> None:
    """Note lists that hardly ever hit, and lists of what their users have already.

    Neither says whose, nor what would have hit.
    """
    users = int(np.count_nonzero(solution.judgments.truth.sizes))  # nobody else could have a hit
    if users < _FEWEST:
        return
    hit = int(np.count_nonzero(_held(lists, solution.judgments.truth)))
    if hit < _HARDLY * users:
        findings.note("SUB402", f"{hit:,} of {users:,}")
    if solution.history is None:
        return
    items, known = int(np.count_nonzero(lists >= 0)), int(_held(lists, solution.history).sum())
    if known > _MOST * items:
        findings.note("SUB403", f"{known:,} of {items:,}")


def _held(lists: Int32, rows: Ragged) -> Int32:
    """Return how many positions of each list hold an item of the user's row."""
    from harness.metrics import Judgments, judgments  # for a solution alone

    hits: Int32 = judgments.Block(lists, Judgments(rows, rows.sizes), lists.shape[1]).tally.hits
    return hits


_ALL = 1 << 31


@dataclass(frozen=True, eq=False)
class Examined:
    """A submission that was read.

    Attributes
    ----------
    lists : int32 array, (users of the solution, longest list), optional
        Positions in the solution's judgments, as `Answers.lists` gives them; None where there is no
        solution, or nothing could be read.
    users_outside, rows_outside : int
        Users of the file whom the solution does not evaluate, and their rows.
    answered : int
        Rows whose lists are of evaluated users.
    against : Against
        What it was checked against; whether it is a file with a row an item is told there.
    """

    validation: Validation
    against: Against
    lists: Int32 | None = None
    users_outside: int = 0
    rows_outside: int = 0
    answered: int = 0


def validate(path: Path | pl.DataFrame, against: Against, *, strict: bool = False) -> Validation:
    """Return everything that is wrong with a submission.

    Parameters
    ----------
    strict : bool
        Whether warnings are errors.
    """
    return examine(path, against, strict=strict).validation


def examine(
    path: Path | pl.DataFrame,
    against: Against,
    solution: Solution | None = None,
    *,
    places: int | None = None,
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
    strict : bool
        Whether warnings are errors.
    """
    one_item = order.row_an_item(path, against)
    if one_item is not None:
        try:
            return _examined(path, replace(against, long=True), solution, places, strict, one_item)
        except order.SeveralItemsError:
            pass  # lists, then, of which some have one item
    return _examined(path, against, solution, places, strict)


def _examined(
    path: Path | pl.DataFrame,
    against: Against,
    solution: Solution | None,
    places: int | None,
    strict: bool,
    one_item: order.OneItemCheck | None = None,
) -> Examined:
    findings = Findings()
    wanted, found, lists, checked = against.format, None, None, ""
    try:
        with source(path, against, findings) as opened:
            wanted = opened.wanted
            _refuse_no_header(opened, against, findings)
            if against.zeros:
                findings.note("SUB318", against.zeros)
            if opened.readable:
                checked = _checked(opened, against)
                found, lists = _read(path, opened, against, solution, places, findings, one_item)
    except Refused as refused:
        findings.note(OF_FAULT[refused.fault], refused.value)
    rows = 0 if found is None else found.users.rows
    if wanted is not None and found is not None:
        _ask_order(path, wanted, against, findings)
    if lists is not None and solution is not None:
        note(lists, solution, findings)
    name = path if isinstance(path, Path) else Path("submission")
    all_items = wanted is not None and against.items_of(wanted).complete
    told = problems(findings, wanted, strict, all_items)
    validation = Validation(name, rows, told, checked)
    if found is None:
        return Examined(validation, against)
    return Examined(
        validation, against, lists, found.users_outside, rows - found.evaluated, found.answered
    )


def _ask_order(
    path: Path | pl.DataFrame, wanted: Format, against: Against, findings: Findings
) -> None:
    """Ask for each column that may order users' rows; it is no longer said to be unknown.

    Nobody's competition forbids such a column where the rows are said to stand in order.
    """
    several = wanted.long or "SUB203" in findings.found
    if wanted.order or not several:
        return
    for column in order.unsaid(path, against):
        if not against.in_row_order:
            findings.note("SUB111", column, 1)
        if not against.in_row_order or against.format is None:
            findings.forget("SUB102", shown(column))


def _checked(opened: Source, against: Against) -> str:
    """Return as what a submission is read, and against which ids."""
    wanted, items = opened.wanted, against.items_of(opened.wanted)
    longest = "" if wanted.k is None else f", up to {counted(wanted.k, 'item')}"
    shape = f"a row an item{_ordered(wanted, against)}" if wanted.long else f"lists{longest}"
    if wanted.between != " " and not wanted.long:
        shape += f", {format.NAMES[wanted.between]} between them {against.between_as}".rstrip()
    required = counted(against.required, "id")
    ids = f"{required} must be there" if against.required else "ids are not compared"
    known = counted(len(items), "item is known", "items are known")
    if not items.complete:
        known = "items by what they look like" if items.digits else "items are not compared"
    return f"{wanted.source}; {shape}; {ids}; {known}"


def _ordered(wanted: Format, against: Against) -> str:
    """Return what orders the rows of a user, where that is said."""
    if wanted.order:
        first = "highest" if wanted.descending else "lowest"
        return f", ordered by {shown(wanted.order)}, the {first} first"
    return ", in the order of rows" if against.in_row_order else ""


def _refuse_no_header(opened: Source, against: Against, findings: Findings) -> None:
    """Note a first line that holds a user."""
    if len(against.users) > 0 and opened.head.columns:
        columns = opened.head.columns
        known = against.users.has(columns)
        if known.any():
            findings.note("SUB109", columns[int(known.argmax())], 1)


def _read(
    path: Path | pl.DataFrame,
    opened: Source,
    against: Against,
    solution: Solution | None,
    places: int | None,
    findings: Findings,
    one_item: order.OneItemCheck | None,
) -> tuple[Gathered, Int32 | None]:
    """Return what a submission holds, and its lists where there is a solution."""
    wanted, users, items = opened.wanted, against.users, against.items_of(opened.wanted)
    answers = None if solution is None else Answers.of(solution, users, items)
    rows = np.full(len(users), -1, np.int32) if answers is None else answers.rows
    kept = places or _ALL
    if wanted.long:
        by = ("score" if wanted.descending else "rank") if wanted.order else ""
        lists: WideLists | LongLists = LongLists(len(items), rows, wanted.k, kept, by)
    else:
        lists = WideLists(int(rows.max(initial=-1)) + 1)
    expected = Expected(users, items, rows, kept)
    size = path.stat().st_size if isinstance(path, Path) else 0
    found = Gathered(expected, lists, findings, opened.reader.header_lines, size)
    refuse = (lambda block: None) if one_item is None else one_item.refuse_several
    for scanned in scan_file(opened.reader, opened.form, expected, refuse):
        found.take(scanned)
    _whole(found, opened, findings, against)
    if wanted.empty:
        findings.found.pop("SUB301", None)
    codes, wrong = lists.finish()
    _note_lists(wrong, path, against, findings)
    return found, None if answers is None or codes is None else answers.lists(codes)


def _note_lists(
    wrong: list[Fault], path: Path | pl.DataFrame, against: Against, findings: Findings
) -> None:
    """Note what is wrong with whole lists; the lines to be shown are read once more."""
    if against.in_row_order:  # as somebody has said
        wrong = [fault for fault in wrong if fault.code != "SUB319"]
    lines = {line for fault in wrong for line in fault.lines}
    texts: dict[int, str] = {}
    if lines:
        with source(path, against, Findings()) as opened:
            texts = opened.cells(sorted(lines))
    for fault in wrong:
        places = [Place(line, shown(texts[line])) for line in fault.lines]
        findings.add(fault.code, fault.count, places)


def _whole(found: Gathered, opened: Source, findings: Findings, against: Against) -> None:
    """Note what only the whole file tells."""
    if opened.head.returns:
        findings.add("SUB010", found.lines, [])
    if found.lines == opened.reader.header_lines:
        findings.note("SUB004")
    if not opened.reader.ends:
        findings.note("SUB012")
    there = found.users.known | found.users.torn
    missing = np.flatnonzero(~there[: against.required])
    if len(missing) > 0:
        first = against.texts(missing[:EXAMPLES])
        findings.add("SUB201", len(missing), [Place(None, shown(text)) for text in first])
    beyond = against.required + np.flatnonzero(found.users.known[against.required :])
    if against.required > 0 and len(beyond) > 0:
        first_ids = against.beyond(beyond[:EXAMPLES])
        findings.add("SUB214", len(beyond), [Place(None, shown(text)) for text in first_ids])
    if against.required and found.users.strangers > 0 and not there.any():
        _note_strangers(findings, against)


def _note_strangers(findings: Findings, against: Against) -> None:
    """Note that no id is known, or in another case alone."""
    met = [place.value for place in findings.found["SUB202"].places]
    names = [*against.all_names(), *against.others]
    folded = {name.casefold(): name for name in names}
    case = all(value.casefold() in folded for value in met)
    asked = folded[met[0].casefold()] if case else names[0]
    value = f'found "{met[0]}", asked for "{shown(asked)}"'
    findings.add("SUB213" if case else "SUB212", 1, [Place(None, value)])
