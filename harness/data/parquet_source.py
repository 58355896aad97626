"""A Parquet file as a table, read by Polars: columns have types, and rows are whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl

from harness.core import parquet
from harness.core.arrays import UInt64
from harness.core.errors import DataError
from harness.core.ids import hashes_of
from harness.core.io import unusable
from harness.core.parquet import UNREADABLE
from harness.core.unpacking import PARQUET, UnpackingError
from harness.data import dataset, layout
from harness.data.layout import EventTable, Table
from harness.data.source import (
    START,
    Batch,
    FieldRule,
    Mark,
    Met,
    Source,
    id_rule,
    nulled,
    number_rule,
    time_rule,
)

BATCH_ROWS = 1_000_000
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
"""Bytes that no text has, and any Parquet file."""
_KEEP = "keep"
_IDS = (dataset.USER, dataset.ITEM)


class ParquetSource(Source):
    """A Parquet file of a table.

    Parameters
    ----------
    plain, shown : Path
        The file as it can be read, and as the user knows it (perhaps packed).

    Raises
    ------
    DataError
        A file that cannot be read.
    """

    def __init__(self, table: Table, plain: Path, shown: Path) -> None:
        self.table, self.plain, self.shown = table, plain, shown
        try:
            self.frame = parquet.scan(plain, table.cap, shown.stat().st_size)
            self.kinds = dict(self.frame.collect_schema())
        except UnpackingError as error:
            _refuse_text(plain, shown)
            raise unusable(shown, error, table.cap) from error
        except UNREADABLE as error:
            first = str(error).strip().splitlines()[0]
            raise DataError(f"{shown}: cannot be read as a table: {first}") from error
        self.names = list(self.kinds)

    def first(self, column: str, rows: int) -> pl.Series:
        """Return the first values of a column as text; none where they cannot be read."""
        try:
            return self.frame.select(pl.col(column).cast(pl.String)).head(rows).collect()[column]
        except UNREADABLE:
            return pl.Series(dtype=pl.String)

    def whole(self) -> pl.DataFrame:
        """Return all columns, of the types that they have."""
        try:
            parquet.check_texts(self.frame, self.table.cap, self.shown.stat().st_size)
            return self.frame.collect()
        except UnpackingError as error:
            raise unusable(self.shown, error, self.table.cap) from error
        except UNREADABLE as error:
            self._fail((), str(error), error)

    def texts(self, columns: list[str], rules: tuple[FieldRule, ...] = ()) -> pl.DataFrame:
        """Return columns as text; see `Source.texts`."""
        try:
            frame = self.frame.select(pl.col(columns).cast(pl.String)).collect()
        except UNREADABLE as error:
            self._fail(rules, str(error), error)
        for rule in rules:
            if rule.bad(nulled(frame[rule.column])).any():
                self._fail(rules, "a value that is not what it should be")
        return frame

    def _fail(
        self, rules: tuple[FieldRule, ...], reason: str, error: Exception | None = None
    ) -> NoReturn:
        """Raise the error for the first bad value; without one it carries the reader's reason."""
        try:
            found = next(filter(None, map(self._bad, rules)), None)
        except UNREADABLE:  # its pages are damaged, as the reason says
            found = None
        says = found or f"cannot be read: {reason.strip().splitlines()[0]}"
        raise DataError(f"{self.shown}: {says}") from error

    def _bad(self, rule: FieldRule) -> str | None:
        """Return the first value of a column that is not what it should be."""
        values = pl.read_parquet(self.plain, columns=[rule.column], glob=False)[rule.column]
        text = nulled(values.cast(pl.String))
        bad = rule.bad(text)
        if values.dtype != pl.String and not values.dtype.is_numeric():  # a time needs no parsing
            bad = text.is_null().to_numpy() & rule.required
        if not bad.any():
            return None
        at = int(bad.argmax())
        return f"row {at + 1}{rule.fault(text[at])}"

    def about(self) -> int:
        """Return how many rows there are."""
        try:
            return int(self.frame.select(pl.len()).collect().item())
        except UNREADABLE:
            return 0  # told when the rows are read

    def events(self, table: EventTable, secret: UInt64, start: Mark = START) -> Iterator[Batch]:
        """Yield the rows as events, in batches; `secret` is not needed, as Polars has its own."""
        self._refuse_float_ids((table.user, table.item))
        rules, before = self._rules(table), start.rows
        try:
            query = self._query(table).slice(start.rows)
            for batch in query.collect_batches(chunk_size=BATCH_ROWS):
                kept = batch.filter(pl.col(_KEEP)) if table.minimum else batch
                if any(column.has_nulls() for column in kept.iter_columns()) or any(
                    (kept[column] == "").any() for column in _IDS
                ):
                    self._fail(rules, "an empty value")
                before += batch.height
                yield _batch(kept, batch.height - kept.height, Mark(before))
        except UNREADABLE as error:
            self._fail(rules, str(error), error)

    def _query(self, table: EventTable) -> pl.LazyFrame:
        frame = self.frame.with_row_index(dataset.ROW) if table.numbered else self.frame
        query = frame.select(
            pl.col(table.user).cast(pl.String).alias(dataset.USER),
            pl.col(table.item).cast(pl.String).alias(dataset.ITEM),
            self._time(table).alias(dataset.TIME),
            _keep(table).alias(_KEEP),
            *([dataset.ROW] if table.numbered else []),
        )
        return query.with_columns(
            h.alias(f"{column}_{i}") for column in _IDS for i, h in enumerate(hashes_of(column), 1)
        )

    def _refuse_float_ids(self, ids: tuple[str, ...]) -> None:
        for name in ids:
            if self.kinds[name].is_float():
                raise DataError(
                    f'{self.shown}: column "{name}" holds {self.kinds[name]} values, which cannot '
                    "keep ids apart; write ids as text"
                )

    def _time(self, table: EventTable) -> pl.Expr:
        if table.time is None:
            return pl.lit(0, pl.Int64)
        column, dtype = table.time, self.kinds[table.time]
        if dtype.is_temporal():
            return layout.from_dtype(column, dtype)
        if dtype.is_numeric() and table.time_format not in layout.EPOCH_UNITS_US:
            raise DataError(
                f'{self.shown}: column "{column}" holds numbers, not '
                f"{layout.expected(table.time_format)}; "
                'set time_format = "epoch_s" or "epoch_ms" under [data]'
            )
        pattern = self.pattern(column, table.time_format)
        return layout.from_text(column, table.time_format, pattern)

    def _rules(self, table: EventTable) -> tuple[FieldRule, ...]:
        """Return what each read column must hold, for finding the first value that does not."""
        rules = [id_rule(table.user), id_rule(table.item)]
        if table.time is not None:
            pattern = self.pattern(table.time, table.time_format)
            rules.append(time_rule(table.time, table.time_format, pattern, required=True))
        return (*rules, *(number_rule(column) for column, _ in table.minimum))


def _refuse_text(plain: Path, shown: Path) -> None:
    """Raise DataError where a file that should be Parquet is text by its first bytes."""
    with plain.open("rb") as file:
        first = file.read(1 << 10)
    if first and not first.startswith(PARQUET) and first == first.translate(None, _CONTROLS):
        name = shown.name.replace(plain.suffix, ".csv")
        raise DataError(
            f"{shown}: is no Parquet file and looks like text; rename it {name}, in the config or "
            "the command too"
        )


def _batch(kept: pl.DataFrame, left_out: int, behind: Mark) -> Batch:
    user, item = (Met(_keys(kept, name), kept[name].gather) for name in _IDS)
    row = kept[dataset.ROW].cast(pl.Int64).to_numpy() if dataset.ROW in kept.columns else None
    return Batch(user, item, kept[dataset.TIME].to_numpy(), row, left_out, behind)


def _keys(batch: pl.DataFrame, column: str) -> UInt64:
    return np.column_stack([batch[f"{column}_{i}"].to_numpy() for i in (1, 2)])


def _keep(table: EventTable) -> pl.Expr:
    """Return the rows that reach every minimum; an empty cell reaches none."""
    keep = pl.lit(True)
    for column, lowest in table.minimum:
        number = pl.col(column).cast(pl.Float64)
        keep = keep & ((number >= lowest) & ~number.is_nan()).fill_null(False)
    return keep
