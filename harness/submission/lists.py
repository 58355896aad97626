"""The lists of a file put together block by block: a row a user, or a row an item."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.core.arrays import Bool, Floats, Int32, Int64
from harness.delimited import _delimited
from harness.delimited._delimited import EXAMPLES, NO_ROW
from harness.delimited.blocks import Block
from harness.submission._kernels import EMPTY, LIST, ONE_ITEM, ORDER, USER, mark_repeats
from harness.submission.admitted import Admitted
from harness.submission.keys import Known, Learning
from harness.submission.problems import Findings
from harness.submission.scan import Scanned
from harness.submission.scan_file import ScannedBlock

if TYPE_CHECKING:
    from harness.protocol.truth import Solution


@dataclass(frozen=True)
class Fault:
    """What is wrong with whole lists: a rule's code, how often, and the first lines, from 1."""

    code: str
    count: int
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Common:
    """What lists have in common.

    Attributes
    ----------
    lists, same, single : int
        How many there are, are the same as the first, and have one item at most.
    """

    lists: int = 0
    same: int = 0
    single: int = 0


class WideLists:
    """Lists, the first of each user's.

    Parameters
    ----------
    rows : int
        How many users the solution has.
    """

    def __init__(self, rows: int) -> None:
        self._lists: Int32 = np.full((rows, 1), -1, np.int32)
        self._taken = np.zeros(rows, np.bool_)
        self._held = self._same = self._single = 0
        self._first: int | None = None

    def take(self, scanned: ScannedBlock, users: Admitted, findings: Findings) -> None:
        """Take in the next block, and its users."""
        content = scanned.content
        again = users.admit(content.users, content.keys, content.list_keys, scanned.block.size)
        for code, lines in (("SUB203", again.other), ("SUB211", again.same)):
            findings.add(code, len(lines), scanned.places(content.spans(lines[:EXAMPLES], USER)))
        self._put(*content.lists)
        if content.n_same > 0 and self._first is None:
            self._first = content.first_sum
        self._same += content.n_same if content.first_sum == self._first else 0
        self._held += int(np.count_nonzero(content.users != NO_ROW))
        self._single += int(content.tally.lines[[EMPTY, ONE_ITEM]].sum())

    def _put(self, rows: Int32, ends: Int64, items: Int32) -> None:
        """Put lists into their rows; the first of a user's stands."""
        sizes = np.diff(ends, prepend=0)
        widest, held = int(sizes.max(initial=0)), self._lists.shape[1]
        if widest > held:
            wider = np.full((len(self._lists), widest), -1, np.int32)
            wider[:, :held] = self._lists
            self._lists = wider
        _, first = np.unique(rows, return_index=True)
        is_first = np.zeros(len(rows), np.bool_)
        is_first[first] = ~self._taken[rows[first]]
        self._taken[rows] = True
        position = np.arange(len(items)) - np.repeat(ends - sizes, sizes)
        kept = np.repeat(is_first, sizes)
        self._lists[np.repeat(rows, sizes)[kept], position[kept]] = items[kept]

    def finish(self) -> tuple[Int32 | None, list[Fault], Common]:
        """Return the lists, −1 = empty, no fault, and what all have in common."""
        return self._lists, [], Common(self._held, self._same, self._single)


_FEW_CELLS, _MOST_EMPTY = 1 << 22, 16
_NUMBER = re.compile(rb"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


class _Rows(NamedTuple):
    """Rows with an item each: codes of users and items, physical lines, and what orders them."""

    users: Int32
    items: Int32
    lines: Int64
    numbers: Floats

    @classmethod
    def joined(cls, parts: list[_Rows]) -> _Rows:
        """Return the rows of all parts, as they stand in the file."""
        if not parts:
            codes = np.zeros(0, np.int32)
            return cls(codes, codes, np.zeros(0, np.int64), np.zeros(0))
        rows = cls(
            np.concatenate([part.users for part in parts]),
            np.concatenate([part.items for part in parts]),
            np.concatenate([part.lines for part in parts]),
            np.concatenate([part.numbers for part in parts]),
        )
        parts.clear()
        return rows

    def ordered(self) -> _Rows:
        """Return the rows with those of a user together, in the order of their numbers."""
        if self.in_order:
            return self
        numbered = len(self.numbers) > 0
        order = np.lexsort((self.numbers, self.users) if numbered else (self.users,))
        numbers = self.numbers[order] if numbered else self.numbers
        return _Rows(self.users[order], self.items[order], self.lines[order], numbers)

    @property
    def first(self) -> Bool:
        """Which rows are the first of their users, whose rows stand together."""
        first = np.ones(len(self.users), np.bool_)
        first[1:] = self.users[1:] != self.users[:-1]
        return first

    @property
    def in_order(self) -> bool:
        """Whether the rows of each user stand together, in the order of their numbers."""
        first = self.first
        if not self._together(first):
            return False
        if len(self.numbers) == 0:
            return True
        return not (~first & (self.numbers < _before(self.numbers, first))).any()

    def _together(self, first: Bool) -> bool:
        """Return whether the rows of each user stand together."""
        users = np.count_nonzero(np.bincount(self.users))
        return bool(np.count_nonzero(first) == users)

    @property
    def apart(self) -> Int64:
        """Rows that stand apart from earlier ones of their user."""
        first = self.first
        if self._together(first):
            return np.zeros(0, np.int64)
        begins = np.flatnonzero(first)
        return np.delete(begins, np.unique(self.users[begins], return_index=True)[1])


class LongLists:
    """Rows as they stand, until all are there.

    Parameters
    ----------
    items : Known
    rows : int32 array, one a known user
        Rows of the solution, −1 without one.
    k, kept : int
        Positions that a list may have, if there is a limit, and those that are looked at.
    order : str
        ``rank``, ``score``, or empty: the order of the file.
    """

    def __init__(self, items: Known, rows: Int32, k: int | None, kept: int, order: str) -> None:
        self._rows, self._k, self._kept, self._order = rows, k, kept, order
        self._known_items, self._items = len(items), Learning()
        self._strangers = 0
        self._parts: list[_Rows] = []

    def take(self, scanned: ScannedBlock, users: Admitted, findings: Findings) -> None:
        """Take in the next block; that users stand in several rows is as it should be."""
        block, content = scanned.block, scanned.content
        rows = content.lists.rows[np.diff(content.lists.ends, prepend=0) > 0].astype(np.int64)
        numbers, wrong = self._numbers(block, content, rows)
        bad = rows[wrong]
        findings.add("SUB313", len(bad), scanned.places(content.spans(bad[:EXAMPLES], -1)))
        codes = users.codes(content.users, content.keys)[rows]
        self._strangers = users.strangers
        items = content.lists.items.copy()  # one each
        strange = items >= self._known_items
        starts, stops = (array[rows[strange], LIST] for array in (content.starts, content.stops))
        items[strange] = self._known_items + self._items.add(block.buffer, starts, stops)
        self._parts.append(_Rows(codes, items, scanned.lines_of(rows), numbers))

    def finish(self) -> tuple[Int32 | None, list[Fault], Common]:
        """Return the lists, what is wrong with whole ones, and what all have in common.

        There are no lists where ties leave them open.
        """
        rows = _Rows.joined(self._parts)
        apart = [] if self._order else [_fault("SUB319", rows.lines[rows.apart])]
        rows = rows.ordered()
        user, item, line, number = rows
        first = rows.first
        starts = np.flatnonzero(first)
        before = np.repeat(starts, np.diff(starts, append=len(first)))
        place = np.arange(1, len(first) + 1) - before
        rank = number if self._order == "rank" else place.astype(np.float64)
        tied = np.zeros(len(user), np.bool_)
        if self._order:
            tied = ~first & (number == _before(number, first)) & np.isfinite(number)
        beyond = np.zeros(len(user), np.bool_)  # the first row of a user with a rank above k
        if self._k is not None:
            beyond = np.isfinite(rank) & (rank > self._k) & (_before(rank, first) <= self._k)
        wrong = {
            "SUB303": _repeated(first, item),
            "SUB302": beyond,
            **self._of_order(number, first, tied),
        }
        faults = apart + [_fault(code, line[rows]) for code, rows in wrong.items()]
        common = _common(item, first)
        if self._order == "score" and tied.any():
            return None, faults, common
        # Of two on a rank the first stands.
        return self._lists(user[~tied], item[~tied], rank[~tied]), faults, common

    def _of_order(self, number: Floats, first: Bool, tied: Bool) -> dict[str, Bool]:
        """Return which rows have a rank or a score that is wrong beside that of the row before."""
        if self._order == "score":
            return {"SUB315": tied}
        if not self._order:
            return {}
        gap = np.isfinite(number) & (number > _before(number, first) + 1)
        return {"SUB314": tied, "SUB316": gap}

    def _numbers(self, block: Block, content: Scanned, rows: Int64) -> tuple[Floats, Bool]:
        """Return what orders the items of a list, the first lowest, and where it is no number."""
        if not self._order:
            return np.zeros(0), np.zeros(len(rows), np.bool_)
        numbers = numbers_in(block, content.starts[rows, ORDER], content.stops[rows, ORDER])
        wrong = np.isnan(numbers)
        if self._order == "score":
            return np.where(wrong, np.inf, -numbers), wrong
        wrong |= (numbers < 1) | (numbers != np.floor(numbers))
        return np.where(wrong, np.inf, numbers), wrong

    def _lists(self, user: Int32, item: Int32, rank: Floats) -> Int32 | None:
        """Return the lists; None where ranks far too high leave nearly all cells empty."""
        list_of = np.concatenate((self._rows, np.full(self._strangers, -1, np.int32)))[user]
        keep = (list_of >= 0) & (rank <= self._kept)
        rows, width = int(self._rows.max(initial=-1)) + 1, int(rank[keep].max(initial=1))
        if rows * width > max(_FEW_CELLS, _MOST_EMPTY * len(item)):
            return None
        lists = np.full((rows, width), -1, np.int32)
        lists[list_of[keep], rank[keep].astype(np.int64) - 1] = item[keep]
        return lists


def numbers_in(block: Block, starts: Int64, stops: Int64) -> Floats:
    """Return the numbers that stand in a block, NaN where there is none."""
    numbers, wrong = np.empty(len(starts)), np.zeros(len(starts), np.bool_)
    starts, stops = map(np.ascontiguousarray, (starts, stops))
    _delimited.parse(block.buffer, starts, stops, numbers, wrong)
    for row in np.flatnonzero(wrong).tolist():  # long, rare, or wrong
        text = block.text(int(starts[row]), int(stops[row]))
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        numbers[row] = value if math.isfinite(value) else math.nan
    return numbers


def _fault(code: str, lines: Int64) -> Fault:
    return Fault(code, len(lines), tuple(np.sort(lines)[:EXAMPLES].tolist()))


def _common(item: Int32, first: Bool) -> Common:
    """Return what all lists have in common, by their items and which row is the first of each."""
    n, sizes = int(first.sum()), np.diff(np.flatnonzero(first), append=len(first))
    if n == 0:
        return Common()
    of_first = item[: sizes[0]]
    alike = bool((sizes == sizes[0]).all()) and bool((item.reshape(n, -1) == of_first).all())
    return Common(n, n if alike else 0, n if int(sizes.max()) == 1 else 0)


def _before(number: Floats, first: Bool) -> Floats:
    """Return the number of the row before, 0 for the first of a user's."""
    return np.where(first, 0.0, np.roll(number, 1))


def _repeated(first: Bool, item: Int32) -> Bool:
    """Return which rows hold an item that an earlier row of the user's holds."""
    again = np.zeros(len(item), np.bool_)
    last = np.full(int(item.max(initial=-1)) + 1, -1, np.int64)
    mark_repeats(first, item, last, again)
    return again


@dataclass(frozen=True, eq=False)
class Answers:
    """Where known users and items stand in a solution.

    Attributes
    ----------
    rows : int32 array, one a known user
        Rows of the solution, −1 without one.
    positions : int32 array, one a known item
        Positions in the solution's judgments; items that these do not have stand behind.
    """

    rows: Int32
    positions: Int32

    @classmethod
    def of(cls, solution: Solution, users: Known, items: Known) -> Answers:
        """Return the answers of a solution whose users and items are all known."""
        rows = np.full(len(users), -1, np.int32)
        rows[users.codes_of(solution.users)] = np.arange(len(solution.users))
        positions = np.full(len(items), -1, np.int32)
        positions[items.codes_of(solution.items)] = np.arange(len(solution.items))
        further = np.flatnonzero(positions < 0)
        positions[further] = len(solution.items) + np.arange(len(further))
        return cls(rows, positions)

    def lists(self, codes: Int32) -> Int32:
        """Return lists of codes as lists of positions; nobody's items stand behind all others."""
        strange = np.arange(len(self.positions), int(codes.max(initial=-1)) + 1)
        table = np.concatenate((self.positions, strange, [-1])).astype(np.int32)
        return table[codes]
