"""Events read by Spark's workers, and divided into what each bucket of users gets.

Files of this machine, which every worker has to see, are read as the local engine reads them, some
rows or a file a task. What Spark alone can read it reads, and workers make events of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from harness.core.arrays import places
from harness.core.errors import DataError, UsageError
from harness.core.parquet import UNREADABLE
from harness.core.random import id_hashes
from harness.data import bucketing, dataset, parts
from harness.data.event_reader import EventReader
from harness.data.event_types import EventType, in_order
from harness.data.layout import Layout
from harness.data.naming import Part, absolute, parts_of
from harness.data.parquet_source import ParquetSource
from harness.data.source import Batch
from harness.data.table_files import opened
from harness.data.typed import TypedEvents
from harness.data.watched import Low, type_column
from harness.spark import remote, users
from harness.spark.packing import narrow, narrow_times
from harness.spark.parts import (
    SCHEMA,
    Batches,
    attempted,
    facts_of,
    pairs,
    refuse_first,
    rows,
)
from harness.spark.users import Division

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIECE_ROWS = 1 << 23
"""Of a Parquet file, for one task."""
_PART_ROWS = 1 << 23
USERS, ITEMS, HASHES, KINDS = "users", "items", "hashes", "kinds"
_EVENTS, _SPAN, _ROWS, _LEFT_OUT, _LOWS = "events", "span", "rows", "left_out", "lows"


class Read(NamedTuple):
    """What was read.

    Attributes
    ----------
    frame : DataFrame
        What each bucket gets, all of it in one partition, by the bucket's key; and the ids of items
        that were met, with numbers below 0.
    n_parts : int
        In which items were met.
    n_events : int
    span : (int, int)
        The times of the first and of the last event.
    notes : tuple of str
        What was left out of each table.
    types : tuple of EventType
        Of the codes that buckets give.
    described : sequence of str
        The columns of users' rows, where buckets get some.
    """

    frame: DataFrame
    division: Division
    n_parts: int
    n_events: int
    span: tuple[int, int]
    notes: tuple[str, ...]
    types: tuple[EventType, ...]
    described: Sequence[str]


@dataclass(frozen=True)
class _Piece:
    """What one task reads.

    Attributes
    ----------
    table : int
        Which of the layout's.
    about : int
        How many rows there are, more or less.
    part : Part, optional
        None: a table that Spark reads.
    rows : (int, int), optional
        The first, and how many; all by default.
    type_column : str, optional
        As `EventReader.type_columns` has it.
    """

    table: int
    about: int = 0
    part: Part | None = None
    rows: tuple[int, int] | None = None
    type_column: str | None = None


KIND_SCHEMA = {"valid": pl.Boolean, "name": pl.String}
_Events: TypeAlias = Callable[[EventReader], Iterator[tuple[int, Batch]]]


def read(spark: SparkSession, layout: Layout, count: int | None) -> Read:
    """Read the events of a layout; the caller lets Spark forget the frame.

    Parameters
    ----------
    count : int, optional
        How many buckets; by default as many as the local engine makes, more or less.

    Raises
    ------
    HarnessError
        A file, table, column or value that cannot be used; rows in an order that Spark has not.
    """
    layout = replace(layout, events=tuple(remote.watching(spark, of) for of in layout.events))
    pieces = list(_pieces(spark, layout))
    tables = {at: layout.events[p.table] for at, p in enumerate(pieces) if p.part is None}
    given = {at: remote.frame(spark, of.table, of.columns) for at, of in tables.items()}
    if count is None:
        about = sum(piece.about for piece in pieces) + sum(f.count() for f in given.values())
        count = bucketing.bucket_count(about)
    division = Division.of(spark, count)
    frames = list(_frames(spark, layout, division, pieces, given))
    described, of_users = users.described(spark, layout, division)
    every = reduce(lambda one, other: one.unionAll(other), [*frames, *of_users])
    frame = every.repartition(count, "part").persist()
    try:
        told = frame.where("content IS NULL").select("part", "told").toArrow()
        found = _summary(layout, pieces, sorted(pairs(told), key=lambda pair: pair[0]))
        return Read(frame, division, *found, described)
    except BaseException:
        frame.unpersist()
        raise


def _pieces(spark: SparkSession, layout: Layout) -> Iterator[_Piece]:
    for number, table in enumerate(layout.events):
        if table.table.remote:
            if table.numbered:
                raise UsageError(
                    f'{table.table.remote}: ties = "file" needs the order of rows, which tables '
                    'have none of with --engine spark; set ties = "shuffle" under [split], or '
                    "name a file that every worker sees"
                )
            column = type_column(table, remote.whole(spark, table.table).columns)
            yield _Piece(number, type_column=column)
            continue
        for part in parts_of(table.table):
            with opened(table.table, part) as source:
                source.require(table.columns)
                plain = isinstance(source, ParquetSource) and source.plain == source.shown
                column, about = type_column(table, source.names), source.about()
            for given in ranges(about) if plain else [None]:
                rows_of = given[1] if given else about
                yield _Piece(number, rows_of, absolute(part), given, column)


def ranges(rows: int) -> list[tuple[int, int]]:
    """Return so many rows in ranges of about equal size: the first of each, and how many."""
    count = max(-(-rows // PIECE_ROWS), 1)
    ends = [rows * at // count for at in range(count + 1)]
    return [(first, behind - first) for first, behind in pairwise(ends)]


def _frames(
    spark: SparkSession,
    layout: Layout,
    division: Division,
    pieces: Sequence[_Piece],
    given: Mapping[int, DataFrame],
) -> Iterator[DataFrame]:
    files = [(at, piece) for at, piece in enumerate(pieces) if piece.part is not None]
    if files:
        tasks = spark.range(0, len(files), 1, len(files))
        yield tasks.mapInArrow(partial(_of_files, layout, division, files), SCHEMA)
    for at, frame in given.items():
        number = pieces[at].table
        table = layout.events[number]
        pattern = remote.pattern(frame, table.time, table.time_format)
        work = partial(_of_rows, layout, division, at, number, pattern)
        yield frame.mapInArrow(work, SCHEMA)


def _summary(
    layout: Layout, pieces: Sequence[_Piece], told: Sequence[tuple[int, str]]
) -> tuple[int, int, tuple[int, int], tuple[str, ...], tuple[EventType, ...]]:
    """Return what is known of all that was read, or raise what is wrong first."""
    reader, found = EventReader(layout, lambda rows: None), []
    for number, table in enumerate(layout.events):
        columns = (piece.type_column for piece in pieces if piece.table == number)
        reader.type_columns[number] = next(filter(None, columns), None)
        own = [words for at, words in told if at < len(pieces) and pieces[at].table == number]
        refuse_first(own)
        for facts in map(facts_of, own):
            if _SPAN in facts:
                found.append(facts)
            else:
                reader.rows[number] += facts[_ROWS]
                reader.left_out[number] += facts[_LEFT_OUT]
                for column, low in facts[_LOWS].items():
                    reader.add_low(number, column, Low(*low))
        reader.check(number, table)
    refuse_first(words for _, words in told)
    lows, highs = zip(*(facts[_SPAN] for facts in found), strict=True)
    events = sum(facts[_EVENTS] for facts in found)
    types = in_order(EventType(*of) for facts in found for of in facts[KINDS])
    return len(found), events, (min(lows), max(highs)), tuple(reader.notes()), types


class _Reader(EventReader):
    """Reads what a task is given of the events."""

    def __init__(self, layout: Layout, given: _Events) -> None:
        super().__init__(layout, lambda rows: None)
        self._given = given

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the events, with the number of the table that they are of."""
        return self._given(self)


def _of_files(
    layout: Layout, division: Division, files: Sequence[tuple[int, _Piece]], batches: Batches
) -> Batches:
    for batch in batches:
        for task in batch["id"].to_pylist():
            at, piece = files[task]
            given = partial(_file, layout, piece)
            yield from _parts(layout, division, at, piece.table, given)


def _of_rows(
    layout: Layout,
    division: Division,
    at: int,
    number: int,
    pattern: str | None,
    batches: Batches,
) -> Batches:
    given = partial(_rows, layout, number, pattern, batches)
    yield from _parts(layout, division, at, number, given)
    for _ in batches:  # whoever sends them waits until they are taken
        pass


def _file(layout: Layout, piece: _Piece, reader: EventReader) -> Iterator[tuple[int, Batch]]:
    table = layout.events[piece.table]
    if piece.part is None:
        return
    with opened(table.table, piece.part) as source:
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
            batch = typed.batch(frame.select(typed.columns).with_columns(typed.keys))
        except UNREADABLE as error:
            remote.refuse_bad(table.table.name, frame, typed.rules, table.where)
            why = str(error).strip().splitlines()[0]
            raise DataError(f"{table.table.name}: cannot be read: {why}") from error
        if batch is None:
            remote.refuse_bad(table.table.name, frame, typed.rules, table.where)
            raise DataError(f"{table.table.name}: has an empty value")
        yield number, reader.counted(number, batch)


def _parts(layout: Layout, division: Division, at: int, number: int, given: _Events) -> Batches:
    """Yield what each bucket gets, the items that were met, and what is told of the rows."""

    def work() -> Batches:
        reader = _Reader(layout, given)
        for source, read in enumerate(parts.in_parts(layout, reader, _PART_ROWS, 0)):
            yield from rows(-1 - at, {ITEMS: read.items}, source=source)
            for key, content in _divided(division, read):
                yield from rows(key, content, source=source)
            events = len(read.columns[dataset.TIME])
            facts = {_EVENTS: events, _SPAN: read.span, KINDS: read.kinds}
            yield from rows(at, None, facts)
        counted = {_ROWS: reader.rows[number], _LEFT_OUT: reader.left_out[number]}
        yield from rows(at, None, {**counted, _LOWS: reader.lows[number]})

    return attempted(at, work)


def _divided(division: Division, read: parts.Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the key and the users and events of each bucket that has some.

    Users have numbers among these, and items among the hashes of those that are met there.
    """
    bucket, count = division.buckets_of(read.users), len(division.keys)
    order = np.argsort(bucket, kind="stable")
    numbers = places(order, len(bucket))
    columns, ends = parts.in_groups(read.columns, bucket, numbers, count)
    user_ends, ids = parts.ends_of(bucket, count), read.users.gather(order)
    hashes = id_hashes(read.items)
    for at, key in enumerate(division.keys):
        users, own = (slice(*of[at : at + 2].tolist()) for of in (user_ends, ends))
        if own.start == own.stop:
            continue
        is_met = np.zeros(len(hashes), np.bool_)
        is_met[columns[dataset.ITEM][own]] = True
        met = np.flatnonzero(is_met)
        item = places(met, len(hashes))[columns[dataset.ITEM][own]]
        others = {n: columns[n][own] for n in (dataset.KIND, dataset.ROW) if n in columns}
        values = {n: columns[n][own] for n in (dataset.VALUE,) if n in columns}
        yield (
            key,
            {
                **{name: narrow(column) for name, column in others.items()},
                **values,
                KINDS: pl.DataFrame(read.kinds, KIND_SCHEMA, orient="row"),
                USERS: ids[users],
                HASHES: hashes[met],
                dataset.USER: narrow(columns[dataset.USER][own] - np.int32(users.start)),
                dataset.ITEM: narrow(item),
                dataset.TIME: narrow_times(columns[dataset.TIME][own]),
            },
        )
