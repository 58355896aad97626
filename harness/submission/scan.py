"""The one pass over a file: users and lists as codes, block by block, and all that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.core.arrays import Bool, Counts, Int32, Int64, UInt64
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
from harness.submission.diagnose import Diagnosis
from harness.submission.format import Format
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


LOOK_ALIKE = np.dtype(
    [("line", np.int64), ("code", np.int32), ("key", np.uint64)]
    + [(name, np.bool_) for name in ("padded", "spaces", "by_case", "certain")]
)
"""A row of a user who is not known, and looks like one who is.

Its line, the code of the known user (SEVERAL: there are more), the first half of the key of what
stands there, whether plain spaces stand around that, whether only spaces tell it from the known id,
or only its case, and whether it can be mended.
"""


class LookAlikes(NamedTuple):
    """Rows of a block, `LOOK_ALIKE` each, the ids that stand there, and those that they mean."""

    rows: npt.NDArray[np.void]
    tokens: list[bytes]
    known: list[bytes]


class Lists(NamedTuple):
    """Lists that are kept: the row of the truth that each belongs to, and where it ends in `items`.

    An item that is not known has as code the number of known items + its first rank in the list.
    """

    rows: Int32
    ends: Int64
    items: Int32


@dataclass(eq=False)
class Scanned:
    """A block, and what its lines hold; `before` physical lines stand before it.

    `users` are codes, −1 unknown, NO_ROW where there is no row, and `keys`, (lines, 2), those of
    their ids. `list_keys` are keys of the lists as they stand, but of lines that are no rows.
    `starts` and `stops`, (lines, 2), tell where the user's id and the list of each line stand, and
    `sound` whether the list is that of the known user. `torn` are known users of lines that are no
    rows: they are not missing. `lists` are those that are kept; where a row holds one item, each
    belongs to a line of the block. `first_sum` is a sum over the first of all lists, and `n_same`
    have the same. `tally` counts faults, and `strangers` are items that are not known.
    """

    block: Block
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
    before: int = 0

    @property
    def last(self) -> int:
        """The physical line that it ends with, from 1."""
        ended = self.block.ended
        return self.before + (len(self.users) if ended is None else ended)

    def lines_of(self, rows: Int64) -> Int64:
        """Return the physical lines, from 1, of some of its lines."""
        lines = self.block.lines
        return self.before + 1 + (rows if lines is None else lines[rows])

    def spans(self, lines: Int64, column: int) -> Int64:
        """Return some lines, and where their fields of a column begin and end, (n, 3)."""
        return np.stack((lines, self.starts[lines, column], self.stops[lines, column]), axis=1)

    def places(self, spans: Int64, *, of_items: bool = False) -> list[Place]:
        """Return the places of `spans`, with the users of the lists where these are `of_items`."""
        lines = self.lines_of(spans[:, 0]).tolist()
        texts = zip(lines, self.texts(spans), strict=True)
        places = [Place(line, shown(text)) for line, text in texts]
        if not of_items:
            return places
        users = map(shown, self.texts(self.spans(spans[:, 0], USER)))
        return [replace(place, user=user) for place, user in zip(places, users, strict=True)]

    def texts(self, spans: Int64) -> list[bytes]:
        """Return what stands at `spans`; what is not shown of a long text is not copied."""
        return [
            self.block.text(start, min(stop, start + MOST_BYTES))
            for _, start, stop in spans.tolist()
        ]

    def note_bytes(self, seen: Survey, findings: Findings) -> None:
        """Note what its bytes are beside lines of text."""
        findings.add("SUB010", seen.returns, [])
        rows = np.array([row for row, _ in seen.undecodable], np.int64)
        where = [
            Place(line, shown(what))
            for line, (_, what) in zip(self.lines_of(rows).tolist(), seen.undecodable, strict=True)
        ]
        findings.add("SUB005", len(where), where)
        lines = {
            "SUB008": self.lines_of(np.array(seen.nuls, np.int64)),
            "SUB011": self.before + 1 + self.block.unclosed,
            "SUB017": self.before + 1 + self.block.torn,
        }
        for code, numbers in lines.items():
            findings.add(code, len(numbers), [Place(line, "") for line in numbers.tolist()])


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
        block=block,
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
        _note_items(scanned, form, expected.of_items)
    return scanned


def _look_alikes(
    block: Block, diagnosis: Diagnosis, starts: Int64, stops: Int64, keys: UInt64, wrong: Counts
) -> LookAlikes | None:
    """Return rows of users who look like known ones; note in `wrong` what the others are."""
    lines = np.flatnonzero(wrong == ASKED)
    if len(lines) == 0:
        return None
    _, first, which = np.unique(keys[lines, 0], return_index=True, return_inverse=True)
    texts = block.texts(starts[lines[first]], stops[lines[first]])
    tokens = [text.strip(SPACES) for text in texts]
    diagnoses, rows = diagnosis.of(tokens), np.empty(len(lines), LOOK_ALIKE)
    rows["line"], rows["key"] = lines, keys[lines, 0]
    rows["padded"] = stops[lines] - starts[lines] > np.array(list(map(len, tokens)))[which]
    rows["spaces"] = diagnoses.marks[which] == 1 << PADDED_ID
    rows["code"], rows["certain"] = diagnoses.codes[which], diagnoses.certain[which]
    rows["by_case"] = diagnoses.by_case[which]
    is_alike = (diagnoses.marks != 0)[which]
    other = UNKNOWN_ID if diagnosis.known.complete else PADDED_ID * rows["padded"]
    wrong[lines] = np.where(is_alike, 0, other)
    alike = which[is_alike].tolist()
    return LookAlikes(
        rows=rows[is_alike],
        tokens=[tokens[token] for token in alike],
        known=[diagnoses.known[token] for token in alike],
    )


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


def _note_items(scanned: Scanned, form: Form, diagnosis: Diagnosis) -> None:
    """Note the faults of items that are not known."""
    block, strangers, tally = scanned.block, scanned.strangers, scanned.tally
    spans, kinds = strangers.rows[:, :3], strangers.rows[:, 3]
    marks, is_mended = np.full(len(kinds), 1 << UNKNOWN_ITEM), np.zeros(len(kinds), np.bool_)
    rows = np.flatnonzero(kinds != OTHER)
    if len(rows) > 0:
        learnt = diagnosis.learn(block, strangers.rows[rows])
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


def scan_file(
    reader: Blocks, form: Form, expected: Expected, findings: Findings
) -> Iterator[Scanned]:
    """Yield every block behind the header, scanned; its buffer is used again afterwards.

    `findings` take what the bytes are beside lines of text.
    """

    def work(block: Block) -> tuple[Scanned, Survey]:
        return scan(block, form, expected), survey(block.buffer, block.size, block.end)

    before = reader.header_lines
    for scanned, seen in in_order(reader, work):
        scanned.before = before
        scanned.note_bytes(seen, findings)
        yield scanned
        before = scanned.last
