"""The rows of a submission taken in, all of them or those of some users, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Int32, Ragged
from harness.delimited.blocks import padded
from harness.delimited.tally import EXAMPLES
from harness.submission import faults
from harness.submission._repair import restored
from harness.submission._scan import STRANGER, USER
from harness.submission.admitted import Admitted
from harness.submission.alike import Alike
from harness.submission.expected import Against
from harness.submission.findings import Findings, Place, PlaceOfId, shown
from harness.submission.format import Format, Separators
from harness.submission.keys import Known
from harness.submission.lists import Answers, Common, LongLists, WideLists
from harness.submission.rules import OF_FAULT
from harness.submission.scan import Expected
from harness.submission.scan_file import ScannedBlock

if TYPE_CHECKING:
    from harness.protocol.truth import Solution

Cells = Callable[[list[int]], dict[int, str]]
"""Returns the items that stand in some physical lines, which are read once more."""
_ALL = 1 << 31
_OF_USERS = {faults.PADDED_ID, faults.MANGLED_ID}
_OF_ITEMS = {*range(faults.MISSHAPEN, faults.COUNT)} - {faults.LITERAL}
"""Faults of ids that may mean known ones."""


@dataclass(frozen=True)
class Hits:
    """How often lists hit, and how often they hold what their users have already.

    Attributes
    ----------
    users, hit, listed : int
        Users who have true items, and those of them whose lists hit, and who have a list at all.
    items, known : int
        Positions that hold an item, and that hold one of the user's own in training.
    """

    users: int = 0
    hit: int = 0
    listed: int = 0
    items: int = 0
    known: int = 0

    @classmethod
    def of(cls, lists: Int32, solution: Solution) -> Hits:
        """Return the same of lists, (users of the solution, longest list), −1 = empty."""
        truth, history = solution.judgments.truth, solution.history
        return cls(
            int(np.count_nonzero(truth.sizes)),  # nobody else could have a hit
            int(np.count_nonzero(_held(lists, truth))),
            int(np.count_nonzero((lists >= 0).any(axis=1) & (truth.sizes > 0))),
            0 if history is None else int(np.count_nonzero(lists >= 0)),
            0 if history is None else int(_held(lists, history).sum()),
        )


def _held(lists: Int32, rows: Ragged) -> Int32:
    """Return how many positions of each list hold an item of the user's row."""
    from harness.metrics import Judgments, judgments  # for a solution alone

    hits: Int32 = judgments.Block(lists, Judgments(rows, rows.sizes), lists.shape[1]).tally.hits
    return hits


@dataclass(frozen=True, eq=False)
class Summary:
    """What the rows of a submission tell.

    Attributes
    ----------
    findings : Findings
    rows : int
    answered, evaluated : int
        Rows whose lists are of evaluated users, and rows that mean such users.
    outside, strangers : int
        Users whom the solution does not evaluate, and those of them whom nobody knows.
    there, known : int
        Users who must have a row, and have one, or a line that is none; known users with a row.
    stranger : str
        The first user whom nobody knows.
    exact : int
        Rows whose ids are known as they stand.
    lists : int32 array, (users of the solution, longest list), optional
        None where there is no solution, or lists cannot be made.
    """

    findings: Findings = field(default_factory=Findings)
    rows: int = 0
    answered: int = 0
    evaluated: int = 0
    outside: int = 0
    strangers: int = 0
    there: int = 0
    known: int = 0
    stranger: str = ""
    exact: int = 0
    common: Common = field(default_factory=Common)
    hits: Hits = field(default_factory=Hits)
    lists: Int32 | None = None

    @property
    def rows_outside(self) -> int:
        """How many rows are of users whom the solution does not evaluate."""
        return self.rows - self.evaluated


class Gathering:
    """Takes in the rows of users.

    Parameters
    ----------
    against : Against
        Its users are those whose rows are taken in, all of whom there may be any.
    wanted : Format
    solution : Solution, optional
        Whose users and items are known to `against`.
    places : int, optional
        Positions of a list that are looked at; all there are by default.
    size : int
        Bytes that there are, if that can be told.

    Attributes
    ----------
    expected : Expected
        What blocks are to be scanned with.
    """

    def __init__(
        self,
        against: Against,
        wanted: Format,
        solution: Solution | None,
        findings: Findings,
        places: int | None = None,
        size: int = 0,
    ) -> None:
        users, items = against.users, against.items_of(wanted)
        self._answers = None if solution is None else Answers.of(solution, users, items)
        rows = np.full(len(users), -1, np.int32) if self._answers is None else self._answers.rows
        self._against, self._wanted, self._solution = against, wanted, solution
        self._findings = findings
        kept = places or _ALL
        self.expected = Expected.of(users, items, rows, kept, wanted)
        self._users = Admitted(len(users), size)
        self._lists: WideLists | LongLists = WideLists(int(rows.max(initial=-1)) + 1)
        if wanted.long:
            by = ("score" if wanted.descending else "rank") if wanted.order else ""
            self._lists = LongLists(items, rows, wanted.k, kept, by)
        self._answered = self._evaluated = self._exact = 0
        self._is_evaluated = rows >= 0
        self._stranger = ""

    def take(self, scanned: ScannedBlock) -> None:
        """Take in the next block."""
        found = scanned.found
        for fault in np.flatnonzero(found.tally.counts).tolist():
            if fault in OF_FAULT:
                lines = int(found.tally.lines[fault])
                examples = found.tally.examples[fault, : min(lines, EXAMPLES)]
                if fault in _OF_USERS | _OF_ITEMS:
                    where = scanned.places_of_ids(examples, items=fault in _OF_ITEMS)
                else:
                    where = scanned.places(examples)
                self._findings.add(OF_FAULT[fault], int(found.tally.counts[fault]), where, lines)
        if not self._stranger and (found.users == STRANGER).any():
            row = int((found.users == STRANGER).argmax())
            span = int(found.starts[row, USER]), int(found.stops[row, USER])
            self._stranger = shown(scanned.block.text(*span))
        self._lists.take(scanned, self._users, self._findings)
        self._users.torn[found.torn] = True
        self._exact += int(np.count_nonzero(found.sound))
        self._answered += int(np.count_nonzero(self._is_evaluated[found.users[found.sound]]))
        known = found.users[found.users >= 0]
        self._evaluated += int(np.count_nonzero(self._is_evaluated[known]))

    def finish(self, cells: Cells) -> Summary:
        """Return what all rows tell."""
        there = self._note_users()
        self._name_known()
        if self._wanted.empty:
            self._findings.found.pop("SUB301", None)
        self._forget_parts_of_ids()
        codes, wrong, common = self._lists.finish()
        if self._against.in_row_order:  # as somebody has said
            wrong = [fault for fault in wrong if fault.code != "SUB319"]
        lines = {line for fault in wrong for line in fault.lines}
        texts = cells(sorted(lines)) if lines else {}  # they are read once more
        for fault in wrong:
            places = [Place(line, shown(texts[line])) for line in fault.lines]
            self._findings.add(fault.code, fault.count, places)
        lists = None if self._answers is None or codes is None else self._answers.lists(codes)
        hits = Hits()
        if lists is not None and self._solution is not None:
            hits = Hits.of(lists, self._solution)
        users = self._users
        others = int(np.count_nonzero(users.known & ~self._is_evaluated))
        return Summary(
            findings=self._findings,
            rows=users.rows,
            answered=self._answered,
            evaluated=self._evaluated,
            outside=users.strangers + others,
            strangers=users.strangers,
            there=there,
            known=int(users.known.sum()),
            stranger=self._stranger,
            exact=self._exact,
            common=common,
            hits=hits,
            lists=lists,
        )

    def _forget_parts_of_ids(self) -> None:
        """Take back that a row holds separators or quotes, where true items hold such too."""
        noted = {"SUB309", "SUB310"} & set(self._findings.found)
        if not noted or self._solution is None or not self._wanted.long:
            return
        held = Separators.of_column(self._solution.items)
        if held.dressed or set(held.held) - {" "}:
            for code in noted:
                del self._findings.found[code]

    def _note_users(self) -> int:
        """Note who is missing, and who need not be there; return how many of those who must are."""
        against, users = self._against, self._users
        there = users.known | users.torn
        missing = np.flatnonzero(~there[: against.required])
        if len(missing) > 0:
            first = against.texts(missing[:EXAMPLES])
            self._findings.add("SUB201", len(missing), _named(first))
        beyond = against.required + np.flatnonzero(users.known[against.required :])
        if against.asked and len(beyond) > 0:
            first_ids = against.beyond(beyond[:EXAMPLES])
            self._findings.add("SUB214", len(beyond), _named(first_ids))
        return int(np.count_nonzero(there[: against.required]))

    def _name_known(self) -> None:
        """Name the known ids that the first of damaged ones mean."""
        expected = self.expected
        for faults_, known, alike in (
            (_OF_USERS, expected.users, expected.user_alike),
            (_OF_ITEMS, expected.items, expected.item_alike),
        ):
            for code in (OF_FAULT[fault] for fault in faults_):
                finding = self._findings.found.get(code)
                if finding is not None:
                    finding.places = [_with_known(place, known, alike) for place in finding.places]


def _with_known(place: Place, known: Known, alike: Alike | None) -> Place:
    """Return a place with the known id that stands for what is there, if one does."""
    if alike is None or len(known) == 0 or not isinstance(place, PlaceOfId):
        return place
    bare = place.text.strip(b" \t\r")
    text = bare.decode("utf-8", "replace")
    mended = text if known.has([text])[0] else restored(padded(bare), 0, len(bare), known.ids)
    if mended is not None:
        return replace(place, known=shown(mended))
    meant = alike.meant([text]).get(text)
    if meant is None:
        return place
    return replace(place, known=shown(meant.id), others=meant.others, certain=meant.certain)


def _named(texts: Iterable[str | bytes]) -> list[Place]:
    return [Place(None, shown(text)) for text in texts]
