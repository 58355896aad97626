"""The first line: which columns there are, what stands between fields, how lines end."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import BinaryIO

from harness.core.column_names import is_index
from harness.delimited._delimited import FIELD
from harness.delimited.blocks import padded, plain
from harness.delimited.stream import Refused
from harness.submission.format import Format
from harness.submission.problems import Findings

_LONGEST = 1 << 16
"""Bytes of a header: each of its columns is told that is not wanted."""
_SEPARATORS = ",;\t|"
_ROW_NAMES = 1000
"""Rows that are looked at for names of rows."""
_ROW_NAME, _WORDS = re.compile(rb'"\d+"'), re.compile(rb'("[^" ]*",?)*')
_NAMES = {";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}


@dataclass(frozen=True)
class Header:
    """What the first line says.

    `separator` stands between fields; `returns`: lines end with a bare carriage return; `mark`: the
    file begins with a byte order mark.
    """

    columns: tuple[str, ...]
    separator: str
    returns: bool
    mark: bool


def read(stream: BinaryIO) -> Header:
    """Read the first line; Refused where the file is empty, or the line is far too long."""
    first = stream.peek(1 << 16)  # type: ignore[attr-defined]
    if not first:
        raise Refused("empty", "")
    returns = b"\n" not in first and b"\r" in first
    end = first.find(b"\r") + 1 if returns else _LONGEST
    line = stream.read(end) if returns else stream.readline(end)
    if len(line) == _LONGEST and not line.endswith(b"\n"):
        raise Refused("endless", f"{_LONGEST:,} bytes")
    mark = line.startswith(codecs.BOM_UTF8)
    text = line.rstrip(b"\r\n")
    while text.startswith(codecs.BOM_UTF8):
        text = text.removeprefix(codecs.BOM_UTF8)
    # Names in quotes alone may have spaces between them, as R writes them.
    separators = _SEPARATORS + " " * text.startswith(b'"')
    separator = next((s for s in separators if len(_fields(text, s)) > 1), ",")
    columns = _fields(text, separator)
    if not returns and text.startswith(b'"') and _has_row_names(stream, separator, len(columns)):
        columns = ["", *columns]
    return Header(tuple(columns), separator, returns, mark)


def _has_row_names(stream: BinaryIO, separator: str, columns: int) -> bool:
    """Return whether the next rows have a field more than the header, which holds R's row names.

    Those are whole numbers in quotes. A line of quoted fields alone, each of one word and with
    commas between them, might as well be a user and two items.
    """
    rows = stream.peek(1 << 16).split(b"\n")[:_ROW_NAMES]  # type: ignore[attr-defined]
    rows = [row.rstrip(b"\r") for row in rows[:-1]]
    if not rows or not all(map(_ROW_NAME.match, rows)):
        return False
    if any(len(_fields(row, separator)) != columns + 1 for row in rows):
        return False
    names = {_fields(row, separator)[0] for row in rows}
    plain = separator == "," and all(map(_WORDS.fullmatch, rows))
    return len(names) == len(rows) and not plain


def _fields(line: bytes, separator: str) -> list[str]:
    """Return the fields of a line as those of all others are read."""
    whole = line.replace(b"\n", b" ") + b"\n"
    block, _ = plain(padded(whole), len(whole), ord(separator), last=True)
    text = block.buffer[: block.size - 1].tobytes().decode("utf-8", "replace")
    return text.split(chr(FIELD)) if line else []


def check(header: Header, wanted: Format, findings: Findings) -> dict[str, int]:
    """Return the place of each wanted column that can be told, and note what is wrong."""
    if header.mark:
        findings.note("SUB007")
    if header.separator != ",":
        findings.note("SUB009", _NAMES[header.separator], 1)
    places: dict[str, int] = {}
    plain = {name.casefold(): name for name in wanted.columns}
    for place, column in enumerate(header.columns):
        exact = column in wanted.columns
        meant = column if exact else plain.get(column.strip().casefold())
        if meant is None:
            is_further_index = is_index(column) and len(header.columns) > len(wanted.columns)
            code = "SUB102" if wanted.prescribed else "SUB113"  # not known, or just not read
            findings.note("SUB107" if is_further_index else code, column, 1)
        elif meant in places:
            findings.note("SUB103", column, 1)
        else:
            places[meant] = place
            _check_spelling(column, meant, findings)
    for column in wanted.columns:
        if column not in places:
            findings.note("SUB101", column, 1)
    ordered = [column for column in places if column != wanted.order]  # which may stand anywhere
    if wanted.prescribed and ordered != [column for column in wanted.columns if column in ordered]:
        findings.note("SUB104", ", ".join(places), 1)
    return places


def _check_spelling(column: str, meant: str, findings: Findings) -> None:
    if column != column.strip():
        findings.note("SUB105", column, 1)
    if column.strip() != meant:
        findings.note("SUB106", column, 1)
