"""Events read by Spark's workers in parts, ordered by leaf, for buckets to be cut from.

Files of this machine, which every worker has to see, are read as the local engine reads them, some
rows or a file a task. What Spark alone can read it reads, and workers make events of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from harness.core.arrays import places
from harness.core.errors import DataError, UsageError
from harness.core.parquet import UNREADABLE
from harness.data import dataset, parts
from harness.data.layout import Layout
from harness.data.loading import EventReader
from harness.data.parquet_source import ParquetSource
from harness.data.source import START, Batch
from harness.data.table_files import sources
from harness.data.typed import TypedEvents
from harness.spark import remote
from harness.spark.packing import narrow, narrow_times
from harness.spark.parts import SCHEMA, Batches, attempted, error_of, facts_of, pairs, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIECE_ROWS = 1 << 23
"""Of a Parquet file, for one task."""
_PART_ROWS = 1 << 23
USERS, ITEMS = "users", "items"
USER_ENDS, ENDS = "user_ends", "ends"
_EVENTS, _SPAN, _ROWS, _LEFT_OUT = "events", "span", "rows", "left_out"


class Read(NamedTuple):
    """What was read.

    Attributes
    ----------
    frame : DataFrame
        Parts; the ids of the items of each are in a row of their own, with a number below 0.
    n_parts : int
    n_events : int
    span : (int, int)
        The times of the first and of the last event.
    notes : tuple of str
        What was left out of each table.
    """

    frame: DataFrame
    n_parts: int
    n_events: int
    span: tuple[int, int]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Piece:
    """What one task reads.

    Attributes
    ----------
    table : int
        Which of the layout's.
    path : Path, optional
        None: a table that Spark reads.
    rows : (int, int), optional
        The first, and how many; all by default.
    """

    table: int
    path: Path | None = None
    rows: tuple[int, int] | None = None


_Events: TypeAlias = Callable[[EventReader], Iterator[tuple[int, Batch]]]


def read(spark: SparkSession, layout: Layout) -> Read:
    """Read the events of a layout; the caller lets Spark forget the frame.

    Raises
    ------
    HarnessError
        A file, table, column or value that cannot be used; rows in an order that Spark has not.
    """
    pieces = list(_pieces(layout))
    frame = reduce(lambda one, other: one.unionAll(other), _frames(spark, layout, pieces)).persist()
    try:
        told = frame.where("at = 0 AND part >= 0").select("part", "told").toArrow()
        return _summary(layout, frame, pieces, sorted(pairs(told), key=lambda pair: pair[0]))
    except BaseException:
        frame.unpersist()
        raise


def _pieces(layout: Layout) -> Iterator[_Piece]:
    for number, table in enumerate(layout.events):
        if table.table.remote:
            if table.numbered:
                raise UsageError(
                    f'{table.table.remote}: ties = "file" needs the order of rows, which tables '
                    'have none of with --engine spark; set ties = "shuffle" under [split], or '
                    "name a file that every worker sees"
                )
            yield _Piece(number)
            continue
        for source in sources(table.table):
            source.require(table.columns)
            plain = isinstance(source, ParquetSource) and source.plain == source.shown
            for given in _ranges(source.about()) if plain else [None]:
                yield _Piece(number, source.shown.absolute(), given)


def _ranges(rows: int) -> list[tuple[int, int]]:
    """Return so many rows in ranges of about equal size."""
    count = max(-(-rows // PIECE_ROWS), 1)
    ends = [rows * at // count for at in range(count + 1)]
    return [(first, behind - first) for first, behind in pairwise(ends)]


def _frames(spark: SparkSession, layout: Layout, pieces: Sequence[_Piece]) -> Iterator[DataFrame]:
    files = {at: piece for at, piece in enumerate(pieces) if piece.path is not None}
    if files:
        tasks = spark.range(0, len(files), 1, len(files))
        yield tasks.mapInArrow(partial(_of_files, layout, list(files.items())), SCHEMA)
    for at, piece in enumerate(pieces):
        if piece.path is None:
            table = layout.events[piece.table]
            found = remote.frame(spark, table.table, table.columns)
            pattern = remote.pattern(found, table.time, table.time_format)
            yield found.mapInArrow(partial(_of_rows, layout, at, piece.table, pattern), SCHEMA)


def _summary(
    layout: Layout,
    frame: DataFrame,
    pieces: Sequence[_Piece],
    told: Sequence[tuple[int, str | None]],
) -> Read:
    """Return what is known of all parts, or raise what is wrong first."""
    reader, found = EventReader(layout, lambda rows: None), []
    for number, table in enumerate(layout.events):
        own = [words for part, words in told if pieces[part].table == number]
        for error in filter(None, map(error_of, own)):
            raise error
        for facts in filter(None, map(facts_of, own)):
            if _SPAN in facts:
                found.append(facts)
            else:
                reader.rows[number] += facts[_ROWS]
                reader.left_out[number] += facts[_LEFT_OUT]
        reader.refuse_none(number, table)
    lows, highs = zip(*(facts[_SPAN] for facts in found), strict=True)
    events = sum(facts[_EVENTS] for facts in found)
    return Read(frame, len(found), events, (min(lows), max(highs)), tuple(reader.notes()))


class _Reader(EventReader):
    """Reads what a task is given of the events."""

    def __init__(self, layout: Layout, given: _Events) -> None:
        super().__init__(layout, lambda rows: None)
        self._given = given

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the events, with the number of the table that they are of."""
        return self._given(self)


def _of_files(layout: Layout, files: Sequence[tuple[int, _Piece]], batches: Batches) -> Batches:
    for batch in batches:
        for task in batch["id"].to_pylist():
            at, piece = files[task]
            yield from _parts(layout, at, piece.table, partial(_file, layout, piece))


def _of_rows(
    layout: Layout, at: int, number: int, pattern: str | None, batches: Batches
) -> Batches:
    given = partial(_rows, layout, number, pattern, batches)
    yield from _parts(layout, at, number, given)
    for _ in batches:  # whoever sends them waits until they are taken
        pass


def _file(layout: Layout, piece: _Piece, reader: EventReader) -> Iterator[tuple[int, Batch]]:
    table = layout.events[piece.table]
    for source in sources(replace(table.table, path=piece.path or table.table.path)):
        if isinstance(source, ParquetSource) and piece.rows is not None:
            source.only(*piece.rows)
        yield from reader.of(piece.table, table, source)


def _rows(
    layout: Layout, number: int, pattern: str | None, batches: Batches, reader: EventReader
) -> Iterator[tuple[int, Batch]]:
    table = layout.events[number]
    for arrow in batches:
        frame = pl.DataFrame(pl.from_arrow(arrow))
        typed = TypedEvents(table.table.name, table, frame.schema, pattern)
        try:
            batch = typed.batch(frame.select(typed.columns).with_columns(typed.keys), START)
        except UNREADABLE as error:
            remote.refuse_bad(table.table.name, frame, typed.rules)
            why = str(error).strip().splitlines()[0]
            raise DataError(f"{table.table.name}: cannot be read: {why}") from error
        if batch is None:
            remote.refuse_bad(table.table.name, frame, typed.rules)
            raise DataError(f"{table.table.name}: has an empty value")
        reader.rows[number] += frame.height
        reader.left_out[number] += batch.left_out
        yield number, batch


def _parts(layout: Layout, at: int, number: int, given: _Events) -> Batches:
    """Yield the rows of parts, and how many rows were read and left out."""

    def work() -> Batches:
        reader = _Reader(layout, given)
        for source, read in enumerate(parts.in_parts(layout, reader, _PART_ROWS, 0)):
            yield from rows(-1 - at, {ITEMS: read.items}, source=source)
            facts = {_EVENTS: len(read.columns[dataset.TIME]), _SPAN: parts.span_of(read)}
            yield from rows(at, _content(read), facts, source)
        facts = {_ROWS: reader.rows[number], _LEFT_OUT: reader.left_out[number]}
        yield from rows(at, None, facts)

    return attempted(at, work)


def _content(rows: parts.Rows) -> dict[str, Any]:
    """Return rows by leaf, users by numbers in the order of leaves."""
    leaf, order = parts.leaves_of(rows.users)
    columns, ends = parts.by_leaves(rows.columns, leaf, places(order, len(leaf)))
    time = narrow_times(columns.pop(dataset.TIME))
    return {
        **{name: narrow(column) for name, column in columns.items()},
        **{dataset.TIME: time, USER_ENDS: parts.ends_of(leaf), ENDS: ends},
        **{USERS: rows.users.gather(order), ITEMS: rows.items},
    }
