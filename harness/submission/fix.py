"""A submission in, another out in which what is mechanical is mended; the first stays untouched."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from harness.core.arrays import Bool, Int64
from harness.core.errors import DataError, UsageError, counted, printable
from harness.core.ids import KeyTable
from harness.core.io import refuse_overwriting, whole_file
from harness.core.progress import doing
from harness.delimited import blocks
from harness.delimited._delimited import NO_ROW, PAD
from harness.delimited.blocks import Block, cut, padded
from harness.delimited.stream import Refused, is_parquet
from harness.submission import _kernels as faults
from harness.submission._kernels import LIST, ORDER, OTHER, STRANGER, USER, write_rows
from harness.submission.columns import users_and_items
from harness.submission.diagnose import SEPARATOR, Diagnosis
from harness.submission.expected import Against, columns, rows_of
from harness.submission.format import SCORES, Format
from harness.submission.gathered import Summary
from harness.submission.keys import first_met
from harness.submission.problems import Findings, Validation
from harness.submission.scan import GROUP, SPACES, Expected, Form, LookAlikes, Scanned, scan
from harness.submission.source import Source, source
from harness.submission.validate import Examined, examine

LISTS = "file of lists"
_SPACES = np.frombuffer(SPACES, np.uint8)


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


@dataclass(frozen=True)
class Fixed:
    """What was written.

    `appended` rows of users who were missing, and no more `dropped` ones that stood there again;
    `compared`: whether anything says what items look like.
    """

    path: Path
    appended: int
    dropped: int
    compared: bool = True


@doing("fixing the file")
def fix(path: Path, against: Against, out: Path, *, examined: Examined | None = None) -> Fixed:
    """Write the submission `path` to `out`, mended; `examined` has what was found in it, if known.

    UsageError where `out` is a file that is read, or cannot be written; NotFixedError where the
    submission cannot be read, or what is meant cannot be told for certain.
    """
    refuse_overwriting(out, [path, against.ids], is_lists, what=LISTS)
    if not out.name.endswith((".csv", ".csv.gz")):
        raise UsageError(f"{out}: the fixed file must be .csv or .csv.gz; name one")
    examined = examined or examine(path, against)
    blocked, against = examined.validation.blocked, examined.against
    if blocked is not None:
        raise NotFixedError(
            f"{out}: not written, as only you can fix this error of {path}\n{blocked.code} "
            f"{blocked.message}; {blocked.hint}"
        )
    summary, is_packed = examined.summary or Summary(), out.suffix == ".gz"
    try:
        with (
            whole_file(out) as temporary,
            cast(
                BinaryIO, gzip.open(temporary, "wb") if is_packed else temporary.open("wb")
            ) as target,
            source(path, against, Findings()) as opened,
        ):
            dropped = _write(opened, against, target, summary.renamed)
            appended = _append(against, opened.wanted, summary.present, target)
            items = against.items_of(opened.wanted)
    except Refused as error:
        raise UsageError(f"{path}: cannot be read, so nothing is fixed ({error})") from error
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror or error}") from error
    return Fixed(out, appended, dropped, compared=len(items) > 0 or items.digits)


def report(before: Validation, fixed: Fixed, after: Validation) -> str:
    """Return whether anything was mended, and what the written file still holds that is wrong."""
    gone = {p.code for p in before.problems} - {p.code for p in after.problems}
    some = gone or fixed.appended or fixed.dropped or any(p.fixed for p in before.problems)
    done = "fixed" if some else "nothing to fix"
    rows = f", {counted(fixed.appended, 'missing row')} added" if fixed.appended else ""
    rows += f", {counted(fixed.dropped, 'repeated row')} removed" if fixed.dropped else ""
    codes = ", ".join(problem.code for problem in after.errors)
    rest = f"errors remain: {codes}" if codes else "no errors remain"
    if not codes and not fixed.compared:
        rest += "; items were not compared (give --solution, --items or --config)"
    return f"{done}, written to {printable(str(fixed.path))}{rows}; {rest}"


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
        text, lengths, is_user = mended(block, form, wanted.between, expected, renamed)
        stops = np.cumsum(lengths)
        keys = blocks.keys(
            padded(text), (stops - lengths)[is_user], stops[is_user], against.users.secret
        )
        is_new = np.ones(len(lengths), np.bool_)
        is_new[is_user] = first_met(written, keys)
        if not is_new.all():
            text = np.frombuffer(text, np.uint8)[np.repeat(is_new, lengths)].tobytes()
        target.write(text)
        dropped += int(np.count_nonzero(~is_new))
    return dropped


def _append(against: Against, wanted: Format, present: Bool, target: BinaryIO) -> int:
    """Write a row for each user who is missing: with the sample's own list, or an empty one.

    A file with a row an item has none for a user without items.
    """
    missing = np.flatnonzero(~present[: against.required])
    if wanted.long or len(missing) == 0:
        return 0
    lists = dict.fromkeys(missing.tolist(), b"")
    sample = against.ids
    if sample is not None and not is_parquet(sample) and wanted.items in columns(sample):
        for block, starts, stops in rows_of(sample, [against.user, wanted.items]):
            codes = against.users.codes(block.buffer, starts[:, 0], stops[:, 0])
            for row in np.flatnonzero((codes >= 0) & ~present[codes]).tolist():
                text = block.text(int(starts[row, 1]), int(stops[row, 1]))
                text = text.replace(bytes([GROUP]), wanted.between.encode())
                lists[int(codes[row])] = lists[int(codes[row])] or text
    for name, items in zip(against.users.named(missing), lists.values(), strict=True):
        target.write(_quoted(name) + b"," + _quoted(items) + b"\n")
    return len(missing)


def _quoted(cell: bytes) -> bytes:
    """Return a cell as CSV writes it."""
    needed = any(letter in cell for letter in (b",", b'"', b"\n", b"\r"))
    return b'"' + cell.replace(b'"', b'""') + b'"' if needed else cell


def mended(
    block: Block, form: Form, between: str, expected: Expected, renamed: Bool
) -> tuple[bytes, Int64, Bool]:
    """Return whole lines with what is mechanical mended, their lengths, and which are of users.

    Blank lines go; ids lose what is around them and get their zeros back; items lose brackets,
    quotes and decimals, get zeros back and one separator; words for nothing, repeats and items
    behind the longest list go. Lines with too few or too many fields stay as they are. `between`
    is written between items; `renamed` says of each known user whether a damaged id becomes theirs.
    """
    scanned = scan(block, form, expected)
    names = {} if scanned.alike is None else _names(scanned.alike, renamed)
    is_padded = _are_padded(block, scanned, expected.of_users.known.exact)
    is_plain = (scanned.users != NO_ROW) & ~is_padded
    is_plain[[*names]] = False
    strangers, diagnosis = scanned.strangers.rows, expected.of_items
    rows, codes = np.flatnonzero(strangers[:, 3] != OTHER), np.full(len(strangers), -1, np.int32)
    growth = 0
    if len(rows) > 0:
        learnt = diagnosis.learn(block, strangers[rows])
        is_odd = learnt.is_doubtful | (learnt.marks & 1 << faults.SEPARATOR != 0)
        is_plain[strangers[rows[is_odd], 0]] = False
        codes[rows] = learnt.codes
        lengths = np.diff(diagnosis.texts.spans)[learnt.codes, 0]
        growth = int((lengths - np.diff(strangers[rows, 1:3])[:, 0]).clip(0).sum())
    texts, n = diagnosis.texts, len(is_plain)
    ends = np.zeros(n, np.int64)
    out = np.empty(block.size + growth + n + PAD, np.uint8)
    write_rows(
        block.buffer,
        scanned.starts,
        scanned.stops,
        form.between_in(block),
        ord(between),
        form.width,
        diagnosis.ids,
        strangers,
        codes,
        texts.buffer,
        texts.spans,
        texts.keys,
        is_plain,
        out,
        ends,
    )
    lengths, is_user = np.diff(ends, prepend=0), scanned.users >= STRANGER
    text = out[: ends[-1] if n > 0 else 0].tobytes()
    if is_plain.all():
        return text, lengths, is_user
    odd = np.flatnonzero(~is_plain)
    written, parts, begin = _mended_rows(block, form, between, expected, scanned, names, odd), [], 0
    for line, row in zip(odd.tolist(), written, strict=True):
        parts += [text[begin : ends[line]], row]
        begin, lengths[line] = int(ends[line]), len(row)
    return b"".join([*parts, text[begin:]]), lengths, is_user


def _are_padded(block: Block, scanned: Scanned, exact: bool) -> Bool:
    """Return which lines have spaces around the user's id, or around what orders items."""
    is_padded = np.zeros(len(scanned.users), np.bool_)
    for column in range(scanned.starts.shape[1]):
        if column != LIST and not (exact and column == USER):
            first = block.buffer[scanned.starts[:, column]]
            last = block.buffer[scanned.stops[:, column] - 1]
            is_padded |= np.isin(first, _SPACES) | np.isin(last, _SPACES)
    return is_padded


def _mended_rows(
    block: Block,
    form: Form,
    between: str,
    expected: Expected,
    scanned: Scanned,
    names: dict[int, bytes],
    lines: Int64,
) -> Iterator[bytes]:
    """Yield lines of any kind as they are written; `names` has the ids that damaged ones become."""
    text, separator = block.buffer[: block.size].tobytes(), bytes([block.separator])
    columns = [
        list(cut(text, starts, stops))
        for starts, stops in zip(scanned.starts[lines].T, scanned.stops[lines].T, strict=True)
    ]
    lists = _mended_lists(columns[LIST], bytes([form.between_in(block)]), expected.of_items)
    whole = text.split(bytes([block.end])) if (scanned.users == NO_ROW).any() else []
    cells = zip(lines.tolist(), columns[USER], lists, *columns[ORDER:], strict=True)
    for line, user, items, *order in cells:
        if scanned.users[line] == NO_ROW:
            yield _no_row(whole[line], separator, len(columns))
            continue
        items.pop(b"", None)
        name = names.get(line) or (user if expected.of_users.known.exact else user.strip(SPACES))
        row = [name, between.encode().join([*items][: form.width])]
        row += [cell.strip(SPACES) for cell in order]
        yield b",".join(map(_quoted, row)) + b"\n"


def _mended_lists(
    lists: Iterable[bytes], between: bytes, diagnosis: Diagnosis
) -> Iterator[dict[bytes, None]]:
    """Yield the items of each list as they are written, each once, as the keys of a dict."""
    all_tokens = [text.split(between) for text in lists]
    parts = dict[bytes, list[bytes]]()
    if diagnosis.joined:
        joined = diagnosis.joined.intersection(chain.from_iterable(all_tokens))
        parts = {token: SEPARATOR.split(token) for token in joined}
        diagnosis.learn_texts(set(chain.from_iterable(parts.values())))
    mended, meant = diagnosis.mended, diagnosis.meant
    for tokens in all_tokens:
        there = set(tokens)  # in one list with the item that it looks like, it may be another
        items = [part for token in tokens for part in parts.get(token, [token])]
        yield dict.fromkeys(
            item if meant.get(item) in there else mended.get(item, item) for item in items
        )


def _no_row(line: bytes, separator: bytes, columns: int) -> bytes:
    """Return a line that is no row as it is written; one that is blank goes.

    Where columns are dropped it may have as many fields as a row of the new file; one more is added
    then, so that it is not taken for a row.
    """
    if not line.strip(SPACES):
        return b""
    cells = [*map(_quoted, line.rstrip(SPACES).split(separator))]
    return b",".join([*cells, b""] if len(cells) == columns else cells) + b"\n"


def _names(alike: LookAlikes, renamed: Bool) -> dict[int, bytes]:
    """Return the known ids that damaged ones become, by line."""
    is_mended = alike.rows["certain"] & renamed[alike.rows["code"]]
    names = zip(alike.rows["line"].tolist(), alike.known, strict=True)
    return dict(compress(names, is_mended.tolist()))
