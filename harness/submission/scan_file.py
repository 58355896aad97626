"""A whole file scanned: a few blocks at a time, told in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from harness.core.arrays import Int64
from harness.delimited.blocks import Block, Blocks, Survey, in_order, survey
from harness.submission._kernels import USER
from harness.submission.problems import MOST_BYTES, Findings, Place, shown
from harness.submission.scan import Expected, Form, Scanned, scan


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
    refuse: Callable[[Block], None],
) -> Iterator[ScannedBlock]:
    """Yield every block behind the header, scanned; its buffer is used again afterwards.

    Parameters
    ----------
    findings : Findings
        Takes what the bytes are beside lines of text.
    refuse : callable
        Looks at each block first, and may raise.
    """

    def work(block: Block) -> tuple[Block, Scanned, Survey]:
        refuse(block)
        content = scan(block, form, expected)
        return block, content, survey(block.buffer, block.size, block.end)

    before = reader.header_lines
    for block, content, seen in in_order(reader, work):
        scanned = ScannedBlock(block, content, before)
        scanned.note_bytes(seen, findings)
        yield scanned
        before = scanned.last
