"""One file of a table, whatever it is stored in: a generator of rows, as text or as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import polars as pl

from harness.core.arrays import Int64, UInt64
from harness.core.errors import DataError, suggest
from harness.core.frames import UNREADABLE
from harness.core.io import PACKED
from harness.data import times
from harness.data.conditions import Condition
from harness.data.layout import EventTable, Table
from harness.data.rules import FieldRule, first_fault, rows_key
from harness.data.sources.header import separator_hint, unnamed
from harness.data.to_events import Batch, Met, refuse_float_ids, rules_of, to_events

_PACKED = 5
"""How often longer a packed file is than what it is packed in, about."""


class Clock(NamedTuple):
    """A column of times, and how they are written; see `harness.data.times.from_text`."""

    column: str
    time_format: str
    pattern: str | None


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is read of a file.

    Attributes
    ----------
    columns : sequence of str
        As they stand in the file.
    ids : sequence of str
        Columns whose texts tell rows apart: no floats.
    compared : sequence of str
        Columns whose texts matter, as 1.0 and 1 do.
    clock : Clock, optional
        Of times that text files give as such.
    secret : uint64 array, (2,), optional
        Of keys that text files give for ids, whose texts may then be missing.
    first, count : int
        The rows that are read of a file that has such, and what is enough of any.
    """

    columns: Sequence[str]
    ids: Sequence[str] = ()
    compared: Sequence[str] = ()
    clock: Clock | None = None
    secret: UInt64 | None = None
    first: int = 0
    count: int | None = None

    @property
    def every(self) -> list[str]:
        """All columns, each once."""
        clock = () if self.clock is None else (self.clock.column,)
        return list(dict.fromkeys((*self.columns, *self.ids, *clock)))


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a file.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns that are wanted. Ids that have keys and are not wanted as they stand are
        Boolean, whether there is one; times that text files read are of Polars' type.
    lines : int64 array, optional
        The place of each in the file, from 1; None: one behind the other.
    left_out : int
        Lines between them that are left out.
    bytes : int
        Of text that they were read from.
    ids : mapping of column to Met
        Keys, where the file gives them.
    as_text : callable, optional
        Returns all columns as text, where the frame has not.
    """

    frame: pl.DataFrame
    lines: Int64 | None = None
    left_out: int = 0
    bytes: int = 0
    ids: Mapping[str, Met] = field(default_factory=dict)
    as_text: Callable[[], pl.DataFrame] | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """One file of a table.

    Attributes
    ----------
    shown : Path or str
        The file as the user knows it, perhaps packed.
    names : list of str
        The columns in file order, each once.
    rows : callable
        A generator of `Rows`. It raises DataError where the file cannot be read, behind the rows
        before that.
    kinds : mapping of column to Polars type
        None in a text file.
    size : callable, optional
        Returns how many rows there are; by default that is told by the first.
    header, holder : str
        How messages begin that a column is missing, and what has other columns.
    place : callable
        How messages name a row by its place, from 1.
    first_row, n_rows : int
        The rows that `events` has of a Parquet file.
    """

    table: Table
    shown: Any
    names: list[str]
    rows: Callable[[Wanted], Iterator[Rows]]
    kinds: Mapping[str, Any] = field(default_factory=dict)
    size: Callable[[], int] | None = None
    header: str = ""
    holder: str = "the file"
    place: Callable[[int], str] = "row {}".format
    first_row: int = 0
    n_rows: int | None = None

    def require(self, columns: Sequence[str]) -> None:
        """Raise DataError where one of `columns` is missing; show those there are."""
        for name in columns:
            if name in self.names:
                continue
            hint = "" if self.kinds else separator_hint(self.table, self.names)
            hint = hint or self._nearest(name)
            unknown = set(columns).isdisjoint(self.names) and not self.kinds
            if not hint and unknown and self.table.header is None:
                hint = unnamed(self.table)
            raise DataError(
                f'{self.shown}: {self.header}no column "{name}"; '
                f"{self.holder} has: {', '.join(self.names)}" + (f"\n{hint}" if hint else "")
            )

    def _nearest(self, name: str) -> str:
        """Return the column that may be meant; empty where none is like it, or has it in lists."""
        for column, kind in self.kinds.items():
            records = kind.inner if isinstance(kind, pl.List) else None
            if isinstance(records, pl.Struct) and name in (field.name for field in records.fields):
                return (
                    f'it is a field in the lists of "{column}": {rows_key(column)} makes '
                    "rows of them"
                )
        hint = suggest(name, self.names)
        return hint if hint.startswith("did you mean") else ""

    def about(self) -> int:
        """Return how many rows there are, more or less, without reading them."""
        if self.size is not None:
            return self.size()
        for rows in self.rows(Wanted(self.names[:1], count=1)):
            packed = _PACKED if self.shown.suffix in PACKED else 1
            every = (rows.frame.height + rows.left_out) * packed * self.shown.stat().st_size
            return int(every // max(rows.bytes, 1))
        return 0

    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""
        try:
            for some in self.rows(Wanted([column], count=rows)):
                return some.frame[column].head(rows).cast(pl.String)
        except (DataError, *UNREADABLE):
            pass  # told when the rows are read
        return pl.Series(dtype=pl.String)

    def whole(self) -> pl.DataFrame:
        """Return all columns as they stand; those of a text file are null where nothing does."""
        frames = [rows.frame for rows in self.rows(Wanted(self.names))]
        schema = self.kinds or dict.fromkeys(self.names, pl.String())
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema)

    def texts(self, columns: Sequence[str], rules: Sequence[FieldRule] = ()) -> pl.DataFrame:
        """Return columns as text.

        Raises
        ------
        DataError
            A row with too few or too many fields, an empty id, a time or number that cannot be
            read; the message names file, line, column and value.
        """
        ids = [rule.column for rule in rules if rule.holds_ids]
        frames, start = [pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))], 0
        for rows in self.rows(Wanted(columns, ids=ids, compared=columns)):
            for name in ids:
                refuse_float_ids(self.shown, name, rows.frame.schema[name])
            try:
                frame = rows.frame.select(pl.col(columns).cast(pl.String))
            except UNREADABLE as error:
                raise self._unreadable(error) from error
            fault = self._fault(replace(rows, frame=frame), rules, (), start)
            if fault is not None:
                raise fault
            frames.append(frame)
            start += frame.height
        return pl.concat(frames)

    def events(
        self, table: EventTable, secret: UInt64, pattern: str | None = None
    ) -> Iterator[Batch]:
        """Yield the rows as events, in batches.

        Parameters
        ----------
        secret : uint64 array, (2,)
            Of the keys of ids, where Polars does not make them.
        pattern : str, optional
            How times are written; told by the first if not given.

        Raises
        ------
        DataError
            As of `texts`.
        """
        if pattern is None and table.time is not None:
            pattern = self.pattern(table.time, table.time_format)
        ids = [table.user, table.item]
        kinds = [] if table.kind is None else [table.kind]
        values = [] if table.value is None else [table.value]
        texts = [one.column for one in table.where if one.among or one.without]
        others = [one.column for one in table.where if one.filled or one.bounds]
        clock = None if table.time is None else Clock(table.time, table.time_format, pattern)
        wanted = Wanted(
            columns=list(dict.fromkeys([*kinds, *values, *texts, *others, *table.watched])),
            ids=ids,
            compared=[*ids, *kinds, *texts],
            clock=clock,
            secret=secret,
            first=self.first_row,
            count=self.n_rows,
        )
        start = self.first_row
        for rows in self.rows(wanted):
            if rows.frame.height + rows.left_out > 0:
                yield self._batch(rows, table, pattern, start)
            start += rows.frame.height

    def _batch(self, rows: Rows, table: EventTable, pattern: str | None, start: int) -> Batch:
        error = None
        try:
            batch = to_events(rows, table, self.shown, pattern, start)
        except UNREADABLE as unreadable:
            batch, error = None, unreadable
        if batch is not None:
            return batch
        frame = rows.frame if rows.as_text is None else rows.as_text()
        rules = rules_of(table, frame.schema, pattern)
        fault = self._fault(replace(rows, frame=frame), rules, table.where, start)
        if fault is None and error is not None:
            fault = self._unreadable(error)
        raise fault or DataError(f"{self.shown}: has an empty value") from error

    def pattern(self, column: str, time_format: str) -> str | None:
        """Return how the times of a column are written, by the first; None: as numbers."""
        if time_format in times.EPOCH_UNITS_US:
            return None
        return times.pattern_of_first(time_format, self.first(column, times.FIRST))

    def _fault(
        self, rows: Rows, rules: Sequence[FieldRule], where: Sequence[Condition], start: int
    ) -> DataError | None:
        """Return the error for the first value that is not what a rule says."""
        fault = first_fault(rows.frame, rules, where)
        if fault is None:
            return None
        row, says = fault
        place = start + row + 1 if rows.lines is None else int(rows.lines[row])
        return DataError(f"{self.shown}: {self.place(place)}{says}")

    def _unreadable(self, error: Exception) -> DataError:
        return DataError(f"{self.shown}: cannot be read: {str(error).strip().splitlines()[0]}")


def in_folders(source: Source, partition: Sequence[tuple[str, str | None]]) -> Source:
    """Return a source with the columns that the names of its folders say."""
    if not partition:
        return source
    for column, _ in partition:
        if column in source.names:
            raise DataError(
                f'{source.shown}: the column "{column}" is in the file and in the name of its '
                f"folder ({column}=…); rename the folder, or remove the column from the file"
            )
    values = dict(partition)

    def with_values(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        said = [pl.lit(values[n], pl.String).alias(n) for n in columns if n in values]
        return frame.with_columns(said).select(columns)

    def rows_of(wanted: Wanted) -> Iterator[Rows]:
        own = [name for name in wanted.columns if name not in values]
        ids = [name for name in wanted.ids if name not in values]
        clock = wanted.clock if wanted.clock and wanted.clock.column not in values else None
        own = own if own or ids or clock else source.names[:1]
        for rows in source.rows(replace(wanted, columns=own, ids=ids, clock=clock)):
            text = rows.as_text
            yield replace(
                rows,
                frame=with_values(rows.frame, wanted.every),
                as_text=text and (lambda text=text: with_values(text(), wanted.every)),
            )

    return replace(
        source,
        names=[*source.names, *values],
        kinds=source.kinds and {**source.kinds, **dict.fromkeys(values, pl.String())},
        rows=rows_of,
    )
