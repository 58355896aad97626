"""One file of a table, whatever it is stored in: a generator of rows, as text or as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from harness.core.arrays import UInt64
from harness.core.errors import DataError, suggest
from harness.core.frames import UNREADABLE
from harness.core.io import PACKED
from harness.data import times
from harness.data.conditions import Condition
from harness.data.layout import EventTable, Table
from harness.data.rules import FieldRule, first_fault, rows_key, rules_of
from harness.data.sources.header import separator_hint, unnamed
from harness.data.to_events import Batch, Rows, refuse_float_ids, refuse_types, to_events

_PACKED = 5
"""How often longer a packed file is than what it is packed in, about."""


class Clock(NamedTuple):
    """A column of times, and how they are written; see `harness.data.times.from_text`."""

    column: str
    time_format: str
    pattern: str | None


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is read of a file: `columns` as they stand there, `ids`, and the times of a `clock`.

    `compared` are those whose texts matter, as 1.0 and 1 do. With a `secret` text files give keys
    for ids, and times as such; the texts of both are there if they are in `columns`. From Parquet
    `count` rows are read from `first` on; other files may yield more.
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
class Source:
    """One file of a table.

    `rows` is a generator. Where the file cannot be read it raises DataError, behind the rows
    before that.
    """

    table: Table
    shown: Any  # the file as the user knows it, perhaps packed
    names: list[str]
    rows: Callable[[Wanted], Iterator[Rows]]
    kinds: Mapping[str, Any] = field(default_factory=dict)  # Polars' types; none of a text file
    size: Callable[[], int] | None = None  # by default the first rows tell it
    place: Callable[[int], str] = "row {}".format  # names a row by its place, from 1
    first_row: int = 0  # that `events` has of a Parquet file
    n_rows: int | None = None

    def require(self, columns: Sequence[str]) -> None:
        """Raise DataError where one of `columns` is missing; show those there are."""
        for name in columns:
            if name in self.names:
                continue
            hint = "" if self.kinds else separator_hint(self.table, self.names)
            hint = hint or self._nearest(name)
            is_text = not self.kinds and self.names  # a file of JSON may be empty
            if not hint and is_text and set(columns).isdisjoint(self.names):
                hint = unnamed(self.table) if self.table.header is None else ""
            holder = "it" if self.table.header is None else self.table.named("header")
            raise DataError(
                f'{self.shown}: no column "{name}"; {holder} has: {", ".join(self.names)}'
                + (f"\n{hint}" if hint else "")
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
        """Return columns as text; DataError names file, line, column and value of a fault."""
        ids = [rule.column for rule in rules if rule.parse is None]
        for name in ids:
            refuse_float_ids(self.shown, name, self.kinds.get(name, pl.String()))
        frames, start = [pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))], 0
        for rows in self.rows(Wanted(columns, ids=ids, compared=columns)):
            try:
                frame = rows.frame.select(pl.col(columns).cast(pl.String))
            except UNREADABLE as error:
                raise unreadable(self.shown, error) from error
            self._refuse_faults(replace(rows, frame=frame), rules, (), start)
            frames.append(frame)
            start += frame.height
        return pl.concat(frames)

    def events(
        self, table: EventTable, secret: UInt64, pattern: str | None = None
    ) -> Iterator[Batch]:
        """Yield the rows as events, in batches; `secret` makes keys of ids.

        `pattern` is how times are written, by default as the first.
        """
        if self.kinds:
            refuse_types(self.shown, table, self.kinds)
        if pattern is None and table.time is not None:
            pattern = self.pattern(table.time, table.time_format)
        kinds = [] if table.kind is None else [table.kind]
        values = [] if table.value is None else [table.value]
        where = table.where
        words = [each.column for each in where if each.among or each.without]
        measured = [each.column for each in where if each.empty is False or each.bounds]
        wanted = Wanted(
            columns=list(dict.fromkeys([*kinds, *values, *words, *measured, *table.watched])),
            ids=[table.user, table.item],
            compared=[table.user, table.item, *kinds, *words],
            clock=Clock(table.time, table.time_format, pattern) if table.time else None,
            secret=secret,
            first=self.first_row,
            count=self.n_rows,
        )
        start, error = self.first_row, None
        for rows in self.rows(wanted):
            try:
                batch = to_events(rows, table, self.shown, pattern, start)
            except UNREADABLE as unread:
                batch, error = None, unread
            if batch is None:
                texts = [] if rows.as_text is None else rows.as_text().get_columns()
                frame = rows.frame.with_columns(texts)
                rules = rules_of(table, frame.schema, pattern)
                with suppress(*UNREADABLE):  # a column that has no texts
                    self._refuse_faults(replace(rows, frame=frame), rules, where, start)
                raise unreadable(self.shown, error) from error
            if len(batch.time) + batch.left_out > 0:
                yield batch
            start += rows.frame.height

    def pattern(self, column: str, time_format: str) -> str | None:
        """Return how the times of a column are written, by the first; None: as numbers."""
        if time_format in times.EPOCH_UNITS_US:
            return None
        return times.pattern_of_first(time_format, self.first(column, times.FIRST))

    def _refuse_faults(
        self, rows: Rows, rules: Sequence[FieldRule], where: Sequence[Condition], start: int
    ) -> None:
        """Raise DataError for the first value that is not what a rule says."""
        fault = first_fault(rows.frame, rules, where)
        if fault is not None:
            row, says = fault
            place = start + row + 1 if rows.lines is None else int(rows.lines[row])
            raise DataError(f"{self.shown}: {self.place(place)}{says}")


def unreadable(shown: object, error: Exception | None, hint: str = "") -> DataError:
    """Return what is said of a file that Polars cannot read."""
    reason = "a value is empty" if error is None else str(error).strip().splitlines()[0]
    return DataError(f"{shown}: cannot be read: {reason}{hint}")


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
    kinds = source.kinds and {**source.kinds, **dict.fromkeys(values, pl.String())}
    rows = partial(_with_values, source, values)
    return replace(source, names=[*source.names, *values], kinds=kinds, rows=rows)


def _with_values(
    source: Source, values: Mapping[str, str | None], wanted: Wanted
) -> Iterator[Rows]:
    columns = [name for name in wanted.columns if name not in values]
    ids = [name for name in wanted.ids if name not in values]
    clock = wanted.clock if wanted.clock and wanted.clock.column not in values else None
    columns = columns if columns or ids or clock else source.names[:1]
    constants = [pl.lit(value, pl.String).alias(name) for name, value in values.items()]
    for rows in source.rows(replace(wanted, columns=columns, ids=ids, clock=clock)):
        yield replace(rows, frame=rows.frame.with_columns(constants).select(wanted.every))
