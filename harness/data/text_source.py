"""A delimited text file as a table: lines are cut into rows, and rows are read as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import polars as pl

from harness.core.arrays import Bool, Bytes, Floats, Int32, Int64, UInt64
from harness.core.errors import DataError, counted
from harness.core.ids import Lines
from harness.core.io import PACKED
from harness.data import _events, times
from harness.data.layout import EventTable, Table
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
    nulled,
    number_rule,
    time_rule,
    too_many_labels,
    value_rule,
)
from harness.data.text_header import (
    CONTROL,
    HAS,
    NO_UTF_8,
    TORN,
    UNCLOSED,
    header_of,
    opened_text,
    with_cure,
)
from harness.delimited import _delimited, blocks
from harness.delimited._delimited import Tally, find_byte
from harness.delimited.blocks import Block, Reader, in_order, padded

Result = TypeVar("Result")

_PACKED = 5
"""How often longer a packed file is than what it is packed in, about."""
_FIRST_RANK = 3
"""Of what is wrong with a value; with the line as a whole, below."""
_RANKS = {"user": 3, "item": 4, "time": 5, "kind": 6, "value": 7, "where": 8}
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
        self._head = header_of(table, shown)
        self.names = self._head.names

    def _read(
        self, columns: tuple[str, ...], work: Callable[[_Rows], Result]
    ) -> Iterator[tuple[_Rows, Result]]:
        """Yield the rows of each block, with what `work` makes of them; what is wrong is raised."""
        with opened_text(self.shown, self.table) as stream:

            def read(block: Block) -> tuple[_Rows, Result]:
                rows = _rows_of(
                    block, self.names, columns, drop_bad_lines=self.table.drop_bad_lines
                )
                return rows, work(rows)

            before = self._head.lines
            for rows, result in in_order(self._reader(stream), read):
                if rows.faults:
                    first = min(rows.faults, key=lambda fault: (fault.line, fault.rank))
                    says = with_cure(first.says, self.table)
                    raise DataError(f"{self.shown}: line {before + first.line + 1}{says}")
                yield rows, result
                before += rows.ended

    def _reader(self, stream: BinaryIO) -> Reader:
        stream.read(self._head.size)
        return Reader(
            stream,
            self.table.separator.encode(),
            returns=self._head.returns,
            quote=self.table.quote,
            escape=self.table.escape,
        )

    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""
        try:
            with opened_text(self.shown, self.table) as stream:
                for block in self._reader(stream).blocks():
                    lines = _rows_of(block, self.names, (column,))
                    return lines.texts(0, slice(min(rows, lines.sound)))
        except DataError:
            pass  # told when the rows are read
        return pl.Series(dtype=pl.String)

    def whole(self) -> pl.DataFrame:
        """Return all columns as text, null where nothing stands."""
        return self.texts(self.names)

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text, null where nothing stands; see `Source.texts`."""

        def columns_of(rows: _Rows) -> pl.DataFrame | None:
            if rows.faults:
                return None
            texts = dict(zip(columns, rows.columns(), strict=True))
            for rank, rule in enumerate(rules, _FIRST_RANK):
                rows.check(columns.index(rule.column), rule, rule.bad(texts[rule.column]), rank)
            return pl.DataFrame(texts)

        frames = [frame for _, frame in self._read(tuple(columns), columns_of) if frame is not None]
        schema = dict.fromkeys(columns, pl.String())
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema)

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows with some columns as text, null where nothing stands."""
        before = self._head.lines + 1

        def columns_of(rows: _Rows) -> list[pl.Series]:
            return [] if rows.faults else rows.columns()

        for rows, texts in self._read(tuple(columns), columns_of):
            lines = np.arange(len(rows)) if rows.block.lines is None else rows.block.lines
            frame = pl.DataFrame(dict(zip(columns, texts, strict=True)))
            yield Piece(frame, before + lines, rows.dropped)
            before += rows.ended

    def misshapen(self) -> int:
        """Return how many of the first lines have damaged quotes, or too few or too many fields."""
        wanted = blocks.wanted(len(self.names), 0)
        with opened_text(self.shown, self.table) as stream:
            for block in self._reader(stream).blocks():
                shapes = Tally()
                blocks.fields(block, wanted, shapes)
                lines = int(shapes.counts.sum() - shapes.counts[_delimited.BLANK])
                return lines + len(block.unclosed) + len(block.torn)
        return 0

    def about(self) -> int:
        """Return how many rows there are, by the length of the first."""
        with opened_text(self.shown, self.table) as stream:
            for block in self._reader(stream).blocks():
                rows = _delimited.count_lines(block.buffer, block.size, block.end)
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
        self.rules = {
            key: event_id_rule(getattr(table, key), table.where) for key in ("user", "item")
        }
        if table.time is not None:
            self.pattern = source.pattern(table.time, table.time_format)
            self.rules["time"] = time_rule(
                table.time, table.time_format, self.pattern, required=True, where=table.where
            )
        self._names: tuple[str, ...] = ()  # of event types, as far as they are known

    def batch(self, rows: _Rows) -> Batch | None:
        """Return the rows as events; None where any is wrong."""
        keep = self._keep(rows)
        time = np.zeros(len(rows), np.int64)
        for key, rule in self.rules.items():
            column = self.columns.index(rule.column)
            empty = rows.is_empty(column)
            bad = empty | self._times(rows, column, rule, time) if key == "time" else empty
            rows.check(column, rule, bad if keep is None else bad & keep, _RANKS[key])
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

    def _met(self, rows: _Rows, name: str, kept: Int64 | None) -> Met:
        column = self.columns.index(name)
        starts, stops = rows.starts[:, column], rows.stops[:, column]
        keys = blocks.keys(rows.block.buffer, starts, stops, self.secret)
        if kept is None:
            return Met(keys, partial(rows.lines, column))
        return Met(keys[kept], lambda some: rows.lines(column, kept[some]))

    def _times(self, rows: _Rows, column: int, rule: FieldRule, time: Int64) -> Bool:
        """Write the times; return which texts are none."""
        unit = times.EPOCH_UNITS_US.get(self.table.time_format, 1)
        form, between = FORMS.get(self.pattern or "", (_events.NUMBER, " "))
        unread, buffer = np.ones(len(rows), np.bool_), rows.block.buffer
        starts, stops = rows.starts[:, column], rows.stops[:, column]
        if self.pattern is None or self.pattern in FORMS:
            _events.times(buffer, starts, stops, form, ord(between), unit, time, unread)
        return rows.read_rest(column, rule, time, unread, empty=0)

    def _keep(self, rows: _Rows) -> Bool | None:
        """Return which rows hold every condition; see `Condition`."""
        keep = None
        for rank, condition in enumerate(self.table.where, _RANKS["where"]):
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

    def _numbers(self, rows: _Rows, column: int) -> tuple[Floats, Bool]:
        """Return the numbers of a column, and which texts are none; each column is read once."""
        if column not in rows.numbers:
            numbers, unread = np.empty(len(rows)), np.ones(len(rows), np.bool_)
            starts, stops = rows.starts[:, column], rows.stops[:, column]
            _delimited.parse(rows.block.buffer, starts, stops, numbers, unread)
            rule = number_rule(self.columns[column])
            wrong = rows.read_rest(column, rule, numbers, unread, empty=np.nan)
            rows.numbers[column] = numbers, wrong
        return rows.numbers[column]

    def _values(self, rows: _Rows, keep: Bool | None) -> Floats | None:
        """Return the values of rows; those of rows that are not kept mean nothing."""
        if self.table.value is None:
            return None
        rule = value_rule(self.table.value, self.table.where)
        column = self.columns.index(self.table.value)
        numbers, wrong = self._numbers(rows, column)
        wrong = wrong | ~np.isfinite(numbers)
        rows.check(column, rule, wrong if keep is None else wrong & keep, _RANKS["value"])
        return numbers + 0.0  # no zero below zero

    def _watched(self, rows: _Rows, name: str, kept: Int64 | None) -> Floats:
        """Return the numbers of a column that is watched; see `Batch`."""
        column = self.columns.index(name)
        numbers, wrong = self._numbers(rows, column)
        if wrong.any():
            numbers = np.where(wrong & ~rows.is_empty(column), np.inf, numbers)
        return numbers if kept is None else numbers[kept]

    def _kinds(self, rows: _Rows, keep: Bool | None) -> Labels | None:
        """Return the event types of the rows that are kept."""
        if self.table.kind is None:
            return None
        rule = kind_rule(self.table.kind, self.table.where)
        column, names = self.columns.index(rule.column), list(self._names)
        empty = rows.is_empty(column)
        rows.check(column, rule, empty if keep is None else empty & keep, _RANKS["kind"])
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


@dataclass(frozen=True)
class _Fault:
    """What is wrong with a line of a block, its physical one, from 0; the lowest `rank` is told."""

    line: int
    rank: int
    says: str


@dataclass(frozen=True, eq=False)
class _Rows:
    """The lines of a block.

    Attributes
    ----------
    starts, stops : int64 array, (lines, wanted columns)
        Where the fields stand.
    faults : list of _Fault
        What is wrong with lines as a whole.
    dropped : int
        Lines that are left out, as their fields cannot be told.
    numbers : dict of column to arrays
        What has been read of a column as numbers, and which texts are none.
    """

    block: Block
    starts: Int64
    stops: Int64
    faults: list[_Fault]
    dropped: int = 0
    numbers: dict[int, tuple[Floats, Bool]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def ended(self) -> int:
        """How many physical lines there are."""
        return len(self) if self.block.ended is None else self.block.ended

    def line(self, row: int) -> int:
        """Return the physical line of a row, from 0."""
        return row if self.block.lines is None else int(self.block.lines[row])

    @property
    def sound(self) -> int:
        """How many rows stand before the first line that is wrong as a whole."""
        wrong = [fault.line for fault in self.faults if fault.rank < _FIRST_RANK]
        if not wrong or self.block.lines is None:
            return min(wrong, default=len(self))
        return int(np.searchsorted(self.block.lines, min(wrong)))

    def is_empty(self, column: int) -> Bool:
        """Return where nothing stands in a column."""
        empty: Bool = self.starts[:, column] == self.stops[:, column]
        return empty

    def gathered(self, column: int, rows: Int64 | slice = slice(None)) -> Bytes:
        """Return the fields of a column, each with what ends a line behind it."""
        return _gathered(self.block, self.starts[rows, column], self.stops[rows, column])

    def texts(self, column: int, rows: Int64 | slice = slice(None)) -> pl.Series:
        """Return the fields of a column, UTF-8; an empty one is the empty text."""
        if len(self.starts[rows, column]) == 0:
            return pl.Series(dtype=pl.String)
        return self.lines(column, rows).texts()

    def columns(self) -> list[pl.Series]:
        """Return all columns, null where nothing stands; made as one, as there may be thousands."""
        if len(self) == 0:
            return [pl.Series(dtype=pl.String)] * self.starts.shape[1]
        starts, stops = (np.ravel(array, "F") for array in (self.starts, self.stops))
        text = _gathered(self.block, starts, stops)
        every = nulled(Lines(text.tobytes(), self.block.end).texts())
        return [every.slice(start, len(self)) for start in range(0, len(every), len(self))]

    def lines(self, column: int, rows: Int64 | slice) -> Lines:
        """Return the same as bytes."""
        return Lines(self.gathered(column, rows).tobytes(), self.block.end)

    def labels(self, column: int, texts: Sequence[str]) -> Int32:
        """Return which of some texts each field of a column is, −1 where it is none of them."""
        encoded = [text.encode() for text in texts]
        codes = np.empty(len(self), np.int32)
        _events.label(
            self.block.buffer,
            self.starts[:, column],
            self.stops[:, column],
            padded(b"".join(encoded)),
            np.append(0, np.cumsum([len(text) for text in encoded], dtype=np.int64)),
            codes,
        )
        return codes

    def read_rest(
        self, column: int, rule: FieldRule, values: Floats | Int64, unread: Bool, empty: float
    ) -> Bool:
        """Read with Polars what compiled code has not read; return which texts are none."""
        unread[self.sound :] = False
        rest = np.flatnonzero(unread)
        if len(rest) > 0:
            parsed = rule.parsed(nulled(self.texts(column, rest)))
            unread[rest] = parsed.is_null().to_numpy()
            values[rest] = parsed.fill_null(empty).to_numpy()
        return unread

    def check(self, column: int, rule: FieldRule, bad: Bool, rank: int) -> None:
        """Take in the first of the values that are not what they should be."""
        if bad.any():
            row = int(bad.argmax())
            start, stop = int(self.starts[row, column]), int(self.stops[row, column])
            value = self.block.text(start, stop).decode("utf-8", "replace")
            self.faults.append(_Fault(self.line(row), rank, rule.fault(value)))


def _gathered(block: Block, starts: Int64, stops: Int64) -> Bytes:
    out = np.empty(int((stops - starts).sum()) + len(starts), np.uint8)
    _delimited.gather(block.buffer, starts, stops, block.end, out)
    return out


def _rows_of(
    block: Block, names: list[str], columns: tuple[str, ...], *, drop_bad_lines: bool = False
) -> _Rows:
    """Cut a block with so many columns into some of them; take in what is wrong with its lines.

    Blank lines are no rows.

    Parameters
    ----------
    drop_bad_lines : bool
        Whether lines with damaged quotes, too few or too many fields are left out; else they are
        faults.
    """
    places, shapes = [names.index(name) for name in columns], Tally()
    wanted = blocks.wanted(len(names), *places)
    starts, stops, users = blocks.fields(block, wanted, shapes)
    if block.end == _delimited.RECORD and wanted[-1] >= 0:  # a return that stood in quotes is data
        stops[:, wanted[-1]] += block.buffer[stops[:, wanted[-1]]] == ord("\r")
    rows = _Rows(block, starts, stops, [])
    faults, dropped, is_row = [*_controls(rows)], 0, users != _delimited.NO_ROW
    if drop_bad_lines:
        if block.lines is not None:
            is_row &= ~np.isin(block.lines, np.append(block.unclosed, block.torn))
        dropped = int(np.count_nonzero(~is_row) - shapes.counts[_delimited.BLANK])
    else:
        faults += [*_quotes(block), *_shapes(rows, shapes, names)]
    if not is_row.all():
        lines = np.arange(len(rows)) if block.lines is None else block.lines
        block = replace(block, lines=lines[is_row], ended=rows.ended)
        starts, stops = starts[is_row], stops[is_row]
    rows = _Rows(block, starts, stops, faults, dropped)
    if block.buffer[: block.size].max(initial=0) > 127:  # beyond ASCII
        for column in range(len(columns)):
            _check_encoding(rows, column)
    return rows


def _quotes(block: Block) -> Iterator[_Fault]:
    """Yield the first quote that is never closed, and the first text behind a closed one."""
    for wrong, says in ((block.unclosed, UNCLOSED), (block.torn, TORN)):
        if len(wrong) > 0:
            yield _Fault(int(wrong[0]), 0, f": {says}")


def _shapes(rows: _Rows, shapes: Tally, names: list[str]) -> Iterator[_Fault]:
    """Yield the first line with too few fields, and the first with too many."""
    for shape in (_delimited.TOO_FEW, _delimited.TOO_MANY):
        if shapes.counts[shape] == 0:
            continue
        line, start, stop = shapes.examples[shape, 0].tolist()
        block = rows.block
        held = int(np.count_nonzero(block.buffer[start:stop] == block.separator)) + 1
        says = f"{HAS}{counted(held, 'field')}, expected {len(names)} ({', '.join(names)})"
        yield _Fault(rows.line(line), 1, says)


def _controls(rows: _Rows) -> Iterator[_Fault]:
    """Yield the first line with a byte that is told apart from no other.

    It is told where lines are quoted, or what separates fields is longer than a byte.
    """
    block = rows.block
    if block.end != _delimited.RECORD and block.width == 1:
        return
    place = find_byte(block.buffer, 0, block.size, _delimited.SUBSTITUTE)
    if place < block.size:
        line = np.count_nonzero(block.buffer[:place] == block.end)
        yield _Fault(rows.line(int(line)), 2, CONTROL)


def _check_encoding(rows: _Rows, column: int) -> None:
    """Take in the first line of which a field is no UTF-8."""
    try:
        rows.gathered(column).tobytes().decode()
    except UnicodeDecodeError as error:
        ends = rows.gathered(column)[: error.start] == rows.block.end
        line = rows.line(int(np.count_nonzero(ends)))
        rows.faults.append(_Fault(line, 2, NO_UTF_8))
