"""A submission in, another out in which what is mechanical is mended; the first stays untouched."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from harness.core.arrays import Bool, Bytes, Int32, Int64, UInt64
from harness.core.errors import DataError, UsageError
from harness.core.ids import KeyTable
from harness.core.io import refuse_overwriting, whole_file
from harness.core.progress import doing
from harness.delimited import blocks
from harness.delimited._delimited import NO_ROW, PAD
from harness.delimited.blocks import Block, Reader
from harness.delimited.stream import Refused, is_parquet, opened
from harness.submission import _fix, header
from harness.submission._keys import Strangers
from harness.submission._scan import USER
from harness.submission.columns import users_and_items
from harness.submission.expected import Against, columns
from harness.submission.findings import Findings
from harness.submission.format import SCORES, Format
from harness.submission.gathered import Summary
from harness.submission.keys import Known, packed
from harness.submission.problems import Fixed
from harness.submission.scan import Expected, Form, Scanned, scan
from harness.submission.source import Source, source
from harness.submission.validate import examine

LISTS = "file of lists"


def is_lists(path: Path) -> bool:
    """Return whether a file is text with the columns of lists, as others of which were written."""
    with suppress(DataError, Refused):
        names = set(columns(path))
        ids = set(users_and_items(sorted(names)))
        return ids <= names <= {*ids, "rank", "score", *SCORES}
    return False


class NotFixedError(UsageError):
    """A submission of which it cannot be told for certain what is meant."""

    exit_status = 1


@doing("fixing the file")
def fix(path: Path, against: Against, out: Path) -> Fixed:
    """Write the submission `path` to `out`, mended.

    Raises
    ------
    UsageError
        `out` is a file that is read, or cannot be written.
    NotFixedError
        The submission cannot be read, or what is meant cannot be told for certain.
    """
    refuse_overwriting(out, [path, against.ids], is_lists, what=LISTS)
    if not out.name.endswith((".csv", ".csv.gz")):
        raise UsageError(f"{out}: the fixed file must be .csv or .csv.gz; name one")
    examined = examine(path, against)
    blocked, against = examined.validation.blocked, examined.against
    if blocked is not None:
        raise NotFixedError(
            f"{out}: not written, as only you can fix this error of {path}\n{blocked.code} "
            f"{blocked.message}; {blocked.hint}"
        )
    summary, is_packed = examined.summary or Summary(), out.suffix == ".gz"
    there = summary.present.copy()
    try:
        with (
            whole_file(out) as temporary,
            cast(
                BinaryIO, gzip.open(temporary, "wb") if is_packed else temporary.open("wb")
            ) as target,
            source(path, against, Findings()) as opened,
        ):
            dropped = _write(opened, against, target, summary.renamed)
            appended = _append(against, opened.wanted, there, target)
            items = against.items_of(opened.wanted)
    except Refused as error:
        raise UsageError(f"{path}: cannot be read, so nothing is fixed ({error})") from error
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror or error}") from error
    return Fixed(out, appended, dropped, compared=len(items) > 0 or items.digits)


def _write(opened: Source, against: Against, target: BinaryIO, renamed: Bool) -> int:
    """Write all rows, each once; return how many stood there again.

    `renamed` says of each known user whether a damaged id becomes theirs.
    """
    wanted, form = opened.wanted, opened.form
    items, written, dropped = against.items_of(wanted), KeyTable(), 0
    nobody = np.full(len(against.users), -1, np.int32)  # no list is kept
    expected = Expected.of(against.users, items, nobody, 0, wanted)
    target.write(b",".join(_quoted(name.encode()) for name in wanted.columns) + b"\n")
    for block in opened.reader.blocks():
        found = mended(block, form, wanted.between, expected, renamed)
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
        return _append_names(against, there, target)
    with opened(against.ids) as file:
        if file.is_json:
            return _append_names(against, there, target)
        head = header.read(file.stream)
        user = against.user or head.columns[0]
        names = [name for name in (user, wanted.items) if name in head.columns]
        columns = blocks.wanted(len(head.columns), *map(head.columns.index, names))
        for block in Reader(file.stream, head.separator.encode(), returns=head.returns).blocks():
            for cells in _missing(block, columns, against.users, there):
                target.write(b",".join([*cells, b""][:2]) + b"\n")
                appended += 1
    return appended


def _append_names(against: Against, there: Bool, target: BinaryIO) -> int:
    """Write an empty list for each user who is missing; return how many."""
    missing = list(compress(against.all_names(), ~there[: against.required]))
    target.writelines(_quoted(name.encode()) + b",\n" for name in missing)
    return len(missing)


def _missing(block: Block, columns: Int32, users: Known, there: Bool) -> Iterator[list[bytes]]:
    """Yield the id, and the list if any, of the block's users who are not there; then they are."""
    starts, stops, found = blocks.fields(block, columns)
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


@dataclass(frozen=True, eq=False)
class Mended:
    """Mended lines.

    Attributes
    ----------
    text : uint8 array, PAD bytes behind the last line
    starts, stops : int64 arrays
        Where each row stands that is of a user, with its end.
    secret : uint64 array, (2,)
        What the keys of rows are made with.
    """

    text: Bytes
    starts: Int64
    stops: Int64
    secret: UInt64

    def without_again(self, written: KeyTable) -> tuple[Bytes, int]:
        """Return the lines but for rows that were written, and how many those are.

        `written` takes the others.
        """
        before = len(written)
        codes = written.codes(blocks.keys(self.text, self.starts, self.stops, self.secret))
        new = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1] < codes
        kept = np.ones(len(self.text), np.bool_)
        kept[-PAD:] = False
        for start, stop in zip(self.starts[~new], self.stops[~new], strict=True):
            kept[start:stop] = False
        return self.text[kept], int(np.count_nonzero(~new))


def mended(block: Block, form: Form, between: str, expected: Expected, renamed: Bool) -> Mended:
    """Return whole lines with what is mechanical mended.

    Blank lines go; ids lose what is around them and get their zeros back; items lose brackets,
    quotes and decimals, get zeros back and one separator; words for nothing, repeats and items
    behind the longest list go. Lines with too few or too many fields stay as they are.

    Parameters
    ----------
    between : str
        What is written between items.
    renamed : bool array, one a known user
        Whether a damaged id becomes this one.
    """
    buffer, size, users, items = block.buffer, block.size, expected.users, expected.items
    scanned = scan(block, form, expected)
    n, memo = len(scanned.users), scanned.memo
    names, name_spans = _names(scanned, renamed)
    begins, spans = np.empty(n + 1, np.int64), np.zeros((n, 2), np.int64)
    # What is written for an id is longer by what damage took away; an item has a byte or more.
    lengths = scanned.stops[:, USER] - scanned.starts[:, USER]
    renamed_by = int((name_spans[:, 1] - name_spans[:, 0] - lengths).max(initial=0))
    while True:
        growth = max(memo.growth, renamed_by)
        out, strangers = np.empty((size + 4) * (growth + 4) + PAD, np.uint8), Strangers()
        length = _fix.mend(
            buffer, size, block.separator, form.between_in(block), block.end, form.width,
            ord(between), scanned.starts, scanned.stops, scanned.users, users.exact, names,
            name_spans, items.ids, memo, strangers, out, begins, spans,
        )  # fmt: skip
        if len(strangers) == 0:
            break
        memo = expected.of_items.learn(block, strangers.keys, strangers.spans, memo)
    rows = spans[:, 0] < spans[:, 1]
    return Mended(out[: length + PAD], spans[rows, 0], spans[rows, 1], users.secret)


def _names(scanned: Scanned, renamed: Bool) -> tuple[Bytes, Int64]:
    """Return the known ids that damaged ones become, and where that of each line stands."""
    spans = np.zeros((len(scanned.users), 2), np.int64)
    alike = scanned.alike
    if alike is None:
        return np.zeros(PAD, np.uint8), spans
    names, starts, stops = packed(alike.found.known)
    is_mended = alike.found.certain & renamed[alike.found.codes]
    own = is_mended[alike.which]
    which = alike.which[own]
    spans[alike.lines[own]] = np.stack((starts[which], stops[which]), axis=1)
    return names, spans
