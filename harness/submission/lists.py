"""The users of a file and their lists, put together block by block: a row a user, or an item."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Bool, Floats, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.core.triples import Triples, lists_of
from harness.delimited import _delimited
from harness.delimited._delimited import EXAMPLES, NO_ROW
from harness.delimited.blocks import Block
from harness.submission import _kernels
from harness.submission._kernels import EMPTY, LIST, ONE_ITEM, ORDER, STRANGER, USER
from harness.submission.keys import Known, Learning
from harness.submission.problems import Findings, Place, shown
from harness.submission.scan import ScannedBlock

if TYPE_CHECKING:
    from harness.protocol.truth import Solution

Cells = Callable[[list[int], int], dict[int, bytes]]
"""Returns the cells of a column in some physical lines, which are read once more."""
_LEAST, _MOST_FILLED = 1 << 12, 0.7


class Admitted:
    """Which users a file has; of `size` bytes, if known, so that there is room for as many.

    Attributes
    ----------
    torn : bool array, one a known user
        Who has a line that is no row.
    rows : int
    """

    def __init__(self, n_known: int, size: int = 0) -> None:
        self.torn: Bool = np.zeros(n_known, np.bool_)
        self.rows = 0
        self._n_known, self._size = n_known, size
        self._strangers = KeyTable()
        # Of known users, then of strangers, with room for more of these.
        self._is_there: Bool = np.zeros(n_known, np.bool_)
        self._lists: UInt64 = np.zeros(n_known, np.uint64)

    @property
    def known(self) -> Bool:
        """Who of the known users has a row."""
        return self._is_there[: self._n_known]

    @property
    def strangers(self) -> int:
        """Users who are not known."""
        return len(self._strangers)

    def admit(
        self, users: Int32, keys: UInt64, lists: UInt64, size: int = 1
    ) -> tuple[Int64, Int64]:
        """Take in the users of a block of `size` bytes, and keys of their lists.

        Returns the lines whose users were there before, with another list and with the same one.
        """
        strange = users == STRANGER
        if self.strangers == 0 and strange.any():
            strangers = len(np.unique(keys[strange, 0])) * max(1.0, self._size / size)
            rows_of_table = max(_LEAST, 1 << int(strangers / _MOST_FILLED).bit_length())
            self._strangers = KeyTable(np.zeros((rows_of_table, 2), np.uint64))
            self._make_room(int(strangers))
        codes = self._codes(users, keys)
        if self._n_known + self.strangers > len(self._is_there):
            self._make_room(2 * self.strangers)
        again = np.zeros(len(codes), np.int8)
        _kernels.admit(codes, lists, self._is_there, self._lists, again)
        return np.flatnonzero(again == 2), np.flatnonzero(again == 1)

    def codes(self, users: Int32, keys: UInt64) -> Int32:
        """Take in rows of which a user may have many; return codes, others' behind the known."""
        self._is_there[users[users >= 0]] = True
        return self._codes(users, keys)

    def _codes(self, users: Int32, keys: UInt64) -> Int32:
        self.rows += int(np.count_nonzero(users != NO_ROW))
        strange = users == STRANGER
        codes = users.copy()
        codes[strange] = self._n_known + self._strangers.codes(keys[strange])
        return codes

    def _make_room(self, strangers: int) -> None:
        """Make room for so many strangers; what nobody writes to takes no memory."""
        is_there, lists = self._is_there, self._lists
        self._is_there = np.zeros(self._n_known + strangers, np.bool_)
        self._lists = np.zeros(self._n_known + strangers, np.uint64)
        self._is_there[: len(is_there)], self._lists[: len(lists)] = is_there, lists


@dataclass(frozen=True)
class Common:
    """How many lists there are, how many are as the first, and how many have at most one item."""

    lists: int = 0
    same: int = 0
    single: int = 0


@dataclass(frozen=True, eq=False)
class Answers:
    """Where known users and items stand in a solution of `n_users` and `n_items`.

    `rows` has the row of each known user, −1 without one; `positions` that of each known item in
    the solution's judgments, behind which all others stand. `names` numbers these by their ids, if
    they are asked for.
    """

    rows: Int32
    positions: Int32
    n_users: int = 0
    n_items: int = 0
    names: dict[bytes, int] | None = None

    @classmethod
    def of(
        cls, solution: Solution | None, users: Known, items: Known, *, named: bool = False
    ) -> Answers:
        """Return the answers of a solution, if there is one, whose ids are all known."""
        rows, positions = (np.full(len(known), -1, np.int32) for known in (users, items))
        if solution is None:
            return cls(rows, positions)
        n_users, n_items = len(solution.users), len(solution.items)
        rows[users.codes_of(solution.users)] = np.arange(n_users)
        positions[items.codes_of(solution.items)] = np.arange(n_items)
        further = np.flatnonzero(positions < 0)
        positions[further] = n_items + np.arange(len(further))
        return cls(rows, positions, n_users, n_items, {} if named else None)

    def name(self, item: bytes) -> int:
        """Return the code of an item that the solution does not have, by its id."""
        assert self.names is not None  # noqa: S101 - else nobody asks
        return len(self.positions) + self.names.setdefault(item, len(self.names))

    def lists(self, codes: Int32) -> Int32:
        """Return lists of codes as lists of positions; nobody's items stand behind all others."""
        strange = np.arange(len(self.positions), int(codes.max(initial=-1)) + 1)
        table = np.concatenate((self.positions, strange, [-1])).astype(np.int32)
        if self.names is not None:  # all that are behind the solution's have a name
            table[table >= self.n_items] -= len(self.positions) - self.n_items
        return table[codes]

    def are_others(self, codes: Int32) -> Bool:
        """Return which items the solution does not have."""
        held = np.append(self.positions < self.n_items, False)
        return ~held[np.minimum(codes, len(self.positions))]


class WideLists:
    """Lists, the first of each user's, whose items stand `between` some byte."""

    def __init__(self, answers: Answers, between: int) -> None:
        self._answers, self._between = answers, bytes([between])
        self._lists: Int32 = np.full((answers.n_users, 1), -1, np.int32)
        self._taken = np.zeros(answers.n_users, np.bool_)
        self._held = self._same = self._single = 0
        self._first: int | None = None

    def take(self, scanned: ScannedBlock, users: Admitted, findings: Findings) -> None:
        """Take in the next block, and its users."""
        content = scanned.content
        size = scanned.block.size
        other, same = users.admit(content.users, content.keys, content.list_keys, size)
        for code, lines in (("SUB203", other), ("SUB211", same)):
            findings.add(code, len(lines), scanned.places(content.spans(lines[:EXAMPLES], USER)))
        rows, ends, items = content.lists
        self._put(rows, ends, items if self._answers.names is None else self._named(scanned))
        if content.n_same > 0 and self._first is None:
            self._first = content.first_sum
        self._same += content.n_same if content.first_sum == self._first else 0
        self._held += int(np.count_nonzero(content.users != NO_ROW))
        self._single += int(content.tally.lines[[EMPTY, ONE_ITEM]].sum())

    def _named(self, scanned: ScannedBlock) -> Int32:
        """Return the items of lists, those that the solution does not have by their ids."""
        content, items = scanned.content, scanned.content.lists.items.copy()
        sound = np.flatnonzero(content.sound)
        lines = sound[self._answers.rows[content.users[sound]] >= 0]
        begins, unknown = 0, self._answers.are_others(items)
        for line, end in zip(lines.tolist(), content.lists.ends.tolist(), strict=True):
            if unknown[begins:end].any():
                start, stop = content.starts[line, LIST], content.stops[line, LIST]
                words = scanned.block.text(int(start), int(stop)).split(self._between)
                words = list(filter(None, words))
                for place in np.flatnonzero(unknown[begins:end]).tolist():
                    items[begins + place] = self._answers.name(words[place])
            begins = end
        return items

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

    def finish(self, cells: Cells, findings: Findings) -> tuple[Int32 | None, Common]:
        """Return the lists by codes, −1 = empty, and what all have in common."""
        return self._lists, Common(self._held, self._same, self._single)


_FEW_CELLS, _MOST_EMPTY = 1 << 22, 16
_EXACT = 2**53
"""Whole numbers from here on may be another one as decimals."""
_NUMBER = re.compile(rb"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


class LongLists:
    """Rows as they stand, until all are there.

    `k` is how many positions a list may have, if there is a limit, and `kept` how many are looked
    at; `order` is ``rank``, ``score``, or empty: the order of the file, which somebody may have
    said (`in_row_order`).
    """

    def __init__(
        self,
        items: Known,
        answers: Answers,
        *,
        k: int | None,
        kept: int,
        order: str,
        in_row_order: bool,
    ) -> None:
        self._answers, self._k, self._kept = answers, k, kept
        self._order, self._in_row_order = order, in_row_order
        self._known_items, self._items = len(items), Learning()
        self._ids: dict[int, bytes] = {}  # of items, where some are to be named or put in order
        self._is_met = np.zeros(0, np.bool_)
        self._strangers = 0
        self._parts: list[Triples] = []

    def take(self, scanned: ScannedBlock, users: Admitted, findings: Findings) -> None:
        """Take in the next block; that users stand in several rows is as it should be."""
        block, content = scanned.block, scanned.content
        rows = content.lists.rows[np.diff(content.lists.ends, prepend=0) > 0].astype(np.int64)
        numbers, wrong = self._numbers(scanned, rows)
        bad = rows[wrong]
        findings.add("SUB313", len(bad), scanned.places(content.spans(bad[:EXAMPLES], -1)))
        codes, by_score = users.codes(content.users, content.keys)[rows], self._order == "score"
        self._strangers = users.strangers
        items = content.lists.items.copy()  # one each
        strange = items >= self._known_items
        starts, stops = content.starts[rows, LIST], content.stops[rows, LIST]
        items[strange] = self._known_items + self._items.add(
            block.buffer, starts[strange], stops[strange]
        )
        if self._answers.n_users > 0 and (self._answers.names is not None or by_score):
            self._keep_ids(block, items, starts, stops)
        self._parts.append(Triples(codes, items, numbers, scanned.lines_of(rows)))

    def _keep_ids(self, block: Block, items: Int32, starts: Int64, stops: Int64) -> None:
        """Keep the ids of items that are met for the first time."""
        further = int(items.max(initial=-1)) + 1 - len(self._is_met)
        self._is_met = np.append(self._is_met, np.zeros(max(further, 0), np.bool_))
        new = np.flatnonzero(~self._is_met[items])
        self._is_met[items[new]] = True
        for row in new[np.unique(items[new], return_index=True)[1]].tolist():
            self._ids[int(items[row])] = block.text(int(starts[row]), int(stops[row]))

    def finish(self, cells: Cells, findings: Findings) -> tuple[Int32 | None, Common]:
        """Return the same, None where a rank is far too high; note what is wrong with lists."""
        rows = Triples.joined(self._parts)
        self._parts.clear()
        wrong = {} if self._order or self._in_row_order else {"SUB319": rows.line[rows.apart]}
        rows = rows.ordered()
        first, number = rows.first, rows.number
        rank = number if self._order == "rank" else rows.place.astype(np.float64)
        tied = np.zeros(len(first), np.bool_)
        if self._order:
            tied = ~first & (number == _before(number, first)) & np.isfinite(number)
        beyond = np.zeros(len(first), np.bool_)  # the first row of a user with a rank above k
        if self._k is not None:
            beyond = np.isfinite(rank) & (rank > self._k) & (_before(rank, first) <= self._k)
        wrong |= {"SUB303": rows.line[_repeated(first, rows.item)], "SUB302": rows.line[beyond]}
        if self._order == "score":
            wrong["SUB315"] = rows.line[tied]
        if self._order == "rank":
            gap = np.isfinite(number) & (number > _before(number, first) + 1)
            wrong |= {"SUB314": rows.line[tied], "SUB316": rows.line[gap]}
        examples = {code: np.sort(lines)[:EXAMPLES].tolist() for code, lines in wrong.items()}
        lines = sorted(set(chain(*examples.values())))
        texts = cells(lines, LIST) if lines else {}
        for code, some in examples.items():
            places = [Place(line, shown(texts[line])) for line in some]
            findings.add(code, len(wrong[code]), places)
        common = _common(rows.item, first)
        if self._order == "score":
            is_open = self._answers.n_users > 0 and tied.any()
            rows = self._untied(rows, tied, cells) if is_open else rows
            rank = rows.place.astype(np.float64)  # users may stand elsewhere now
        elif tied.any():  # of two on a rank the first stands
            rank = rank[~tied]
            rows = Triples(rows.user[~tied], rows.item[~tied], rank, rows.line[~tied])
        return self._lists(rows, rank), common

    def _numbers(self, scanned: ScannedBlock, rows: Int64) -> tuple[Floats, Bool]:
        """Return what orders the items of a list, the first lowest, and where it is no number."""
        if not self._order:
            return np.zeros(0), np.zeros(len(rows), np.bool_)
        starts, stops = scanned.content.starts[rows, ORDER], scanned.content.stops[rows, ORDER]
        numbers = numbers_in(scanned.block, starts, stops)
        wrong = np.isnan(numbers)
        if self._order == "score":
            return np.where(wrong, np.inf, -numbers), wrong
        wrong |= (numbers < 1) | (numbers != np.floor(numbers))
        return np.where(wrong, np.inf, numbers), wrong

    def _untied(self, rows: Triples, tied: Bool, cells: Cells) -> Triples:
        """Return the rows with those of one score by their item's id, the least first.

        Whole numbers that a float cannot tell apart are compared by all their digits.
        """
        several = tied | np.append(tied[1:], False)
        met = sorted(np.unique(rows.item[several]).tolist(), key=self._ids.__getitem__)
        place = np.zeros(int(rows.item.max()) + 1, np.int64)
        place[met] = np.arange(len(met))
        by_id, exact = np.where(several, place[rows.item], 0), np.zeros(len(several), np.int64)
        large = np.flatnonzero(several & (np.abs(rows.number) >= _EXACT))
        texts = cells(sorted(set(rows.line[large].tolist())), ORDER) if len(large) > 0 else {}
        digits = [Decimal(texts[line].decode().strip()) for line in rows.line[large].tolist()]
        places = {number: n for n, number in enumerate(sorted(set(digits), reverse=True))}
        exact[large] = [places[number] for number in digits]
        return rows.ordered(exact, by_id)

    def _lists(self, rows: Triples, rank: Floats) -> Int32 | None:
        """Return the lists; None where ranks far too high leave nearly all cells empty."""
        answers = self._answers
        row = np.concatenate((answers.rows, np.full(self._strangers, -1, np.int32)))[rows.user]
        keep = (row >= 0) & (rank <= self._kept)
        row, item, rank = row[keep], rows.item[keep], rank[keep]
        width = int(rank.max(initial=1))
        if answers.n_users * width > max(_FEW_CELLS, _MOST_EMPTY * len(rows.item)):
            return None
        if answers.names is not None:
            unknown = answers.are_others(item)
            item[unknown] = [answers.name(self._ids[code]) for code in item[unknown].tolist()]
        return lists_of(row, item, rank, answers.n_users, width)


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
    _kernels.mark_repeats(first, item, last, again)
    return again
