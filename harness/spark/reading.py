"""Events read by Spark's workers, and divided into what each bucket of users gets.

Files of this machine, which every worker has to see, are read as the local engine reads them, some
rows or a file a task. What Spark alone can read it reads, and workers make events of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import count as numbers_from
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Counts, places
from harness.core.errors import DataError, UsageError
from harness.core.parquet import UNREADABLE
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import attributes, bucketing, dataset, loading, parts
from harness.data.bucketing import Known
from harness.data.dataset import NO_TIME
from harness.data.event_reader import EventReader
from harness.data.event_types import EventType, in_order
from harness.data.layout import AttributeTable, Layout
from harness.data.naming import Part, absolute, parts_of
from harness.data.parquet_source import ParquetSource
from harness.data.source import Batch
from harness.data.table_files import opened
from harness.data.typed import TypedEvents
from harness.data.watched import Low, type_column
from harness.spark import remote
from harness.spark.transport import (
    Batches,
    attempt,
    facts_of,
    mapped,
    narrow,
    narrow_times,
    to_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIECE_ROWS = 1 << 23
"""Of a Parquet file, for one task."""
USERS, ITEMS, HASHES, KINDS, TABLE, SINCE = "users", "items", "hashes", "kinds", "table", "since"
_KIND_SCHEMA = {"valid": pl.Boolean, "name": pl.String}
_USERS_TABLE = (1 << 31) - 1
"""The number of what is wrong with the users' table: what is wrong with events comes first."""


class Read(NamedTuple):
    """What was read.

    Attributes
    ----------
    frame : DataFrame
        What each bucket gets, all of it in one partition, by the bucket's key; and the ids of items
        that were met, with numbers below 0.
    n_parts : int
        In which items were met.
    user_columns : sequence of str
        Of the rows of the users' table, where buckets get some.
    """

    frame: DataFrame
    keys: Sequence[int]
    n_parts: int
    n_events: int
    known: Known
    user_columns: Sequence[str]


class _Piece(NamedTuple):
    """What one task reads: a file or some rows of it (the first, and how many), or Spark's rows."""

    table: int
    part: Part | None
    rows: tuple[int, int] | None
    about: int
    type_column: str | None


def read(spark: SparkSession, layout: Layout, count: int | None) -> Read:
    """Read the events of a layout for `count` buckets; the caller lets Spark forget the frame."""
    layout = replace(layout, events=tuple(remote.watching(spark, t) for t in layout.events))
    pieces = list(_pieces(spark, layout))
    tables = {
        number: layout.events[piece.table]
        for number, piece in enumerate(pieces)
        if piece.part is None
    }
    by_spark = {n: remote.frame(spark, table.table, table.columns) for n, table in tables.items()}
    if count is None:
        rows = sum(piece.about for piece in pieces) + sum(f.count() for f in by_spark.values())
        count = bucketing.bucket_count(rows)
    keys = keys_of(count)
    frames = list(_frames(spark, layout, keys, pieces, by_spark))
    user_columns, users = _users(spark, layout, keys)
    every = reduce(lambda union, frame: union.unionAll(frame), [*frames, *users])
    frame = every.repartition(count, "part").persist()
    try:
        facts = [facts for _, facts in facts_of(frame)]
        notes = tuple(_checked(layout, pieces, facts))
    except BaseException:
        frame.unpersist()
        raise
    n_parts, n_events = (sum(piece[name] for piece in facts) for name in ("parts", "events"))
    times = [time for piece in facts for time in piece["times"]]
    kinds = in_order(EventType._make(kind) for piece in facts for kind in piece["kinds"])
    known = Known((), (), (min(times), max(times)), notes, kinds)
    return Read(frame, keys, n_parts, n_events, known, user_columns)


def _pieces(spark: SparkSession, layout: Layout) -> Iterator[_Piece]:
    for number, table in enumerate(layout.events):
        if table.table.remote:
            if table.numbered:
                raise UsageError(
                    f'{table.table.remote}: ties = "file" needs the order of rows, which tables '
                    'have none of with --engine spark; set ties = "shuffle" under [split], or '
                    "name a file that every worker sees"
                )
            names = remote.whole(spark, table.table).columns
            yield _Piece(number, None, None, 0, type_column(table, names))
            continue
        for part in parts_of(table.table):
            with opened(table.table, part) as source:
                source.require(table.columns)
                plain = isinstance(source, ParquetSource) and source.plain == source.shown
                column, about = type_column(table, source.names), source.about()
            for rows in ranges(about) if plain else [None]:
                yield _Piece(number, absolute(part), rows, rows[1] if rows else about, column)


def ranges(rows: int) -> list[tuple[int, int]]:
    """Return so many rows in ranges of about equal size: the first of each, and how many."""
    count = max(-(-rows // PIECE_ROWS), 1)
    ends = [rows * number // count for number in range(count + 1)]
    return [(first, behind - first) for first, behind in pairwise(ends)]


def _frames(
    spark: SparkSession,
    layout: Layout,
    keys: Sequence[int],
    pieces: Sequence[_Piece],
    by_spark: Mapping[int, DataFrame],
) -> Iterator[DataFrame]:
    """Yield what workers make of all files, and of each table that Spark reads."""
    files = [number for number, piece in enumerate(pieces) if piece.part is not None]
    if files:
        tasks = spark.range(0, len(files), 1, len(files))
        yield mapped(tasks, partial(_read_files, layout, keys, pieces, files))
    for number, frame in by_spark.items():
        table = layout.events[pieces[number].table]
        pattern = remote.pattern(frame, table.time, table.time_format)
        yield mapped(frame, partial(_read_rows, layout, keys, pieces[number], number, pattern))


def _read_files(
    layout: Layout,
    keys: Sequence[int],
    pieces: Sequence[_Piece],
    files: Sequence[int],
    batches: Batches,
) -> Batches:
    for batch in batches:
        for task in batch["id"].to_pylist():
            number = files[task]
            reader = _PieceReader(layout, pieces[number], iter(()), None)
            yield from attempt(number, _parts(layout, keys, number, reader))


def _read_rows(
    layout: Layout,
    keys: Sequence[int],
    piece: _Piece,
    number: int,
    pattern: str | None,
    batches: Batches,
) -> Batches:
    reader = _PieceReader(layout, piece, batches, pattern)
    return attempt(number, _parts(layout, keys, number, reader))


class _PieceReader(EventReader):
    """Reads a piece: a file as the local engine does, or rows that Spark has read."""

    def __init__(self, layout: Layout, piece: _Piece, rows: Batches, pattern: str | None) -> None:
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


def _parts(layout: Layout, keys: Sequence[int], number: int, reader: _PieceReader) -> Batches:
    """Yield what each bucket gets, the items that were met, and what the driver learns of all."""
    times, kinds, events, n_parts = list[int](), list[EventType](), 0, 0
    for source, read in enumerate(parts.in_parts(layout, reader, PIECE_ROWS, 0)):
        yield from to_rows(-1 - number, {ITEMS: read.items}, source=source)
        for key, content in _divided(keys, read):
            yield from to_rows(key, content, source=source)
        times += read.span
        kinds += read.kinds
        n_parts += 1
        events += len(read.columns[dataset.TIME])
    table = reader.piece.table
    facts = {
        "table": table,
        "parts": n_parts,
        "events": events,
        "times": times,
        "kinds": kinds,
        "rows": reader.rows[table],
        "left_out": reader.left_out[table],
        "lows": reader.lows[table],
    }
    yield from to_rows(number, facts=facts)


def _checked(
    layout: Layout, pieces: Sequence[_Piece], facts: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
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
    return reader.notes()


def keys_of(count: int) -> list[int]:
    """Return a number for each of so many buckets, which Spark puts into a partition of its own.

    Spark partitions by MurmurHash3 of a number, with seed 42.
    """
    if not 1 <= count <= LEAVES:
        raise UsageError(f"buckets is {count}; expected 1 to {LEAVES:,}")
    keys: dict[int, int] = {}
    for number in numbers_from():
        if len(keys) == count:
            break
        keys.setdefault(_murmur(number) % count, number)
    return [keys[partition] for partition in range(count)]


def _murmur(number: int) -> int:
    mixed = number * 0xCC9E2D51 & 0xFFFFFFFF
    mixed = 42 ^ (_rotated(mixed, 15) * 0x1B873593 & 0xFFFFFFFF)
    mixed = (_rotated(mixed, 13) * 5 + 0xE6546B64 & 0xFFFFFFFF) ^ 4
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    mixed ^= mixed >> 16
    return mixed - (mixed >> 31 << 32)


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & 0xFFFFFFFF


def _buckets_of(users: pl.Series, count: int) -> Counts:
    """Return the bucket of each user: a bucket has the users of some leaves, all of them."""
    ends = [LEAVES * bucket // count for bucket in range(count + 1)]
    buckets: Counts = np.repeat(narrow(np.arange(count)), np.diff(ends))
    return buckets[leaf_of(id_hashes(users))]


def _divided(keys: Sequence[int], read: parts.Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the key and the users and events of each bucket that has some.

    Users have numbers among these, and items among the hashes of those that are met there.
    """
    bucket_of, count = _buckets_of(read.users, len(keys)), len(keys)
    order = np.argsort(bucket_of, kind="stable")
    numbers = places(order, len(bucket_of))
    columns, row_ends = parts.in_groups(read.columns, bucket_of, numbers, count)
    user_ends, ids = parts.ends_of(bucket_of, count), read.users.gather(order)
    hashes = id_hashes(read.items)
    for bucket, key in enumerate(keys):
        users = slice(user_ends[bucket], user_ends[bucket + 1])
        rows = slice(row_ends[bucket], row_ends[bucket + 1])
        if rows.start == rows.stop:
            continue
        events = {name: column[rows] for name, column in columns.items()}
        is_met = np.zeros(len(hashes), np.bool_)
        is_met[events[dataset.ITEM]] = True
        met = np.flatnonzero(is_met)
        content: dict[str, Any] = {
            KINDS: pl.DataFrame(read.kinds, _KIND_SCHEMA, orient="row"),
            USERS: ids[users],
            HASHES: hashes[met],
            dataset.USER: narrow(events[dataset.USER] - np.int32(users.start)),
            dataset.ITEM: narrow(places(met, len(hashes))[events[dataset.ITEM]]),
            dataset.TIME: narrow_times(events[dataset.TIME]),
        }
        content |= {n: narrow(events[n]) for n in (dataset.KIND, dataset.ROW) if n in events}
        content |= {n: events[n] for n in (dataset.VALUE,) if n in events}
        yield key, content


def _users(
    spark: SparkSession, layout: Layout, keys: Sequence[int]
) -> tuple[list[str], list[DataFrame]]:
    """Return the columns of users' rows, and frames of what each bucket gets; none if it can wait.

    Attributes wait where files hold them: who needs some reads them.
    """
    table = layout.users
    if table is not None and table.table.remote:
        texts = remote.texts(spark, table)
        pattern = remote.pattern(texts, table.since, table.time_format)
        checked = partial(_checked_users, table, remote.rules(table, pattern))
        columns = texts.columns
    elif table is not None and table.since is not None:
        texts, columns = spark.range(0, 1, 1, 1), [table.id]
        checked = partial(_users_of_files, layout, table)
    else:
        loading.users_of(layout)  # its columns are there
        return [], []
    return columns, [mapped(texts, partial(_divided_users, checked, keys))]


_UsersAndTimes = tuple[pl.DataFrame, pl.Series | None]


def _users_of_files(layout: Layout, table: AttributeTable, _: Any) -> _UsersAndTimes:
    frame = loading.users_of(layout)
    return frame.select(table.id), attributes.since(table, frame)


def _checked_users(table: AttributeTable, rules: Sequence[Any], arrow: Any) -> _UsersAndTimes:
    frame = remote.checked(table.table.name, pl.DataFrame(pl.from_arrow(arrow)), rules)
    return frame, None if table.since is None else rules[-1].parsed(frame[table.since])


def _divided_users(
    checked: Callable[[Any], _UsersAndTimes], keys: Sequence[int], batches: Batches
) -> Batches:
    """Yield rows of the users' table, ids first, for the bucket of each."""

    def rows() -> Batches:
        for source, batch in enumerate(batches):
            frame, since = checked(batch)
            bucket = _buckets_of(frame.to_series(), len(keys))
            for number, key in enumerate(keys):
                rows_there = np.flatnonzero(bucket == number)
                content: dict[str, Any] = {TABLE: frame[rows_there]}
                if since is not None:
                    content[SINCE] = since.fill_null(NO_TIME).to_numpy()[rows_there]
                if len(rows_there) > 0:
                    yield from to_rows(key, content, source=source)

    return attempt(_USERS_TABLE, rows())
