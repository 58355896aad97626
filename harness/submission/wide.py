"""The lists of a file with a row a user, put together block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.arrays import Int32, Int64
from harness.compiled import compiled
from harness.submission import faults
from harness.submission.blocks import Block
from harness.submission.findings import Findings, Lines, places
from harness.submission.lines import NO_ROW
from harness.submission.scan import Scanned


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

    def take(
        self,
        block: Block,
        found: Scanned,
        again: tuple[Int64, Int64],
        line_of: Lines,
        findings: Findings,
    ) -> None:
        """Take in the next block.

        `again` are its lines of users who were there before, with another list or with the same.
        """
        for code, lines in zip(("SUB203", "SUB211"), again, strict=True):
            first = lines[: faults.EXAMPLES]
            spans = np.stack((first, found.starts[first, 0], found.stops[first, 0]), axis=1)
            findings.add(code, len(lines), places(block.text, spans, line_of))
        self._place(found)
        self._compare(found)

    def finish(self, findings: Findings) -> Int32:
        """Note what all lists have in common; return them, −1 = empty."""
        if self._held > 1 and self._same == self._held:
            findings.add("SUB401", self._held, [])
        if self._held > 1 and self._single == self._held:
            findings.add("SUB404", self._held, [])
        return self._lists

    def _place(self, found: Scanned) -> None:
        """Put lists into their rows; the first of a user's stands."""
        widest = int(np.diff(found.ends, prepend=0).max(initial=0))
        held = self._lists.shape[1]
        if widest > held:
            wider = np.full((len(self._lists), widest), -1, np.int32)
            wider[:, :held] = self._lists
            self._lists = wider
        _put(found.rows, found.ends, found.items, self._lists, self._taken)

    def _compare(self, found: Scanned) -> None:
        first, same = found.same.tolist()
        if same > 0 and self._first is None:
            self._first = first
        self._same += same if first == self._first else 0
        self._held += int(np.count_nonzero(found.users != NO_ROW))
        self._single += int(found.counts[[faults.EMPTY, faults.ONE_ITEM], 1].sum())


@compiled
def _put(rows: Any, ends: Any, items: Any, lists: Any, taken: Any) -> None:
    start = 0
    for at in range(len(rows)):
        row, stop = rows[at], ends[at]
        if not taken[row]:
            taken[row] = True
            lists[row, : stop - start] = items[start:stop]
        start = stop
