"""Rows whose columns have types, of a Parquet file or of Spark, as events."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from harness.core.arrays import Bool, UInt64
from harness.core.errors import DataError
from harness.core.ids import hashes_of
from harness.data import dataset, times
from harness.data.conditions import Condition, all_hold, as_number
from harness.data.layout import EventTable
from harness.data.source import (
    MOST_LABELS,
    Batch,
    FieldRule,
    Labels,
    Met,
    event_id_rule,
    kind_rule,
    nulled,
    number_rule,
    rows_key,
    time_rule,
    too_many_labels,
    value_rule,
)

_KEEP = "keep"
ROW_INDEX = "\0row"
"""What the column of rows is called that is added to a file's own."""
_WATCHED = "\0watched "
"""What the name of a column begins with whose numbers are watched."""
_IDS = (dataset.USER, dataset.ITEM)


class TypedEvents:
    """How such rows are events of a table: ids as text, times by the type of their column.

    Parameters
    ----------
    shown : str
        The file or table as the user knows it.
    kinds : mapping of column to Polars type
    pattern : str, optional
        How times are written where they are text; see `harness.data.times.from_text`.

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
        for name in (table.user, table.item):
            refuse_float_ids(shown, name, kinds[name])
        self._refuse_no_numbers()
        self.rules = tuple(self._rules())
        self.columns = [
            pl.col(table.user).cast(pl.String).alias(dataset.USER),
            pl.col(table.item).cast(pl.String).alias(dataset.ITEM),
            self._time().alias(dataset.TIME),
            all_hold(table.where, kinds).alias(_KEEP),
            *([pl.col(ROW_INDEX).alias(dataset.ROW)] if table.numbered else []),
            *self._described(),
        ]
        self.keys = [
            h.alias(f"{column}_{i}") for column in _IDS for i, h in enumerate(hashes_of(column), 1)
        ]

    def _refuse_no_numbers(self) -> None:
        bounded = [one.column for one in self.table.where if one.bounds]
        for name in dict.fromkeys([self.table.value, *bounded]):
            kind = None if name is None else self.kinds[name]
            if kind is not None and not (
                kind.is_numeric() or kind in (pl.String, pl.Boolean, pl.Null)
            ):
                raise DataError(
                    f'{self.shown}: column "{name}" holds {in_words(kind)}; expected numbers'
                )
        kind = None if self.table.kind is None else self.kinds[self.table.kind]
        if kind is not None and (kind.is_nested() or kind == pl.Binary):
            raise DataError(
                f'{self.shown}: column "{self.table.kind}" holds {in_words(kind)}; expected '
                "event types"
            )

    def _rules(self) -> list[FieldRule]:
        table = self.table
        rules = [event_id_rule(name, table.where) for name in (table.user, table.item)]
        if table.time is not None:
            typed = self.kinds[table.time].is_temporal()  # however numbers are to be read
            written = "iso" if typed else table.time_format
            rules.append(
                time_rule(table.time, written, self.pattern, required=True, where=table.where)
            )
        if table.kind is not None:
            rules.append(kind_rule(table.kind, table.where))
        if table.value is not None:
            rules.append(value_rule(table.value, table.where))
        bounded = (one for one in table.where if one.bounds)
        return [*rules, *(number_rule(one.column, one.without, table.where) for one in bounded)]

    def _described(self) -> Iterator[pl.Expr]:
        """Yield the event types, values and numbers, where there are columns of them."""
        if self.table.kind is not None:
            yield pl.col(self.table.kind).alias(dataset.KIND)
        if self.table.value is not None:
            yield self._number(self.table.value).alias(dataset.VALUE)
        for name in self.table.watched:
            no_number = pl.when(pl.col(name).cast(pl.String) != "").then(math.inf)
            yield self._number(name).fill_null(no_number).alias(f"{_WATCHED}{name}")

    def _number(self, name: str) -> pl.Expr:
        return as_number(pl.col(name), is_text=self.kinds[name] == pl.String)

    def _time(self) -> pl.Expr:
        table = self.table
        if table.time is None:
            return pl.lit(0, pl.Int64)
        column, dtype = table.time, self.kinds[table.time]
        if dtype.is_temporal():
            return times.from_dtype(column, dtype)
        if dtype.is_integer() and "%" in table.time_format:  # as 20240131 is in text
            return times.from_text(column, table.time_format, self.pattern, number=True)
        if dtype.is_numeric() and table.time_format not in times.EPOCH_UNITS_US:
            raise DataError(
                f'{self.shown}: column "{column}" holds numbers, not '
                f"{times.expected(table.time_format)}; "
                'set time_format = "epoch_s" or "epoch_ms" under [data]'
            )
        # What cannot be read is null: it matters in rows that are kept alone.
        return times.from_text(column, table.time_format, self.pattern)

    def batch(self, rows: pl.DataFrame) -> Batch | None:
        """Return rows as events; None where a value is empty.

        Parameters
        ----------
        rows : polars.DataFrame
            With `columns` and then `keys`.
        """
        kept = rows if rows[_KEEP].all() else rows.filter(pl.col(_KEEP))
        own = [c for c in kept.iter_columns() if not c.name.startswith(_WATCHED)]
        if any(column.has_nulls() for column in own) or any(
            (column == "").any() for column in own if column.dtype == pl.String
        ):
            return None
        value = kept[dataset.VALUE] if self.table.value is not None else None
        if value is not None and not value.is_finite().all():
            return None
        user, item = (Met(_keys(kept, name), kept[name].gather) for name in _IDS)
        row = kept[dataset.ROW].cast(pl.Int64).to_numpy() if self.table.numbered else None
        return Batch(
            user=user,
            item=item,
            time=kept[dataset.TIME].to_numpy(),
            row=row,
            left_out=rows.height - kept.height,
            kind=self._labels(kept) if self.table.kind is not None else None,
            value=None if value is None else value.to_numpy() + 0.0,  # no zero below zero
            watched={
                name: kept[f"{_WATCHED}{name}"].fill_null(np.nan).to_numpy()
                for name in self.table.watched
            },
        )

    def _labels(self, kept: pl.DataFrame) -> Labels:
        column = kept[dataset.KIND]
        if column.dtype.is_integer():  # numbers are found sooner than their texts
            values = column.unique().sort()
            names, codes = values.cast(pl.String), values.search_sorted(column)
        else:
            text = column.cast(pl.String)
            names = text.unique().sort()
            if len(names) <= MOST_LABELS:
                codes = text.cast(pl.Enum(names)).to_physical()
        if len(names) > MOST_LABELS:
            first = names.to_list()
            raise DataError(too_many_labels(self.shown, self.table.kind or "", first))
        return Labels(codes.to_numpy(), names.to_list())


_WORDS: tuple[tuple[type[pl.DataType], str], ...] = (
    (pl.Date, "dates"),
    (pl.Datetime, "dates with times"),
    (pl.Time, "times of a day"),
    (pl.Duration, "lengths of time"),
    (pl.List, "lists"),
    (pl.Array, "lists"),
    (pl.Struct, "records"),
    (pl.Binary, "bytes"),
)


def refuse_float_ids(shown: str, column: str, kind: pl.DataType) -> None:
    """Raise DataError where a column of ids is of a type whose texts are not those of ids."""
    if not (kind.is_float() or kind.is_nested() or kind == pl.Binary):
        return
    cure = "write ids as text"
    if kind.is_float():
        cure = (
            "in pandas, a missing value turns whole numbers into floats: drop such rows, then "
            f'convert the column with .astype({{"{column}": "Int64"}})'
        )
    elif isinstance(kind, (pl.List, pl.Array)):
        cure = f"if its elements are ids, {rows_key(column)} makes one row per element"
    raise DataError(
        f'{shown}: column "{column}" holds {in_words(kind)}, which cannot tell ids apart; {cure}'
    )


def in_words(kind: pl.DataType) -> str:
    """Return what a column holds, for messages.

    Examples
    --------
    >>> in_words(pl.Datetime("us")), in_words(pl.Float64())
    ('dates with times', 'floats')
    """
    if kind.is_float():
        return "floats"
    return next((word for of, word in _WORDS if isinstance(kind, of)), f"{kind} values")


def bad_value(
    frame: pl.DataFrame, rule: FieldRule, where: Sequence[Condition] = ()
) -> tuple[int, str | None] | None:
    """Return the first of a column's values that is not what it should be, and its place.

    Parameters
    ----------
    where : sequence of Condition
        Rows that do not hold them may hold anything.
    """
    text, bad = bad_texts(frame, rule, where)
    if not bad.any():
        return None
    at = int(bad.argmax())
    return at, text[at]


def bad_texts(
    frame: pl.DataFrame, rule: FieldRule, where: Sequence[Condition] = ()
) -> tuple[pl.Series, Bool]:
    """Return a column as text, and which of it are not what they should be; see `bad_value`."""
    values = frame[rule.column]
    text = nulled(values.cast(pl.String))
    bad = rule.bad(text)
    if values.dtype != pl.String and not values.dtype.is_numeric():  # a time needs no parsing
        bad = text.is_null().to_numpy() & rule.required
    if rule.required and where:
        held = frame.select(all_hold(where, frame.schema, strict=False))
        bad = bad & held.to_series().to_numpy()
    return text, bad


def _keys(batch: pl.DataFrame, column: str) -> UInt64:
    return np.column_stack([batch[f"{column}_{i}"].to_numpy() for i in (1, 2)])
