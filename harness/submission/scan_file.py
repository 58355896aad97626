"""A whole file scanned: a few blocks at a time, told in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Int64
from harness.delimited.blocks import Block, Reader, Survey, in_order, survey
from harness.submission.findings import MOST_BYTES, Place, shown
from harness.submission.scan import Expected, Form, Scanned, scan

if TYPE_CHECKING:
    from harness.submission.frame_rows import Rows


@dataclass(frozen=True, eq=False)
class ScannedBlock:
    """A block, what its lines hold, and what its bytes are; `before` it are so many lines."""

    block: Block
    found: Scanned
    seen: Survey
    before: int = 0

    @property
    def last(self) -> int:
        """The physical line that it ends with, from 1."""
        ended = self.block.ended
        return self.before + (len(self.found.users) if ended is None else ended)

    def line_of(self, row: int) -> int:
        """Return the physical line, from 1, of one of its lines."""
        return int(self.lines_of(np.array([row]))[0])

    def lines_of(self, rows: Int64) -> Int64:
        """Return the physical lines, from 1, of some of its lines."""
        lines = self.block.lines
        return self.before + 1 + (rows if lines is None else lines[rows])

    def places(self, examples: Int64) -> list[Place]:
        """Return the places of examples, (n, 3): a line, its first byte, the byte behind the last.

        What is not shown of a long one is not copied.
        """
        return [
            Place(self.line_of(line), shown(self.block.text(start, min(stop, start + MOST_BYTES))))
            for line, start, stop in examples.tolist()
        ]


def scan_file(
    reader: Reader | Rows, form: Form, expected: Expected, refuse: Callable[[Block], None]
) -> Iterator[ScannedBlock]:
    """Yield every block behind the header, scanned; its buffer is used again afterwards.

    Parameters
    ----------
    refuse : callable
        Looks at each block first, and may raise.
    """

    def work(block: Block) -> ScannedBlock:
        refuse(block)
        found = scan(block, form, expected)
        return ScannedBlock(block, found, survey(block.buffer, block.size, block.end))

    before = reader.header_lines
    for scanned in in_order(reader, work):
        placed = replace(scanned, before=before)
        yield placed
        before = placed.last
