"""A submission in, another out in which what is mechanical is mended; the first stays untouched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from harness.arrays import Bool
from harness.errors import UsageError
from harness.files import whole_file
from harness.submission import faults, header, lines
from harness.submission.against import Against
from harness.submission.blocks import Block, Reader
from harness.submission.findings import Findings
from harness.submission.formats import Format
from harness.submission.known import Known, nothing
from harness.submission.mend import mended
from harness.submission.opened import Refused, opened
from harness.submission.scan import Form


@dataclass(frozen=True)
class Fixed:
    """What was written.

    Attributes
    ----------
    path : Path
    appended : int
        Rows of users who were missing.
    """

    path: Path
    appended: int


def fix(path: Path, against: Against, out: Path) -> Fixed:
    """Write the submission `path` to `out`, mended.

    Raises
    ------
    UsageError
        `out` is the submission itself, or cannot be written; the submission cannot be read, or has
        no such columns.
    """
    if out.exists() and path.exists() and out.samefile(path):
        raise UsageError(f"{out}: is the submission itself, which is never touched; name another")
    there = np.zeros(len(against.users), np.bool_)
    try:
        with whole_file(out) as temporary:
            with temporary.open("wb") as target, opened(path) as file:
                wanted = _write(file.stream, path, against, target, there)
            with temporary.open("ab") as target:
                appended = _append(against, wanted, there, target)
    except Refused as error:
        raise UsageError(f"{path}: cannot be read, so nothing is mended ({error})") from error
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror or error}") from error
    return Fixed(out, appended)


def _write(stream: BinaryIO, path: Path, against: Against, target: BinaryIO, there: Bool) -> Format:
    head = header.read(stream)
    wanted = against.wanted(head.columns)
    places = header.check(head, wanted, Findings())
    if len(places) < len(wanted.columns):
        raise UsageError(f"{path}: its columns cannot be told: {', '.join(head.columns)}")
    form = Form.of(head, places, wanted)
    items = against.items if len(against.items) else nothing(wanted.width)
    target.write((",".join(wanted.columns) + "\n").encode())
    for block in Reader(stream, ord(head.separator), returns=head.returns).blocks():
        own = replace(form, separator=block.separator, end=block.end)
        text, users = mended(block.buffer, block.size, own, against.users, items)
        there[users] = True
        target.write(text.data)
    return wanted


def _append(against: Against, wanted: Format, there: Bool, target: BinaryIO) -> int:
    """Write a row for each user who is missing: the sample's own, or an empty list."""
    if not against.users.complete or against.ids is None or there.all():
        return 0
    appended = 0
    with opened(against.ids) as file:
        head = header.read(file.stream)
        user = wanted.user if wanted.user in head.columns else head.columns[0]
        form = Form(len(head.columns), head.columns.index(user), 0, ord(head.separator), 0)
        if wanted.items in head.columns:
            form = replace(form, items=head.columns.index(wanted.items))
        for block in Reader(file.stream, ord(head.separator), returns=head.returns).blocks():
            rows = _missing(block, form, against.users, there)
            for own, items in rows:
                kept = items if form.items != form.user and wanted.items in head.columns else b""
                target.write(own + b"," + kept + b"\n")
            appended += len(rows)
    return appended


def _missing(block: Block, form: Form, users: Known, there: Bool) -> list[tuple[bytes, bytes]]:
    """Return the id and the list of the block's users who are not there; then they are."""
    n = lines.count(block.buffer, block.size, block.end)
    starts, stops = np.zeros((n, 2), np.int64), np.zeros((n, 2), np.int64)
    codes = np.empty(n, np.int32)
    own = replace(form, separator=block.separator, end=block.end)
    lines.cut(
        block.buffer, own.separator, own.end, own.wanted, starts, stops, codes, faults.tally()
    )
    rows = np.flatnonzero(codes != lines.NO_ROW)
    found = users.codes(block.buffer, starts[rows, 0], stops[rows, 0])
    missing = rows[(found >= 0) & ~there[found]]
    there[found[found >= 0]] = True
    return [
        (block.text(*starts_stops[0]), block.text(*starts_stops[1]))
        for starts_stops in np.stack((starts[missing], stops[missing]), axis=2).tolist()
    ]
