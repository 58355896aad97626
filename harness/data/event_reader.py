"""The events of a layout, read batch by batch; what is left out is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from harness.core.errors import DataError, counted, printable, suggest
from harness.data import watched, zeros
from harness.data.layout import EventTable, Layout
from harness.data.source import Batch, Source
from harness.data.table_files import sources
from harness.data.watched import Low, watching
from harness.delimited import fields


class EventReader:
    """Reads the events of a layout, and counts the rows that are left out.

    Parameters
    ----------
    progress : callable
        Told the rows of each batch.

    Attributes
    ----------
    rows, left_out : list of int
        Of each table, so far.
    lows : list of mapping
        What the watched columns of each table say, by name.
    type_columns : list of str or None
        The column of event types of each table that the config does not name.
    """

    def __init__(self, layout: Layout, progress: Callable[[int], object]) -> None:
        self.layout, self.progress, self._secret = layout, progress, fields.secret()
        self.rows, self.left_out = [0] * len(layout.events), [0] * len(layout.events)
        self.lows: list[dict[str, Low]] = [{} for _ in layout.events]
        self.type_columns: list[str | None] = [None] * len(layout.events)

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the events, with the number of the table that they are of.

        Raises
        ------
        DataError
            A file, column or value that cannot be used; a table without events.
        """
        for number, table in enumerate(self.layout.events):
            for source in sources(table.table):
                yield from self.of(number, table, source)
            self.check(number, table)

    def of(self, number: int, table: EventTable, source: Source) -> Iterator[tuple[int, Batch]]:
        """Yield the events of one file."""
        try:
            source.require(table.columns)
            if self.type_columns[number] is None:
                self.type_columns[number] = watched.type_column(table, source.names)
            for batch in source.events(watching(table, source.names, source.first), self._secret):
                yield number, self.counted(number, batch)
        except DataError as error:
            raise zeros.also_told(error, self.layout, table, source) from error

    def counted(self, number: int, batch: Batch) -> Batch:
        """Return what is within the times of a table, and count it."""
        batch = within_times(self.layout.events[number], batch)
        read = len(batch.time) + batch.left_out
        self.rows[number] += read
        self.left_out[number] += batch.left_out
        for column, numbers in batch.watched.items():
            self.add_low(number, column, Low.of(numbers))
        self.progress(read)
        return batch

    def add_low(self, number: int, column: str, more: Low) -> None:
        """Take in what a column of a table says."""
        low = self.lows[number].get(column, Low())
        self.lows[number][column] = low.with_others(more)

    def check(self, number: int, table: EventTable) -> None:
        """Raise DataError where a table that was read has no events, or held-out ones in doubt."""
        rows = self.rows[number]
        if rows == self.left_out[number]:
            what = "the table has no rows; expected events"
            if rows > 0:
                none = f"none of {counted(rows, 'row')} has {_told(table)}; look at [data] where"
                what = "\n".join([none, *_there(table)])
            raise DataError(f"{table.table.name}: {what}")
        if table.valid:
            watched.refuse(self.layout, self.lows, table, rows - self.left_out[number])

    def notes(self) -> Iterator[str]:
        """Yield what was left out of each table."""
        for table, rows, left in zip(self.layout.events, self.rows, self.left_out, strict=True):
            if left:
                told = f"{left:,} of {counted(rows, 'row')} left out (kept: {_told(table)})"
                yield f"{table.table.path.name}: {told}"
        yield from watched.notes_of_types(self.layout, self.type_columns)
        yield from watched.notes(self.layout, self.lows, sum(self.rows) - sum(self.left_out))


def within_times(table: EventTable, batch: Batch) -> Batch:
    """Return the events of a batch that hold what the conditions of a table say of times."""
    for one in table.where:
        if one.of_time:
            batch = batch.within(one.since, one.until)
    return batch


_LOOKED_AT, _SHOWN = 10_000, 5
"""Rows whose values are looked at where no row holds the conditions, and values that are shown."""


def _there(table: EventTable) -> Iterator[str]:
    """Yield what the columns of conditions hold in the first rows of a table's first file."""
    if table.table.remote:
        return
    with closing(sources(table.table)) as files:
        source = next(files)
        for one in table.where:
            there = source.first(one.column, _LOOKED_AT).drop_nulls().unique(maintain_order=True)
            names = [name for name in there.to_list() if name]
            if names and set(names).isdisjoint(one.among):
                shown = ", ".join(map(printable, names[:_SHOWN])) + ", …" * (len(names) > _SHOWN)
                hints = [suggest(name, names) for name in one.among]
                hint = next((f"; {hint}" for hint in hints if hint.startswith("did")), "")
                yield f'column "{one.column}" holds {shown}{hint}'


def _told(table: EventTable) -> str:
    return ", ".join([*["whole lines"] * table.table.drop_bad_lines, *map(str, table.where)])
