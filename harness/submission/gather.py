"""All blocks of a submission, scanned by threads and put together in the order of the file."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.arrays import Int32, Int64
from harness.compiled import compiled
from harness.submission import faults
from harness.submission.admitted import Admitted
from harness.submission.blocks import Block, Reader
from harness.submission.checks import OF_FAULT
from harness.submission.findings import Findings, Place, places
from harness.submission.known import Known
from harness.submission.lines import NO_ROW
from harness.submission.scan import Form, Scanned, scan
from harness.submission.survey import Survey, survey

_AHEAD = 3
"""Blocks that wait while one is scanned."""


@dataclass(frozen=True, eq=False)
class Expected:
    """What is known beforehand.

    Attributes
    ----------
    users, items : Known
    answered : int32 array, one a known user
        The user's row in the truth, −1 without one.
    rows : int
        How many users the truth has.
    """

    users: Known
    items: Known
    answered: Int32
    rows: int


class Gathered:
    """What a submission holds.

    Attributes
    ----------
    lists : int32 array, (rows of the truth, widest list)
        Codes; −1 = empty.
    lines : int
        Physical lines so far.
    lists_read, same : int
        Lists, and how many are like the first one.
    """

    def __init__(
        self, expected: Expected, width: int | None, findings: Findings, line: int
    ) -> None:
        self.expected, self.width, self.findings, self.lines = expected, width, findings, line
        self.users = Admitted(len(expected.users))
        self.lists: Int32 = np.full((expected.rows, 1), -1, np.int32)
        self.taken = np.zeros(expected.rows, np.bool_)
        self.lists_read = self.same = 0
        self._first: int | None = None

    def take(self, block: Block, found: Scanned, seen: Survey) -> None:
        """Take in the next block."""
        before = self.lines

        def line_of(row: int) -> int:
            return before + 1 + (row if block.lines is None else int(block.lines[row]))

        for fault in np.flatnonzero(found.counts[:, 0]).tolist():
            count, lines = found.counts[fault].tolist()
            where = places(
                block.buffer, found.examples[fault], min(lines, faults.EXAMPLES), line_of
            )
            self.findings.add(OF_FAULT[fault], count, where, lines)
        twice = self.users.admit(found.users, found.keys)
        self.findings.add("SUB203", len(twice), self._ids(block, found, twice, line_of))
        self._quotes(block, before)
        self._place(found)
        self._compare(found)
        self.lines += seen.lines if block.ended is None else block.ended

    def _ids(
        self, block: Block, found: Scanned, rows: Int64, line_of: Callable[[int], int]
    ) -> list[Place]:
        first = rows[: faults.EXAMPLES]
        spans = np.stack((first, found.starts[first, 0], found.stops[first, 0]), axis=1)
        return places(block.buffer, spans, len(first), line_of)

    def _quotes(self, block: Block, before: int) -> None:
        for code, lines in (("SUB011", block.unclosed), ("SUB017", block.torn)):
            where = [Place(before + 1 + int(line), "") for line in lines[: faults.EXAMPLES]]
            self.findings.add(code, len(lines), where)

    def _place(self, found: Scanned) -> None:
        """Put lists into their rows; the first of a user's stands."""
        sizes = np.diff(found.ends, prepend=0)
        widest = int(sizes.max(initial=0))
        if widest > self.lists.shape[1]:
            wider = np.full((len(self.lists), widest), -1, np.int32)
            wider[:, : self.lists.shape[1]] = self.lists
            self.lists = wider
        _put(found.rows, found.ends, found.items, self.lists, self.taken)

    def _compare(self, found: Scanned) -> None:
        first, same = found.same.tolist()
        if same > 0:
            self._first = first if self._first is None else self._first
            self.same += same if first == self._first else 0
        self.lists_read += int((found.users != NO_ROW).sum())


@compiled
def _put(rows: Any, ends: Any, items: Any, lists: Any, taken: Any) -> None:
    start = 0
    for at in range(len(rows)):
        row, stop = rows[at], ends[at]
        if not taken[row]:
            taken[row] = True
            lists[row, : stop - start] = items[start:stop]
        start = stop


def gather(reader: Reader, form: Form, expected: Expected, into: Gathered) -> None:
    """Read a submission to its end."""
    waiting: deque[tuple[Block, Future[tuple[Scanned, Survey]]]] = deque()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for block in reader.blocks():
            waiting.append((block, pool.submit(_scanned, block, form, expected)))
            while len(waiting) > _AHEAD:
                _take(reader, into, *waiting.popleft())
        while waiting:
            _take(reader, into, *waiting.popleft())


def _scanned(block: Block, form: Form, expected: Expected) -> tuple[Scanned, Survey]:
    own = replace(form, separator=block.separator, end=block.end)
    found = scan(block.buffer, block.size, own, expected.users, expected.items, expected.answered)
    return found, survey(block.buffer, block.size)


def _take(
    reader: Reader, into: Gathered, block: Block, done: Future[tuple[Scanned, Survey]]
) -> None:
    into.take(block, *done.result())
    reader.give_back(block)
