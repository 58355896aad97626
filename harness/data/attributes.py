"""Attribute tables: one row a user or an item, its id, and since when it is there."""

from __future__ import annotations

import polars as pl

from harness.core.errors import DataError, suggest
from harness.core.params import ParameterError
from harness.data import times
from harness.data.layout import AttributeTable
from harness.data.source import Source, id_rule, time_rule
from harness.data.table_files import sources


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
    refuse_repeated(table, frame[table.id])
    return frame


def refuse_repeated(table: AttributeTable, ids: pl.Series) -> None:
    """Raise DataError where an id stands in more than one row."""
    if ids.n_unique() < ids.len():
        again = str(ids.filter(ids.is_duplicated()).sort()[0])
        raise DataError(
            f'{table.table.name}: column "{table.id}": the id "{again}" stands in more than one '
            "row; expected each id once"
        )


def refuse_strangers(table: AttributeTable, role: str, known: pl.Series, ids: pl.Series) -> None:
    """Raise DataError where none of the ids of a table, `known`, is one of those of events."""
    if len(known) == 0 or len(ids) == 0 or known.is_in(ids.implode()).any():
        return
    bare, bare_known = (texts.str.strip_chars_start("0") for texts in (ids, known))
    cure = "name the column of the same ids"
    if bare_known.is_in(bare.implode()).any():
        cure = (
            "they differ by zeros in front, which are lost where ids are saved as numbers: write "
            "them as texts in both files"
        )
    raise DataError(
        f'{table.table.name}: column "{table.id}" describes none of the {role} that have events: '
        f"events have {_some(ids)}, the table has {_some(known)}; {cure}"
    )


def _some(ids: pl.Series) -> str:
    first = ids.unique().sort().head(4)
    return ", ".join(f'"{one}"' for one in first.head(3)) + (", …" if len(first) > 3 else "")


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
    return source.texts(wanted, (id_rule(table.id),))


def since(table: AttributeTable, frame: pl.DataFrame) -> pl.Series:
    """Return the times of an attribute table's ``since`` column, int64 microseconds.

    Raises
    ------
    DataError
        A value that is no time.
    """
    column = table.since or ""
    first = frame[column].drop_nulls().head(1).to_list()
    pattern = times.pattern_of(table.time_format, first[0] if first else "") or times.DATE
    rule = time_rule(column, table.time_format, pattern, required=False)
    if rule.bad(frame[column]).any():
        for source in sources(table.table):
            source.texts([column], (rule,))
    return rule.parsed(frame[column])
