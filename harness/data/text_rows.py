"""Rows of a block of lines: where the wanted fields stand, and what is wrong with lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from harness.core.arrays import Bool, Bytes, Floats, Int32, Int64
from harness.core.errors import counted
from harness.core.ids import Lines
from harness.data import _events
from harness.data.source import FieldRule, nulled
from harness.delimited import _lines, fields, tally
from harness.delimited._bytes import find_byte
from harness.delimited.blocks import Block, padded
from harness.delimited.tally import Tally

UNCLOSED = "a quote is opened and never closed"
TORN = "text stands behind a closed quote"
NO_UTF_8 = " is not UTF-8 text"
CONTROL = " holds a control character (0x1A, 0x1E or 0x1F); remove it"
HAS = " has "
_RETURN = ord("\r")
FIRST_RANK = 3
"""Of what is wrong with a value; with the line as a whole, below."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with a line of a block, its physical one, from 0; the lowest `rank` is told."""

    line: int
    rank: int
    says: str


@dataclass(frozen=True, eq=False)
class Rows:
    """The lines of a block.

    Attributes
    ----------
    starts, stops : int64 array, (lines, wanted columns)
        Where the fields stand.
    faults : list of Fault
        What is wrong with lines as a whole.
    dropped : int
        Lines that are left out, as their fields cannot be told.
    numbers : dict of column to arrays
        What has been read of a column as numbers, and which texts are none.
    """

    block: Block
    starts: Int64
    stops: Int64
    faults: list[Fault]
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
        wrong = [fault.line for fault in self.faults if fault.rank < FIRST_RANK]
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
        return [every.slice(at, len(self)) for at in range(0, len(every), len(self))]

    def lines(self, column: int, rows: Int64 | slice) -> Lines:
        """Return the same as bytes."""
        return Lines(self.gathered(column, rows).tobytes(), self.block.end)

    def labels(self, column: int, texts: Sequence[str]) -> Int32:
        """Return which of some texts each field of a column is, −1 where it is none of them."""
        encoded = [text.encode() for text in texts]
        found = np.empty(len(self), np.int32)
        _events.label(
            self.block.buffer,
            self.starts[:, column],
            self.stops[:, column],
            padded(b"".join(encoded)),
            np.append(0, np.cumsum([len(text) for text in encoded], dtype=np.int64)),
            found,
        )
        return found

    def check(self, column: int, rule: FieldRule, bad: Bool, rank: int) -> None:
        """Take in the first of the values that are not what they should be."""
        if bad.any():
            row = int(bad.argmax())
            start, stop = int(self.starts[row, column]), int(self.stops[row, column])
            value = self.block.text(start, stop).decode("utf-8", "replace")
            self.faults.append(Fault(self.line(row), rank, rule.fault(value)))


def _gathered(block: Block, starts: Int64, stops: Int64) -> Bytes:
    out = np.empty(int((stops - starts).sum()) + len(starts), np.uint8)
    _lines.gather(block.buffer, starts, stops, block.end, out)
    return out


def rows_of(
    block: Block, names: list[str], columns: tuple[str, ...], *, drop_bad_lines: bool = False
) -> Rows:
    """Cut a block with so many columns into some of them; take in what is wrong with its lines.

    Blank lines are no rows.

    Parameters
    ----------
    drop_bad_lines : bool
        Whether lines with damaged quotes, too few or too many fields are left out; else they are
        faults.
    """
    places, shapes = [names.index(name) for name in columns], Tally()
    wanted = fields.wanted(len(names), *places)
    starts, stops, users = fields.fields(block, wanted, shapes)
    if block.end == _lines.RECORD and wanted[-1] >= 0:  # a return that stood in quotes is data
        stops[:, wanted[-1]] += block.buffer[stops[:, wanted[-1]]] == _RETURN
    rows = Rows(block, starts, stops, [])
    faults, dropped, is_row = [*_controls(rows)], 0, users != _lines.NO_ROW
    if drop_bad_lines:
        if block.lines is not None:
            is_row &= ~np.isin(block.lines, np.append(block.unclosed, block.torn))
        dropped = int(np.count_nonzero(~is_row) - shapes.counts[tally.BLANK])
    else:
        faults += [*_quotes(block), *_shapes(rows, shapes, names)]
    if not is_row.all():
        lines = np.arange(len(rows)) if block.lines is None else block.lines
        block = replace(block, lines=lines[is_row], ended=rows.ended)
        starts, stops = starts[is_row], stops[is_row]
    rows = Rows(block, starts, stops, faults, dropped)
    if _lines.survey(block.buffer, block.size)[2]:
        for column in range(len(columns)):
            _check_encoding(rows, column)
    return rows


def _quotes(block: Block) -> Iterator[Fault]:
    """Yield the first quote that is never closed, and the first text behind a closed one."""
    for wrong, says in ((block.unclosed, UNCLOSED), (block.torn, TORN)):
        if len(wrong) > 0:
            yield Fault(int(wrong[0]), 0, f": {says}")


def _shapes(rows: Rows, shapes: Tally, names: list[str]) -> Iterator[Fault]:
    """Yield the first line with too few fields, and the first with too many."""
    for shape in (tally.TOO_FEW, tally.TOO_MANY):
        if shapes.counts[shape] == 0:
            continue
        line, start, stop = shapes.examples[shape, 0].tolist()
        block = rows.block
        held = int(np.count_nonzero(block.buffer[start:stop] == block.separator)) + 1
        says = f"{HAS}{counted(held, 'field')}, expected {len(names)} ({', '.join(names)})"
        yield Fault(rows.line(line), 1, says)


def _controls(rows: Rows) -> Iterator[Fault]:
    """Yield the first line with a byte that is told apart from no other.

    It is told where lines are quoted, or what separates fields is longer than a byte.
    """
    block = rows.block
    if block.end != _lines.RECORD and block.width == 1:
        return
    at = find_byte(block.buffer, 0, block.size, _lines.SUBSTITUTE)
    if at < block.size:
        line = np.count_nonzero(block.buffer[:at] == block.end)
        yield Fault(rows.line(int(line)), 2, CONTROL)


def _check_encoding(rows: Rows, column: int) -> None:
    """Take in the first line of which a field is no UTF-8."""
    try:
        rows.gathered(column).tobytes().decode()
    except UnicodeDecodeError as error:
        ends = rows.gathered(column)[: error.start] == rows.block.end
        line = rows.line(int(np.count_nonzero(ends)))
        rows.faults.append(Fault(line, 2, NO_UTF_8))
