"""A delimited text file as a table: a header, then rows whose lines are known."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import polars as pl

from harness.core.arrays import Bool, Floats, Int64, UInt64
from harness.core.errors import DataError
from harness.core.io import PACKED, unusable
from harness.core.unpacking import FAULTS, UnpackingError
from harness.data import _events, times
from harness.data.layout import ESCAPE, LISTS, EventTable, Table
from harness.data.source import (
    MOST_LABELS,
    Batch,
    FieldRule,
    Labels,
    Met,
    Piece,
    Source,
    event_id_rule,
    kind_rule,
    miscounted,
    nulled,
    number_rule,
    time_rule,
    too_many_labels,
    unnamed,
    value_rule,
)
from harness.data.text_rows import (
    CONTROL,
    FIRST_RANK,
    HAS,
    NO_UTF_8,
    TORN,
    UNCLOSED,
    Rows,
    rows_of,
)
from harness.delimited import _lines, fields, tally
from harness.delimited.blocks import Block, Reader, in_order, padded, plain
from harness.delimited.stream import Refused, opened
from harness.delimited.tally import Tally

Found = TypeVar("Found")

_LONGEST = 1 << 16
"""Bytes of a header, on however many lines."""
_PACKED = 5
"""How often longer a packed file is than what it is packed in, about."""
_TIME = 2
"""Which rule is that of times, where events have any."""
_RULES = {
    name: FIRST_RANK + at for at, name in enumerate(("user", "item", "time", "kind", "value"))
}
"""In which order faults of one line are told."""
_NEW = 1 << 10
"""Rows whose event types are looked at to find new ones."""
FORMS = {
    times.DATE: (_events.DATE, " "),
    **{
        f"%Y-%m-%d{between}%H:%M{rest}": (form, between)
        for between in " T"
        for rest, form in (
            ("", _events.MINUTES),
            (":%S", _events.SECONDS),
            (":%S%.f", _events.FRACTIONS),
        )
    },
}
"""How the times of a pattern are written, for compiled code; those of others Polars reads."""


@contextmanager
def opened_text(shown: Path, table: Table) -> Iterator[BinaryIO]:
    """Yield the text of a file of a table; raise DataError where it cannot be read."""
    try:
        with opened(shown, table.cap, table.encoding) as file:
            yield file.stream
    except Refused as error:
        raise _refused(shown, table, error) from error
    except OSError as error:
        why = error.strerror or error
        raise DataError(f"{shown}: cannot be read: {why}; copy it again") from error


def _refused(shown: Path, table: Table, error: Refused) -> DataError:
    if error.fault in FAULTS:
        packed = UnpackingError(error.fault, error.value)  # type: ignore[arg-type]
        return unusable(shown, packed, table.cap)
    if error.fault == "encoding":
        return DataError(
            f"{shown}: {error.value}; name another encoding, or save the file as UTF-8"
        )
    if error.fault == "endless":
        return DataError(
            f"{shown}: a line is longer than {error.value}; look at what ends the lines"
        )
    return DataError(f"{shown}: cannot be opened; look at its name and its permissions")


class TextSource(Source):
    """A delimited text file of a table, plain or packed.

    Raises
    ------
    DataError
        A file that cannot be read or is empty, or one without a usable header.
    """

    def __init__(self, table: Table, shown: Path) -> None:
        self.table, self.shown = table, shown
        if table.header is not None:
            self.header, self.holder = "", table.named("header")
        with opened_text(self.shown, self.table) as stream:
            first = stream.read(_LONGEST + 1)
        self._whole = len(first) <= _LONGEST
        self._returns = b"\n" not in first and b"\r" in first
        mark = len(codecs.BOM_UTF8) * first.startswith(codecs.BOM_UTF8)
        text = first[mark:].replace(b"\r", b"\n") if self._returns else first[mark:]
        line, lines, size = self._first_line(text)
        given = table.header is not None
        self._before, self._skipped = (0, mark) if given else (lines, mark + size)
        self.names = self._checked(line)

    def _first_line(self, text: bytes) -> tuple[bytes, int, int]:
        """Return the first record, plain, and of how many lines and bytes it is."""
        if self._whole and not text.endswith(b"\n"):
            text += b"\n"
        between = self.table.separator.encode()
        if len(between) > 1 and b"\n" in text:
            line = text[: text.index(b"\n")]
            if _lines.FIELD in line:
                raise DataError(f"{self.shown}: line 1{CONTROL}")
            fields_ = line.removesuffix(b"\r").replace(between, bytes([_lines.FIELD]))
            return fields_, 1, len(line) + 1
        quote, escape = self.table.quote, self.table.escape
        block, consumed = plain(
            padded(text), len(text), between[0], self._whole, quote=quote, escape=escape
        )
        if consumed == 0:
            raise DataError(
                f"{self.shown}: line 1 is longer than {_LONGEST:,} bytes; expected a header"
            )
        for wrong, says in ((block.unclosed, UNCLOSED), (block.torn, TORN)):
            if 0 in wrong:
                raise DataError(f"{self.shown}: line 1 cannot be read: {self._told(says)}")
        starts = [] if block.lines is None else block.lines.tolist()
        lines = starts[1] if len(starts) > 1 else block.ended or 1
        size = 0
        for _ in range(lines):
            size = text.index(b"\n", size) + 1
        return block.buffer[: block.size].tobytes().split(bytes([block.end]))[0], lines, size

    def _checked(self, line: bytes) -> list[str]:
        """Return the names of the columns, each once."""
        if not line:
            raise DataError(
                f"{self.shown}: the file is empty or begins with a blank line; expected a table"
            )
        try:
            first = line.decode().split(chr(_lines.FIELD))
        except UnicodeDecodeError as error:
            raise DataError(f"{self.shown}: line 1{self._told(NO_UTF_8)}") from error
        given = self.table.header
        if given is not None and len(given) != len(first):
            raise DataError(f"{self.shown}: line 1{miscounted(self.table, first, given)}")
        names = first if given is None else list(given)
        for name, count in Counter(names).items():
            if count > 1:
                hint = "" if given is not None else f"; {unnamed(self.table)}"
                raise DataError(
                    f'{self.shown}: line 1: the column "{name}" stands twice; name each once{hint}'
                )
        return names

    def _told(self, says: str) -> str:
        """Return what is said of a line, with the key that says how the table is written."""
        if self.table.key == LISTS:
            to_utf_8 = "; save the file as UTF-8, such as: iconv -f latin1 -t utf-8 FILE > NEW"
            return says + to_utf_8 * (says == NO_UTF_8)
        place = self.table.place
        left_out = ""
        if self.table.key == "events":
            left_out = f'; bad_lines = "drop" {place} leaves such lines out'
        if says.endswith((UNCLOSED, TORN)):
            escaped = f"; where a backslash stands before them, set escape = {ESCAPE} {place}"
            more = "" if self.table.escape else escaped
            return f"{says}; where quotes are letters, set quote = false {place}{more}{left_out}"
        if says.startswith(HAS):
            return f"{says}{left_out}"
        if says != NO_UTF_8:
            return says
        allowed = 'encoding = "latin-1" or "cp1252"'
        return f"{says}; save the file as UTF-8, or set {allowed} {place}"

    def _read(
        self, columns: tuple[str, ...], work: Callable[[Rows], Found]
    ) -> Iterator[tuple[Rows, Found]]:
        """Yield the rows of each block, with what `work` makes of them; what is wrong is raised."""
        with opened_text(self.shown, self.table) as stream:

            def read(block: Block) -> tuple[Rows, Found]:
                rows = rows_of(block, self.names, columns, drop_bad_lines=self.table.drop_bad_lines)
                return rows, work(rows)

            before = self._before
            for rows, found in in_order(self._reader(stream), read):
                if rows.faults:
                    first = min(rows.faults, key=lambda fault: (fault.line, fault.rank))
                    raise DataError(
                        f"{self.shown}: line {before + first.line + 1}{self._told(first.says)}"
                    )
                yield rows, found
                before += rows.ended

    def _reader(self, stream: BinaryIO) -> Reader:
        stream.read(self._skipped)
        return Reader(
            stream,
            self.table.separator.encode(),
            returns=self._returns,
            quote=self.table.quote,
            escape=self.table.escape,
        )

    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""
        try:
            with opened_text(self.shown, self.table) as stream:
                for block in self._reader(stream).blocks():
                    found = rows_of(block, self.names, (column,))
                    return found.texts(0, slice(min(rows, found.sound)))
        except DataError:
            pass  # told when the rows are read
        return pl.Series(dtype=pl.String)

    def whole(self) -> pl.DataFrame:
        """Return all columns as text, null where nothing stands."""
        return self.texts(self.names)

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text, null where nothing stands; see `Source.texts`."""

        def columns_of(rows: Rows) -> pl.DataFrame | None:
            if rows.faults:
                return None
            found = dict(zip(columns, rows.columns(), strict=True))
            for rank, rule in enumerate(rules, FIRST_RANK):
                rows.check(columns.index(rule.column), rule, rule.bad(found[rule.column]), rank)
            return pl.DataFrame(found)

        frames = [frame for _, frame in self._read(tuple(columns), columns_of) if frame is not None]
        schema = dict.fromkeys(columns, pl.String())
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema)

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows with some columns as text, null where nothing stands."""
        before = self._before + 1
        for rows, found in self._read(tuple(columns), lambda rows: rows.columns()):
            lines = np.arange(len(rows)) if rows.block.lines is None else rows.block.lines
            frame = pl.DataFrame(dict(zip(columns, found, strict=True)))
            yield Piece(frame, before + lines, rows.dropped)
            before += rows.ended

    def misshapen(self, *, whole: bool) -> int:
        """Return how many lines have damaged quotes, or too few or too many fields.

        Parameters
        ----------
        whole : bool
            Whether all lines are looked at; else some of the first.
        """
        lines, wanted = 0, fields.wanted(len(self.names), 0)
        with opened_text(self.shown, self.table) as stream:
            for block in self._reader(stream).blocks():
                shapes = Tally()
                fields.fields(block, wanted, shapes)
                lines += int(shapes.counts.sum() - shapes.counts[tally.BLANK])
                lines += len(block.unclosed) + len(block.torn)
                if not whole:
                    break
        return lines

    def about(self) -> int:
        """Return how many rows there are, by the length of the first."""
        with opened_text(self.shown, self.table) as stream:
            for block in self._reader(stream).blocks():
                rows = _lines.count_lines(block.buffer, block.size, block.end)
                packed = _PACKED if self.shown.suffix in PACKED else 1
                return rows * packed * self.shown.stat().st_size // max(block.consumed, 1)
        return 0

    def events(self, table: EventTable, secret: UInt64) -> Iterator[Batch]:
        """Yield the rows as events, in batches; see `Source.events`."""
        reader, before = _EventReader(self, table, secret), 0
        for rows, batch in self._read(table.columns, reader.batch):
            if batch is not None:
                row = None if batch.row is None else batch.row + before
                yield replace(batch, row=row, bytes=rows.block.consumed)
            before += len(rows)


class _EventReader:
    """What the rows of a block are as events: times, whether each is kept, keys of ids."""

    def __init__(self, source: TextSource, table: EventTable, secret: UInt64) -> None:
        self.source, self.table, self.secret = source, table, secret
        self.columns = table.columns
        self.rules = [event_id_rule(name, table.where) for name in (table.user, table.item)]
        if table.time is not None:
            self.pattern = source.pattern(table.time, table.time_format)
            self.rules.append(
                time_rule(
                    table.time, table.time_format, self.pattern, required=True, where=table.where
                )
            )
        self._names: tuple[str, ...] = ()  # of event types, as far as they are known

    def batch(self, rows: Rows) -> Batch | None:
        """Return the rows as events; None where any is wrong."""
        keep = self._keep(rows)
        time = np.zeros(len(rows), np.int64)
        for at, rule in enumerate(self.rules):
            column = self.columns.index(rule.column)
            empty = rows.is_empty(column)
            bad = empty | self._times(rows, column, rule, time) if at == _TIME else empty
            rows.check(column, rule, bad if keep is None else bad & keep, FIRST_RANK + at)
        kind, value = self._kinds(rows, keep), self._values(rows, keep)
        if rows.faults:
            return None
        kept = None if keep is None else np.flatnonzero(keep)
        row = None
        if self.table.numbered:
            row = np.arange(len(rows)) if kept is None else kept
        return Batch(
            user=self._met(rows, self.table.user, kept),
            item=self._met(rows, self.table.item, kept),
            time=time if kept is None else time[kept],
            row=row,
            left_out=rows.dropped + (0 if kept is None else len(rows) - len(kept)),
            kind=kind,
            value=value if value is None or kept is None else value[kept],
            watched={name: self._watched(rows, name, kept) for name in self.table.watched},
        )

    def _met(self, rows: Rows, name: str, kept: Int64 | None) -> Met:
        column = self.columns.index(name)
        given = rows.starts[:, column], rows.stops[:, column]
        keys = fields.keys(rows.block.buffer, *given, self.secret)
        if kept is None:
            return Met(keys, partial(rows.lines, column))
        return Met(keys[kept], lambda of: rows.lines(column, kept[of]))

    def _times(self, rows: Rows, column: int, rule: FieldRule, time: Int64) -> Bool:
        """Write the times; return which texts are none."""
        unit = times.EPOCH_UNITS_US.get(self.table.time_format, 1)
        form, between = FORMS.get(self.pattern or "", (_events.NUMBER, " "))
        left = np.ones(len(rows), np.bool_)
        if self.pattern is None or self.pattern in FORMS:
            given = rows.block.buffer, rows.starts[:, column], rows.stops[:, column]
            _events.times(*given, form, ord(between), unit, time, left)
        left[rows.sound :] = False
        others = np.flatnonzero(left)
        if len(others) > 0:
            found = rule.parsed(nulled(rows.texts(column, others)))
            left[others] = found.is_null().to_numpy()
            time[others] = found.fill_null(0).to_numpy()
        return left

    def _keep(self, rows: Rows) -> Bool | None:
        """Return which rows hold every condition; see `Condition`."""
        keep = None
        for rank, condition in enumerate(self.table.where, FIRST_RANK + len(_RULES)):
            column = self.columns.index(condition.column)
            held: Bool | None = None
            if condition.among:
                held = rows.labels(column, condition.among) >= 0
            elif condition.filled or condition.without:
                texts = condition.without if condition.empty else ["", *condition.without]
                held = rows.labels(column, texts) < 0
            if condition.bounds:
                rule = number_rule(condition.column, where=self.table.where)
                numbers, wrong = self._numbers(rows, column)
                wrong = wrong & ~rows.is_empty(column)
                rows.check(column, rule, wrong if held is None else wrong & held, rank)
                within = ~condition.outside(numbers)
                if not condition.empty:
                    within &= ~np.isnan(numbers)
                held = within if held is None else held & within
            if held is not None:
                keep = held if keep is None else keep & held
        return None if keep is None or keep.all() else keep

    def _numbers(self, rows: Rows, column: int) -> tuple[Floats, Bool]:
        """Return the numbers of a column, and which texts are none; each column is read once."""
        if column not in rows.numbers:
            rows.numbers[column] = self._read_numbers(rows, column)
        return rows.numbers[column]

    def _read_numbers(self, rows: Rows, column: int) -> tuple[Floats, Bool]:
        rule = number_rule(self.columns[column])
        numbers, left = np.empty(len(rows)), np.ones(len(rows), np.bool_)
        given = rows.block.buffer, rows.starts[:, column], rows.stops[:, column]
        _lines.parse(*given, numbers, left)
        left[rows.sound :] = False
        others = np.flatnonzero(left)
        if len(others) > 0:
            found = rule.parsed(nulled(rows.texts(column, others)))
            left[others] = found.is_null().to_numpy()
            numbers[others] = found.fill_null(np.nan).to_numpy()
        return numbers, left

    def _values(self, rows: Rows, keep: Bool | None) -> Floats | None:
        """Return the values of rows; those of rows that are not kept mean nothing."""
        if self.table.value is None:
            return None
        rule = value_rule(self.table.value, self.table.where)
        column = self.columns.index(self.table.value)
        numbers, wrong = self._numbers(rows, column)
        wrong = wrong | ~np.isfinite(numbers)
        rows.check(column, rule, wrong if keep is None else wrong & keep, _RULES["value"])
        return numbers + 0.0  # no zero below zero

    def _watched(self, rows: Rows, name: str, kept: Int64 | None) -> Floats:
        """Return the numbers of a column that is watched; see `Batch`."""
        column = self.columns.index(name)
        numbers, wrong = self._numbers(rows, column)
        if wrong.any():
            numbers = np.where(wrong & ~rows.is_empty(column), np.inf, numbers)
        return numbers if kept is None else numbers[kept]

    def _kinds(self, rows: Rows, keep: Bool | None) -> Labels | None:
        """Return the event types of the rows that are kept."""
        if self.table.kind is None:
            return None
        rule = kind_rule(self.table.kind, self.table.where)
        column, names = self.columns.index(rule.column), list(self._names)
        empty = rows.is_empty(column)
        rows.check(column, rule, empty if keep is None else empty & keep, _RULES["kind"])
        wanted = ~empty if keep is None else keep & ~empty
        wanted[rows.sound :] = False
        codes = rows.labels(column, names)
        while (codes[wanted] < 0).any():
            new = np.flatnonzero(wanted & (codes < 0))
            names += rows.texts(column, new[:_NEW]).unique(maintain_order=True).to_list()
            if len(names) > MOST_LABELS:
                raise DataError(too_many_labels(self.source.shown, rule.column, names))
            codes = rows.labels(column, names)
        self._names = tuple(names)  # other blocks, read at the same time, begin with some of them
        return Labels(codes if keep is None else codes[keep], names)
