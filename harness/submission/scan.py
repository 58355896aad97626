"""The one pass over a file: users and lists as codes, block by block, and all that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from harness.core.arrays import Bool, Counts, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited import blocks
from harness.delimited._delimited import EXAMPLES, NO_ROW, Tally
from harness.delimited.blocks import Block, Blocks, Survey, in_order, survey
from harness.submission._kernels import (
    ALIKE,
    ASKED,
    BESIDE,
    COUNT,
    LIST,
    NO_ID,
    OTHER,
    PADDED_ID,
    STRANGER,
    UNKNOWN_ID,
    UNKNOWN_ITEM,
    USER,
    Strangers,
    read_items,
    read_users,
)
from harness.submission.diagnose import Diagnoses, Diagnosis
from harness.submission.format import Format
from harness.submission.header import Header
from harness.submission.keys import Known
from harness.submission.problems import MOST_BYTES, Findings, Place, shown

SPACES = b" \t\r"
"""What ids lose around them."""
GROUP = 0x1D
"""What stands between items where a space may stand within one."""


@dataclass(frozen=True)
class Form:
    """How lines are cut.

    A row has so many `fields`, of which `user`, `items` and `order` (ranks or scores), from 0, are
    looked at. `between` is the byte between items, and `width` how many positions a list may have.
    If `long`, a row holds one item, and all rows are kept. Ids of unknown users are written with
    `letters` and have `length` bytes; empty and 0 where anything goes.
    """

    fields: int
    user: int
    items: int
    between: int
    width: int = 1 << 31
    order: int | None = None
    long: bool = False
    letters: bytes = b""
    length: int = 0

    @classmethod
    def of(cls, head: Header, places: dict[str, int], wanted: Format) -> Form:
        """Return how a file of this header and format is cut; `places` are those of the columns."""
        form = cls(
            fields=len(head.columns),
            user=places[wanted.user],
            items=places[wanted.items],
            between=ord(wanted.between),
            letters=wanted.letters.encode(),
            length=wanted.length,
        )
        if wanted.long:
            order = places[wanted.order] if wanted.order else None
            return replace(form, order=order, long=True)
        return form if wanted.k is None else replace(form, width=wanted.k)

    def between_in(self, block: Block) -> int:
        """Return the byte between items of a block; where a row holds one, a byte no field has."""
        return block.end if self.long else self.between

    @property
    def in_ids(self) -> Bool:
        """Whether each byte may stand in the id of an unknown user, (256,)."""
        letters = np.full(256, not self.letters)
        letters[list(self.letters)] = True
        return letters

    @property
    def wanted(self) -> Int32:
        """The columns of fields: first the user, then the list, then what orders it."""
        order = [] if self.order is None else [self.order]
        return blocks.wanted(self.fields, [self.user, self.items, *order])


@dataclass(frozen=True, eq=False)
class Expected:
    """What is known beforehand: ids, and what others are.

    `answered` has the row of each known user in the solution, −1 without one, and `kept` is how
    many positions of a list are kept.
    """

    answered: Int32
    kept: int
    of_users: Diagnosis
    of_items: Diagnosis

    @classmethod
    def of(cls, users: Known, items: Known, answered: Int32, kept: int, wanted: Format) -> Expected:
        """Return the same with what ids are that are not known."""
        # In a list a space of any kind may stand between items.
        joined = wanted.long or wanted.between != " "
        of_users = Diagnosis(users, of_users=True, joined=True)
        of_items = Diagnosis(items, of_users=False, joined=joined)
        return cls(answered, kept, of_users, of_items)


@dataclass(frozen=True, eq=False)
class LookAlikes:
    """Users of lines who are not known, and look like one who is.

    `which` has of each line the place of its token in `tokens` and in `diagnoses`, `padded` whether
    plain spaces stand around the id.
    """

    lines: Int64
    which: Int64
    padded: Bool
    tokens: list[bytes]
    diagnoses: Diagnoses


class Lists(NamedTuple):
    """Lists that are kept: the row of the truth that each belongs to, and where it ends in `items`.

    An item that is not known has as code the number of known items + its first rank in the list.
    """

    rows: Int32
    ends: Int64
    items: Int32


@dataclass(frozen=True, eq=False)
class Scanned:
    """What the lines of a block hold.

    `users` are codes, −1 unknown, NO_ROW where there is no row, and `keys`, (lines, 2), those of
    their ids. `list_keys` are keys of the lists as they stand, but of lines that are no rows.
    `starts` and `stops`, (lines, 2), tell where the user's id and the list of each line stand, and
    `sound` whether the list is that of the known user. `torn` are known users of lines that are no
    rows: they are not missing. `lists` are those that are kept; where a row holds one item, each
    belongs to a line of the block. `first_sum` is a sum over the first of all lists, and `n_same`
    have the same. `tally` counts faults, and `strangers` are items that are not known.
    """

    users: Int32
    keys: UInt64
    list_keys: UInt64
    starts: Int64
    stops: Int64
    tally: Tally
    lists: Lists
    first_sum: int
    n_same: int
    sound: Bool
    torn: Int32
    alike: LookAlikes | None
    strangers: Strangers

    def spans(self, lines: Int64, column: int) -> Int64:
        """Return some lines, and where their fields of a column begin and end, (n, 3)."""
        return np.stack((lines, self.starts[lines, column], self.stops[lines, column]), axis=1)


def scan(block: Block, form: Form, expected: Expected) -> Scanned:
    """Read whole fields."""
    buffer, tally = block.buffer, Tally(COUNT)
    starts, stops, users = blocks.fields(block, form.wanted, tally)
    n = len(users)
    keys, sound, wrong = np.empty((n, 2), np.uint64), np.zeros(n, np.bool_), np.zeros(n, np.int8)
    known_users, known_items = expected.of_users.ids, expected.of_items.ids
    read_users(
        buffer, starts, stops, known_users, form.in_ids, form.length, users, keys, sound, wrong
    )
    alike = _look_alikes(block, expected.of_users, starts[:, USER], stops[:, USER], keys, wrong)
    _note_users(block, starts[:, USER], stops[:, USER], wrong, tally)
    broken = np.flatnonzero((users == NO_ROW) & (starts[:, USER] < stops[:, USER]))
    torn = expected.of_users.known.codes(buffer, starts[broken, USER], stops[broken, USER])
    wanted = np.full(n, -1, np.int32)
    if form.long:
        wanted[users >= STRANGER] = np.flatnonzero(users >= STRANGER)
    else:
        wanted[sound] = expected.answered[users[sound]]
    most = int((stops[:, LIST] - starts[:, LIST])[wanted >= 0].sum()) // 2 + n
    lists = Lists(np.empty(n, np.int32), np.empty(n, np.int64), np.empty(most, np.int32))
    list_keys, strangers = np.empty(n, np.uint64), Strangers()
    n_lists, n_items, first_sum, n_same = read_items(
        buffer,
        starts,
        stops,
        users,
        wanted,
        form.between_in(block),
        form.width,
        expected.kept,
        known_items,
        strangers,
        tally,
        lists.rows,
        lists.ends,
        lists.items,
        list_keys,
    )
    scanned = Scanned(
        users=users,
        keys=keys,
        list_keys=list_keys,
        starts=starts,
        stops=stops,
        tally=tally,
        lists=Lists(lists.rows[:n_lists], lists.ends[:n_lists], lists.items[:n_items]),
        first_sum=first_sum,
        n_same=n_same,
        sound=sound,
        torn=torn[torn >= 0],
        alike=alike,
        strangers=strangers,
    )
    if len(strangers) > 0:
        _note_items(block, form, scanned, expected.of_items)
    return scanned


def _look_alikes(
    block: Block, diagnosis: Diagnosis, starts: Int64, stops: Int64, keys: UInt64, wrong: Counts
) -> LookAlikes | None:
    """Return users who look like known ones; note in `wrong` what the others are asked for."""
    lines = np.flatnonzero(wrong == ASKED)
    if len(lines) == 0:
        return None
    _, first, which = np.unique(
        KeyTable().codes(keys[lines]), return_index=True, return_inverse=True
    )
    texts = block.texts(starts[lines[first]], stops[lines[first]])
    tokens = [text.strip(SPACES) for text in texts]
    padded = stops[lines] - starts[lines] > np.array(list(map(len, tokens)))[which]
    diagnoses = diagnosis.of(tokens)
    alike = (diagnoses.marks != 0)[which]
    other = UNKNOWN_ID if diagnosis.known.complete else PADDED_ID * padded
    wrong[lines] = np.where(alike, 0, other)
    if not alike.any():
        return None
    return LookAlikes(lines[alike], which[alike], padded[alike], tokens, diagnoses)


def _note_users(block: Block, starts: Int64, stops: Int64, wrong: Counts, tally: Tally) -> None:
    """Note the faults of users, with the spaces around them where these are one."""
    for fault in np.unique(wrong[wrong > 0]).tolist():
        lines = np.flatnonzero(wrong == fault)
        spans = np.stack((lines, starts[lines], stops[lines]), axis=1)
        if fault not in (NO_ID, PADDED_ID):
            for row, (_, start, stop) in enumerate(spans[:EXAMPLES].tolist()):
                text = block.text(start, stop)
                spans[row, 1] += len(text) - len(text.lstrip(SPACES))
                spans[row, 2] -= len(text) - len(text.rstrip(SPACES))
        _note(tally, fault, spans)


def _note_items(block: Block, form: Form, scanned: Scanned, diagnosis: Diagnosis) -> None:
    """Note the faults of items that are not known."""
    strangers, tally = scanned.strangers, scanned.tally
    spans, kinds = strangers.spans, strangers.kinds
    marks, is_mended = np.full(len(kinds), 1 << UNKNOWN_ITEM), np.zeros(len(kinds), np.bool_)
    rows = np.flatnonzero(kinds != OTHER)
    if len(rows) > 0:
        learnt = diagnosis.learn(block, strangers.keys[rows], spans[rows])
        marks[rows], is_mended[rows] = learnt.marks, learnt.is_mended
        between = bytes([form.between_in(block)])
        for row in rows[learnt.is_doubtful & (kinds[rows] == BESIDE)].tolist():
            line, start, stop = spans[row].tolist()
            begin, end = int(scanned.starts[line, LIST]), int(scanned.stops[line, LIST])
            # In one list with the item that it looks like, it may be another.
            if learnt.meant[block.text(start, stop)] in block.text(begin, end).split(between):
                marks[row], is_mended[row] = 1 << ALIKE, False
    every = int(np.bitwise_or.reduce(marks))
    for fault in range(UNKNOWN_ITEM, COUNT):
        if every & 1 << fault:
            of_fault = np.flatnonzero(marks & 1 << fault)
            _note(tally, fault, spans[of_fault])
            tally.mended[fault] += np.count_nonzero(is_mended[of_fault])


def _note(tally: Tally, fault: int, spans: Int64) -> None:
    """Count a fault; each line of `spans`, (n, 3), once, and remember the first of them."""
    first = np.flatnonzero(np.diff(spans[:, 0], prepend=-1))
    tally.counts[fault] += len(spans)
    tally.lines[fault] += len(first)
    examples = spans[first[:EXAMPLES]]
    tally.examples[fault, : len(examples)] = examples


@dataclass(frozen=True, eq=False)
class ScannedBlock:
    """A block, what its lines hold, and how many physical lines stand before it."""

    block: Block
    content: Scanned
    before: int

    @property
    def last(self) -> int:
        """The physical line that it ends with, from 1."""
        ended = self.block.ended
        return self.before + (len(self.content.users) if ended is None else ended)

    def line_of(self, row: int) -> int:
        """Return the physical line, from 1, of one of its lines."""
        return int(self.lines_of(np.array([row]))[0])

    def lines_of(self, rows: Int64) -> Int64:
        """Return the physical lines, from 1, of some of its lines."""
        lines = self.block.lines
        return self.before + 1 + (rows if lines is None else lines[rows])

    def note_bytes(self, seen: Survey, findings: Findings) -> None:
        """Note what its bytes are beside lines of text."""
        findings.add("SUB010", seen.returns, [])
        where = [Place(self.line_of(line), shown(what)) for line, what in seen.undecodable]
        findings.add("SUB005", len(where), where)
        lines = {
            "SUB008": map(self.line_of, seen.nuls),
            "SUB011": self.before + 1 + self.block.unclosed,
            "SUB017": self.before + 1 + self.block.torn,
        }
        for code, numbers in lines.items():
            odd = [Place(int(line), "") for line in numbers]
            findings.add(code, len(odd), odd)

    def places(self, examples: Int64) -> list[Place]:
        """Return the places of examples, (n, 3): a line, its first byte, the byte behind the last.

        What is not shown of a long one is not copied.
        """
        return [
            Place(self.line_of(line), shown(text))
            for line, text in zip(examples[:, 0].tolist(), self.texts(examples), strict=True)
        ]

    def places_of_items(self, examples: Int64) -> list[Place]:
        """Return the same with the users of the lists."""
        users = self.texts(self.content.spans(examples[:, 0], USER))
        places = zip(self.places(examples), users, strict=True)
        return [replace(place, user=shown(user)) for place, user in places]

    def texts(self, examples: Int64) -> list[bytes]:
        """Return what stands at examples, cut."""
        return [
            self.block.text(start, min(stop, start + MOST_BYTES))
            for _, start, stop in examples.tolist()
        ]


def scan_file(
    reader: Blocks,
    form: Form,
    expected: Expected,
    findings: Findings,
) -> Iterator[ScannedBlock]:
    """Yield every block behind the header, scanned; its buffer is used again afterwards.

    `findings` take what the bytes are beside lines of text.
    """

    def work(block: Block) -> tuple[Block, Scanned, Survey]:
        return block, scan(block, form, expected), survey(block.buffer, block.size, block.end)

    before = reader.header_lines
    for block, content, seen in in_order(reader, work):
        scanned = ScannedBlock(block, content, before)
        scanned.note_bytes(seen, findings)
        yield scanned
        before = scanned.last
