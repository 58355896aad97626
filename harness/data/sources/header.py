"""The beginning of a delimited text file of a table: how it is opened, and what its columns are."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.core.errors import DataError, counted
from harness.core.io import unusable
from harness.data.layout import ESCAPE, LISTS, Table
from harness.delimited import _delimited
from harness.delimited.blocks import padded, plain
from harness.delimited.stream import Refused, opened

UNCLOSED = "a quote is opened but never closed"
TORN = "there is text after a closing quote"
NO_UTF_8 = " is not UTF-8 text"
CONTROL = " holds a control character (0x1A, 0x1E or 0x1F); remove it"
HAS = " has "
_SEPARATORS = ("::", ";", "\t", "|", ",")
_EXCEL = re.compile("sep=.", re.IGNORECASE)
"""The line that Excel may write before the header, to say what stands between fields."""
_LONGEST = 1 << 16
"""Bytes of a header, on however many lines."""


@contextmanager
def opened_text(shown: Path, table: Table) -> Iterator[BinaryIO]:
    """Yield the text of a file of a table; raise DataError where it cannot be read."""
    try:
        with opened(shown, table.cap, table.encoding) as file:
            yield file.stream
    except Refused as error:
        raise unusable(shown, error, table.cap) from error
    except OSError as error:
        why = error.strerror or error
        raise DataError(f"{shown}: cannot be read: {why}; copy it again") from error


class Header(NamedTuple):
    """The columns of a file, each once, and the lines and bytes before its first row.

    `returns` says whether carriage returns alone end the lines.
    """

    names: list[str]
    lines: int
    size: int
    returns: bool


def header_of(table: Table, shown: Path) -> Header:
    """Return the header of a text file; raise DataError where it has none that can be used."""
    with opened_text(shown, table) as stream:
        first = stream.read(_LONGEST + 1)
    returns = b"\n" not in first and b"\r" in first
    mark = len(codecs.BOM_UTF8) * first.startswith(codecs.BOM_UTF8)
    text = first[mark:].replace(b"\r", b"\n") if returns else first[mark:]
    line, lines, size = _first_line(table, shown, text, whole=len(first) <= _LONGEST)
    names = _names(table, shown, line)
    if table.header is not None:
        return Header(names, 0, mark, returns)
    return Header(names, lines, mark + size, returns)


def _first_line(table: Table, shown: Path, text: bytes, *, whole: bool) -> tuple[bytes, int, int]:
    """Return the first record, plain, and of how many lines and bytes it is."""
    if whole and not text.endswith(b"\n"):
        text += b"\n"
    between = table.separator.encode()
    if len(between) > 1 and b"\n" in text:
        line = text[: text.index(b"\n")]
        if _delimited.FIELD in line:
            raise DataError(f"{shown}: line 1{CONTROL}")
        fields = line.removesuffix(b"\r").replace(between, bytes([_delimited.FIELD]))
        return fields, 1, len(line) + 1
    block, consumed = plain(
        padded(text), len(text), between[0], whole, quote=table.quote, escape=table.escape
    )
    if consumed == 0:
        raise DataError(f"{shown}: line 1 is longer than {_LONGEST:,} bytes; expected a header")
    for wrong, says in ((block.unclosed, UNCLOSED), (block.torn, TORN)):
        if 0 in wrong:
            raise DataError(f"{shown}: line 1 cannot be read: {with_cure(says, table)}")
    starts = [] if block.lines is None else block.lines.tolist()
    lines = starts[1] if len(starts) > 1 else block.ended or 1
    size = 0
    for _ in range(lines):
        size = text.index(b"\n", size) + 1
    return block.buffer[: block.size].tobytes().split(bytes([block.end]))[0], lines, size


def _names(table: Table, shown: Path, line: bytes) -> list[str]:
    """Return the names of the columns, each once."""
    if not line:
        raise DataError(f"{shown}: the file is empty or starts with a blank line; expected a table")
    try:
        first = line.decode().split(chr(_delimited.FIELD))
    except UnicodeDecodeError as error:
        raise DataError(f"{shown}: line 1{with_cure(NO_UTF_8, table)}") from error
    header = table.header
    if header is not None and len(header) != len(first):
        raise DataError(f"{shown}: line 1{miscounted(table, first, header)}")
    names = first if header is None else list(header)
    for name, count in Counter(names).items():
        if count > 1:
            hint = "" if header is not None else f"; {unnamed(table)}"
            raise DataError(
                f'{shown}: line 1: the column "{name}" is there twice; name each column once{hint}'
            )
    return names


def with_cure(says: str, table: Table) -> str:
    """Return what is wrong with a line, and the key that says how the table is written."""
    if table.key == LISTS:
        to_utf_8 = "; save the file as UTF-8, for example: iconv -f latin1 -t utf-8 FILE > NEW"
        return says + to_utf_8 * (says == NO_UTF_8)
    place, left_out = table.place, ""
    if table.key == "events":
        left_out = f'; bad_lines = "drop" {place} leaves such lines out'
    if says.endswith((UNCLOSED, TORN)):
        escaped = f"; if a backslash is before quotes, set escape = {ESCAPE} {place}"
        more = "" if table.escape else escaped
        return (
            f"{says}; if quotes are ordinary characters, set quote = false {place}{more}{left_out}"
        )
    if says.startswith(HAS):
        return f"{says}{left_out}"
    if says != NO_UTF_8:
        return says
    allowed = 'encoding = "latin-1" or "cp1252"'
    return f"{says}; save the file as UTF-8, or set {allowed} {place}"


def _separated(separator: str, table: Table) -> str:
    """Return how to say what stands between the fields of a table."""
    if table.key == LISTS:
        return "save the file with commas between fields"
    key = json.dumps(separator)  # TOML writes it so too
    says = f"set separator = {key} {table.place}"
    if table.key == "events":
        return f"{says} (or --set 'data.separator={key}')"
    return says if table.key else (f"{says}; or save the file with this separator")


def miscounted(table: Table, first: Sequence[str], names: Sequence[str]) -> str:
    """Return what is said of line 1 where it has another number of fields than it has names."""
    named = f"{table.named('header')} names {len(names)} ({', '.join(names)})"
    hint = separator_hint(table, first, len(names)) if len(first) < len(names) else ""
    hint = hint or "name every column, in file order, or check the separator"
    return f" has {counted(len(first), 'field')}, but {named}; {hint}"


def unnamed(table: Table) -> str:
    """Return what to do where the first line of a table is no header."""
    if table.key == LISTS:
        return "if the file has no header line, write one, such as user,items"
    where = f'name its columns: header = ["…", "…"] {table.place}'
    return f"if the file has no header line, {where}"


def separator_hint(table: Table, names: Sequence[str], count: int | None = None) -> str:
    """Return what to do where one name, or fields, look like a line of `count` others."""
    line = table.separator.join(names)
    if _EXCEL.fullmatch(line):
        return f"Excel wrote line 1, {line!r}: remove it, and {_separated(line[-1], table)}"
    signs = [sign for sign in _SEPARATORS if sign in line and sign != table.separator]
    if count is not None:
        signs = [sign for sign in signs if line.count(sign) + 1 == count]
    elif len(names) > 1:
        return ""
    return f"the separator seems to be another: {_separated(signs[0], table)}" if signs else ""
