"""All blocks of a submission, scanned by threads and put together in the order of the file."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
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
    users : Admitted
    lists : int32 array, (rows of the truth, longest list)
        Codes; −1 = empty.
    lines : int
        Physical lines so far.
    held, same, single : int
        Lists, how many are like the first one, and how many hold no second item.
    """

    def __init__(self, expected: Expected, findings: Findings) -> None:
        self.findings = findings
        self.users = Admitted(len(expected.users))
        self.lists: Int32 = np.full((expected.rows, 1), -1, np.int32)
        self.lines = 1
        self.held = self.same = self.single = 0
        self._taken = np.zeros(expected.rows, np.bool_)
        self._first: int | None = None

    def take(self, block: Block, found: Scanned, seen: Survey) -> None:
        """Take in the next block."""
        before = self.lines

        def line_of(row: int) -> int:
            return before + 1 + (row if block.lines is None else int(block.lines[row]))

        for fault in np.flatnonzero(found.counts[:, 0]).tolist():
            if fault in OF_FAULT:
                self._note(block, found, fault, line_of)
        twice = self.users.admit(found.users, found.keys)
        self.findings.add("SUB203", len(twice), _ids(block, found, twice, line_of))
        self._note_bytes(seen, line_of)
        self._note_lines("SUB011", block.unclosed, lambda line: before + 1 + line)
        self._note_lines("SUB017", block.torn, lambda line: before + 1 + line)
        self._place(found)
        self._compare(found)
        self.lines += seen.ends if block.ended is None else block.ended

    def _note(
        self, block: Block, found: Scanned, fault: int, line_of: Callable[[int], int]
    ) -> None:
        count, lines = found.counts[fault].tolist()
        shown = min(lines, faults.EXAMPLES)
        where = places(block.text, found.examples[fault, :shown], line_of)
        self.findings.add(OF_FAULT[fault], count, where, lines)

    def _note_bytes(self, seen: Survey, line_of: Callable[[int], int]) -> None:
        self.findings.add("SUB010", seen.returns, [])
        self._note_lines("SUB008", seen.nuls, line_of)
        self._note_lines("SUB005", seen.undecodable, line_of)

    def _note_lines(self, code: str, lines: Iterable[int], line_of: Callable[[int], int]) -> None:
        found = [Place(line_of(int(line)), "") for line in lines]
        self.findings.add(code, len(found), found[: faults.EXAMPLES])

    def _place(self, found: Scanned) -> None:
        """Put lists into their rows; the first of a user's stands."""
        widest = int(np.diff(found.ends, prepend=0).max(initial=0))
        held = self.lists.shape[1]
        if widest > held:
            wider = np.full((len(self.lists), widest), -1, np.int32)
            wider[:, :held] = self.lists
            self.lists = wider
        _put(found.rows, found.ends, found.items, self.lists, self._taken)

    def _compare(self, found: Scanned) -> None:
        first, same = found.same.tolist()
        if same > 0 and self._first is None:
            self._first = first
        self.same += same if first == self._first else 0
        self.held += int(np.count_nonzero(found.users != NO_ROW))
        self.single += int(found.counts[[faults.EMPTY, faults.ONE_ITEM], 1].sum())


def _ids(block: Block, found: Scanned, rows: Int64, line_of: Callable[[int], int]) -> list[Place]:
    first = rows[: faults.EXAMPLES]
    spans = np.stack((first, found.starts[first, 0], found.stops[first, 0]), axis=1)
    return places(block.text, spans, line_of)


@compiled
def _put(rows: Any, ends: Any, items: Any, lists: Any, taken: Any) -> None:
    start = 0
    for at in range(len(rows)):
        row, stop = rows[at], ends[at]
        if not taken[row]:
            taken[row] = True
            lists[row, : stop - start] = items[start:stop]
        start = stop


def gather(reader: Reader, form: Form, expected: Expected, findings: Findings) -> Gathered:
    """Read a submission from behind its header to its end; note all that is wrong with it."""
    into = Gathered(expected, findings)
    waiting: deque[tuple[Block, Future[tuple[Scanned, Survey]]]] = deque()

    def take() -> None:
        block, done = waiting.popleft()
        into.take(block, *done.result())
        reader.give_back(block)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for block in reader.blocks():
            waiting.append((block, pool.submit(_scanned, block, form, expected)))
            while len(waiting) > _AHEAD:
                take()
        while waiting:
            take()
    return into


def _scanned(block: Block, form: Form, expected: Expected) -> tuple[Scanned, Survey]:
    own = replace(form, separator=block.separator, end=block.end)
    found = scan(block.buffer, block.size, own, expected.users, expected.items, expected.answered)
    return found, survey(block.buffer, block.size, block.end)
