"""A submission in, another out in which what is mechanical is mended; the first stays untouched."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from harness.core.arrays import Bool, Int32
from harness.core.errors import UsageError
from harness.core.ids import KeyTable
from harness.core.io import refuse_overwriting, whole_file
from harness.delimited import fields
from harness.delimited._lines import NO_ROW
from harness.delimited.blocks import Block, Reader
from harness.delimited.stream import Refused, is_parquet, opened
from harness.submission import header
from harness.submission.expected import Against
from harness.submission.findings import Findings
from harness.submission.fix_lines import mended
from harness.submission.format import Format
from harness.submission.keys import Known
from harness.submission.problems import Fixed
from harness.submission.source import Source, source
from harness.submission.validate import examine


class NotFixedError(UsageError):
    """A submission of which it cannot be told for certain what is meant."""

    exit_status = 1


def fix(path: Path, against: Against, out: Path) -> Fixed:
    """Write the submission `path` to `out`, mended.

    Raises
    ------
    UsageError
        `out` is a file that is read, or cannot be written.
    NotFixedError
        The submission cannot be read, or what is meant cannot be told for certain.
    """
    refuse_overwriting(out, [path, against.ids])
    if not out.name.endswith((".csv", ".csv.gz")):
        raise UsageError(f"{out}: what is mended is a .csv or a .csv.gz file; name one")
    examined = examine(path, against)
    blocked, against = examined.validation.blocked, examined.against
    if blocked is not None:
        raise NotFixedError(
            f"{out}: is not written: {path} has an error that only you can mend\n"
            f"{blocked.code} {blocked.message}; {blocked.hint}"
        )
    there, packed = np.zeros(len(against.users), np.bool_), out.suffix == ".gz"
    try:
        with (
            whole_file(out) as temporary,
            cast(
                BinaryIO, gzip.open(temporary, "wb") if packed else temporary.open("wb")
            ) as target,
            source(path, against, Findings()) as opened,
        ):
            dropped = _write(opened, against, target, there)
            appended = _append(against, opened.wanted, there, target)
    except Refused as error:
        raise UsageError(f"{path}: cannot be read, so nothing is mended ({error})") from error
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror or error}") from error
    return Fixed(out, appended, dropped)


def _write(opened: Source, against: Against, target: BinaryIO, there: Bool) -> int:
    """Write all rows, each once; return how many stood there again."""
    wanted, form = opened.wanted, opened.form
    items, written, dropped = against.items_of(wanted), KeyTable(), 0
    target.write(b",".join(_quoted(name.encode()) for name in wanted.columns) + b"\n")
    for block in opened.reader.blocks():
        found = mended(block, form, wanted.between, against.users, items)
        there[found.users] = True
        text, again = found.without_again(written)
        target.write(text.data)
        dropped += again
    return dropped


def _append(against: Against, wanted: Format, there: Bool, target: BinaryIO) -> int:
    """Write a row for each user who is missing: the sample's own, or an empty list.

    A file with a row an item has none for a user without items.
    """
    if wanted.long or there[: against.required].all():
        return 0
    appended = 0
    if against.ids is None or is_parquet(against.ids):
        for name in compress(against.all_names(), ~there[: against.required]):
            target.write(_quoted(name.encode()) + b",\n")
            appended += 1
        return appended
    with opened(against.ids) as file:
        head = header.read(file.stream)
        user = against.user or head.columns[0]
        names = [name for name in (user, wanted.items) if name in head.columns]
        columns = fields.wanted(len(head.columns), *map(head.columns.index, names))
        for block in Reader(file.stream, head.separator.encode(), returns=head.returns).blocks():
            for cells in _missing(block, columns, against.users, there):
                target.write(b",".join([*cells, b""][:2]) + b"\n")
                appended += 1
    return appended


def _missing(block: Block, columns: Int32, users: Known, there: Bool) -> Iterator[list[bytes]]:
    """Yield the id, and the list if any, of the block's users who are not there; then they are."""
    starts, stops, found = fields.fields(block, columns)
    rows = np.flatnonzero(found != NO_ROW)
    codes = users.codes(block.buffer, starts[rows, 0], stops[rows, 0])
    missing = rows[(codes >= 0) & ~there[codes]]
    there[codes[codes >= 0]] = True
    for row in missing:
        spans = zip(starts[row].tolist(), stops[row].tolist(), strict=True)
        yield [_quoted(block.text(start, stop)) for start, stop in spans]


def _quoted(cell: bytes) -> bytes:
    """Return a cell as CSV writes it."""
    needed = any(letter in cell for letter in (b",", b'"', b"\n", b"\r"))
    return b'"' + cell.replace(b'"', b'""') + b'"' if needed else cell
