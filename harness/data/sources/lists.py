"""Rows that lie in lists: what a row has of several events, one behind the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from harness.core.errors import DataError, suggest
from harness.core.frames import UNREADABLE
from harness.data.source import Source, Wanted
from harness.data.to_events import Rows

EVENTS = 1 << 20
"""Elements of lists that are made rows at once."""
_PLACE = "\0place"


def kinds_of(shown: object, kinds: Mapping[str, Any], lists: Sequence[str]) -> dict[str, Any]:
    """Return the columns that there are when lists are rows; fields of records have theirs."""
    every = {name: kind for name, kind in kinds.items() if name not in lists}
    for name in lists:
        kind = kinds.get(name)
        if not isinstance(kind, (pl.List, pl.Array)):
            there = [
                other for other, kind in kinds.items() if isinstance(kind, (pl.List, pl.Array))
            ]
            hint = f"; {suggest(name, there)}" if there else ""
            raise DataError(f'{shown}: [data] rows: "{name}" is not a column of lists{hint}')
        columns = {name: kind.inner}
        if isinstance(kind.inner, pl.Struct):
            columns = {field.name: field.dtype for field in kind.inner.fields}
        for column in columns:
            if column in every:
                raise DataError(
                    f'{shown}: [data] rows: "{column}" is a column and also a field in "{name}"'
                )
        every |= {n: kind() if isinstance(kind, type) else kind for n, kind in columns.items()}
    return every


def in_rows(rows: Rows, lists: Sequence[str], place: str) -> Iterator[Rows]:
    """Yield the elements of lists as rows, a bounded number at once; an empty list has none.

    `place` names the file, and what `lines` count, in messages.
    """
    frame = rows.frame.with_columns(pl.Series(_PLACE, rows.lines))
    for name in lists:
        if (none := frame[name].is_null()).any():
            says = f'"{name}" is missing; expected a list, or [] if there are no events'
            raise DataError(f"{place} {frame[_PLACE][int(none.arg_max() or 0)]}: {says}")
    lengths = [frame[name].list.len().to_numpy() for name in lists]
    for name, other in zip(lists[1:], lengths[1:], strict=True):
        if (wrong := other != lengths[0]).any():
            row = int(wrong.argmax())
            says = f'"{lists[0]}" has {lengths[0][row]} elements and "{name}" has {other[row]}'
            raise DataError(f"{place} {frame[_PLACE][row]}: {says}; expected the same number")
    ends = np.cumsum(lengths[0], dtype=np.int64)
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start > 0 else 0
        stop = max(int(np.searchsorted(ends, before + EVENTS, side="right")), start + 1)
        some = frame[start:stop].filter(pl.col(lists[0]).list.len() > 0)
        if some.height > 0:
            some = some.explode(lists)
            some = some.unnest([name for name in lists if isinstance(some.schema[name], pl.Struct)])
            yield Rows(some.drop(_PLACE), some[_PLACE].to_numpy())
        start = stop


def in_lists(source: Source) -> Source:
    """Return a Parquet file whose rows hold lists of events as a file of these."""
    source.require(source.table.rows)
    kinds = kinds_of(source.shown, source.kinds, source.table.rows)
    rows, size = partial(_rows, source), partial(_size, source)
    return replace(source, names=list(kinds), kinds=kinds, rows=rows, size=size)


def _size(source: Source) -> int:
    try:
        lists = (rows.frame.to_series() for rows in source.rows(Wanted(source.table.rows[:1])))
        return sum(int(each.list.len().sum()) for each in lists)
    except (DataError, *UNREADABLE):
        return 0  # told when the rows are read


def _rows(source: Source, wanted: Wanted) -> Iterator[Rows]:
    lists, before = source.table.rows, 1
    for batch in source.rows(Wanted([n for n in source.names if n in {*lists, *wanted.every}])):
        fixed = {n: k for n, k in batch.frame.schema.items() if isinstance(k, pl.Array)}
        frame = batch.frame.cast({name: pl.List(kind.inner) for name, kind in fixed.items()})
        places = np.arange(before, before + frame.height)
        for some in in_rows(Rows(frame, places), lists, f"{source.shown}: row"):
            yield Rows(some.frame.select(wanted.every), some.lines)
        before += frame.height
