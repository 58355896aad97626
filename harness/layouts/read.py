"""Carries out a layout: tables in, batches of canonical columns out (lazy, in bounded memory)."""

from __future__ import annotations

from collections.abc import Iterator

import narwhals as nw
import polars as pl

from harness import schema
from harness.encode import hashes_of
from harness.errors import DataError
from harness.layouts import times, zeros
from harness.layouts.locate import FieldRule
from harness.layouts.source import Source, sources
from harness.layouts.tables import EventTable
from harness.parquet import UNREADABLE

BATCH_ROWS = 1_000_000
_FIRST = 1_000
_KEEP, _TOO_MANY, _TOO_FEW = "keep", "too_many", "too_few"


def event_batches(events: EventTable) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield batches of events and, beside each, the number of its rows left out by a minimum.

    Yields
    ------
    frame : polars.DataFrame
        Columns ``user``, ``item`` (str), ``time`` (int64 microseconds since 1970), and the hashes
        of the ids that an `Encoder` asks for, ``user_1``, ``user_2``, ``item_1``, ``item_2``; and
        ``row``, from 0, where the table is to be numbered.
    left_out : int
        Rows below a minimum.

    Raises
    ------
    DataError
        A missing file or column, a row with too few or too many fields, an empty id, a time or
        number that cannot be read; the message names file, line, column and value.
    """
    for source in sources(events.table):
        try:
            source.require(events.columns)
            _refuse_float_ids((events.user, events.item), source)
            yield from _batches(events, source)
        except DataError as error:
            raise _with_zeros(error, events, source) from error


def _with_zeros(error: DataError, events: EventTable, source: Source) -> DataError:
    """Return an error that also tells of lost zeros, which the same spreadsheet took."""
    if events.item_width is None or events.item not in source.names:
        return error
    try:
        first = source.frame.select(pl.col(events.item).cast(pl.String)).head(_FIRST).collect()
    except UNREADABLE:
        return error
    short = zeros.lost(first[events.item], events.item_width)
    if short.is_empty():
        return error
    return DataError(
        f'{error}\nand its item ids, such as "{short[0]}", have {events.item_width - 1} digits: '
        f"the leading zero was lost when the file was saved as numbers; {zeros.CURE}"
    )


def _batches(events: EventTable, source: Source) -> Iterator[tuple[pl.DataFrame, int]]:
    rules = _rules(events, source)
    shape_is_known = False
    try:
        for batch in _query(events, source).collect_batches(chunk_size=BATCH_ROWS):
            too_many, too_few = bool(batch[_TOO_MANY].any()), bool(batch[_TOO_FEW].any())
            if too_many or (too_few and not shape_is_known):
                source.check_rows(too_many, too_few)
                shape_is_known = True
            kept = batch.filter(pl.col(_KEEP)) if events.minimum else batch
            if any(column.has_nulls() for column in kept.iter_columns()) or any(
                (kept[column] == "").any() for column in (schema.USER, schema.ITEM)
            ):
                raise source.fault(rules, "an empty value")
            yield kept, batch.height - kept.height
    except (*UNREADABLE, nw.exceptions.NarwhalsError) as error:
        raise source.fault(rules, str(error)) from error


def _query(events: EventTable, source: Source) -> pl.LazyFrame:
    too_many, too_few = source.whole_rows()
    marked = source.frame.with_columns(too_many.alias(_TOO_MANY), too_few.alias(_TOO_FEW))
    numbers = (schema.ROW,) if events.numbered else ()
    if numbers:
        marked = marked.with_row_index(schema.ROW)
    query = nw.from_native(marked).select(
        nw.col(events.user).cast(nw.String).alias(schema.USER),
        nw.col(events.item).cast(nw.String).alias(schema.ITEM),
        _time(events, source).alias(schema.TIME),
        _keep(events).alias(_KEEP),
        nw.col(_TOO_MANY, _TOO_FEW, *numbers),
    )
    hashes = [
        h.alias(f"{column}_{i}")
        for column in (schema.USER, schema.ITEM)
        for i, h in enumerate(hashes_of(column), 1)
    ]
    return query.to_native().with_columns(hashes)


def _refuse_float_ids(ids: tuple[str, ...], source: Source) -> None:
    for name in ids:
        dtype = source.frame.collect_schema()[name]
        if dtype.is_float():
            raise DataError(
                f'{source.shown}: column "{name}" holds {dtype} values, which cannot keep ids '
                "apart; write ids as text"
            )


def _time(events: EventTable, source: Source) -> nw.Expr:
    if events.time is None:
        return nw.lit(0, nw.Int64)
    column = events.time
    dtype = nw.from_native(source.frame).select(column).collect_schema()[column]
    if dtype.is_temporal():
        return times.from_dtype(column, dtype)
    if dtype.is_numeric() and events.time_format not in times.EPOCH_UNITS_US:
        raise DataError(
            f'{source.shown}: column "{column}" holds numbers, not '
            f"{times.expected(events.time_format)}; "
            'set time_format = "epoch_s" or "epoch_ms" under [data]'
        )
    return times.from_text(column, events.time_format, _pattern(events, source))


def _pattern(events: EventTable, source: Source) -> str | None:
    if events.time is None or events.time_format in times.EPOCH_UNITS_US:
        return None
    try:
        first = source.frame.select(pl.col(events.time).cast(pl.String)).head(1).collect()
        sample = "" if first.is_empty() else str(first.item())
    except UNREADABLE:
        sample = ""
    # A first value that is no time is met again, and located, when the column is read.
    return times.pattern_of(events.time_format, sample) or times.DATE


def _keep(events: EventTable) -> nw.Expr:
    """Return the rows that reach every minimum; an empty cell reaches none."""
    keep = nw.lit(True)
    for column, lowest in events.minimum:
        number = nw.col(column).cast(nw.Float64)
        keep = keep & ((number >= lowest) & ~number.is_nan()).fill_null(False)
    return keep


def _rules(events: EventTable, source: Source) -> tuple[FieldRule, ...]:
    """Return what each read column must hold, for finding the first value that does not."""
    rules = [FieldRule(c, "an id", None, True) for c in (events.user, events.item)]
    if events.time is not None:
        expr, pattern = nw.col(events.time), _pattern(events, source)
        if source.frame.collect_schema()[events.time] == pl.String:
            expr = times.from_text(events.time, events.time_format, pattern)
        rules.append(
            FieldRule(events.time, times.expected(events.time_format, pattern), expr, True)
        )
    for column, _ in events.minimum:
        rules.append(FieldRule(column, "a number", nw.col(column).cast(nw.Float64), False))
    return tuple(rules)
