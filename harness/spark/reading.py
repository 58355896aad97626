"""Events and attributes read by Spark's workers, and divided into what each bucket gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Counts, places
from harness.core.errors import UsageError
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import attributes, buckets, dataset, loading, times
from harness.data.layout import CATALOG, AttributeTable, EventTable, Layout, Table
from harness.data.loading import EventType
from harness.data.naming import Part, parts_of
from harness.data.oddities import Low, type_column, watching
from harness.data.rules import id_rule, time_rule
from harness.data.source import Source
from harness.data.sources.json_lines import SUFFIXES
from harness.data.sources.parquet import frame_source
from harness.data.table_files import EventReader, opened
from harness.data.to_events import Batch
from harness.delimited.stream import is_parquet
from harness.spark.transport import Batches, attempt, mapped, narrow, partition, to_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

PIECE_ROWS = 1 << 22  # of a Parquet file; a task reads one or more pieces, as there are cores
PART_ROWS, TASK_ROWS = 1 << 22, 1 << 25
"""So many rows are divided at once, and a task reads, where there are no more cores."""
USERS, ITEMS, KINDS, TABLE, SINCE = "users", "items", "kinds", "table", "\0since"
PLACE = "place"
"""Of a part's events: table and task, where codes of users begin anew, and the part's number.

Two tables of one partition each are read by tasks of one number.
"""
_USERS_TABLE = (1 << 31) - 2
"""The number of what is wrong with the users' table: what is wrong with events comes first."""
_TEXT = (".csv", ".tsv", ".txt", ".dat", ".data")
_CHARSETS = {"utf-8": "UTF-8", "latin-1": "ISO-8859-1", "cp1252": "windows-1252"}
"""What Java calls each encoding."""
_COMPRESSED = (".gz", ".bz2", ".zst")


# What Spark reads.


def spark_rows(table: Table, frame: pl.DataFrame) -> Source:
    """Return rows that Spark has read: where one stands in the table is not known."""
    # The name as it was given: a path would change a URI.
    return replace(frame_source(table, frame), shown=table.name, place=lambda row: "a row")


def column(name: str) -> Column:
    """Return a column by its name, whatever letters it has."""
    from pyspark.sql import functions

    return functions.col(f"`{name.replace('`', '``')}`")


def _whole(spark: SparkSession, table: Table, columns: Sequence[str]) -> DataFrame:
    """Return a table with all its columns, those of delimited text as text; it has `columns`."""
    name = table.remote
    plain = name.lower().rstrip("/")
    if table.rows or (plain.endswith(SUFFIXES) and not name.startswith(CATALOG)):
        raise UsageError(
            f"{name}: for JSON lines and lists of events, every worker must see the file; copy "
            "it there, or write it as Parquet with one row per event"
        )
    for end in _COMPRESSED:
        plain = plain.removesuffix(end)
    if name.startswith(CATALOG):
        frame = spark.table(name.removeprefix(CATALOG))
    else:
        frame = _text(spark, table) if plain.endswith(_TEXT) else spark.read.parquet(name)
    empty = pl.DataFrame(schema=dict.fromkeys(frame.columns, pl.String))
    spark_rows(table, empty).require(columns)
    return frame


def _text(spark: SparkSession, table: Table) -> DataFrame:
    """Return delimited text as RFC 4180 has it, every column as text."""
    for key, is_set in {"escape": table.escape != "", "bad_lines": table.drop_bad_lines}.items():
        if is_set:
            raise UsageError(
                f"{table.remote}: Spark cannot read text with {table.named(key)}; remove it, or "
                "copy the file to a place that every worker sees"
            )
    quotes = table.quote and len(table.separator.encode()) == 1
    reader = spark.read.options(
        header=table.header is None,
        sep=table.separator,
        encoding=_CHARSETS[table.encoding],
        quote='"' if quotes else "",
        escape='"',
        multiLine=quotes,  # a line may end within quotes
        mode="FAILFAST",
        columnPruning=False,  # else a line with too few fields is not seen
        enforceSchema=False,
        maxCharsPerColumn=-1,
    )
    if table.header is not None:
        reader = reader.schema(", ".join(f"`{name}` STRING" for name in table.header))
    return reader.csv(table.remote)


def _first(frame: DataFrame, name: str, rows: int) -> pl.Series:
    """Return the first values of a column as text."""
    texts = frame.select(column(name).cast("string")).head(rows)
    return pl.Series([row[0] for row in texts], dtype=pl.String)


def _pattern(frame: DataFrame, name: str | None, time_format: str) -> str | None:
    """Return how the times of a column are written, by the first; see `Source.pattern`."""
    if name is None or time_format in times.EPOCH_UNITS_US:
        return None
    if dict(frame.dtypes)[name] != "string":
        return times.DATE
    return times.pattern_of_first(time_format, _first(frame, name, times.FIRST))


def _events(spark: SparkSession, table: EventTable) -> tuple[EventTable, DataFrame]:
    """Return a table of events with the columns that are watched, and all its rows."""
    if table.numbered:
        raise UsageError(
            f'{table.name}: ties = "file" needs the order of rows, and tables have none '
            'with --engine spark; set [split] ties = "shuffle", or name a file that every worker '
            "sees"
        )
    every = _whole(spark, table, table.columns)
    return watching(table, every.columns, partial(_first, every)), every


def _texts(spark: SparkSession, table: AttributeTable) -> DataFrame:
    """Return an attribute table, all columns as text, ids first."""
    from pyspark.sql import functions

    first = [table.id, *([] if table.since is None else [table.since])]
    every, empty = _whole(spark, table, first), functions.lit("")
    names = dict.fromkeys([*first, *every.columns])
    return every.select(
        [functions.nullif(column(name).cast("string"), empty).alias(name) for name in names]
    )


def items(spark: SparkSession, table: AttributeTable | None) -> pl.DataFrame | None:
    """Return an items' table that Spark alone can read; None: others are read when needed."""
    if table is None or not table.remote:
        return None
    every = _texts(spark, table)
    pattern = _pattern(every, table.since, table.time_format)
    rows = _checked(table, pattern, every.toArrow()).drop(SINCE, strict=False)
    attributes.refuse_repeated(table, rows[table.id])
    return rows


def _checked(
    table: AttributeTable, pattern: str | None, texts: pa.Table | pa.RecordBatch
) -> pl.DataFrame:
    """Return rows of an attribute table, with their times as `SINCE` where it has some."""
    rules = [id_rule(table.id)]
    if table.since is not None:
        rules.append(time_rule(table.since, table.time_format, pattern, required=False))
    source = spark_rows(table, pl.DataFrame(pl.from_arrow(texts)))
    rows = source.texts(source.names, tuple(rules))
    return rows.with_columns(rule.parsed(rows[rule.column]).alias(SINCE) for rule in rules[1:])


# What each bucket gets.


class Piece(NamedTuple):
    """What is read at once: a file, `rows` of it from `start` on, or what Spark reads."""

    table: int
    part: Part | None = None
    start: int = 0
    rows: int = 0
    pattern: str | None = None  # how times are written in what Spark reads


class Divided(NamedTuple):
    """What each bucket gets, all of it in one partition, by its key."""

    frame: DataFrame
    keys: Sequence[int]
    type_columns: Sequence[str | None]  # of each table of events, as an `EventReader` has them
    user_schema: Mapping[str, Any]  # types of the columns of users' rows that Spark reads


def divided(spark: SparkSession, layout: Layout, count: int | None) -> Divided:
    """Return the events of a layout for `count` buckets, by default as many as the log asks for."""
    tables, pieces = list(layout.events), list[Piece]()
    by_spark: dict[int, DataFrame] = {}
    type_columns: list[str | None] = [None] * len(tables)
    rows = 0
    for number, table in enumerate(tables):
        if table.remote:
            tables[number], every = _events(spark, table)
            type_columns[number] = type_column(table, every.columns)
            frame = every.select([column(name) for name in tables[number].columns])
            rows += frame.count() if count is None else 0
            by_spark[len(pieces)] = frame
            pieces.append(Piece(number, pattern=_pattern(frame, table.time, table.time_format)))
            continue
        for part in parts_of(table):
            with opened(table, part) as source:
                source.require(table.columns)
                type_columns[number] = type_columns[number] or type_column(table, source.names)
                size = source.about()
            piece = Piece(number, part._replace(path=part.path.absolute()))
            starts = range(0, max(size, 1), PIECE_ROWS)
            ranges = [piece._replace(start=start, rows=PIECE_ROWS) for start in starts]
            pieces += ranges if is_parquet(part.path) and not table.rows else [piece]
            rows += size
    keys = keys_of(buckets.bucket_count(rows) if count is None else count)
    layout = replace(layout, events=tuple(tables))
    frames = [
        mapped(frame, partial(read_pieces, layout, keys, number, [pieces[number]]), number)
        for number, frame in by_spark.items()
    ]
    files = [(number, piece) for number, piece in enumerate(pieces) if piece.part is not None]
    if files:
        context = getattr(spark, "sparkContext", None)  # Connect has none
        cores = len(files) if context is None else context.defaultParallelism
        tasks = min(len(files), max(cores, -(-rows // TASK_ROWS)))
        numbers = spark.range(0, len(files), 1, tasks)
        frames.append(mapped(numbers, partial(_read_files, layout, keys, files)))
    user_schema = dict[str, Any]()
    if layout.users is not None and layout.users.remote:
        users, user_schema = _users(spark, layout.users, keys)
        frames.append(users)
    elif layout.users is not None:
        attributes.check(layout.users)
    every = reduce(lambda union, frame: union.unionAll(frame), frames)
    return Divided(every.repartition(len(keys), "part"), keys, type_columns, user_schema)


def _read_files(
    layout: Layout, keys: Sequence[int], files: Sequence[tuple[int, Piece]], batches: Batches
) -> Batches:
    tasks = [files[task] for batch in batches for task in batch["id"].to_pylist()]
    if tasks:
        number, pieces = tasks[0][0], [piece for _, piece in tasks]
        yield from attempt(number, read_pieces(layout, keys, number, pieces))


def read_pieces(
    layout: Layout,
    keys: Sequence[int],
    number: int,
    pieces: Sequence[Piece],
    rows: Iterable[pa.RecordBatch] = (),
) -> Batches:
    """Yield what each bucket gets of pieces, and what the driver learns of all."""
    reader, task = _Reader(layout, pieces, rows), partition()
    times, kinds, events = list[int](), set[EventType](), 0
    for source, read in enumerate(loading.in_parts(layout, reader, PART_ROWS, buckets.MOST_IDS)):
        if read.first:
            divider = _Divider(keys, (number, task, source))
        for key, content in divider.of_buckets(read):
            place = np.array([*divider.start, source])
            yield from to_rows(key, content | {PLACE: place}, source=(number << 22) + source)
        times += read.span
        kinds.update(read.kinds)
        events += len(read.columns[dataset.TIME])
        del read  # before the next part is made
    facts = {"events": events, "times": times, "kinds": list(kinds), "rows": reader.rows}
    yield from to_rows(number, facts=facts | {"left_out": reader.left_out, "lows": reader.lows})


def _users(
    spark: SparkSession, table: AttributeTable, keys: Sequence[int]
) -> tuple[DataFrame, dict[str, Any]]:
    """Return the rows of the users' table for the bucket of each, and the types of its columns."""
    texts = _texts(spark, table)
    pattern = _pattern(texts, table.since, table.time_format)
    schema: dict[str, Any] = dict.fromkeys(texts.columns, pl.String)
    if table.since is not None:
        schema[SINCE] = pl.Int64

    def rows(batches: Batches) -> Batches:
        for source, batch in enumerate(batches):
            frame = _checked(table, pattern, batch)
            bucket = pl.Series(_buckets_of(frame[table.id], len(keys)))
            for number, key in enumerate(keys):
                of_bucket = frame.filter(bucket == number)
                if len(of_bucket) > 0:
                    yield from to_rows(key, {TABLE: of_bucket}, source=source)

    return mapped(texts, rows, _USERS_TABLE), schema


class _Reader(EventReader):
    """Reads pieces: files as the local engine does, or `rows` that Spark has read."""

    def __init__(
        self, layout: Layout, pieces: Sequence[Piece], rows: Iterable[pa.RecordBatch]
    ) -> None:
        super().__init__(layout, lambda rows: None)
        self._pieces, self._rows = pieces, rows

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the events, with the number of the table that they are of."""
        for (number, part), same in groupby(self._pieces, key=lambda piece: piece[:2]):
            table, pieces = self.layout.events[number], list(same)
            if part is None:
                for rows in self._rows:
                    frame = pl.DataFrame(pl.from_arrow(rows))
                    source = spark_rows(table, frame)
                    for batch in source.events(table, self._secret, pieces[0].pattern):
                        yield number, self.counted(number, batch)
                continue
            with opened(table, part) as source:
                if pieces[0].rows > 0:
                    rows = sum(piece.rows for piece in pieces)
                    source = replace(source, first_row=pieces[0].start, n_rows=rows)
                yield from self.of_file(number, table, source)


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


class _Divider:
    """Divides parts whose codes run on: a user's id is hashed and sent once."""

    def __init__(self, keys: Sequence[int], start: tuple[int, int, int]) -> None:
        self.keys, self.start = keys, start
        self._items = pl.Series(dtype=pl.String)
        self._bucket_of, self._number_of = np.empty(0, np.uint16), np.empty(0, np.int32)
        self._sent = np.zeros(len(keys), np.int32)

    def of_buckets(self, read: loading.CodedRows) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the key and the new users and the events of each bucket that has some.

        Users have numbers in the order in which a bucket gets them, items among those met there.
        """
        bucket_of, count = _buckets_of(read.users, len(self.keys)), len(self.keys)
        order = np.argsort(bucket_of, kind="stable")
        ids, user_ends = read.users.gather(order), buckets.ends_of(bucket_of, count)
        behind = (self._sent - user_ends[:-1]).astype(np.int32)
        self._sent += np.diff(user_ends).astype(np.int32)
        numbers = places(order, len(order)) + behind[bucket_of]
        self._number_of = np.append(self._number_of, numbers)
        self._bucket_of = np.append(self._bucket_of, bucket_of)
        self._items = pl.concat([self._items, read.items])
        is_met = np.zeros(len(self._items), np.bool_)
        number_of_item = np.empty(len(self._items), np.int32)
        narrowed = {n: narrow(c) for n, c in read.columns.items() if n == dataset.ROW}
        columns = read.columns | narrowed
        columns, ends = buckets.in_groups(columns, self._bucket_of, self._number_of, count)
        kinds = pl.DataFrame(read.kinds, EventType._fields, orient="row")
        for bucket, key in enumerate(self.keys):
            rows = slice(ends[bucket], ends[bucket + 1])
            if rows.start == rows.stop:
                continue
            events = {name: column[rows] for name, column in columns.items()}
            is_met[events[dataset.ITEM]] = True
            met = np.flatnonzero(is_met)
            is_met[met] = False
            number_of_item[met] = np.arange(len(met), dtype=np.int32)
            content = {
                KINDS: kinds,
                USERS: ids[user_ends[bucket] : user_ends[bucket + 1]],
                ITEMS: self._items.gather(met),
                dataset.USER: narrow(events[dataset.USER]),
                dataset.ITEM: narrow(number_of_item[events[dataset.ITEM]]),
            }
            yield key, events | content
