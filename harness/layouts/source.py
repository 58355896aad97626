"""A table's files, each as a lazy frame whose columns are known and whose rows are whole."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import polars as pl

from harness import parquet
from harness.errors import DataError, suggest
from harness.files import parts, unpacked, unusable
from harness.layouts.locate import FieldRule, is_parquet, locate, misshapen, undecodable
from harness.layouts.long_lines import has_more_fields
from harness.layouts.tables import Table
from harness.unpacking import UnpackingError

_BEYOND = "\x00beyond"  # a column behind the last: what a row with too many fields leaves there
_LONGEST = 1 << 16
"""Letters of a header, on however many lines."""
_FIELDS, _SHOWN = 10_000, 8
_OTHER_SEPARATORS = ";\t|,"


@dataclass(frozen=True)
class Source:
    """One file of a table.

    Attributes
    ----------
    plain, shown : Path
        The file as it can be read, and as the user knows it (perhaps packed).
    frame : polars.LazyFrame
        Every column of a text file is text.
    names : list of str
        The columns in file order, each once.
    """

    table: Table
    plain: Path
    shown: Path
    frame: pl.LazyFrame
    names: list[str]

    @property
    def is_text(self) -> bool:
        """Whether rows are lines of text, which may have too few or too many fields."""
        return not is_parquet(self.plain)

    def require(self, columns: tuple[str, ...]) -> None:
        """Raise DataError where one of `columns` is missing; show those there are."""
        for name in columns:
            if name not in self.names:
                raise DataError(
                    f'{self.shown}: line 1: no column "{name}"; '
                    f"the file has: {', '.join(self.names)}\n{self._hint(name, columns)}"
                )

    def _hint(self, name: str, columns: tuple[str, ...]) -> str:
        others = [s for s in _OTHER_SEPARATORS if s in self.names[0] and s != self.table.separator]
        if len(self.names) == 1 and others:
            return f"fields seem to be separated otherwise: set separator = {others[0]!r}"
        hint = suggest(name, self.names)
        if hint.startswith("did you mean") or set(columns) & set(self.names):
            return hint
        return 'where the file has no header line, name its columns: header = ["…", "…"]'

    def fault(self, rules: tuple[FieldRule, ...], reason: str) -> DataError:
        """Return the error for the first bad value; see `locate`."""
        return locate(self.table, self.plain, self.shown, self.names, rules, reason)

    def whole_rows(self) -> tuple[pl.Expr, pl.Expr]:
        """Return two marks of a row: too many fields, and perhaps too few (its last is empty)."""
        if not self.is_text:
            return pl.lit(False), pl.lit(False)
        return pl.col(_BEYOND).is_not_null(), pl.col(self.names[-1]).is_null()

    def texts(self, columns: list[str]) -> pl.DataFrame:
        """Return columns as text; a row with too few or too many fields raises DataError.

        Raises
        ------
        polars.exceptions.PolarsError
            What the reader does not understand; `fault` finds its place.
        """
        too_many, too_few = self.whole_rows()
        marks = (too_many.alias("\x00too_many"), too_few.alias("\x00too_few"))
        frame = self.frame.select(pl.col(columns).cast(pl.String), *marks).collect()
        self.check_rows(bool(frame["\x00too_many"].any()), bool(frame["\x00too_few"].any()))
        return frame.select(columns)

    def check_rows(self, too_many: bool, perhaps_too_few: bool) -> None:
        """Raise DataError where the marks of `whole_rows` mean a row that is not whole."""
        if too_many or perhaps_too_few:
            error = misshapen(self.table, self.plain, self.shown, self.names)
            if error is not None:
                raise error


def sources(table: Table) -> Iterator[Source]:
    """Yield the files of a table, by name; a packed one is there in plain while it is used.

    Raises
    ------
    DataError
        A file that is missing or empty, no UTF-8, or without a usable header.
    """
    for part in parts(table.path):
        with unpacked(part, table.cap) as plain:
            yield _source(table, plain, part)


def _source(table: Table, plain: Path, shown: Path) -> Source:
    try:
        if is_parquet(plain):
            frame = parquet.scan(plain, table.cap, shown.stat().st_size)
            return Source(table, plain, shown, frame, frame.collect_schema().names())
        names = _header(table, plain, shown)
        _refuse_endless(table, plain, shown, names)
        frame = pl.scan_csv(
            plain,
            separator=table.separator,
            has_header=False,
            skip_rows=1 if table.header is None else 0,
            schema=dict.fromkeys([*names, _BEYOND], pl.String),
            missing_columns="insert",
            glob=False,  # a name may hold * or [
        )
        return Source(table, plain, shown, frame, names)
    except UnpackingError as error:
        raise unusable(shown, error, table.cap) from error
    except parquet.UNREADABLE as error:
        first = str(error).strip().splitlines()[0]
        raise DataError(f"{shown}: cannot be read as a table: {first}") from error


def _refuse_endless(table: Table, plain: Path, shown: Path, names: list[str]) -> None:
    """Raise DataError where a line has so many fields that to read it would fill the memory."""
    most = len(names) + _FIELDS
    if has_more_fields(plain, table.separator, most):
        raise DataError(
            f"{shown}: a line has more than {most:,} fields, expected {len(names)} "
            f"({', '.join(names[:_SHOWN])}); look at what ends the lines"
        )


def _beginning(handle: TextIO, shown: Path) -> Iterator[str]:
    """Yield lines, as many as a header may have; names in quotes may hold ends of lines."""
    left = _LONGEST
    while line := handle.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise DataError(
                f"{shown}: line 1 is longer than {_LONGEST:,} letters; expected a header"
            )
        yield line


def _header(table: Table, plain: Path, shown: Path) -> list[str]:
    with plain.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as handle:
        try:
            first = next(csv.reader(_beginning(handle, shown), delimiter=table.separator), None)
        except csv.Error as error:
            raise DataError(f"{shown}: line 1 cannot be read: {error}") from error
    if first and undecodable(first):
        raise DataError(f"{shown}: line 1 is not UTF-8 text; save the file as UTF-8")
    if not first:
        raise DataError(f"{shown}: the file is empty or begins with a blank line; expected a table")
    if table.header is not None and len(table.header) != len(first):
        raise DataError(
            f"{shown}: line 1 has {len(first)} fields, but [data] header names "
            f"{len(table.header)} ({', '.join(table.header)}); name every column, in file order"
        )
    names = first if table.header is None else list(table.header)
    for name, times in Counter(names).items():
        if times > 1:
            raise DataError(f'{shown}: line 1: the column "{name}" stands twice; name each once')
    return names
