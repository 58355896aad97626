"""Attribute tables: one row a user or an item, its id, and since when it is there."""

from __future__ import annotations

import polars as pl

from harness.core.errors import DataError, suggest
from harness.core.params import ParameterError
from harness.core.parquet import UNREADABLE
from harness.data import layout
from harness.data.csv_errors import FieldRule
from harness.data.csv_source import Source, sources
from harness.data.layout import AttributeTable


def check(table: AttributeTable) -> None:
    """Raise DataError where a table or its id column is missing; read no row."""
    for source in sources(table.table):
        source.require((table.id,))


def read(table: AttributeTable, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the rows of an attribute table, ids first; `columns` None reads them all, as text.

    Raises
    ------
    DataError
        A missing file or column, a row with too few or too many fields, an empty or repeated id.
    """
    frames = [_rows(table, columns, source) for source in sources(table.table)]
    frame = pl.concat(frames)
    ids = frame[table.id]
    if ids.n_unique() < ids.len():
        again = str(ids.filter(ids.is_duplicated()).sort()[0])
        raise DataError(
            f'{table.table.path}: column "{table.id}": the id "{again}" stands in more than one '
            "row; expected each id once"
        )
    return frame


def whole(table: AttributeTable | pl.DataFrame | None) -> pl.DataFrame | None:
    """Return a table, read from its file if need be."""
    return read(table) if isinstance(table, AttributeTable) else table


def column(table: AttributeTable | pl.DataFrame, name: str, ids: pl.Series) -> pl.Series:
    """Return one column of a table as text, in the order of `ids`; null for ids without a row.

    Raises
    ------
    DataError, ValueError
        No such column in the file, or in the frame.
    """
    frame = read(table, [name]) if isinstance(table, AttributeTable) else table
    if name not in frame.columns:
        raise ParameterError(f'the table has no column "{name}"; {suggest(name, frame.columns)}')
    return of_ids(frame, ids)[name]


def of_ids(table: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    """Return the rows of a table in the order of `ids`, null where an id has none.

    The ids stand in the table's first column.
    """
    own = table.columns[0]
    return pl.DataFrame({own: ids}).join(table, on=own, how="left", maintain_order="left")


def _rows(table: AttributeTable, columns: list[str] | None, source: Source) -> pl.DataFrame:
    source.require((table.id, *(columns or ())))
    wanted = list(dict.fromkeys((table.id, *(source.names if columns is None else columns))))
    rules = (FieldRule(table.id, "an id", None, True),)
    try:
        frame = source.texts(wanted)
    except UNREADABLE as error:
        raise source.fault(rules, str(error)) from error
    if frame[table.id].has_nulls() or (frame[table.id] == "").any():
        raise source.fault(rules, "an empty id")
    return frame


def since(table: AttributeTable, frame: pl.DataFrame) -> pl.Series:
    """Return the times of an attribute table's ``since`` column, int64 microseconds.

    Raises
    ------
    DataError
        A value that is no time.
    """
    column = table.since or ""
    first = frame[column].drop_nulls().head(1).to_list()
    pattern = layout.pattern_of(table.time_format, first[0] if first else "") or layout.DATE
    expr = layout.from_text(column, table.time_format, pattern)
    reason = "a value that is no time"
    try:
        found = frame.select(expr.alias(column))[column]
        if not (found.is_null() & frame[column].is_not_null()).any():
            return found
    except pl.exceptions.PolarsError as error:
        reason = str(error)
    parse = layout.from_text(column, table.time_format, pattern, strict=False)
    rules = (FieldRule(column, layout.expected(table.time_format, pattern), parse, False),)
    raise next(source.fault(rules, reason) for source in sources(table.table))
