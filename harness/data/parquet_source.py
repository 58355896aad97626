"""A Parquet file as a table, read by Polars: columns have types, and rows are whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import polars as pl

from harness.core import parquet
from harness.core.arrays import UInt64
from harness.core.errors import DataError
from harness.core.io import unusable
from harness.core.parquet import UNREADABLE
from harness.core.unpacking import PARQUET, UnpackingError
from harness.data.conditions import Condition
from harness.data.frame_source import constants, refuse_known
from harness.data.layout import EventTable, Table
from harness.data.naming import Part
from harness.data.source import START, Batch, FieldRule, Mark, Source, nulled
from harness.data.typed import ROW_INDEX, TypedEvents, bad_value

BATCH_ROWS = 1_000_000
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
"""Bytes that no text has, and any Parquet file."""


class ParquetSource(Source):
    """A Parquet file of a table.

    Parameters
    ----------
    plain : Path
        The file as it can be read; the user knows it, perhaps packed, by that of its part.

    Raises
    ------
    DataError
        A file that cannot be read.
    """

    def __init__(self, table: Table, plain: Path, part: Part) -> None:
        self.table, self.plain, self.shown = table, plain, part.path
        shown = part.path
        try:
            frame = parquet.scan(plain, table.cap, shown.stat().st_size)
            own, said = frame.collect_schema().names(), [column for column, _ in part.partition]
            refuse_known(shown, own, part.partition)
            self.frame = frame.with_columns(constants(part.partition, said))
            self.kinds = dict(self.frame.collect_schema())
        except UnpackingError as error:
            _refuse_text(plain, shown)
            raise unusable(shown, error, table.cap) from error
        except UNREADABLE as error:
            first = str(error).strip().splitlines()[0]
            raise DataError(f"{shown}: cannot be read as a table: {first}") from error
        self.names = list(self.kinds)
        self.range: tuple[int, int | None] = 0, None

    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""
        try:
            return self.frame.select(pl.col(column).cast(pl.String)).head(rows).collect()[column]
        except UNREADABLE:
            return pl.Series(dtype=pl.String)

    def whole(self) -> pl.DataFrame:
        """Return all columns, of the types that they have."""
        try:
            parquet.check_texts(self.frame, self.table.cap, self.shown.stat().st_size)
            return self.frame.collect()
        except UnpackingError as error:
            raise unusable(self.shown, error, self.table.cap) from error
        except UNREADABLE as error:
            self._fail((), str(error), error)

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text; see `Source.texts`."""
        try:
            frame = self.frame.select(pl.col(columns).cast(pl.String)).collect()
        except UNREADABLE as error:
            self._fail(rules, str(error), error)
        for rule in rules:
            if rule.bad(nulled(frame[rule.column])).any():
                self._fail(rules, "a value that is not what it should be")
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
        return None if found is None else f"row {found[0] + 1}{rule.fault(found[1])}"

    def about(self) -> int:
        """Return how many rows there are."""
        try:
            return int(self.frame.select(pl.len()).collect().item())
        except UNREADABLE:
            return 0  # told when the rows are read

    def only(self, first: int, rows: int) -> None:
        """Let `events` have these rows alone."""
        self.range = first, rows

    def events(self, table: EventTable, secret: UInt64, start: Mark = START) -> Iterator[Batch]:
        """Yield the rows as events, in batches; `secret` is not needed, as Polars has its own."""
        pattern = None if table.time is None else self.pattern(table.time, table.time_format)
        typed, before = TypedEvents(str(self.shown), table, self.kinds, pattern), start.rows
        frame = self.frame.with_row_index(ROW_INDEX) if table.numbered else self.frame
        try:
            query = frame.slice(*self.range).select(typed.columns).with_columns(typed.keys)
            for batch in query.slice(start.rows).collect_batches(chunk_size=BATCH_ROWS):
                before += batch.height
                found = typed.batch(batch, Mark(before))
                if found is None:
                    self._fail(typed.rules, "an empty value", where=table.where)
                yield found
        except UNREADABLE as error:
            self._fail(typed.rules, str(error), error, table.where)


def _refuse_text(plain: Path, shown: Path) -> None:
    """Raise DataError where a file that should be Parquet is text by its first bytes."""
    with plain.open("rb") as file:
        first = file.read(1 << 10)
    if first and not first.startswith(PARQUET) and first == first.translate(None, _CONTROLS):
        name = shown.name.replace(plain.suffix, ".csv")
        raise DataError(
            f"{shown}: is no Parquet file and looks like text; rename it {name}, in the config or "
            "the command too"
        )
