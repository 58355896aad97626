"""Rows that come as frames, whatever they are stored in: as events, or as columns of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from harness.core.arrays import UInt64
from harness.core.errors import DataError
from harness.core.frames import UNREADABLE
from harness.data.conditions import Condition
from harness.data.layout import EventTable, Table
from harness.data.source import Batch, FieldRule, Piece, Source, nulled
from harness.data.text_source import TextSource
from harness.data.typed import ROW_INDEX, TypedEvents, bad_value


class FrameSource(Source):
    """A table whose rows are read as frames.

    Attributes
    ----------
    kinds : dict of column to Polars type
    """

    kinds: dict[str, pl.DataType]
    unit = "line"
    """What a place is a number of."""

    def kinds_in(self, piece: Piece) -> dict[str, pl.DataType]:
        """Return what the columns of a piece hold."""
        return self.kinds

    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""
        try:
            for piece in self.pieces([column]):
                return piece.frame[column].head(rows).cast(pl.String)
        except (DataError, *UNREADABLE):
            pass  # told when the rows are read
        return pl.Series(dtype=pl.String)

    def whole(self) -> pl.DataFrame:
        """Return all columns, of the types that they have."""
        frames = [piece.frame for piece in self.pieces(self.names)]
        return pl.concat(frames) if frames else pl.DataFrame(schema=self.kinds)

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text; see `Source.texts`."""
        frames, before = [pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))], 0
        for piece in self.pieces(columns):
            try:
                frame = piece.frame.select(pl.col(columns).cast(pl.String))
            except UNREADABLE as error:
                raise self._unreadable(error) from error
            if any(rule.bad(nulled(frame[rule.column])).any() for rule in rules):
                self._refuse_bad(Piece(frame, piece.places), rules, before)
            frames.append(frame)
            before += frame.height
        return pl.concat(frames)

    def events(self, table: EventTable, secret: UInt64) -> Iterator[Batch]:
        """Yield the rows as events, in batches; `secret` is not needed, as Polars has its own."""
        pattern = None if table.time is None else self.pattern(table.time, table.time_format)
        before = 0
        for piece in self.pieces(table.columns):
            typed = TypedEvents(str(self.shown), table, self.kinds_in(piece), pattern)
            if piece.frame.height > 0:
                yield self._batch(typed, piece, before)
            before += piece.frame.height

    def _batch(self, typed: TypedEvents, rows: Piece, before: int) -> Batch:
        frame = rows.frame
        if typed.table.numbered:
            frame = frame.with_row_index(ROW_INDEX, before)
        try:
            found = typed.batch(frame.select(typed.columns).with_columns(typed.keys))
        except UNREADABLE as error:
            self._refuse_bad(rows, typed.rules, before, typed.table.where)
            raise self._unreadable(error) from error
        if found is None:
            self._refuse_bad(rows, typed.rules, before, typed.table.where)
            raise DataError(f"{self.shown}: has an empty value")
        return replace(found, left_out=found.left_out + rows.left_out)

    def _unreadable(self, error: Exception) -> DataError:
        return DataError(f"{self.shown}: cannot be read: {str(error).strip().splitlines()[0]}")

    def _refuse_bad(
        self,
        rows: Piece,
        rules: Sequence[FieldRule],
        before: int,
        where: Sequence[Condition] = (),
    ) -> None:
        """Raise DataError for the first value that is not what a rule says."""
        found = [
            (bad[0], number, rule.fault(bad[1]))
            for number, rule in enumerate(rules)
            if (bad := bad_value(rows.frame, rule, where)) is not None
        ]
        if found:
            at, _, says = min(found)
            place = f"row {before + at + 1}"
            if rows.places is not None:
                place = f"{self.unit} {rows.places[at]}"
            raise DataError(f"{self.shown}: {place}{says}")


def refuse_known(
    shown: Path, names: Sequence[str], partition: Sequence[tuple[str, object]]
) -> None:
    """Raise DataError where a file has a column that its folder's name says too."""
    for column, _ in partition:
        if column in names:
            raise DataError(
                f'{shown}: the column "{column}" is in the file and in the name of its folder '
                f"({column}=…); rename the folder, or remove the column from the file"
            )


def constants(partition: Sequence[tuple[str, str | None]], columns: Sequence[str]) -> list[pl.Expr]:
    """Return the columns that the names of folders say, those that are wanted."""
    return [
        pl.lit(value, pl.String).alias(column) for column, value in partition if column in columns
    ]


class PartitionedText(FrameSource):
    """A text file in folders whose names are columns of it."""

    def __init__(
        self, table: Table, shown: Path, partition: Sequence[tuple[str, str | None]]
    ) -> None:
        self.table, self.shown, self.partition = table, shown, partition
        self.text = TextSource(table, shown)
        self.header, self.holder = self.text.header, self.text.holder
        refuse_known(shown, self.text.names, partition)
        self.names = [*self.text.names, *(column for column, _ in partition)]
        self.kinds = dict.fromkeys(self.names, pl.String())

    def about(self) -> int:
        """Return how many rows there are, more or less."""
        return self.text.about()

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the rows, all columns as text."""
        own = [name for name in columns if name in self.text.names] or self.text.names[:1]
        for piece in self.text.pieces(own):
            said = constants(self.partition, columns)
            yield piece._replace(frame=piece.frame.with_columns(said).select(columns))

    def events(self, table: EventTable, secret: UInt64) -> Iterator[Batch]:
        """Yield the rows as events; as of any text where no name of a folder is needed."""
        said = {column for column, _ in self.partition}
        if said.isdisjoint(table.columns):
            return self.text.events(table, secret)
        return super().events(table, secret)
