"""What the bytes of a block are beside lines of text: NULs, carriage returns, no UTF-8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.arrays import Bytes
from harness.compiled import compiled


@dataclass(frozen=True)
class Survey:
    """What was found.

    Attributes
    ----------
    ends : int
        Ends of physical lines, where the block was not quoted.
    returns : int
        Carriage returns that no end of a line follows.
    nuls, undecodable : tuple of int
        Lines of the block, from 0, that hold NULs, and bytes that are no UTF-8.
    """

    ends: int
    returns: int
    nuls: tuple[int, ...]
    undecodable: tuple[int, ...]


def survey(buffer: Bytes, size: int, end: int) -> Survey:
    """Look at the first `size` bytes, whole lines that each end with the byte `end`."""
    ends, returns, nuls, beyond = _count(buffer, size)
    text = buffer[:size].tobytes() if nuls or beyond else b""
    return Survey(
        ends,
        returns,
        _lines(text, end, lambda line: b"\0" in line) if nuls else (),
        () if beyond == 0 or _is_utf8(text) else _lines(text, end, lambda line: not _is_utf8(line)),
    )


def _lines(text: bytes, end: int, is_odd: Callable[[bytes], bool]) -> tuple[int, ...]:
    lines = text.split(bytes([end]))
    return tuple(number for number, line in enumerate(lines) if is_odd(line))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@compiled
def _count(buffer: Any, size: int) -> tuple[int, int, int, int]:
    ends = returns = nuls = beyond = 0
    for at in range(size):
        byte = buffer[at]
        ends += byte == 10
        returns += (byte == 13) & (buffer[at + 1] != 10)
        nuls += byte == 0
        beyond += byte >= 128
    return ends, returns, nuls, beyond
