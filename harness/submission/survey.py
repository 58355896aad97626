"""What a block of bytes holds beside lines of plain text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.arrays import Bytes
from harness.compiled import compiled


@dataclass(frozen=True)
class Survey:
    """Counts of bytes.

    Attributes
    ----------
    lines : int
        Ends of lines.
    returns : int
        Carriage returns that no end of a line follows.
    quotes, nuls, beyond : int
        Quotes, NULs, and bytes beyond ASCII.
    """

    lines: int
    returns: int
    quotes: int
    nuls: int
    beyond: int


def survey(buffer: Bytes, size: int) -> Survey:
    """Return the counts of the first `size` bytes; the byte behind them is looked at too."""
    return Survey(*_survey(buffer, size))


@compiled
def _survey(buffer: Any, size: int) -> tuple[int, int, int, int, int]:
    lines = returns = quotes = nuls = beyond = 0
    for at in range(size):
        byte = buffer[at]
        lines += byte == 10
        returns += (byte == 13) & (buffer[at + 1] != 10)
        quotes += byte == 34
        nuls += byte == 0
        beyond += byte >= 128
    return lines, returns, quotes, nuls, beyond
