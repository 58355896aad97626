"""What a submission is checked against: its format, the ids that must be there, those that may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.arrays import Int32
from harness.errors import DataError, UsageError, suggest
from harness.submission import faults, formats, header, lines
from harness.submission.blocks import Reader
from harness.submission.checks import CHECKS
from harness.submission.formats import Format
from harness.submission.known import Known, Learning, nothing
from harness.submission.opened import Refused, opened

if TYPE_CHECKING:
    from harness.config import Config

_SAMPLE = "sample_submission.csv"


@dataclass(frozen=True, eq=False)
class Against:
    """What is known beforehand.

    Attributes
    ----------
    users : Known
        Where it is complete, each must have a row, and there are no others.
    items : Known
    format : Format, optional
        Told by the file's own header where it is not known.
    k : int, optional
        The longest list, if not the format's.
    ids : Path, optional
        The file that the users' ids are from.
    """

    users: Known = field(default_factory=nothing)
    items: Known = field(default_factory=nothing)
    format: Format | None = None
    k: int | None = None
    ids: Path | None = None

    def cut_at(self, k: int | None) -> Against:
        """Return the same with another longest list, if one is named.

        Raises
        ------
        UsageError
            k is below 1.
        """
        if k is not None and k < 1:
            raise UsageError(f"k is {k}; expected 1 or more")
        return self if k is None else replace(self, k=k)

    def wanted(self, header: tuple[str, ...]) -> Format:
        """Return the format of a file with this header."""
        return (self.format or formats.recognised(header)).cut_at(self.k)


def of_sample(path: Path, items: Path | None = None) -> Against:
    """Return what a sample submission asks for, and a table of items allows.

    Parameters
    ----------
    items : Path, optional
        Its first column holds all items.

    Raises
    ------
    DataError
        A file that cannot be read.
    """
    known = nothing() if items is None else ids(items)
    return Against(ids(path), known, formats.recognised(columns(path)), ids=path)


def of_solution(path: Path) -> Against:
    """Return what a solution asks for: its users are known, others are nobody's concern.

    Raises
    ------
    DataError
        A file that cannot be read.
    """
    return Against(replace(ids(path), complete=False), format=formats.recognised(columns(path)[:2]))


def of_config(config: Config) -> Against:
    """Return what the competition of a config asks for; its events are not read.

    The ids are those of the sample submission beside the data, or else of the table of users.

    Raises
    ------
    DataError, UsageError
        A file that cannot be read; a layout without a table of users.
    """
    from harness.files import find

    layout = config.layout()
    folder = Path(layout.events[0].table.path).parent
    sample = folder / _SAMPLE
    items = layout.items
    known = nothing() if items is None else ids(find(items.table.path), items.id)
    format_ = formats.FORMATS.get(layout.name)
    if sample.is_file():
        own = format_ or formats.recognised(columns(sample))
        return Against(ids(sample), known, own, ids=sample)
    if layout.users is None:
        raise UsageError(
            f'layout "{layout.name}" has no table of users; put a {_SAMPLE} into {folder}, or '
            "name one with --sample"
        )
    users = find(layout.users.table.path)
    return Against(ids(users, layout.users.id), known, format_, ids=users)


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
        wanted = lines.wanted(len(head.columns), place)
        return _learned(Reader(file.stream, ord(head.separator), returns=head.returns), wanted)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise DataError(f"{path}: {CHECKS[error.check].says.format(value=error.value)}") from error


def _learned(reader: Reader, wanted: Int32) -> Known:
    learning, tally = Learning(), faults.tally()
    for block in reader.blocks():
        starts, stops, users = lines.fields(
            block.buffer, block.size, block.separator, block.end, wanted, tally
        )
        rows = users != lines.NO_ROW
        learning.add(block.buffer, starts[rows, 0], stops[rows, 0])
        reader.give_back(block)
    return learning.known(complete=True)
