"""Carries out a layout: tables in, batches of canonical columns out (lazy, in bounded memory)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import narwhals as nw
import polars as pl

from harness import schema
from harness.encode import hashes_of
from harness.errors import DataError, suggest
from harness.files import parts, unpacked
from harness.layouts import times
from harness.layouts.locate import FieldRule, locate
from harness.layouts.tables import AttributeTable, EventTable, Table

BATCH_ROWS = 1_000_000
_KEEP = "keep"


def event_batches(events: EventTable) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield batches of events and, beside each, the number of its rows left out by a minimum.

    Yields
    ------
    frame : polars.DataFrame
        Columns ``user``, ``item`` (str), ``time`` (int64 microseconds since 1970), and the hashes
        of the ids that an `Encoder` asks for, ``user_1``, ``user_2``, ``item_1``, ``item_2``.
    left_out : int
        Rows below a minimum.

    Raises
    ------
    DataError
        A missing file or column, an empty id, a time or number that cannot be read; the message
        names file, line, column and value.
    """
    for part in parts(events.table.path):
        with unpacked(part) as plain:
            yield from _part_batches(events, plain, part)


def _part_batches(
    events: EventTable, plain: Path, shown: Path
) -> Iterator[tuple[pl.DataFrame, int]]:
    source = _scan(events.table, plain)
    names = _checked_columns(events.columns, source, shown)
    _refuse_float_ids((events.user, events.item), source, shown)
    rules = _rules(events, source)
    query = nw.from_native(source).select(
        nw.col(events.user).cast(nw.String).alias(schema.USER),
        nw.col(events.item).cast(nw.String).alias(schema.ITEM),
        _time(events, source, shown).alias(schema.TIME),
        _keep(events).alias(_KEEP),
    )
    hashes = [
        h.alias(f"{column}_{i}")
        for column in (schema.USER, schema.ITEM)
        for i, h in enumerate(hashes_of(column), 1)
    ]
    hashed = query.to_native().with_columns(hashes)
    try:
        for batch in hashed.collect_batches(chunk_size=BATCH_ROWS):
            kept = batch.filter(pl.col(_KEEP)) if events.minimum else batch
            if any(column.has_nulls() for column in kept.iter_columns()):
                raise locate(events.table, plain, shown, names, rules, "an empty value")
            yield kept.drop(_KEEP), batch.height - kept.height
    except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError) as error:
        raise locate(events.table, plain, shown, names, rules, str(error)) from error


def _scan(table: Table, plain: Path) -> pl.LazyFrame:
    """Scan a plain file; every column of a text file is text."""
    if plain.suffix == ".parquet":
        return pl.scan_parquet(plain)
    return pl.scan_csv(
        plain,
        separator=table.separator,
        has_header=table.header is None,
        new_columns=None if table.header is None else list(table.header),
        infer_schema=False,
    )


def _checked_columns(needed: tuple[str, ...], source: pl.LazyFrame, shown: Path) -> list[str]:
    """Return the names of all columns; a missing one is an error that shows those there are."""
    try:
        names = source.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{shown}: cannot be read as a table: {_first_line(error)}") from error
    for name in needed:
        if name not in names:
            raise DataError(
                f'{shown}: line 1: no column "{name}"; {suggest(name, names)}\n'
                f"the file has: {', '.join(names)}"
            )
    return names


def _refuse_float_ids(ids: tuple[str, ...], source: pl.LazyFrame, shown: Path) -> None:
    for name in ids:
        dtype = source.collect_schema()[name]
        if dtype.is_float():
            raise DataError(
                f'{shown}: column "{name}" holds {dtype} values, which cannot keep ids apart; '
                "write ids as text"
            )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _time(events: EventTable, source: pl.LazyFrame, shown: Path) -> nw.Expr:
    if events.time is None:
        return nw.lit(0, nw.Int64)
    column = events.time
    head = nw.from_native(source).select(column)
    dtype = head.collect_schema()[column]
    if dtype.is_temporal():
        return times.from_dtype(column, dtype)
    if dtype.is_numeric() and events.time_format not in times.EPOCH_UNITS_US:
        raise DataError(
            f'{shown}: column "{column}" holds numbers, not {times.expected(events.time_format)}; '
            'set time_format = "epoch_s" or "epoch_ms" under [data]'
        )
    return times.from_text(column, events.time_format, _pattern(events, source))


def _pattern(events: EventTable, source: pl.LazyFrame) -> str | None:
    if events.time is None or events.time_format in times.EPOCH_UNITS_US:
        return None
    try:
        first = source.select(pl.col(events.time).cast(pl.String)).head(1).collect()
        sample = "" if first.is_empty() else str(first.item())
    except pl.exceptions.PolarsError:
        sample = ""
    # A first value that is no time is met again, and located, when the column is read.
    return times.pattern_of(events.time_format, sample) or "%Y-%m-%d"


def _keep(events: EventTable) -> nw.Expr:
    """Return the rows that reach every minimum; an empty cell reaches none."""
    keep = nw.lit(True)
    for column, lowest in events.minimum:
        keep = keep & (nw.col(column).cast(nw.Float64) >= lowest).fill_null(False)
    return keep


def _rules(events: EventTable, source: pl.LazyFrame) -> tuple[FieldRule, ...]:
    """Return what each read column must hold, for finding the first value that does not."""
    rules = [FieldRule(c, "an id", None, True) for c in (events.user, events.item)]
    if events.time is not None:
        expr = nw.col(events.time)
        if source.collect_schema()[events.time] == pl.String:
            expr = times.from_text(events.time, events.time_format, _pattern(events, source))
        rules.append(FieldRule(events.time, times.expected(events.time_format), expr, True))
    for column, _ in events.minimum:
        rules.append(FieldRule(column, "a number", nw.col(column).cast(nw.Float64), False))
    return tuple(rules)


def check_attributes(table: AttributeTable) -> None:
    """Raise DataError where an attribute table or its id column is missing; read no row."""
    for part in parts(table.table.path):
        with unpacked(part) as plain:
            _checked_columns((table.id,), _scan(table.table, plain), part)


def attributes(table: AttributeTable, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the rows of an attribute table; `columns` None reads them all, as text.

    Raises
    ------
    DataError
        A missing file or column, an empty or repeated id.
    """
    frames = []
    for part in parts(table.table.path):
        with unpacked(part) as plain:
            source = _scan(table.table, plain)
            names = _checked_columns((table.id, *(columns or ())), source, part)
            wanted = names if columns is None else list(dict.fromkeys((table.id, *columns)))
            try:
                frame = source.select(pl.col(wanted).cast(pl.String)).collect()
            except pl.exceptions.PolarsError as error:
                rules = (FieldRule(table.id, "an id", None, True),)
                raise locate(table.table, plain, part, names, rules, str(error)) from error
            _check_ids(table, frame, part)
            frames.append(frame)
    return pl.concat(frames)


def _check_ids(table: AttributeTable, frame: pl.DataFrame, shown: Path) -> None:
    ids = frame[table.id]
    if ids.has_nulls():
        row = int(ids.is_null().arg_max() or 0)
        raise DataError(
            f'{shown}: column "{table.id}": {ids.null_count()} ids are empty, '
            f"the first in row {row + 1} after the header; expected an id in every row"
        )
    if ids.n_unique() < ids.len():
        again = str(ids.filter(ids.is_duplicated()).sort()[0])
        raise DataError(
            f'{shown}: column "{table.id}": the id "{again}" stands in more than one row; '
            "expected each id once"
        )


def since(table: AttributeTable, frame: pl.DataFrame) -> pl.Series:
    """Return the times of an attribute table's ``since`` column, int64 microseconds.

    Raises
    ------
    DataError
        A value that is no time.
    """
    column = table.since or ""
    first = frame[column].drop_nulls().head(1).to_list()
    pattern = times.pattern_of(table.time_format, first[0] if first else "") or "%Y-%m-%d"
    expr = times.from_text(column, table.time_format, pattern)
    try:
        return nw.from_native(frame).select(expr.alias(column)).to_native()[column]
    except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError) as error:
        path = parts(table.table.path)[0]
        rules = (FieldRule(column, times.expected(table.time_format), expr, False),)
        with unpacked(path) as plain:
            names = _scan(table.table, plain).collect_schema().names()
            raise locate(table.table, plain, path, names, rules, str(error)) from error
