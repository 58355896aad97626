"""All blocks of a submission, scanned by threads and put together in the order of the file."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from harness.submission import faults
from harness.submission.admitted import Admitted
from harness.submission.blocks import Block, Reader
from harness.submission.checks import OF_FAULT
from harness.submission.findings import Findings, Lines, Place, places, shown
from harness.submission.long import LongLists
from harness.submission.rows import Rows
from harness.submission.scan import Expected, Form, Scanned, scan
from harness.submission.survey import Survey, survey
from harness.submission.wide import WideLists

_AHEAD = 3
"""Blocks that wait while one is scanned."""


class Gathered:
    """What a submission holds.

    Attributes
    ----------
    users : Admitted
    lines : int
        Physical lines so far.
    answered, examined : int
        Rows of the file whose lists are of examined users, and rows that mean such users.
    """

    def __init__(
        self, expected: Expected, lists: WideLists | LongLists, findings: Findings, header: int
    ) -> None:
        self.findings = findings
        self.users = Admitted(len(expected.users))
        self.lists = lists
        self.lines = header
        self.answered = self.examined = 0
        self._examined = expected.answered >= 0

    @property
    def users_outside(self) -> int:
        """How many users of the file the solution does not examine."""
        return self.users.strangers + int(np.count_nonzero(self.users.known & ~self._examined))

    def take(self, block: Block, found: Scanned, seen: Survey) -> None:
        """Take in the next block."""
        before = self.lines

        def line_of(row: int) -> int:
            return before + 1 + (row if block.lines is None else int(block.lines[row]))

        for fault in np.flatnonzero(found.counts[:, 0]).tolist():
            if fault in OF_FAULT:
                self._note(block, found, fault, line_of)
        twice, same = self.users.admit(found.users, found.keys, found.list_keys)
        self.users.torn[found.torn] = True
        self._note_bytes(seen, line_of)
        self._note_lines("SUB011", block.unclosed, lambda line: before + 1 + line)
        self._note_lines("SUB017", block.torn, lambda line: before + 1 + line)
        self.lists.take(block, found, (twice, same), line_of, self.findings)
        self.answered += int(np.count_nonzero(self._examined[found.users[found.sound]]))
        self.examined += int(np.count_nonzero(self._examined[found.users[found.users >= 0]]))
        self.lines += seen.ends if block.ended is None else block.ended

    def _note(self, block: Block, found: Scanned, fault: int, line_of: Lines) -> None:
        count, lines = found.counts[fault].tolist()
        shown = min(lines, faults.EXAMPLES)
        where = places(block.text, found.examples[fault, :shown], line_of)
        self.findings.add(OF_FAULT[fault], count, where, lines)

    def _note_bytes(self, seen: Survey, line_of: Lines) -> None:
        self.findings.add("SUB010", seen.returns, [])
        self._note_lines("SUB008", seen.nuls, line_of)
        where = [Place(line_of(line), shown(what)) for line, what in seen.undecodable]
        self.findings.add("SUB005", len(where), where)

    def _note_lines(self, code: str, lines: Iterable[int], line_of: Lines) -> None:
        found = [Place(line_of(int(line)), "") for line in lines]
        self.findings.add(code, len(found), found)


def gather(
    reader: Reader | Rows,
    form: Form,
    expected: Expected,
    lists: WideLists | LongLists,
    findings: Findings,
) -> Gathered:
    """Read a submission from behind its header to its end; note all that is wrong with it."""
    into = Gathered(expected, lists, findings, reader.header_lines)
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
    own = form.of_block(block.separator, block.end)
    found = scan(block.buffer, block.size, own, expected)
    return found, survey(block.buffer, block.size, block.end)
