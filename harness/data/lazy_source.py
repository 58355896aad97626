"""A lazy frame of Polars as a table: its columns have types, and its rows are whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

import polars as pl

from harness.core.arrays import UInt64
from harness.core.errors import DataError, row_text
from harness.core.frames import UNREADABLE
from harness.data.conditions import Condition
from harness.data.layout import EventTable, Table
from harness.data.source import Batch, FieldRule, Piece, Source, nulled
from harness.data.typed import ROW_INDEX, TypedEvents, bad_value, refuse_float_ids

BATCH_ROWS = 1_000_000


class LazySource(Source):
    """A table whose rows Polars reads as they are asked for.

    Attributes
    ----------
    frame : polars.LazyFrame
    range : (int, int or None)
        The rows that `events` has: the first, and how many.
    """

    frame: pl.LazyFrame
    range: tuple[int, int | None] = 0, None

    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""
        try:
            return self.frame.select(pl.col(column).cast(pl.String)).head(rows).collect()[column]
        except UNREADABLE:
            return pl.Series(dtype=pl.String)

    def whole(self) -> pl.DataFrame:
        """Return all columns, of the types that they have."""
        try:
            return self.frame.collect()
        except UNREADABLE as error:
            self._fail((), str(error), error)

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text; see `Source.texts`."""
        for rule in rules:
            if rule.holds_ids:
                refuse_float_ids(str(self.shown), rule.column, self.kinds[rule.column])
        try:
            frame = self.frame.select(pl.col(columns).cast(pl.String)).collect()
        except UNREADABLE as error:
            self._fail(rules, str(error), error)
        for rule in rules:
            if rule.bad(nulled(frame[rule.column])).any():
                self._fail(rules, "a value of another type than its column")
        return frame

    def _fail(
        self,
        rules: tuple[FieldRule, ...],
        reason: str,
        error: Exception | None = None,
        where: tuple[Condition, ...] = (),
    ) -> NoReturn:
        """Raise the error for the first bad value; without one it carries the reader's reason."""
        try:
            found = next(filter(None, (self._bad(rule, where) for rule in rules)), None)
        except UNREADABLE:  # its pages are damaged, as the reason says
            found = None
        says = found or f"cannot be read: {reason.strip().splitlines()[0]}"
        raise DataError(f"{self.shown}: {says}") from error

    def _bad(self, rule: FieldRule, where: tuple[Condition, ...]) -> str | None:
        """Return the first value of a column that is not what it should be."""
        columns = list(dict.fromkeys([rule.column, *(one.column for one in where)]))
        frame = self.frame.select(columns).collect()
        found = bad_value(frame, rule, where)
        return None if found is None else f"{self.row(found[0])}{rule.fault(found[1])}"

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows, with some of the columns; see `Source.pieces`."""
        try:
            for frame in self.frame.select(columns).collect_batches(chunk_size=BATCH_ROWS):
                yield Piece(frame)
        except UNREADABLE as error:
            self._fail((), str(error), error)

    def row(self, at: int) -> str:
        """Return how messages name a row, counted from 0."""
        return f"row {at + 1}"

    def about(self) -> int:
        """Return how many rows there are."""
        try:
            return int(self.frame.select(pl.len()).collect().item())
        except UNREADABLE:
            return 0  # told when the rows are read

    def events(self, table: EventTable, secret: UInt64) -> Iterator[Batch]:
        """Yield the rows as events, in batches; `secret` is not needed, as Polars has its own."""
        pattern = None if table.time is None else self.pattern(table.time, table.time_format)
        typed = TypedEvents(str(self.shown), table, self.kinds, pattern)
        frame = self.frame.with_row_index(ROW_INDEX) if table.numbered else self.frame
        try:
            query = frame.slice(*self.range).select(typed.columns).with_columns(typed.keys)
            for batch in query.collect_batches(chunk_size=BATCH_ROWS):
                found = typed.batch(batch)
                if found is None:
                    self._fail(typed.rules, "an empty value", where=table.where)
                yield found
        except UNREADABLE as error:
            self._fail(typed.rules, str(error), error, table.where)


class GivenSource(LazySource):
    """A frame that was given in Python, read as a Parquet file of its rows would be."""

    header, holder = "", "it"

    def __init__(self, table: Table, frame: pl.DataFrame) -> None:
        self.table, self.shown, self.frame = table, table.path, frame.lazy()
        self.kinds = dict(frame.schema)
        self.names = list(self.kinds)

    def row(self, at: int) -> str:
        """Return how messages name a row, counted as frames count."""
        return row_text(at)
