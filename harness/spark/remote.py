"""Tables that Spark alone can read, by their names in a config: as DataFrames, columns checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from harness.core.errors import DataError, UsageError, suggest
from harness.data import attributes, times, watched
from harness.data.conditions import Condition
from harness.data.json_source import SUFFIXES
from harness.data.layout import CATALOG, AttributeTable, EventTable, Layout, Table
from harness.data.source import FieldRule, id_rule, nulled, time_rule
from harness.data.typed import bad_value

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

_TEXT = (".csv", ".tsv", ".txt", ".dat", ".data")
_CHARSETS = {"utf-8": "UTF-8", "latin-1": "ISO-8859-1", "cp1252": "windows-1252"}
"""What Java calls each encoding."""
_COMPRESSED = (".gz", ".bz2", ".zst")


def events(spark: SparkSession, table: EventTable) -> tuple[DataFrame, list[str]]:
    """Return the columns of a table of events that are read, and the names of all.

    Raises
    ------
    DataError
        It does not have one of them.
    """
    name = table.table.remote
    if table.numbered:
        raise UsageError(
            f'{name}: ties = "file" needs the order of rows, which tables have none of with '
            '--engine spark; set ties = "shuffle" under [split], or name a file that every worker '
            "sees"
        )
    every = whole(spark, table.table)
    _require(every, name, table.columns)
    return every.select([column(wanted) for wanted in table.columns]), every.columns


def _require(every: DataFrame, name: str, columns: Sequence[str]) -> None:
    for wanted in columns:
        if wanted not in every.columns:
            raise DataError(
                f'{name}: no column "{wanted}"; it has: {", ".join(every.columns)}\n'
                f"{suggest(wanted, every.columns)}"
            )


def column(name: str) -> Column:
    """Return a column by its name, whatever letters it has."""
    from pyspark.sql import functions

    return functions.col(f"`{name.replace('`', '``')}`")


def whole(spark: SparkSession, table: Table) -> DataFrame:
    """Return a table with all its columns, those of delimited text as text."""
    name = table.remote
    plain = name.lower().rstrip("/")
    if table.rows or (plain.endswith(SUFFIXES) and not name.startswith(CATALOG)):
        raise UsageError(
            f"{name}: JSON lines, and lists of events, are read from files that every worker sees; "
            "copy it there, or write it as Parquet with one row an event"
        )
    if name.startswith(CATALOG):
        return spark.table(name.removeprefix(CATALOG))
    for end in _COMPRESSED:
        plain = plain.removesuffix(end)
    return _text(spark, table) if plain.endswith(_TEXT) else spark.read.parquet(name)


def _text(spark: SparkSession, table: Table) -> DataFrame:
    """Return delimited text as RFC 4180 has it, every column as text."""
    for key, is_set in {"escape": table.escape != "", "bad_lines": table.drop_bad_lines}.items():
        if is_set:
            raise UsageError(
                f"{table.remote}: Spark reads text without {table.named(key)}; leave it out, or "
                "copy the file to where every worker sees it"
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


def watching(spark: SparkSession, layout: Layout) -> Layout:
    """Return a layout whose tables of events that Spark reads have the columns that are watched."""

    def first(frame: DataFrame, name: str, rows: int) -> pl.Series:
        texts = frame.select(column(name).cast("string")).head(rows)
        return pl.Series([row[0] for row in texts], dtype=pl.String)

    tables = []
    for table in layout.events:
        if table.table.remote:
            every = whole(spark, table.table)
            table = watched.watching(table, every.columns, partial(first, every))
        tables.append(table)
    return replace(layout, events=tuple(tables))


def pattern(table: DataFrame, name: str | None, time_format: str) -> str | None:
    """Return how the times of a column are written, by the first; see `Source.pattern`."""
    if name is None or time_format in times.EPOCH_UNITS_US:
        return None
    if dict(table.dtypes)[name] != "string":
        return times.DATE
    text = column(name)
    rows = table.select(text).where(text.isNotNull() & (text != "")).head(times.FIRST)
    return times.pattern_of_first(time_format, (row[0] for row in rows))


def texts(spark: SparkSession, table: AttributeTable) -> DataFrame:
    """Return an attribute table, all columns as text, ids first."""
    every = whole(spark, table.table)
    first = [table.id, *([] if table.since is None else [table.since])]
    _require(every, table.table.remote, first)
    names = dict.fromkeys([*first, *every.columns])
    return every.select([column(name).cast("string").alias(name) for name in names])


def items(spark: SparkSession, table: AttributeTable) -> pl.DataFrame | None:
    """Return an items' table that Spark alone can read; None: others are read when needed."""
    if not table.table.remote:
        return None
    every = texts(spark, table)
    rows, _ = checked(table, pattern(every, table.since, table.time_format), every.toArrow())
    attributes.refuse_repeated(table, rows[table.id])
    return rows


def checked(
    table: AttributeTable, pattern: str | None, texts: pa.Table | pa.RecordBatch
) -> tuple[pl.DataFrame, pl.Series | None]:
    """Return the rows of an attribute table, null where nothing stands, and their times."""
    rows = pl.DataFrame(pl.from_arrow(texts))
    rows = rows.with_columns(nulled(rows[name]) for name in rows.columns)
    refuse_bad(table.table.name, rows, [id_rule(table.id)])
    if table.since is None:
        return rows, None
    rule = time_rule(table.since, table.time_format, pattern, required=False)
    refuse_bad(table.table.name, rows, [rule])
    return rows, rule.parsed(rows[table.since])


def refuse_bad(
    name: str,
    rows: pl.DataFrame,
    rules: Sequence[FieldRule],
    where: Sequence[Condition] = (),
) -> None:
    """Raise DataError for the first value that is not what a rule says, of rows that hold `where`.

    Rows that do not hold it may hold anything.
    """
    for rule in rules:
        bad = bad_value(rows, rule, where)
        if bad is not None:
            raise DataError(f"{name}{rule.fault(bad[1])}")
