"""What the bytes of a block are beside lines of text: NULs, carriage returns, no UTF-8."""

from __future__ import annotations

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
    nuls : tuple of int
        Lines of the block, from 0, that hold NULs.
    undecodable : tuple of (int, str)
        Lines that hold bytes that are no UTF-8, and the first such byte.
    """

    ends: int
    returns: int
    nuls: tuple[int, ...]
    undecodable: tuple[tuple[int, str], ...]


def survey(buffer: Bytes, size: int, end: int) -> Survey:
    """Look at the first `size` bytes, whole lines that each end with the byte `end`."""
    ends, returns, nuls, beyond = _count(buffer, size)
    text = buffer[:size].tobytes() if nuls or (beyond and not _is_utf8(buffer[:size])) else b""
    lines = text.split(bytes([end]))
    odd = ((number, _undecodable(line)) for number, line in enumerate(lines) if beyond)
    return Survey(
        ends,
        returns,
        tuple(number for number, line in enumerate(lines) if b"\0" in line),
        tuple((number, what) for number, what in odd if what),
    )


def _is_utf8(text: Bytes) -> bool:
    return not _undecodable(text.tobytes())


def _undecodable(line: bytes) -> str:
    """Return which byte is no UTF-8, and where; nothing where all are."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1}, 0x{line[error.start]:02X}"
    return ""


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
