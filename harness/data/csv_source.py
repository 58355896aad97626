"""A table's files in, batches of canonical columns out: lazy, in bounded memory.

Each file is a lazy frame whose columns are known and whose rows are whole.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np
import polars as pl

from harness.core import parquet
from harness.core.errors import DataError, suggest
from harness.core.ids import hashes_of
from harness.core.io import parts, unpacked, unusable
from harness.core.parquet import UNREADABLE
from harness.core.unpacking import UnpackingError
from harness.data import csv_errors, dataset, layout
from harness.data.csv_errors import FieldRule, is_parquet, locate, misshapen, undecodable
from harness.data.layout import EventTable, Table

_BEYOND = "\x00beyond"  # a column behind the last: what a row with too many fields leaves there
_TOO_MANY, _TOO_FEW = "\x00too_many", "\x00too_few"
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

    def flags(self) -> tuple[pl.Expr, pl.Expr]:
        """Tell rows with too many fields, and perhaps too few (their last field is empty)."""
        too_many = too_few = pl.lit(False)
        if self.is_text:
            too_many, too_few = pl.col(_BEYOND).is_not_null(), pl.col(self.names[-1]).is_null()
        return too_many.alias(_TOO_MANY), too_few.alias(_TOO_FEW)

    def texts(self, columns: list[str]) -> pl.DataFrame:
        """Return columns as text; a row with too few or too many fields raises DataError.

        Raises
        ------
        polars.exceptions.PolarsError
            What the reader does not understand; `fault` finds its place.
        """
        frame = self.frame.select(pl.col(columns).cast(pl.String), *self.flags()).collect()
        self.check_rows(frame)
        return frame.select(columns)

    def check_rows(self, flagged: pl.DataFrame) -> bool:
        """Raise DataError where `flags` mean a row that is not whole; True: all of the file are."""
        if not (flagged[_TOO_MANY].any() or flagged[_TOO_FEW].any()):
            return False
        error = misshapen(self.table, self.plain, self.shown, self.names)
        if error is not None:
            raise error
        return True


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


BATCH_ROWS = 1_000_000
_FIRST = 1_000
_KEEP = "keep"


def event_batches(events: EventTable) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield batches of events and, beside each, the number of its rows left out by a minimum.

    Yields
    ------
    frame : polars.DataFrame
        Columns ``user``, ``item`` (str), ``time`` (int64 microseconds since 1970), and the hashes
        of the ids that an `Encoder` asks for, ``user_1``, ``user_2``, ``item_1``, ``item_2``; and
        ``row``, from 0, where the table is to be numbered.
    left_out : int
        Rows below a minimum.

    Raises
    ------
    DataError
        A missing file or column, a row with too few or too many fields, an empty id, a time or
        number that cannot be read; the message names file, line, column and value.
    """
    for source in sources(events.table):
        try:
            source.require(events.columns)
            _refuse_float_ids((events.user, events.item), source)
            yield from _batches(events, source)
        except DataError as error:
            raise _with_zeros(error, events, source) from error


def _with_zeros(error: DataError, events: EventTable, source: Source) -> DataError:
    """Return an error that also tells of lost zeros, which the same spreadsheet took."""
    if events.item_width is None or events.item not in source.names:
        return error
    try:
        first = source.frame.select(pl.col(events.item).cast(pl.String)).head(_FIRST).collect()
    except UNREADABLE:
        return error
    short = csv_errors.lost(first[events.item], events.item_width)
    if short.is_empty():
        return error
    return DataError(
        f'{error}\nand its item ids, such as "{short[0]}", have {events.item_width - 1} digits: '
        f"the leading zero was lost when the file was saved as numbers; {csv_errors.CURE}"
    )


def _batches(events: EventTable, source: Source) -> Iterator[tuple[pl.DataFrame, int]]:
    rules = _rules(events, source)
    whole = False
    try:
        for batch in _query(events, source).collect_batches(chunk_size=BATCH_ROWS):
            whole = whole or source.check_rows(batch)
            kept = batch.filter(pl.col(_KEEP)) if events.minimum else batch
            if any(column.has_nulls() for column in kept.iter_columns()) or any(
                (kept[column] == "").any() for column in (dataset.USER, dataset.ITEM)
            ):
                raise source.fault(rules, "an empty value")
            yield kept, batch.height - kept.height
    except UNREADABLE as error:
        raise source.fault(rules, str(error)) from error


def _query(events: EventTable, source: Source) -> pl.LazyFrame:
    flagged = source.frame.with_columns(source.flags())
    numbers = (dataset.ROW,) if events.numbered else ()
    if numbers:
        flagged = flagged.with_row_index(dataset.ROW)
    query = flagged.select(
        pl.col(events.user).cast(pl.String).alias(dataset.USER),
        pl.col(events.item).cast(pl.String).alias(dataset.ITEM),
        _time(events, source).alias(dataset.TIME),
        _keep(events).alias(_KEEP),
        pl.col(_TOO_MANY, _TOO_FEW, *numbers),
    )
    hashes = [
        h.alias(f"{column}_{i}")
        for column in (dataset.USER, dataset.ITEM)
        for i, h in enumerate(hashes_of(column), 1)
    ]
    return query.with_columns(hashes)


def _refuse_float_ids(ids: tuple[str, ...], source: Source) -> None:
    for name in ids:
        dtype = source.frame.collect_schema()[name]
        if dtype.is_float():
            raise DataError(
                f'{source.shown}: column "{name}" holds {dtype} values, which cannot keep ids '
                "apart; write ids as text"
            )


def _time(events: EventTable, source: Source) -> pl.Expr:
    if events.time is None:
        return pl.lit(0, pl.Int64)
    column = events.time
    dtype = source.frame.collect_schema()[column]
    if dtype.is_temporal():
        return layout.from_dtype(column, dtype)
    if dtype.is_numeric() and events.time_format not in layout.EPOCH_UNITS_US:
        raise DataError(
            f'{source.shown}: column "{column}" holds numbers, not '
            f"{layout.expected(events.time_format)}; "
            'set time_format = "epoch_s" or "epoch_ms" under [data]'
        )
    return layout.from_text(column, events.time_format, _pattern(events, source))


def _pattern(events: EventTable, source: Source) -> str | None:
    if events.time is None or events.time_format in layout.EPOCH_UNITS_US:
        return None
    try:
        first = source.frame.select(pl.col(events.time).cast(pl.String)).head(1).collect()
        sample = "" if first.is_empty() else str(first.item())
    except UNREADABLE:
        sample = ""
    # A first value that is no time is met again, and located, when the column is read.
    return layout.pattern_of(events.time_format, sample) or layout.DATE


def _keep(events: EventTable) -> pl.Expr:
    """Return the rows that reach every minimum; an empty cell reaches none."""
    keep = pl.lit(True)
    for column, lowest in events.minimum:
        number = pl.col(column).cast(pl.Float64)
        keep = keep & ((number >= lowest) & ~number.is_nan()).fill_null(False)
    return keep


def _rules(events: EventTable, source: Source) -> tuple[FieldRule, ...]:
    """Return what each read column must hold, for finding the first value that does not."""
    rules = [FieldRule(c, "an id", None, True) for c in (events.user, events.item)]
    if events.time is not None:
        expr, pattern = pl.col(events.time), _pattern(events, source)
        if source.frame.collect_schema()[events.time] == pl.String:
            expr = layout.from_text(events.time, events.time_format, pattern, strict=False)
        rules.append(
            FieldRule(events.time, layout.expected(events.time_format, pattern), expr, True)
        )
    for column, _ in events.minimum:
        number = pl.col(column).cast(pl.Float64, strict=False)
        rules.append(FieldRule(column, "a number", number, False))
    return tuple(rules)


_GLANCE, _WINDOW, _CHUNK = 1 << 12, 1 << 16, 1 << 20
_QUOTE, _LINE = ord('"'), ord("\n")


def has_more_fields(path: Path, separator: str, most: int) -> bool:
    """Return whether a line of more than two windows' length has more than `most` fields.

    Shorter lines have no more fields than a reader can bear. A file of ordinary lines is glanced at
    once a window.
    """
    with path.open("rb", buffering=0) as file:
        return _has_long_line(file) and _most_fields(file, ord(separator)) > most


def _has_long_line(file: io.FileIO) -> bool:
    """Return whether no line ends within some window, counted from the first byte."""
    for start in range(0, file.seek(0, io.SEEK_END), _WINDOW):
        file.seek(start)
        if b"\n" not in file.read(_GLANCE) and b"\n" not in file.read(_WINDOW - _GLANCE):
            return True
    return False


def _most_fields(file: BinaryIO | io.FileIO, separator: int) -> int:
    """Return the most fields of any line; separators and ends of lines in quotes are letters."""
    file.seek(0)
    quoted, open_, most = np.uint8(0), 0, 0
    while held := file.read(_CHUNK):
        chunk = np.frombuffer(held, np.uint8)
        inside = np.bitwise_xor.accumulate((chunk == _QUOTE).view(np.uint8)) ^ quoted
        quoted = inside[-1]
        before = np.cumsum((chunk == separator) & (inside == 0))
        ends = before[(chunk == _LINE) & (inside == 0)] + open_
        lines = np.diff(ends, prepend=0)
        open_ = int(before[-1]) + open_ - int(ends[-1] if len(ends) else 0)
        most = max(most, int(lines.max(initial=0)), open_)
    return most + 1
