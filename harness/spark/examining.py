"""A bucket of a submission on a worker: its lines are checked and scored by the local code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.core.arrays import Bool, Ragged
from harness.core.errors import DataError
from harness.delimited import fields
from harness.delimited._lines import FIELD, NO_ROW, RECORD
from harness.delimited.blocks import Block, cut, padded
from harness.experiment.score import ScoredUsers
from harness.experiment.submitted_lists import SubmittedLists, lists_of_file, lists_of_positions
from harness.metrics import Judgments, Metric
from harness.protocol.truth import Solution
from harness.spark.lines import BLANK, LINES, Lines
from harness.spark.parts import SCHEMA, Batches, Content, attempted, gathered, kept, rows
from harness.submission._scan import STRANGER, USER
from harness.submission.expected import Against
from harness.submission.findings import Findings, Place, shown
from harness.submission.format import Format, Named
from harness.submission.gathered import Gathered, Gathering
from harness.submission.header import Header
from harness.submission.keys import nothing
from harness.submission.scan import Expected, Form, scan
from harness.submission.scan_file import ScannedBlock
from harness.submission.source import Source
from harness.submission.told import Told
from harness.submission.validate import refuse_no_header

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IDS, AT, SOLUTION = "ids", "at", "solution"
_USERS, _TRUTH, _RELEVANT, _HISTORY, _GRADES = "users", "truth", "relevant", "history", "grades"
_OUTSIDE = "outside_grades"
_AVERAGED, _BOARDS, _IGNORED, _REPEATED = "averaged", "boards", "ignored", "repeated"
_VALUES, _GROUPS, _SUMS = "values", "groups", "sums"
TOLD, LEFT_OUT, ASKED, OPEN, STRANGERS = "told", "left_out", "asked", "open", "strangers"
MOST_STRANGERS = 1000
"""Ids of a bucket that nobody has, of which is asked who is meant."""


def content_of(solution: Solution, keep: Bool, ignored: Bool, first: bool) -> dict[str, Any]:
    """Return what a bucket gets of a solution.

    Parameters
    ----------
    keep, ignored : bool arrays
        Which of its users, and of those whom it ignores, are of the bucket.
    first : bool
        Whether the bucket is told how many true items stood again.
    """
    judgments, history = solution.judgments.pick(keep), solution.history
    found: dict[str, Any] = {
        _USERS: solution.users.filter(pl.Series(keep)),
        _TRUTH: _packed(judgments.truth),
        _RELEVANT: np.asarray(judgments.relevant),
        _IGNORED: solution.ignored.filter(pl.Series(ignored)),
        _BOARDS: {name: users[keep] for name, users in solution.leaderboards.items()},
    }
    if history is not None:
        found[_HISTORY] = _packed(history.pick(keep))
    if judgments.grades is not None:
        found[_GRADES] = judgments.grades
    if judgments.outside_grades is not None:
        found[_OUTSIDE] = judgments.outside_grades
    if solution.averaged is not None:
        found[_AVERAGED] = solution.averaged[keep]
    if solution.repeated is not None:
        found[_REPEATED] = np.array([solution.repeated if first else 0])
    return {SOLUTION: found}


def _packed(of: Ragged) -> dict[str, Any]:
    return {"ends": of.indptr, "items": of.indices}


def _ragged(content: Mapping[str, Any]) -> Ragged:
    return Ragged(content["ends"], content["items"])


def solution_of(content: Mapping[str, Any], known: Solution) -> Solution:
    """Return a bucket's share of a solution, of which `known` tells what all buckets share."""
    judgments = Judgments(
        _ragged(content[_TRUTH]),
        content[_RELEVANT],
        content.get(_GRADES),
        content.get(_OUTSIDE),
        known.judgments.catalogue,
    )
    history, repeated = content.get(_HISTORY), content.get(_REPEATED)
    return replace(
        known,
        users=content[_USERS],
        judgments=judgments,
        leaderboards=content[_BOARDS],
        ignored=content[_IGNORED],
        averaged=content.get(_AVERAGED),
        history=None if history is None else _ragged(history),
        repeated=None if repeated is None else int(repeated[0]),
    )


@dataclass(frozen=True, eq=False)
class Examining:
    """Examines buckets of a submission.

    Attributes
    ----------
    title : str
        Where the lists are from.
    against : Against
        What is known but for users: the items are.
    head, wanted, places, between
        What the submission looks like, as `Source` has it.
    keys : sequence of int
        Of the buckets.
    numbered, asks : bool
        Whether lines have numbers, and whether rows are asked for.
    known : Solution, optional
        What all buckets share of the solution: all but users, of whom it has none.
    longest : int, optional
        Positions of a list that are looked at.
    metrics : tuple of Metric
        What lists are scored by; none if they are checked alone.
    admitted : bool
        Whether the solution only tells which users there may be.
    anew : bool
        Whether lists are made of the rows as they stand, as where equal scores leave them open.
    """

    title: str
    against: Against
    head: Header
    wanted: Format
    places: dict[str, int]
    between: int | None
    keys: Sequence[int]
    numbered: bool
    asks: bool
    known: Solution | None = None
    longest: int | None = None
    metrics: tuple[Metric, ...] = ()
    admitted: bool = False
    anew: bool = False

    def __call__(self, batches: Batches) -> Batches:
        """Yield what the buckets of a partition tell, and what their lists score."""
        for at, pieces in gathered(batches, self.keys):
            yield from attempted(at, partial(self._bucket, at, pieces))

    def _bucket(self, at: int, pieces: list[Content]) -> Batches:
        solution = self._solution(pieces)
        against = self._against(pieces, solution)
        solution = None if self.admitted else solution
        lines = Lines((piece for piece in pieces if LINES in piece), self.numbered)
        opened = Source(self.head, self.wanted, self.places, lines, self.between)
        findings = Findings()
        refuse_no_header(self.head.columns, against, findings)
        if not opened.readable:
            yield from rows(at, {}, {TOLD: Told(findings).to_json(), ASKED: _first(against)})
            return
        gathering = Gathering(against, self.wanted, solution, findings, self.longest)
        strangers: set[str] = set()
        for block in lines.blocks():
            scanned = ScannedBlock.of(block, opened.form, gathering.expected)
            gathering.take(scanned)
            strangers |= _strangers(scanned)
        found = gathering.finish(opened.cells)
        if not self.numbered:
            _name_users(findings, opened)
        facts: dict[str, Any] = {TOLD: found.told.to_json(), ASKED: _first(against)}
        facts[OPEN] = solution is not None and found.lists is None
        facts[STRANGERS] = sorted(strangers)[: MOST_STRANGERS + 1]
        content: dict[str, Any] = {}
        if self.metrics and solution is not None:
            submitted = self._lists(found, opened, solution)
            facts[LEFT_OUT] = dict(submitted.left_out)
            content = _content(ScoredUsers.of(submitted, self.metrics), self.metrics)
        yield from rows(at, content, facts)

    def restored(self, strangers: Sequence[str], batches: Batches) -> Batches:
        """Yield, for each bucket of a partition, which of these ids are those of its users."""
        for at, pieces in gathered(batches, self.keys):
            yield from attempted(at, partial(self._restored, strangers, at, pieces))

    def _restored(self, strangers: Sequence[str], at: int, pieces: list[Content]) -> Batches:
        users = self._against(pieces, self._solution(pieces)).users
        names = (name.translate({FIELD: None, RECORD: None}) for name in strangers)
        text = b"".join(b"%s%c%c" % (name.encode(), FIELD, RECORD) for name in names)
        block = Block(padded(text), len(text), FIELD, RECORD)
        none = np.full(len(users), -1, np.int32)
        found = scan(block, Form(2, 0, 1, ord(" ")), Expected(users, nothing(), none, 0))
        own = [strangers[line] for line in np.flatnonzero(found.users >= 0).tolist()]
        yield from rows(at, {}, own)

    def _solution(self, pieces: list[Content]) -> Solution | None:
        if self.known is None:
            return None
        own = [piece[SOLUTION] for piece in pieces if SOLUTION in piece]
        found = solution_of(own[0], self.known) if own else self.known
        kinds = () if self.against.format is None else self.against.format.kinds
        return found.of_kinds(kinds) if kinds else found

    def _against(self, pieces: list[Content], solution: Solution | None) -> Against:
        against = self.against
        if self.asks:
            own = sorted((p for p in pieces if IDS in p), key=lambda piece: int(piece[AT][0]))
            none = pl.Series([], dtype=pl.String)
            names = pl.concat([none, *(piece[IDS].rename("") for piece in own)])
            against = against.asking_for(names.unique(maintain_order=True))
        return against if solution is None else against.with_users_of(solution)

    def _lists(self, found: Gathered, opened: Source, solution: Solution) -> SubmittedLists:
        """Return the lists of a bucket."""
        told, lists = found.told, found.lists
        if self.anew and told.rows > 0:
            wanted, order = self.wanted, self._name(self.wanted.order)
            by = (None, order) if wanted.descending else (order, None)
            named = Named(self._name(wanted.user), self._name(wanted.items), *by)
            given = _frame(opened), solution, named, self.longest
            return replace(lists_of_file(*given, none_known=True), title=self.title)
        if lists is None or self.anew:
            lists = np.full((len(solution.users), 1), -1, np.int32)
        left_out = {"users_outside": told.outside, "rows_outside": told.rows_outside}
        return lists_of_positions(self.title, solution, lists, solution.items, left_out)

    def _name(self, meant: str) -> str:
        """Return how the header spells a wanted column."""
        return self.head.columns[self.places[meant]]


def _strangers(scanned: ScannedBlock) -> set[str]:
    """Return some ids that nobody has."""
    rows = np.flatnonzero(scanned.found.users == STRANGER)[: MOST_STRANGERS + 1]
    starts, stops = scanned.found.starts[rows, USER], scanned.found.stops[rows, USER]
    texts = scanned.block.texts(starts, stops)
    return {text.strip(BLANK).decode("utf-8", "replace") for text in texts}


def _first(against: Against) -> list[Any]:
    """Return how many users must have a row, and one of them."""
    names = against.names
    return [0, None] if names is None else [len(names), names.min()]


def _frame(opened: Source) -> pl.DataFrame:
    """Return the rows of a bucket as they are read where ids are told apart."""
    wanted, form = opened.wanted, opened.form
    columns: list[list[str]] = [[] for _ in wanted.columns]
    for block in opened.reader.blocks():
        starts, stops, users = fields.fields(block, form.wanted)
        own, text = users != NO_ROW, block.text(0, block.size)
        for at, column in enumerate(columns):
            given = cut(text, starts[own, at], stops[own, at])
            column.extend(cell.decode("utf-8", "replace") for cell in given)
    meant = [wanted.user, wanted.items, *([wanted.order] if wanted.order else [])]
    names = [opened.head.columns[opened.places[name]] for name in meant]
    return pl.DataFrame(dict(zip(names, columns, strict=False)))


def _name_users(findings: Findings, opened: Source) -> None:
    """Let faults of rows without numbers be found by their users."""
    lines = {p.line for own in findings.found.values() for p in own.places if p.line is not None}
    users = opened.cells(sorted(lines), USER) if lines else {}
    for own in findings.found.values():
        own.places = [
            place if place.line is None else Place(None, place.value, shown(users[place.line]))
            for place in own.places
        ]


def _content(scored: ScoredUsers, metrics: Sequence[Metric]) -> dict[str, Any]:
    values = {metrics.index(metric): of for metric, of in scored.values.items()}
    return {_VALUES: values, _GROUPS: scored.groups, _SUMS: scored.sums}


def meant_by(pieces: DataFrame, examining: Examining, facts: Mapping[int, Any]) -> dict[str, int]:
    """Return the buckets of users who are meant by ids that are written otherwise.

    Parameters
    ----------
    pieces : DataFrame
        What buckets get.
    facts : mapping
        What they told.

    Raises
    ------
    DataError
        There are too many to ask for each.
    """
    few = [of.get(STRANGERS, []) for of in facts.values()]
    asked = sorted({text for texts in few for text in texts})
    if not asked or not (examining.asks or examining.known):
        return {}
    found = kept(pieces.mapInArrow(partial(examining.restored, asked), SCHEMA), _nothing)
    found.release()
    meant = {text: at for at, texts in found.facts.items() for text in texts}
    if meant and any(len(texts) > MOST_STRANGERS for texts in few):
        raise DataError(
            f"{examining.title}: many ids are nobody's as they are written, such as "
            f'"{min(meant)}", and are those of users with their zeros, in another case or without '
            "what stands around them; write ids alike"
        )
    return meant


def _nothing(part: int, content: object) -> None:
    """Return nothing of what is kept: facts tell it."""


def scored_of(metrics: Sequence[Metric], _: int, content: Content) -> ScoredUsers:
    """Return what the lists of a bucket score."""
    values = {metrics[at]: of for at, of in content.get(_VALUES, {}).items()}
    return ScoredUsers(content.get(_GROUPS, {}), values, content.get(_SUMS, {}))


def told_of(facts: Mapping[int, Any]) -> Told:
    """Return what all buckets tell."""
    return sum((Told.of_json(of[TOLD]) for of in facts.values()), Told())


def asked_of(facts: Mapping[int, Any], against: Against) -> Against:
    """Return the same where it is known how many users must have a row, and one of them."""
    counts, names = zip(*(of[ASKED] for of in facts.values()), strict=True) if facts else ((), ())
    first = min((name for name in names if name is not None), default=None)
    some = pl.Series([] if first is None else [first], dtype=pl.String)
    return replace(against, required=sum(counts), names=some)


def left_out_of(facts: Mapping[int, Any]) -> dict[str, int]:
    """Return what all buckets leave out."""
    found: dict[str, int] = {}
    for of in facts.values():
        for name, count in of.get(LEFT_OUT, {}).items():
            found[name] = found.get(name, 0) + count
    return found
