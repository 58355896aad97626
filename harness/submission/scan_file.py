"""A whole file scanned: a few blocks at a time, told in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from harness.submission.blocks import Block, Reader, Survey, survey
from harness.submission.frame_rows import Rows
from harness.submission.scan import Expected, Form, Scanned, scan

_AHEAD = 3
"""Blocks that wait while one is scanned."""


class ScannedBlock(NamedTuple):
    """A block, what its lines hold, and what its bytes are."""

    block: Block
    found: Scanned
    seen: Survey


def scan_file(reader: Reader | Rows, form: Form, expected: Expected) -> Iterator[ScannedBlock]:
    """Yield every block behind the header, scanned; its buffer is used again afterwards."""
    waiting: deque[tuple[Block, Future[ScannedBlock]]] = deque()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for block in reader.blocks():
            waiting.append((block, pool.submit(scan_block, block, form, expected)))
            if len(waiting) > _AHEAD:
                yield from _taken(waiting, reader)
        while waiting:
            yield from _taken(waiting, reader)


def _taken(
    waiting: deque[tuple[Block, Future[ScannedBlock]]], reader: Reader | Rows
) -> Iterator[ScannedBlock]:
    block, scanned = waiting.popleft()
    yield scanned.result()
    reader.give_back(block)


def scan_block(block: Block, form: Form, expected: Expected) -> ScannedBlock:
    """Return a block, scanned."""
    own = form.of_block(block.separator, block.end)
    found = scan(block.buffer, block.size, own, expected)
    return ScannedBlock(block, found, survey(block.buffer, block.size, block.end))
