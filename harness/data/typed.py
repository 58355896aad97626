"""Rows whose columns have types, of a Parquet file or of Spark, as events."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from harness.core.arrays import UInt64
from harness.core.errors import DataError
from harness.core.ids import hashes_of
from harness.data import dataset, layout
from harness.data.layout import EventTable
from harness.data.source import (
    Batch,
    FieldRule,
    Mark,
    Met,
    id_rule,
    nulled,
    number_rule,
    time_rule,
)

_KEEP = "keep"
_IDS = (dataset.USER, dataset.ITEM)


class TypedEvents:
    """How such rows are events of a table: ids as text, times by the type of their column.

    Parameters
    ----------
    shown : str
        The file or table as the user knows it.
    kinds : mapping of column to Polars type
    pattern : str, optional
        How times are written where they are text; see `harness.data.layout.from_text`.

    Attributes
    ----------
    rules : tuple of FieldRule
        What each column must hold, for finding the first value that does not.
    columns : list of polars.Expr
        What `batch` takes, as expressions that the reader works out.

    Raises
    ------
    DataError
        Ids that are floats, or times that are numbers and are not said to be.
    """

    def __init__(
        self,
        shown: str,
        table: EventTable,
        kinds: Mapping[str, pl.DataType],
        pattern: str | None,
    ) -> None:
        self.shown, self.table, self.kinds, self.pattern = shown, table, kinds, pattern
        self._refuse_float_ids()
        self.rules = tuple(self._rules())
        self.columns = [
            pl.col(table.user).cast(pl.String).alias(dataset.USER),
            pl.col(table.item).cast(pl.String).alias(dataset.ITEM),
            self._time().alias(dataset.TIME),
            _keep(table).alias(_KEEP),
            *([pl.col(dataset.ROW)] if table.numbered else []),
        ]
        self.keys = [
            h.alias(f"{column}_{i}") for column in _IDS for i, h in enumerate(hashes_of(column), 1)
        ]

    def _refuse_float_ids(self) -> None:
        for name in (self.table.user, self.table.item):
            kind = self.kinds[name]
            if kind.is_float() or kind.is_nested() or kind == pl.Binary:
                raise DataError(
                    f'{self.shown}: column "{name}" holds {kind} values, which cannot '
                    "keep ids apart; write ids as text"
                )

    def _rules(self) -> list[FieldRule]:
        table = self.table
        rules = [id_rule(table.user), id_rule(table.item)]
        if table.time is not None:
            rules.append(time_rule(table.time, table.time_format, self.pattern, required=True))
        return [*rules, *(number_rule(column) for column, _ in table.minimum)]

    def _time(self) -> pl.Expr:
        table = self.table
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
        return layout.from_text(column, table.time_format, self.pattern)

    def batch(self, rows: pl.DataFrame, behind: Mark) -> Batch | None:
        """Return rows as events; None where a value is empty.

        Parameters
        ----------
        rows : polars.DataFrame
            With `columns` and then `keys`.
        """
        kept = rows.filter(pl.col(_KEEP)) if self.table.minimum else rows
        if any(column.has_nulls() for column in kept.iter_columns()) or any(
            (kept[column] == "").any() for column in _IDS
        ):
            return None
        user, item = (Met(_keys(kept, name), kept[name].gather) for name in _IDS)
        row = kept[dataset.ROW].cast(pl.Int64).to_numpy() if self.table.numbered else None
        left_out = rows.height - kept.height
        return Batch(user, item, kept[dataset.TIME].to_numpy(), row, left_out, behind)


def bad_value(values: pl.Series, rule: FieldRule) -> tuple[int, str | None] | None:
    """Return the first of a column's values that is not what it should be, and its place."""
    text = nulled(values.cast(pl.String))
    bad = rule.bad(text)
    if values.dtype != pl.String and not values.dtype.is_numeric():  # a time needs no parsing
        bad = text.is_null().to_numpy() & rule.required
    if not bad.any():
        return None
    at = int(bad.argmax())
    return at, text[at]


def _keys(batch: pl.DataFrame, column: str) -> UInt64:
    return np.column_stack([batch[f"{column}_{i}"].to_numpy() for i in (1, 2)])


def _keep(table: EventTable) -> pl.Expr:
    """Return the rows that reach every minimum; an empty cell reaches none."""
    keep = pl.lit(True)
    for column, lowest in table.minimum:
        number = pl.col(column).cast(pl.Float64)
        keep = keep & ((number >= lowest) & ~number.is_nan()).fill_null(False)
    return keep
