"""What is known beforehand, read from files: ids of a sample, of tables, of a solution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from harness.arrays import Int32
from harness.errors import DataError, suggest
from harness.submission import faults, header, lines
from harness.submission.blocks import Reader
from harness.submission.checks import CHECKS
from harness.submission.known import Known, Learning
from harness.submission.opened import Refused, opened


def columns(path: Path) -> tuple[str, ...]:
    """Return the header of a file.

    Raises
    ------
    DataError
        The file cannot be read.
    """
    with _readable(path), opened(path) as file:
        return header.read(file.stream).columns


def ids(path: Path, column: str | None = None) -> Known:
    """Return the ids of a column of a file, the first by default, as all that there are.

    Raises
    ------
    DataError
        The file cannot be read, or has no such column.
    """
    with _readable(path), opened(path) as file:
        head = header.read(file.stream)
        if column is not None and column not in head.columns:
            raise DataError(f'{path}: no column "{column}"; {suggest(column, head.columns)}')
        place = 0 if column is None else head.columns.index(column)
        wanted = np.full(len(head.columns), -1, np.int32)
        wanted[place] = 0
        return _learned(Reader(file.stream, ord(head.separator), returns=head.returns), wanted)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise DataError(f"{path}: {CHECKS[error.check].says.format(value=error.value)}") from error


def _learned(reader: Reader, wanted: Int32) -> Known:
    learning = Learning()
    tally = (
        np.zeros((faults.COUNT, 2), np.int64),
        np.zeros((faults.COUNT, faults.EXAMPLES, 3), np.int64),
    )
    for block in reader.blocks():
        n = lines.count(block.buffer, block.size, block.end)
        starts, stops = np.zeros((n, 1), np.int64), np.zeros((n, 1), np.int64)
        users = np.empty(n, np.int32)
        lines.cut(block.buffer, block.separator, block.end, wanted, starts, stops, users, tally)
        rows = users != lines.NO_ROW
        learning.add(block.buffer, starts[rows, 0], stops[rows, 0])
        reader.give_back(block)
    return learning.known(complete=True)
