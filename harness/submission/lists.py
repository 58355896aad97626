"""The users of a file and their lists, put together block by block: a row a user, or an item."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.core.arrays import Bool, Floats, Int32, Int64, UInt64
from harness.core.triples import Triples, lists_of
from harness.delimited import _delimited
from harness.delimited._delimited import EXAMPLES, NO_ROW
from harness.delimited.blocks import Block
from harness.submission import _kernels
from harness.submission._kernels import EMPTY, LIST, ONE_ITEM, ORDER, USER
from harness.submission.keys import Known, Learning
from harness.submission.problems import Findings, Place, shown
from harness.submission.scan import Scanned

if TYPE_CHECKING:
    from harness.protocol.truth import Solution

Cells = Callable[[list[int], int], dict[int, bytes]]
"""Returns the cells of a column in some physical lines, which are read once more."""


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


class _Part(NamedTuple):
    """The users of a block, a row each, and the lists that are kept: their rows of the truth."""

    users: Int32
    lines: Int64
    list_keys: UInt64
    rows: Int32
    sizes: Int64
    items: Int32


class WideLists:
    """Lists, the first of each user's, whose items stand `between` some byte."""

    def __init__(self, answers: Answers, between: int) -> None:
        self._answers, self._between = answers, bytes([between])
        self._parts: list[_Part] = []
        self._held = self._same = self._single = 0
        self._first: int | None = None

    def take(self, scanned: Scanned, users: Int32, findings: Findings) -> None:
        """Take in the next block; `users` are codes, others' behind those of the known."""
        is_user, lists = users >= 0, scanned.lists
        part = _Part(
            users=users[is_user],
            lines=scanned.lines_of(np.flatnonzero(is_user)),
            list_keys=scanned.list_keys[is_user],
            rows=lists.rows.copy(),
            sizes=np.diff(lists.ends, prepend=0),
            items=lists.items.copy() if self._answers.names is None else self._named(scanned),
        )
        self._parts.append(part)
        if scanned.n_same > 0 and self._first is None:
            self._first = scanned.first_sum
        self._same += scanned.n_same if scanned.first_sum == self._first else 0
        self._held += int(np.count_nonzero(scanned.users != NO_ROW))
        self._single += int(scanned.tally.lines[[EMPTY, ONE_ITEM]].sum())

    def _named(self, scanned: Scanned) -> Int32:
        """Return the items of lists, those that the solution does not have by their ids."""
        items, begins = scanned.lists.items.copy(), 0
        sound = np.flatnonzero(scanned.sound)
        lines = sound[self._answers.rows[scanned.users[sound]] >= 0]
        texts = scanned.block.texts(scanned.starts[lines, LIST], scanned.stops[lines, LIST])
        is_other = self._answers.are_others(items)
        for text, end in zip(texts, scanned.lists.ends.tolist(), strict=True):
            words = [word for word in text.split(self._between) if word]
            for place in np.flatnonzero(is_other[begins:end]).tolist():
                items[begins + place] = self._answers.name(words[place])
            begins = end
        return items

    def finish(self, cells: Cells, findings: Findings) -> tuple[Int32 | None, Common]:
        """Return the lists by codes, −1 = empty, and what all have in common."""
        common = Common(self._held, self._same, self._single)
        if not self._parts:
            return np.full((self._answers.n_users, 1), -1, np.int32), common
        self._note_repeated(cells, findings)
        rows = np.concatenate([part.rows for part in self._parts])
        sizes = np.concatenate([part.sizes for part in self._parts])
        items = np.concatenate([part.items for part in self._parts])
        self._parts.clear()
        is_first = np.zeros(len(rows), np.bool_)
        is_first[np.unique(rows, return_index=True)[1]] = True
        items = items[np.repeat(is_first, sizes)]
        rows, sizes = rows[is_first], sizes[is_first]
        is_filled = np.arange(sizes.max(initial=1)) < sizes[:, np.newaxis]
        first_lists = np.full(is_filled.shape, -1, np.int32)
        first_lists[is_filled] = items
        lists = np.full((self._answers.n_users, is_filled.shape[1]), -1, np.int32)
        lists[rows] = first_lists
        return lists, common

    def _note_repeated(self, cells: Cells, findings: Findings) -> None:
        """Note the rows of users that have an earlier one, with another list or the same one."""
        users = np.concatenate([part.users for part in self._parts])
        if np.bincount(users).max(initial=0) <= 1:
            return
        keys = np.concatenate([part.list_keys for part in self._parts])
        lines = np.concatenate([part.lines for part in self._parts])
        rows = np.arange(len(users))
        first = np.empty(int(users.max(initial=-1)) + 1, np.int64)
        first[users[::-1]] = rows[::-1]  # of several rows, what is written last stays
        again = np.flatnonzero(first[users] != rows)
        is_same = keys[again] == keys[first[users[again]]]
        for code, repeated in (("SUB203", again[~is_same]), ("SUB211", again[is_same])):
            examples = lines[repeated[:EXAMPLES]].tolist()
            texts = cells(examples, USER) if examples else {}
            places = [Place(line, shown(texts[line])) for line in examples]
            findings.add(code, len(repeated), places)


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
        self._parts: list[Triples] = []

    def take(self, scanned: Scanned, users: Int32, findings: Findings) -> None:
        """Take in the next block; that users stand in several rows is as it should be."""
        lists = scanned.lists
        rows = lists.rows[np.diff(lists.ends, prepend=0) > 0].astype(np.int64)
        numbers, wrong = self._numbers(scanned, rows)
        bad = rows[wrong]
        findings.add("SUB313", len(bad), scanned.places(scanned.spans(bad[:EXAMPLES], -1)))
        items = lists.items.copy()  # one each
        strange = items >= self._known_items
        starts, stops = (ends[rows[strange], LIST] for ends in (scanned.starts, scanned.stops))
        items[strange] = self._known_items + self._items.add(scanned.block.buffer, starts, stops)
        self._parts.append(Triples(users[rows], items, numbers, scanned.lines_of(rows)))

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
        return self._lists(rows, rank, cells), common

    def _numbers(self, scanned: Scanned, rows: Int64) -> tuple[Floats, Bool]:
        """Return what orders the items of a list, the first lowest, and where it is no number."""
        if not self._order:
            return np.zeros(0), np.zeros(len(rows), np.bool_)
        starts, stops = scanned.starts[rows, ORDER], scanned.stops[rows, ORDER]
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
        ids = _ids_in(rows, several, cells)
        met = sorted(ids, key=ids.__getitem__)
        place = np.zeros(int(rows.item.max()) + 1, np.int64)
        place[met] = np.arange(len(met))
        by_id, exact = np.where(several, place[rows.item], 0), np.zeros(len(several), np.int64)
        large = np.flatnonzero(several & (np.abs(rows.number) >= _EXACT))
        texts = cells(sorted(set(rows.line[large].tolist())), ORDER) if len(large) > 0 else {}
        digits = [Decimal(texts[line].decode().strip()) for line in rows.line[large].tolist()]
        places = {number: n for n, number in enumerate(sorted(set(digits), reverse=True))}
        exact[large] = [places[number] for number in digits]
        return rows.ordered(exact, by_id)

    def _lists(self, rows: Triples, rank: Floats, cells: Cells) -> Int32 | None:
        """Return the lists; None where ranks far too high leave nearly all cells empty."""
        answers = self._answers
        row = np.append(answers.rows, -1)[np.minimum(rows.user, len(answers.rows))]
        keep = (row >= 0) & (rank <= self._kept)
        kept = Triples(row[keep], rows.item[keep], rank[keep], rows.line[keep])
        width = int(kept.number.max(initial=1))
        if answers.n_users * width > max(_FEW_CELLS, _MOST_EMPTY * len(rows.item)):
            return None
        if answers.names is not None:
            is_other = answers.are_others(kept.item)
            ids = _ids_in(kept, is_other, cells)
            codes = kept.item[is_other].tolist()
            kept.item[is_other] = [answers.name(ids[code]) for code in codes]
        return lists_of(kept.user, kept.item, kept.number, answers.n_users, width)


def _ids_in(rows: Triples, are_asked: Bool, cells: Cells) -> dict[int, bytes]:
    """Return the ids of the items in some rows, which are read once more, by their codes."""
    items, first = np.unique(rows.item[are_asked], return_index=True)
    lines = rows.line[are_asked][first].tolist()
    texts = cells(sorted(lines), LIST) if lines else {}
    return {item: texts[line] for item, line in zip(items.tolist(), lines, strict=True)}


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
