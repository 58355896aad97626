"""What can be wrong with a line, counted while it is scanned: how often, and where first."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.core.arrays import Int64
from harness.core.jit import compiled

(
    BLANK,
    TOO_FEW,
    TOO_MANY,
    NO_ID,
    PADDED_ID,
    MANGLED_ID,
    UNKNOWN_ID,
    ODD_ID,
    EMPTY,
    ONE_ITEM,
    LONG,
    REPEATED,
    SPACES,
    UNKNOWN_ITEM,
    MISSHAPEN,
    ZEROS_LOST,
    DECIMAL,
    EXPONENT,
    LITERAL,
    SEPARATOR,
    BRACKETS,
    RESPELLED,
) = range(22)
COUNT = 22
FIRST_OF_ITEMS = UNKNOWN_ITEM
"""This fault and those behind it are of single items."""
EXAMPLES = 5
"""Lines of each fault that are remembered."""


def tally() -> tuple[Int64, Int64]:
    """Return counts, (faults, 2): how often, and in how many lines; and examples, all empty.

    An example is a line of the block, its first byte and the byte behind the last.
    """
    return np.zeros((COUNT, 2), np.int64), np.zeros((COUNT, EXAMPLES, 3), np.int64)


@compiled
def note(tally: Any, fault: int, line: int, start: int, stop: int) -> None:
    """Count a fault and its line; remember where it is, if it is among the first."""
    counts, examples = tally
    at = counts[fault, 1]
    if at < EXAMPLES:
        examples[fault, at, 0], examples[fault, at, 1], examples[fault, at, 2] = line, start, stop
    counts[fault, 0] += 1
    counts[fault, 1] += 1


@compiled
def mark(tally: Any, fault: int, marks: int, line: int, start: int, stop: int) -> int:
    """Count a fault that a line may have several times; return the marks of the line's faults."""
    if marks & 1 << fault:
        tally[0][fault, 0] += 1
    else:
        note(tally, fault, line, start, stop)
    return marks | 1 << fault
