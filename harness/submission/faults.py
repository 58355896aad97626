"""What can be wrong with a line, counted while it is scanned: how often, and where first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from harness.core.arrays import Int64
from harness.core.jit import compiled

COUNT = 22
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
) = range(COUNT)
FIRST_OF_ITEMS = UNKNOWN_ITEM
"""This fault and those behind it are of single items."""
EXAMPLES = 5
"""Lines of each fault that are remembered."""


class Tally(NamedTuple):
    """What was counted.

    Attributes
    ----------
    counts, lines : int64 array, (COUNT,)
        How often each fault was found, and in how many lines.
    examples : int64 array, (COUNT, EXAMPLES, 3)
        The first of each: a line of the block, its first byte and the byte behind the last.
    """

    counts: Int64
    lines: Int64
    examples: Int64


def tally() -> Tally:
    """Return a tally without faults."""
    counts, lines = np.zeros(COUNT, np.int64), np.zeros(COUNT, np.int64)
    return Tally(counts, lines, np.zeros((COUNT, EXAMPLES, 3), np.int64))


@compiled
def note(tally: Any, fault: int, line: int, start: int, stop: int) -> None:
    """Count a fault and its line; remember where it is, if it is among the first."""
    at = tally.lines[fault]
    if at < EXAMPLES:
        example = tally.examples[fault, at]
        example[0], example[1], example[2] = line, start, stop
    tally.counts[fault] += 1
    tally.lines[fault] += 1


@compiled
def note_once(tally: Any, fault: int, noted: int, line: int, start: int, stop: int) -> int:
    """Count a fault that a line may have several times, the line once.

    `noted` holds the line's faults so far, 1 << fault each; return it with this one.
    """
    if noted & 1 << fault:
        tally.counts[fault] += 1
    else:
        note(tally, fault, line, start, stop)
    return noted | 1 << fault
