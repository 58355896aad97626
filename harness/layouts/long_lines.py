"""Lines with far more fields than columns, which a reader of tables would make columns of."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

import numpy as np

_GLANCE, _WINDOW, _CHUNK = 1 << 12, 1 << 16, 1 << 20
_QUOTE, _LINE = ord('"'), ord("\n")


def has_more_fields(path: Path, separator: str, most: int) -> bool:
    """Return whether a line of more than two windows' length has more than `most` fields.

    Shorter lines have no more fields than a reader can bear. A file of ordinary lines is glanced at
    once a window.
    """
    with path.open("rb", buffering=0) as file:
        return _has_long_line(file) and _most_fields(file, ord(separator)) > most


def _has_long_line(file: io.FileIO) -> bool:
    """Return whether no line ends within some window, counted from the first byte."""
    for start in range(0, file.seek(0, io.SEEK_END), _WINDOW):
        file.seek(start)
        if b"\n" not in file.read(_GLANCE) and b"\n" not in file.read(_WINDOW - _GLANCE):
            return True
    return False


def _most_fields(file: BinaryIO | io.FileIO, separator: int) -> int:
    """Return the most fields of any line; separators and ends of lines in quotes are letters."""
    file.seek(0)
    quoted, open_, most = np.uint8(0), 0, 0
    while held := file.read(_CHUNK):
        chunk = np.frombuffer(held, np.uint8)
        inside = np.bitwise_xor.accumulate((chunk == _QUOTE).view(np.uint8)) ^ quoted
        quoted = inside[-1]
        before = np.cumsum((chunk == separator) & (inside == 0))
        ends = before[(chunk == _LINE) & (inside == 0)] + open_
        lines = np.diff(ends, prepend=0)
        open_ = int(before[-1]) + open_ - int(ends[-1] if len(ends) else 0)
        most = max(most, int(lines.max(initial=0)), open_)
    return most + 1
