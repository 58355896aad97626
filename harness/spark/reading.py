"""Events read by Spark's workers, and divided into what each bucket of users gets.

Files of this machine, which every worker has to see, are read as the local engine reads them, some
rows or a file at a time. What Spark alone can read it reads, and workers make events of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Counts, places
from harness.core.errors import DataError, UsageError
from harness.core.parquet import UNREADABLE
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import attributes, bucketing, dataset, loading, parts
from harness.data.event_types import EventType
from harness.data.layout import AttributeTable, Layout
from harness.data.naming import Part, absolute, parts_of
from harness.data.parquet_source import ParquetSource
from harness.data.source import Batch
from harness.data.table_files import EventReader, opened
from harness.data.typed import TypedEvents
from harness.data.watched import Low, type_column
from harness.spark import remote
from harness.spark.transport import Batches, attempt, mapped, narrow, narrow_times, to_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIECE_ROWS = 1 << 22
"""Of a Parquet file; a task reads one or more pieces, as there are cores."""
TASK_ROWS = 1 << 23
"""So many rows are divided at once: each time, the ids that are met are sent again."""
USERS, ITEMS, KINDS, TABLE, SINCE = "users", "items", "kinds", "table", "\0since"
_USERS_TABLE = (1 << 31) - 2
"""The number of what is wrong with the users' table: what is wrong with events comes first."""


class Piece(NamedTuple):
    """What is read at once: a file, `rows` of it from `start` on, or what Spark reads."""

    table: int
    part: Part | None = None
    start: int = 0
    rows: int = 0


class Divided(NamedTuple):
    """What each bucket gets, all of it in one partition, by its key.

    Attributes
    ----------
    type_columns : sequence of str or None
        Of each table of events, as an `EventReader` has them.
    user_schema : mapping of column to Polars type
        Of users' rows.
    """

    frame: DataFrame
    keys: Sequence[int]
    type_columns: Sequence[str | None]
    user_schema: Mapping[str, Any]


def divided(spark: SparkSession, layout: Layout, count: int | None) -> Divided:
    """Return the events of a layout for `count` buckets, by default as many as the log asks for."""
    pieces: list[Piece] = []
    by_spark: dict[int, DataFrame] = {}
    type_columns: list[str | None] = []
    rows = 0
    for number, table in enumerate(layout.events):
        type_columns.append(None)
        if table.table.remote:
            frame, names = remote.events(spark, table)
            type_columns[number] = type_column(table, names)
            rows += frame.count() if count is None else 0
            by_spark[len(pieces)] = frame
            pieces.append(Piece(number))
            continue
        for part in parts_of(table.table):
            with opened(table.table, part) as source:
                source.require(table.columns)
                is_plain = isinstance(source, ParquetSource) and source.plain == source.shown
                type_columns[number] = type_columns[number] or type_column(table, source.names)
                size = source.about()
            piece = Piece(number, absolute(part))
            starts = range(0, max(size, 1), PIECE_ROWS)
            ranges = [piece._replace(start=start, rows=PIECE_ROWS) for start in starts]
            pieces += ranges if is_plain else [piece]
            rows += size
    keys = keys_of(bucketing.bucket_count(rows) if count is None else count)
    frames: list[DataFrame] = []
    files = [number for number, piece in enumerate(pieces) if piece.part is not None]
    if files:
        context = getattr(spark, "sparkContext", None)  # Connect has none
        cores = len(files) if context is None else context.defaultParallelism
        tasks = min(len(files), max(cores, -(-rows // TASK_ROWS)))
        read = partial(_read_files, layout, keys, pieces, files)
        frames.append(mapped(spark.range(0, len(files), 1, tasks), read))
    for number, frame in by_spark.items():
        table = layout.events[pieces[number].table]
        pattern = remote.pattern(frame, table.time, table.time_format)
        work = partial(_read_rows, layout, keys, number, pieces[number], pattern)
        frames.append(mapped(frame, work))
    user_schema, users = _users(spark, layout, keys)
    every = reduce(lambda union, frame: union.unionAll(frame), [*frames, *users])
    return Divided(every.repartition(len(keys), "part"), keys, type_columns, user_schema)


def _read_files(
    layout: Layout,
    keys: Sequence[int],
    pieces: Sequence[Piece],
    files: Sequence[int],
    batches: Batches,
) -> Batches:
    tasks = [files[task] for batch in batches for task in batch["id"].to_pylist()]
    if tasks:
        reader = _PieceReader(layout, [pieces[number] for number in tasks])
        yield from attempt(tasks[0], _parts(keys, tasks[0], reader))


def _read_rows(
    layout: Layout,
    keys: Sequence[int],
    number: int,
    piece: Piece,
    pattern: str | None,
    batches: Batches,
) -> Batches:
    return attempt(number, _parts(keys, number, _PieceReader(layout, [piece], batches, pattern)))


class _PieceReader(EventReader):
    """Reads pieces: files as the local engine does, or rows that Spark has read."""

    def __init__(
        self,
        layout: Layout,
        pieces: Sequence[Piece],
        rows: Iterable[Any] = (),
        pattern: str | None = None,
    ) -> None:
        super().__init__(layout, lambda rows: None)
        self._pieces, self._rows, self._pattern = pieces, rows, pattern

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the events, with the number of the table that they are of."""
        for (number, part), same in groupby(self._pieces, key=lambda piece: piece[:2]):
            table = self.layout.events[number]
            if part is None:
                yield from self._of_spark(number)
                continue
            with opened(table.table, part) as source:
                pieces = list(same)
                if isinstance(source, ParquetSource) and pieces[0].rows > 0:
                    rows = sum(piece.rows for piece in pieces)
                    source.only(first=pieces[0].start, rows=rows)
                yield from self.of(number, table, source)

    def _of_spark(self, number: int) -> Iterator[tuple[int, Batch]]:
        table = self.layout.events[number]
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
    for source, read in enumerate(parts.in_parts(reader.layout, reader, TASK_ROWS, 0)):
        for key, content in _of_buckets(keys, read):
            yield from to_rows(key, content, source=source)
        times += read.span
        kinds.update(read.kinds)
        events += len(read.columns[dataset.TIME])
    facts = {"events": events, "times": times, "kinds": list(kinds), "rows": reader.rows}
    yield from to_rows(number, facts=facts | {"left_out": reader.left_out, "lows": reader.lows})


def checked(
    layout: Layout, type_columns: Sequence[str | None], facts: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the notes on what was read; raise what is wrong with all of a table."""
    reader = EventReader(layout, lambda rows: None)
    reader.type_columns = list(type_columns)
    for number, table in enumerate(layout.events):
        for read in facts:
            reader.rows[number] += read["rows"][number]
            reader.left_out[number] += read["left_out"][number]
            for column, low in read["lows"][number].items():
                reader.add_low(number, column, Low._make(low))
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
    """Return the bucket of each user, from 0: each has all users of some leaves."""
    leaves = leaf_of(id_hashes(users)).astype(np.int64)
    return narrow(((leaves + 1) * count - 1) // LEAVES)


def _of_buckets(keys: Sequence[int], read: parts.Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the key and the users and events of each bucket that has some.

    Users and items have numbers among those that are met there.
    """
    bucket_of, count = _buckets_of(read.users, len(keys)), len(keys)
    order = np.argsort(bucket_of, kind="stable")
    times = narrow_times(read.columns[dataset.TIME])
    narrowed = {n: narrow(c) for n, c in read.columns.items() if n == dataset.ROW}
    columns, row_ends = parts.in_groups(
        read.columns | narrowed | {dataset.TIME: times["steps"]},
        bucket_of,
        places(order, len(order)),
        count,
    )
    user_ends, ids = parts.ends_of(bucket_of, count), read.users.gather(order)
    kinds = pl.DataFrame(read.kinds, EventType._fields, orient="row")
    for bucket, key in enumerate(keys):
        rows = slice(row_ends[bucket], row_ends[bucket + 1])
        if rows.start == rows.stop:
            continue
        events = {name: column[rows] for name, column in columns.items()}
        is_met = np.zeros(len(read.items), np.bool_)
        is_met[events[dataset.ITEM]] = True
        met = np.flatnonzero(is_met)
        first, behind = user_ends[bucket], user_ends[bucket + 1]
        content = {
            KINDS: kinds,
            USERS: ids[first:behind],
            ITEMS: read.items.gather(met),
            dataset.TIME: times | {"steps": events[dataset.TIME]},
            dataset.USER: narrow(events[dataset.USER] - np.int32(first)),
            dataset.ITEM: narrow(places(met, len(read.items))[events[dataset.ITEM]]),
        }
        yield key, events | content


def _users(
    spark: SparkSession, layout: Layout, keys: Sequence[int]
) -> tuple[dict[str, Any], list[DataFrame]]:
    """Return the types of users' columns, and frames of what buckets get; none if it can wait.

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
        return {}, []
    schema: dict[str, Any] = dict.fromkeys(columns, pl.String)
    if table.since is not None:
        schema[SINCE] = pl.Int64
    return schema, [mapped(rows, partial(_read_users, layout, table, pattern, keys))]


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
            if since is not None:
                frame = frame.with_columns(since.alias(SINCE))
            bucket = _buckets_of(frame.to_series(), len(keys))
            for number, key in enumerate(keys):
                of_bucket = frame.filter(pl.Series(bucket == number))
                if len(of_bucket) > 0:
                    yield from to_rows(key, {TABLE: of_bucket}, source=source)

    return attempt(_USERS_TABLE, rows())
