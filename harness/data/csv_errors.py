"""What made a table unreadable: the line, column and text of the first; zeros that are lost."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl

from harness.core import parquet
from harness.core.arrays import Bool
from harness.core.errors import DataError
from harness.data.layout import Layout, Table

_CHUNK_ROWS = 20_000
_SHOWN = 60


@dataclass(frozen=True)
class FieldRule:
    """What a column must hold: text that is not empty where `required`, and that `parse` reads.

    `parse` makes null of what it cannot read.
    """

    column: str
    expected: str
    parse: pl.Expr | None
    required: bool


_Row = tuple[int, list[str]]
"""The line that a row begins on, and its fields."""


def locate(
    table: Table,
    plain: Path,
    shown: Path,
    names: list[str],
    rules: tuple[FieldRule, ...],
    reason: str,
) -> DataError:
    """Return the error for the first bad value of `plain`, named `shown` to the user.

    Where the walk finds nothing wrong, the error carries the reader's own `reason`.
    """
    try:
        found = (
            _in_parquet(plain, rules) if is_parquet(plain) else _in_text(table, plain, names, rules)
        )
    except csv.Error as error:
        found = f"cannot be read as a table: {error}"
    except parquet.UNREADABLE:  # its pages are damaged, as the reason says
        found = None
    return DataError(f"{shown}: {found or f'cannot be read: {reason.strip().splitlines()[0]}'}")


def is_parquet(path: Path) -> bool:
    """Return whether a plain file is Parquet; everything else is delimited text."""
    return path.suffix.lower() == ".parquet"


def misshapen(table: Table, plain: Path, shown: Path, names: list[str]) -> DataError | None:
    """Return the error for the first row with too few or too many fields, None without one."""
    with plain.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as handle:
        reader = csv.reader(handle, delimiter=table.separator)
        try:
            if all(len(fields) == len(names) for fields in reader):
                return None
        except csv.Error:
            pass  # which line it is, is found below
    return locate(table, plain, shown, names, (), "its rows differ in length")


def _rows(table: Table, plain: Path) -> Iterator[_Row]:
    """Yield the rows after the header, each with the physical line it starts on."""
    with plain.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as handle:
        reader = csv.reader(handle, delimiter=table.separator, strict=True)
        line = 1
        try:
            for number, fields in enumerate(reader):
                if number or table.header is not None:
                    yield line, fields
                line = reader.line_num + 1
        except csv.Error as error:
            raise csv.Error(f"line {line}: {error}") from error


def _in_text(
    table: Table, plain: Path, names: list[str], rules: tuple[FieldRule, ...]
) -> str | None:
    """Return what the first bad row is, None without one."""
    rows = _rows(table, plain)
    while chunk := list(islice(rows, _CHUNK_ROWS)):
        found = _first_bad(chunk, names, rules)
        if found is not None:
            return found
    return None


def _first_bad(rows: list[_Row], names: list[str], rules: tuple[FieldRule, ...]) -> str | None:
    faults = [_bad_shape(rows, names)]
    faults += [_bad_field(rows, names.index(rule.column), rule) for rule in rules]
    found = [fault for fault in faults if fault is not None]
    return min(found, key=lambda fault: fault[0])[1] if found else None


def _bad_shape(rows: list[_Row], names: list[str]) -> tuple[int, str] | None:
    for line, fields in rows:
        if not fields:
            return line, f"line {line} is blank; remove it"
        if len(fields) != len(names):
            expected = f"expected {len(names)} ({', '.join(names)})"
            return line, f"line {line} has {len(fields)} fields, {expected}"
        if not "".join(fields).isprintable() and undecodable(fields):
            return line, f"line {line} is not UTF-8 text; save the file as UTF-8"
    return None


def undecodable(fields: list[str]) -> bool:
    """Return whether bytes that are no UTF-8 stand in a row (read with surrogateescape)."""
    return any("\udc80" <= letter <= "\udcff" for field in fields for letter in field)


def _bad_field(rows: list[_Row], index: int, rule: FieldRule) -> tuple[int, str] | None:
    usable = [(line, f[index] or None) for line, f in rows if len(f) > index and not undecodable(f)]
    text = pl.Series(rule.column, [value for _, value in usable], dtype=pl.String)
    bad = text.is_null().to_numpy() & rule.required
    if rule.parse is not None:
        bad |= _unreadable(text, rule.parse)
    if not bad.any():
        return None
    line, value = usable[int(bad.argmax())]
    return line, _fault(f"line {line}", rule, value)


def _fault(where: str, rule: FieldRule, value: str | None) -> str:
    found = _printable(value)
    return f'{where}, column "{rule.column}": found {found}, expected {rule.expected}'


def _unreadable(text: pl.Series, parse: pl.Expr) -> Bool:
    """Return which values `parse` refuses."""
    parsed = text.to_frame().select(parse.alias("parsed"))["parsed"]
    return (parsed.is_null() & text.is_not_null()).to_numpy()


def _printable(value: str | None) -> str:
    if value is None:
        return "an empty value"
    cut = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return f'"{cut}"' if cut.isprintable() else repr(cut)


def _in_parquet(plain: Path, rules: tuple[FieldRule, ...]) -> str | None:
    for rule in rules:
        values = pl.read_parquet(plain, columns=[rule.column], glob=False)[rule.column]
        missing = values.is_null() | (values.cast(pl.String) == "").fill_null(False)
        if rule.required and missing.any():
            return _fault(f"row {int(missing.arg_max() or 0) + 1}", rule, None)
        if rule.parse is not None and values.dtype == pl.String:
            bad = _unreadable(values, rule.parse)
            if bad.any():
                at = int(bad.argmax())
                return _fault(f"row {at + 1}", rule, values[at])
    return None


CURE = "restore it with [data] restore_zeros = true"


def lost(ids: pl.Series, width: int) -> pl.Series:
    """Return the ids that are one digit shorter than all should be."""
    return ids.filter(ids.str.len_chars() == width - 1)


def told(layout: Layout, items: pl.Series, described: pl.Series, width: int) -> str:
    """Return where a layout's ids lost their zero: in the events, and in the table of items."""
    places = {layout.events[0].table.path.name: items}
    if layout.items is not None:
        places[layout.items.table.path.name] = described
    short = {name: lost(ids, width) for name, ids in places.items()}
    first = next(ids for ids in short.values() if len(ids) > 0).sort()[0]
    counts = [
        f"{len(short[name]):,} of {len(places[name]):,} item ids in {name}" for name in places
    ]
    return (
        f'{" and ".join(counts)} have {width - 1} digits (such as "{first}"): the leading zero was '
        "lost when the file was saved as numbers"
    )
