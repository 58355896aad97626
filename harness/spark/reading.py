"""Events read by Spark's workers, and divided into what each bucket of users gets.

Files of this machine, which every worker has to see, are read as the local engine reads them, some
rows or a file a task. What Spark alone can read it reads, and workers make events of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Counts, places
from harness.core.errors import DataError, UsageError
from harness.core.parquet import UNREADABLE
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import attributes, bucketing, dataset, loading, parts
from harness.data.dataset import NO_TIME
from harness.data.event_types import EventType
from harness.data.layout import AttributeTable, Layout
from harness.data.naming import Part, absolute, parts_of
from harness.data.parquet_source import ParquetSource
from harness.data.source import Batch
from harness.data.table_files import EventReader, opened
from harness.data.typed import TypedEvents
from harness.data.watched import Low, type_column
from harness.spark import remote
from harness.spark.transport import (
    Batches,
    attempt,
    mapped,
    narrow,
    narrow_times,
    to_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIECE_ROWS = 1 << 23
"""Of a Parquet file, for one task."""
USERS, ITEMS, KINDS, TABLE, SINCE = "users", "items", "kinds", "table", "since"
_USERS_TABLE = (1 << 31) - 2
"""The number of what is wrong with the users' table: what is wrong with events comes first."""


class Piece(NamedTuple):
    """What one task reads: a file or some rows of it (the first, and how many), or Spark's rows."""

    table: int
    part: Part | None
    rows: tuple[int, int] | None
    about: int
    type_column: str | None


class Divided(NamedTuple):
    """What each bucket gets, all of it in one partition, by its key; and columns of users' rows."""

    frame: DataFrame
    keys: Sequence[int]
    user_columns: Sequence[str]


def divided(
    spark: SparkSession, layout: Layout, pieces: Sequence[Piece], count: int | None
) -> Divided:
    """Return the events of a layout's pieces for `count` buckets, when Spark works them out."""
    by_spark: dict[int, DataFrame] = {}
    for number, piece in enumerate(pieces):
        if piece.part is None:
            table = layout.events[piece.table]
            by_spark[number] = remote.frame(spark, table.table, table.columns)
    if count is None:
        rows = sum(piece.about for piece in pieces) + sum(f.count() for f in by_spark.values())
        count = bucketing.bucket_count(rows)
    keys = keys_of(count)
    frames: list[DataFrame] = []
    files = [(number, piece) for number, piece in enumerate(pieces) if piece.part is not None]
    if files:
        tasks = spark.range(0, len(files), 1, len(files))
        frames.append(mapped(tasks, partial(_read_files, layout, keys, files)))
    for number, frame in by_spark.items():
        table = layout.events[pieces[number].table]
        pattern = remote.pattern(frame, table.time, table.time_format)
        read = partial(_read_rows, layout, keys, number, pieces[number], pattern)
        frames.append(mapped(frame, read))
    user_columns, users = _users(spark, layout, keys)
    every = reduce(lambda union, frame: union.unionAll(frame), [*frames, *users])
    return Divided(every.repartition(count, "part"), keys, user_columns)


def pieces_of(spark: SparkSession, layout: Layout) -> Iterator[Piece]:
    """Yield what is read by one task each."""
    for number, table in enumerate(layout.events):
        if table.table.remote:
            if table.numbered:
                raise UsageError(
                    f'{table.table.remote}: ties = "file" needs the order of rows, which tables '
                    'have none of with --engine spark; set ties = "shuffle" under [split], or '
                    "name a file that every worker sees"
                )
            names = remote.whole(spark, table.table).columns
            yield Piece(number, None, None, 0, type_column(table, names))
            continue
        for part in parts_of(table.table):
            with opened(table.table, part) as source:
                source.require(table.columns)
                plain = isinstance(source, ParquetSource) and source.plain == source.shown
                column, about = type_column(table, source.names), source.about()
            for rows in ranges(about) if plain else [None]:
                yield Piece(number, absolute(part), rows, rows[1] if rows else about, column)


def ranges(rows: int) -> list[tuple[int, int]]:
    """Return so many rows in ranges of about equal size: the first of each, and how many."""
    count = max(-(-rows // PIECE_ROWS), 1)
    ends = [rows * number // count for number in range(count + 1)]
    return [(first, behind - first) for first, behind in pairwise(ends)]


def _read_files(
    layout: Layout, keys: Sequence[int], files: Sequence[tuple[int, Piece]], batches: Batches
) -> Batches:
    for batch in batches:
        for task in batch["id"].to_pylist():
            number, piece = files[task]
            yield from attempt(number, _parts(keys, number, _PieceReader(layout, piece)))


def _read_rows(
    layout: Layout,
    keys: Sequence[int],
    number: int,
    piece: Piece,
    pattern: str | None,
    batches: Batches,
) -> Batches:
    return attempt(number, _parts(keys, number, _PieceReader(layout, piece, batches, pattern)))


class _PieceReader(EventReader):
    """Reads a piece: a file as the local engine does, or rows that Spark has read."""

    def __init__(
        self, layout: Layout, piece: Piece, rows: Iterable[Any] = (), pattern: str | None = None
    ) -> None:
        super().__init__(layout, lambda rows: None)
        self.piece, self._rows, self._pattern = piece, rows, pattern

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the events, with the number of the table that they are of."""
        number, part = self.piece.table, self.piece.part
        table = self.layout.events[number]
        if part is not None:
            with opened(table.table, part) as source:
                if isinstance(source, ParquetSource) and self.piece.rows is not None:
                    first, rows = self.piece.rows
                    source.only(first=first, rows=rows)
                yield from self.of(number, table, source)
            return
        for arrow in self._rows:
            frame = pl.DataFrame(pl.from_arrow(arrow))
            typed = TypedEvents(table.table.name, table, frame.schema, self._pattern)
            why = "has an empty value"
            try:
                batch = typed.batch(frame.select(typed.columns).with_columns(typed.keys))
            except UNREADABLE as error:
                batch, why = None, f"cannot be read: {str(error).strip().splitlines()[0]}"
            if batch is None:
                remote.refuse_bad(table.table.name, frame, typed.rules, table.where)
                raise DataError(f"{table.table.name}: {why}")
            yield number, self.counted(number, batch)


def _parts(keys: Sequence[int], number: int, reader: _PieceReader) -> Batches:
    """Yield what each bucket gets, and what the driver learns of all."""
    times, kinds, events = list[int](), set[EventType](), 0
    for source, read in enumerate(parts.in_parts(reader.layout, reader, PIECE_ROWS, 0)):
        for key, content in _of_buckets(keys, read):
            yield from to_rows(key, content, source=source)
        times += read.span
        kinds.update(read.kinds)
        events += len(read.columns[dataset.TIME])
    table = reader.piece.table
    facts = {
        "table": table,
        "events": events,
        "times": times,
        "kinds": list(kinds),
        "rows": reader.rows[table],
        "left_out": reader.left_out[table],
        "lows": reader.lows[table],
    }
    yield from to_rows(number, facts=facts)


def checked(
    layout: Layout, pieces: Sequence[Piece], facts: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the notes on what was read; raise what is wrong with all of a table."""
    reader = EventReader(layout, lambda rows: None)
    for piece in facts:
        table = piece["table"]
        reader.rows[table] += piece["rows"]
        reader.left_out[table] += piece["left_out"]
        for column, low in piece["lows"].items():
            reader.add_low(table, column, Low._make(low))
    for number, table in enumerate(layout.events):
        columns = (piece.type_column for piece in pieces if piece.table == number)
        reader.type_columns[number] = next(filter(None, columns), None)
        reader.check(number, table)
    return list(reader.notes())


def keys_of(count: int) -> list[int]:
    """Return a number for each of so many buckets, which Spark puts into a partition of its own.

    Spark partitions by MurmurHash3 of a number, with seed 42.
    """
    if not 1 <= count <= LEAVES:
        raise UsageError(f"buckets is {count}; expected 1 to {LEAVES:,}")
    numbers = np.arange(64 * count, dtype=np.uint32)  # of which some is in each partition
    mixed: npt.NDArray[Any] = numbers * np.uint32(0xCC9E2D51)
    mixed = (mixed << 15 | mixed >> 17) * np.uint32(0x1B873593) ^ 42
    mixed = (mixed << 13 | mixed >> 19) * np.uint32(5) + np.uint32(0xE6546B64) ^ 4
    mixed = (mixed ^ mixed >> 16) * np.uint32(0x85EBCA6B)
    mixed = (mixed ^ mixed >> 13) * np.uint32(0xC2B2AE35)
    partitions = (mixed ^ mixed >> 16).view(np.int32) % count
    keys: list[int] = np.unique(partitions, return_index=True)[1].tolist()
    return keys


def _buckets_of(users: pl.Series, count: int) -> Counts:
    """Return the bucket of each user: a bucket has the users of some leaves, all of them."""
    ends = [LEAVES * bucket // count for bucket in range(count + 1)]
    buckets: Counts = np.repeat(narrow(np.arange(count)), np.diff(ends))
    return buckets[leaf_of(id_hashes(users))]


def _of_buckets(keys: Sequence[int], read: parts.Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the key and the users and events of each bucket that has some.

    Users and items have numbers among those that are met there.
    """
    bucket_of, count = _buckets_of(read.users, len(keys)), len(keys)
    order = np.argsort(bucket_of, kind="stable")
    numbers = places(order, len(bucket_of))
    columns, row_ends = parts.in_groups(read.columns, bucket_of, numbers, count)
    user_ends, ids = parts.ends_of(bucket_of, count), read.users.gather(order)
    for bucket, key in enumerate(keys):
        users = slice(user_ends[bucket], user_ends[bucket + 1])
        rows = slice(row_ends[bucket], row_ends[bucket + 1])
        if rows.start == rows.stop:
            continue
        events = {name: column[rows] for name, column in columns.items()}
        is_met = np.zeros(len(read.items), np.bool_)
        is_met[events[dataset.ITEM]] = True
        met = np.flatnonzero(is_met)
        content: dict[str, Any] = {
            KINDS: kinds_frame(read.kinds),
            USERS: ids[users],
            ITEMS: read.items.gather(met),
            dataset.USER: narrow(events[dataset.USER] - np.int32(users.start)),
            dataset.ITEM: narrow(places(met, len(read.items))[events[dataset.ITEM]]),
            dataset.TIME: narrow_times(events[dataset.TIME]),
        }
        content |= {n: narrow(events[n]) for n in (dataset.KIND, dataset.ROW) if n in events}
        content |= {n: events[n] for n in (dataset.VALUE,) if n in events}
        yield key, content


def kinds_frame(kinds: Sequence[EventType]) -> pl.DataFrame:
    """Return event types as they are sent."""
    return pl.DataFrame(kinds, {"valid": pl.Boolean, "name": pl.String}, orient="row")


def _users(
    spark: SparkSession, layout: Layout, keys: Sequence[int]
) -> tuple[list[str], list[DataFrame]]:
    """Return the columns of users' rows, and frames of what each bucket gets; none if it can wait.

    Attributes wait where files hold them: who needs some reads them.
    """
    table, pattern = layout.users, None
    if table is not None and table.table.remote:
        rows = remote.texts(spark, table)
        pattern = remote.pattern(rows, table.since, table.time_format)
        columns = rows.columns
    elif table is not None and table.since is not None:
        rows, columns = spark.range(0, 1, 1, 1), [table.id]
    else:
        loading.users_of(layout)  # its columns are there
        return [], []
    return columns, [mapped(rows, partial(_read_users, layout, table, pattern, keys))]


def _read_users(
    layout: Layout,
    table: AttributeTable,
    pattern: str | None,
    keys: Sequence[int],
    batches: Batches,
) -> Batches:
    """Yield rows of the users' table, ids first, for the bucket of each."""

    def rows() -> Batches:
        for source, batch in enumerate(batches):
            if table.table.remote:
                frame, since = remote.checked(table, pattern, batch)
            else:
                times = loading.users_of(layout)
                frame, since = times.select(table.id), attributes.since(table, times)
            bucket = _buckets_of(frame.to_series(), len(keys))
            for number, key in enumerate(keys):
                of_bucket = np.flatnonzero(bucket == number)
                content: dict[str, Any] = {TABLE: frame[of_bucket]}
                if since is not None:
                    content[SINCE] = since.fill_null(NO_TIME).to_numpy()[of_bucket]
                if len(of_bucket) > 0:
                    yield from to_rows(key, content, source=source)

    return attempt(_USERS_TABLE, rows())
