"""The rows of a submission taken in, all of them or those of some users, and what they tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.core.arrays import Bool, Int32, Ragged
from harness.core.ids import KeyTable
from harness.delimited._delimited import EXAMPLES, NO_ROW
from harness.submission import _kernels as faults
from harness.submission._kernels import STRANGER, USER
from harness.submission.diagnose import SEVERAL, Diagnosis
from harness.submission.expected import Against
from harness.submission.format import Format, Separators
from harness.submission.lists import Answers, Cells, Common, LongLists, WideLists
from harness.submission.problems import MOST_BYTES, Finding, Findings, Place, shown
from harness.submission.rules import OF_FAULT
from harness.submission.scan import LOOK_ALIKE, SPACES, Expected, Form, LookAlikes, Scanned

if TYPE_CHECKING:
    from harness.protocol.truth import Solution

_ALL = 1 << 31
_OF_ITEMS = {*range(faults.MISSHAPEN, faults.COUNT)} - {faults.LITERAL}
"""Faults of items that may mean known ones."""


@dataclass(frozen=True)
class Hits:
    """How often lists hit, and how often they hold what their users have already.

    `users` have true items; the lists of `hit` of them hit, and `listed` have a list at all.
    `items` positions hold an item, and `known` of them one of the user's own in training.
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


@dataclass(eq=False)
class Summary:
    """What the rows of a submission tell.

    `answered` rows have lists of evaluated users, and `evaluated` mean such users. The solution
    does not evaluate `outside` users; of these nobody knows `strangers`, the first of whom is
    `stranger`. Of users who must have a row `there` have one, or a line that is none; `known` users
    have a row. `exact` rows have ids that are known as they stand; `by_case`: ids are damaged, all
    of them by their case alone.

    By known user, `present` tells who has a row or a line that is none, if only under a damaged id,
    and `renamed` who gets the rows of the one damaged id that means them. `lists` are those of the
    solution's users, (users, longest list); None where there is no solution, or a rank is far too
    high. `names` are the ids of positions behind the solution's items, if they were asked for.
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
    by_case: bool = False
    present: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))
    renamed: Bool = field(default_factory=lambda: np.zeros(0, np.bool_))
    common: Common = field(default_factory=Common)
    hits: Hits = field(default_factory=Hits)
    lists: Int32 | None = None
    names: list[str] = field(default_factory=list)

    @property
    def rows_outside(self) -> int:
        """How many rows are of users whom the solution does not evaluate."""
        return self.rows - self.evaluated

    @property
    def may_be_long(self) -> bool:
        """Whether users stand in several rows, and no row has several items."""
        again = not {"SUB203", "SUB211"}.isdisjoint(self.findings.found)
        return again and self.common.single == self.common.lists


class Gathering:
    """Takes in the rows of users, in blocks scanned with what is `expected`.

    `against` has all users of whom there may be rows, and whom a `solution` has. Of a list so many
    `places` are looked at, by default all. If `named`, the ids are kept of items that the solution
    does not have.
    """

    def __init__(
        self,
        against: Against,
        wanted: Format,
        form: Form,
        solution: Solution | None,
        findings: Findings,
        *,
        places: int | None,
        named: bool,
    ) -> None:
        users, items = against.users, against.items_of(wanted)
        self._answers = Answers.of(solution, users, items, named=named)
        self._against, self._wanted, self._solution = against, wanted, solution
        self._findings, kept = findings, places or _ALL
        self._summary = Summary(findings)
        self.expected = Expected.of(users, items, self._answers.rows, kept, wanted)
        self._lists: WideLists | LongLists = WideLists(self._answers, form.between)
        if wanted.long:
            by = ("score" if wanted.descending else "rank") if wanted.order else ""
            self._lists = LongLists(
                items,
                self._answers,
                k=wanted.k,
                kept=kept,
                order=by,
                in_row_order=against.in_row_order,
            )
        self._known, self._torn = np.zeros((2, len(users)), np.bool_)
        self._is_evaluated, self._strangers = self._answers.rows >= 0, KeyTable()
        self._alike = [np.zeros(0, LOOK_ALIKE)]
        self._several: dict[int, bytes] = {}
        self._items: dict[str, list[bytes]] = {}

    def take(self, scanned: Scanned) -> None:
        """Take in the next block."""
        self._take_faults(scanned)
        summary, codes, sound = self._summary, scanned.users.copy(), scanned.users[scanned.sound]
        known, strange = codes[codes >= 0], np.flatnonzero(codes == STRANGER)
        if not summary.stranger and len(strange) > 0:
            (text,) = scanned.texts(scanned.spans(strange[:1], USER))
            summary.stranger = shown(text)
        if scanned.alike is not None:
            self._take_look_alikes(scanned, scanned.alike)
        codes[strange] = len(self._known) + self._strangers.codes(scanned.keys[strange])
        self._lists.take(scanned, codes, self._findings)
        self._known[known] = True
        self._torn[scanned.torn] = True
        summary.rows += int(np.count_nonzero(codes != NO_ROW))
        summary.exact += len(sound)
        summary.answered += int(np.count_nonzero(self._is_evaluated[sound]))
        summary.evaluated += int(np.count_nonzero(self._is_evaluated[known]))

    def _take_faults(self, scanned: Scanned) -> None:
        """Take in the faults that were counted."""
        tally = scanned.tally
        for fault in np.flatnonzero(tally.counts).tolist():
            if fault not in OF_FAULT:
                continue
            code, lines, of_items = OF_FAULT[fault], int(tally.lines[fault]), fault in _OF_ITEMS
            examples = tally.examples[fault, : min(lines, EXAMPLES)]
            places = scanned.places(examples, of_items=of_items)
            self._findings.add(code, int(tally.counts[fault]), places, lines)
            if of_items:
                self._items.setdefault(code, []).extend(scanned.texts(examples))
                finding = self._findings.found[code]
                finding.mended = (finding.mended or 0) + int(tally.mended[fault])

    def _take_look_alikes(self, scanned: Scanned, alike: LookAlikes) -> None:
        """Take in users who look like known ones; who they are is told when all rows are there."""
        for row in np.flatnonzero(alike.rows["code"] == SEVERAL).tolist():
            self._several[int(alike.rows["key"][row])] = alike.tokens[row]
        alike.rows["line"] = scanned.lines_of(alike.rows["line"])
        self._alike.append(alike.rows)

    def finish(self, cells: Cells) -> Summary:
        """Return what all rows tell."""
        judged, summary = self._judge_look_alikes(), self._summary
        self._note_look_alikes(judged, cells)
        summary.there = self._note_users()
        for code, tokens in self._items.items():
            bare = [token.strip(SPACES) for token in tokens[:EXAMPLES]]
            _name(self._findings.found[code], bare, self.expected.of_items)
        if self._wanted.empty:
            self._findings.found.pop("SUB301", None)
        self._forget_parts_of_ids()
        codes, summary.common = self._lists.finish(cells, self._findings)
        if self._solution is not None and codes is not None:
            summary.lists = self._answers.lists(codes)
            summary.hits = Hits.of(summary.lists, self._solution)
        summary.strangers = len(self._strangers) - judged.ids
        further = int(np.count_nonzero(self._known & ~self._is_evaluated))
        summary.outside, summary.known = summary.strangers + further, int(self._known.sum())
        damaged = judged.damaged[~judged.damaged["spaces"]]
        summary.by_case = len(damaged) > 0 and bool(damaged["by_case"].all())
        summary.present, summary.renamed = self._known | self._torn, judged.renamed
        names = self._answers.names or ()
        summary.names = [name.decode("utf-8", "replace") for name in names]
        return summary

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
        against, there = self._against, self._known | self._torn
        missing = np.flatnonzero(~there[: against.required])
        if len(missing) > 0:
            first = against.users.named(missing[:EXAMPLES])
            self._findings.add("SUB201", len(missing), _named(first))
        beyond = against.required + np.flatnonzero(self._known[against.required :])
        if against.required > 0 and len(beyond) > 0:
            first_ids = against.users.named(beyond[:EXAMPLES])
            self._findings.add("SUB214", len(beyond), _named(first_ids))
        return int(np.count_nonzero(there[: against.required]))

    def _judge_look_alikes(self) -> _Judged:
        """Tell damaged ids from users who look like known ones that have rows of their own."""
        rows, there = np.concatenate(self._alike), self._known | self._torn
        is_damaged = np.zeros(len(rows), np.bool_)
        is_single = rows["code"] >= 0
        is_damaged[is_single] = ~there[rows["code"][is_single]]
        if self._several:
            absent = self.expected.of_users.may_mean([*self._several.values()], there)
            keys = np.array([*self._several], np.uint64)[absent]
            is_damaged |= ~is_single & np.isin(rows["key"], keys)
        damaged = rows[is_damaged]
        known = damaged[damaged["code"] >= 0]
        self._known[known["code"]] = True
        self._summary.evaluated += int(np.count_nonzero(self._is_evaluated[known["code"]]))
        # Two damaged ids of one user stay: either may be another user's.
        _, first = np.unique(known["key"], return_index=True)
        ids = known[first]
        renamed = np.bincount(ids["code"], minlength=len(there)) == 1
        renamed[ids["code"][~ids["certain"]]] = False
        return _Judged(damaged, rows[~is_damaged], renamed, len(ids))

    def _note_look_alikes(self, judged: _Judged, cells: Cells) -> None:
        """Note damaged ids, and users who look like known ones, with what these are."""
        damaged, extra = judged.damaged, judged.extra
        is_mended = (damaged["code"] >= 0) & judged.renamed[damaged["code"]]
        spaces, padded = damaged["spaces"], extra[extra["padded"]]
        complete = self._against.users.complete
        trimmed = self._findings.found.get("SUB207", Finding()).count
        rows = {
            "SUB202": extra if complete else extra[:0],
            "SUB207": np.concatenate((damaged[spaces], padded[: 0 if complete else None])),
            "SUB209": damaged[~spaces],
            "SUB215": extra,
        }
        for code, noted_rows in rows.items():
            lines = np.sort(noted_rows["line"])[:EXAMPLES].tolist()
            self._findings.add(code, len(noted_rows), [Place(line, "") for line in lines])
        if "SUB207" in self._findings.found:
            spared = int(np.count_nonzero(spaces & ~is_mended))
            self._findings.found["SUB207"].mended = trimmed + len(rows["SUB207"]) - spared
        if "SUB209" in self._findings.found:
            self._findings.found["SUB209"].mended = int(np.count_nonzero(is_mended & ~spaces))
        noted = {code: self._findings.found[code] for code in rows if code in self._findings.found}
        if len(extra) == 0:
            noted.pop("SUB202", None)
        lines = {place.line for finding in noted.values() for place in finding.places}
        texts = cells(sorted(line for line in lines if line is not None), USER) if lines else {}
        for code, finding in noted.items():
            padded_values = [texts[place.line or 0] for place in finding.places]
            bare = [text.strip(SPACES) for text in padded_values]
            values = padded_values if code == "SUB207" else bare
            finding.places = [
                replace(place, value=shown(value[:MOST_BYTES]))
                for place, value in zip(finding.places, values, strict=True)
            ]
            if code != "SUB202":
                _name(finding, bare, self.expected.of_users)


class _Judged(NamedTuple):
    """Rows of users who look like known ones, `LOOK_ALIKE` each.

    Those in `damaged` have a known user without a row, those in `extra` one with a row. `renamed`
    tells which known users get the rows of the one damaged id that means them, and `ids` how many
    do.
    """

    damaged: npt.NDArray[np.void]
    extra: npt.NDArray[np.void]
    renamed: Bool
    ids: int


def _name(finding: Finding, texts: list[bytes], diagnosis: Diagnosis) -> None:
    """Name the known ids that the first of a kind of fault mean."""
    diagnoses = diagnosis.of(texts)
    finding.places = [
        replace(place, known=shown(known)) if known else place
        for place, known in zip(finding.places, diagnoses.known, strict=True)
    ]
    finding.further = int(diagnoses.further[0])


def _named(texts: Iterable[str | bytes]) -> list[Place]:
    return [Place(None, shown(text)) for text in texts]
