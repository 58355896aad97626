"""A delimited text file as a table: blocks of lines, cut into rows by some threads at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Int64, UInt64
from harness.core.errors import DataError, counted
from harness.data import _events, times
from harness.data.layout import Table
from harness.data.rules import nulled
from harness.data.source import Clock, Source, Wanted
from harness.data.sources.header import (
    CONTROL,
    HAS,
    NO_UTF_8,
    TORN,
    UNCLOSED,
    Header,
    header_of,
    opened_text,
    with_cure,
)
from harness.data.to_events import Met, Rows
from harness.delimited import _delimited, blocks
from harness.delimited._delimited import Tally, count_byte, find_byte, odd_bytes
from harness.delimited.blocks import Block, Reader, in_order

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


def text_source(table: Table, shown: Path) -> Source:
    """Return a delimited text file of a table, plain or packed."""
    head = header_of(table, shown)
    rows = partial(_rows, table, shown, head)
    return Source(table, shown, head.names, rows, place="line {}".format)


def _rows(table: Table, shown: Path, head: Header, wanted: Wanted) -> Iterator[Rows]:
    """Yield the rows of each block up to the first line that is wrong as a whole; raise that."""
    with opened_text(shown, table) as stream:
        stream.read(head.size)
        reader = Reader(
            stream,
            table.separator.encode(),
            returns=head.returns,
            quote=table.quote,
            escape=table.escape,
        )
        cut = partial(_cut, table, head.names, wanted)
        few = wanted.count is not None  # the first block has them
        before = head.lines + 1
        for rows, lines, ended, fault in (
            map(cut, reader.blocks()) if few else in_order(reader, cut)
        ):
            yield replace(rows, lines=before + lines)
            if fault is not None:
                says = with_cure(fault.says, table)
                raise DataError(f"{shown}: line {before + fault.line}{says}")
            before += ended


class _Fault(NamedTuple):
    """What is wrong with a line of a block, its physical one, from 0; the lowest `rank` is told."""

    line: int
    rank: int
    says: str


@dataclass(frozen=True, eq=False)
class _Fields:
    """Where the fields of some columns stand in a block, (rows, columns)."""

    block: Block
    columns: Sequence[str]
    starts: Int64
    stops: Int64

    def lines(self, column: int, rows: Int64 | slice = slice(None)) -> bytes:
        """Return fields of a column, each with what ends a line behind it."""
        return self._gathered(self.starts[rows, column], self.stops[rows, column])

    def _gathered(self, starts: Int64, stops: Int64) -> bytes:
        out = np.empty(int((stops - starts).sum()) + len(starts), np.uint8)
        _delimited.gather(self.block.buffer, starts, stops, self.block.end, out)
        return out.tobytes()

    def texts(self, column: int, rows: Int64) -> pl.Series:
        """Return fields of a column, of one row or more; of a few, Python makes them sooner."""
        lines = self.lines(column, rows)
        return pl.Series(str(memoryview(lines)[:-1], "utf-8").split(chr(self.block.end)))

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return columns as text, null where nothing stands.

        They are made as one text, as there may be thousands.
        """
        places, n = [self.columns.index(name) for name in columns], len(self.starts)
        if n == 0 or not places:
            return pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))
        starts, stops = (np.ravel(each[:, places], "F") for each in (self.starts, self.stops))
        whole = pl.Series([str(memoryview(self._gathered(starts, stops))[:-1], "utf-8")])
        every = nulled(whole.str.split(chr(self.block.end)).explode(empty_as_null=False))
        texts = (every.slice(start, n) for start in range(0, len(every), n))
        return pl.DataFrame(dict(zip(columns, texts, strict=True)))

    def moments(self, clock: Clock) -> pl.Series:
        """Return a column of times; null of what is none."""
        column, n = self.columns.index(clock.column), len(self.starts)
        moments, unread = np.zeros(n, np.int64), np.ones(n, np.bool_)
        if clock.pattern is None or clock.pattern in FORMS:
            form, between = FORMS.get(clock.pattern or "", (_events.NUMBER, " "))
            unit = times.EPOCH_UNITS_US.get(clock.time_format, 1)
            starts, stops = self.starts[:, column], self.stops[:, column]
            buffer = self.block.buffer
            _events.times(buffer, starts, stops, form, ord(between), unit, moments, unread)
        read = pl.Series(moments)
        if unread.any():
            rest = np.flatnonzero(unread)
            expression = times.from_text(clock.column, clock.time_format, clock.pattern)
            texts = pl.DataFrame({clock.column: self.texts(column, rest)})
            read = read.scatter(rest, texts.select(expression).to_series())
        return read.cast(pl.Datetime("us"))


def _cut(
    table: Table, names: list[str], wanted: Wanted, block: Block
) -> tuple[Rows, Int64, int, _Fault | None]:
    """Return the rows of a block, the line of each, how many there are, and the first fault.

    Lines count from 0. Blank ones are no rows; those whose fields cannot be told are left out
    where the table says so, else they are faults.
    """
    columns, shapes = wanted.every, Tally()
    places = blocks.wanted(len(names), [*map(names.index, columns)])
    starts, stops, users = blocks.fields(block, places, shapes)
    if block.end == _delimited.RECORD and places[-1] >= 0:  # a return that stood in quotes is data
        stops[:, places[-1]] += block.buffer[stops[:, places[-1]]] == ord("\r")
    lines = np.arange(len(starts)) if block.lines is None else block.lines
    ended = len(lines) if block.ended is None else block.ended
    faults, dropped, is_row = _controls(block, lines), 0, users != _delimited.NO_ROW
    if table.drop_bad_lines:
        is_row &= ~np.isin(lines, np.append(block.unclosed, block.torn))
        dropped = int(np.count_nonzero(~is_row) - shapes.counts[_delimited.BLANK])
    else:
        faults += _misshapen(block, lines, shapes, names)
    if not is_row.all():
        lines, starts, stops = lines[is_row], starts[is_row], stops[is_row]
    fields = _Fields(block, columns, starts, stops)
    *_, beyond_ascii = odd_bytes(block.buffer, block.size)
    if beyond_ascii:
        faults += _undecodable(fields, lines)
    fault = min(faults, default=None)
    if fault is not None:
        sound = int(np.searchsorted(lines, fault.line))
        lines, fields = lines[:sound], replace(fields, starts=starts[:sound], stops=stops[:sound])
    secret = wanted.secret
    rows = Rows(fields.frame(columns)) if secret is None else _keyed(fields, wanted, secret)
    return replace(rows, left_out=dropped, bytes=block.consumed), lines, ended, fault


def _keyed(fields: _Fields, wanted: Wanted, secret: UInt64) -> Rows:
    """Return rows with keys for ids, and with times."""
    made, ids = {}, {}
    for name in wanted.ids:
        column = fields.columns.index(name)
        starts, stops = fields.starts[:, column], fields.stops[:, column]
        keys = blocks.keys(fields.block.buffer, starts, stops, secret)
        ids[name] = Met(keys, partial(fields.texts, column))
        made[name] = pl.Series(starts != stops)
    if wanted.clock is not None:
        made[wanted.clock.column] = fields.moments(wanted.clock)
    frame = fields.frame(wanted.columns)
    more = [column.alias(name) for name, column in made.items() if name not in wanted.columns]
    frame = frame.with_columns(more) if wanted.columns else pl.DataFrame(more)
    return Rows(frame, ids=ids, as_text=partial(fields.frame, wanted.every))


def _controls(block: Block, lines: Int64) -> list[_Fault]:
    """Return the first line with a byte that is told apart from no other.

    It is told where lines are quoted, or what separates fields is longer than a byte.
    """
    if block.end != _delimited.RECORD and block.width == 1:
        return []
    place = find_byte(block.buffer, 0, block.size, _delimited.SUBSTITUTE)
    if place == block.size:
        return []
    line = count_byte(block.buffer, place, block.end)
    return [_Fault(int(lines[line]), 2, CONTROL)]


def _misshapen(block: Block, lines: Int64, shapes: Tally, names: list[str]) -> list[_Fault]:
    """Return the first lines with damaged quotes, with too few fields and with too many."""
    faults = [
        _Fault(int(wrong[0]), 0, f": {says}")
        for wrong, says in ((block.unclosed, UNCLOSED), (block.torn, TORN))
        if len(wrong) > 0
    ]
    for shape in (_delimited.TOO_FEW, _delimited.TOO_MANY):
        if shapes.counts[shape] > 0:
            line, start, stop = shapes.examples[shape, 0].tolist()
            held = int(np.count_nonzero(block.buffer[start:stop] == block.separator)) + 1
            says = f"{HAS}{counted(held, 'field')}, expected {len(names)} ({', '.join(names)})"
            faults.append(_Fault(int(lines[line]), 1, says))
    return faults


def _undecodable(fields: _Fields, lines: Int64) -> list[_Fault]:
    """Return the first line with a field of each column that is no UTF-8."""
    faults = []
    for column in range(len(fields.columns)):
        text = fields.lines(column)
        try:
            text.decode()
        except UnicodeDecodeError as error:
            row = text.count(fields.block.end, 0, error.start)
            faults.append(_Fault(int(lines[row]), 2, NO_UTF_8))
    return faults
