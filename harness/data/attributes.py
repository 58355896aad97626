"""Attribute tables: one row a user or an item, its id, and since when it is there."""

from __future__ import annotations

import polars as pl

from harness.core.errors import DataError, counted, suggest
from harness.core.params import ParameterError
from harness.data import times
from harness.data.layout import AttributeTable
from harness.data.oddities import without_zeros
from harness.data.rules import id_rule, time_rule
from harness.data.table_files import sources

_LOST_ZEROS = "lost if ids are saved as numbers: write ids as text in both files"


def check(table: AttributeTable) -> None:
    """Raise DataError where a table or its id column is missing; read no row."""
    for source in sources(table):
        source.require((table.id,))


def read(table: AttributeTable, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the rows of an attribute table, ids first; `columns` None reads them all, as text."""
    frames = []
    for source in sources(table):
        source.require((table.id, *(columns or ())))
        wanted = dict.fromkeys((table.id, *(source.names if columns is None else columns)))
        frames.append(source.texts(list(wanted), (id_rule(table.id),)))
    frame = pl.concat(frames)
    refuse_repeated(table, frame[table.id])
    return frame


def refuse_repeated(table: AttributeTable, ids: pl.Series) -> None:
    """Raise DataError where an id stands in more than one row."""
    if ids.n_unique() < ids.len():
        again = str(ids.filter(ids.is_duplicated()).sort()[0])
        raise DataError(
            f'{table.name}: column "{table.id}": the id "{again}" is in more than one row; '
            "expected each id once"
        )


def notes_on_ids(table: AttributeTable, role: str, known: pl.Series, ids: pl.Series) -> list[str]:
    """Return a note where ids of a table, `known`, are those of events but for zeros in front.

    Raises DataError where none of the ids of the table is one of those of events.
    """
    strangers = known.filter(~known.is_in(ids.implode()))
    if len(strangers) == 0 or len(ids) == 0:
        return []
    bare_ids = without_zeros(ids)
    damaged = strangers.filter(strangers.str.contains("^[0-9]+$"))
    damaged = damaged.filter(without_zeros(damaged).is_in(bare_ids.implode())).sort()
    if len(strangers) == len(known):
        cure = "name the column of the same ids"
        if len(damaged) > 0:
            cure = f"they differ by leading zeros, which are {_LOST_ZEROS}"
        raise DataError(
            f'{table.name}: column "{table.id}" describes none of the {role} that have '
            f"events: events have {_some(ids)}, the table has {_some(known)}; {cure}"
        )
    if damaged.is_empty():
        return []
    first = damaged[0]
    of_event = ids.filter(bare_ids == without_zeros(damaged)[0]).sort()[0]
    are = "is that of an event" if len(damaged) == 1 else "are those of events"
    return [
        f"{table.path.name}: {len(damaged):,} of {counted(len(known), 'id')} in column "
        f'"{table.id}" {are} without leading zeros, such as "{first}", but the events have '
        f'"{of_event}": leading zeros are {_LOST_ZEROS}'
    ]


def _some(ids: pl.Series) -> str:
    first = ids.unique().sort().head(4)
    return ", ".join(f'"{id}"' for id in first.head(3)) + (", …" if len(first) > 3 else "")


def whole(table: AttributeTable | pl.DataFrame | None) -> pl.DataFrame | None:
    """Return a table, read from its file if need be."""
    return read(table) if isinstance(table, AttributeTable) else table


def column(table: AttributeTable | pl.DataFrame, name: str, ids: pl.Series) -> pl.Series:
    """Return one column of a table as text, in the order of `ids`; null for ids without a row."""
    frame = read(table, [name]) if isinstance(table, AttributeTable) else table
    if name not in frame.columns:
        raise ParameterError(f'the table has no column "{name}"; {suggest(name, frame.columns)}')
    return of_ids(frame, ids)[name]


def of_ids(table: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    """Return the rows of a table in the order of `ids`, null where an id has none.

    The ids stand in the table's first column.
    """
    id = table.columns[0]
    return pl.DataFrame({id: ids}).join(table, on=id, how="left", maintain_order="left")


def since(table: AttributeTable, frame: pl.DataFrame) -> pl.Series:
    """Return the times of an attribute table's ``since`` column, int64 microseconds."""
    column = table.since or ""
    first = frame[column].drop_nulls().head(1).to_list()
    pattern = times.pattern_of(table.time_format, first[0] if first else "") or times.DATE
    rule = time_rule(column, table.time_format, pattern, required=False)
    if rule.bad(frame[column]).any():
        for source in sources(table):
            source.texts([column], (rule,))
    return rule.parsed(frame[column])
