"""Rows that lie in lists: what a row has of several events, one behind the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from harness.core.errors import DataError, suggest
from harness.core.frames import UNREADABLE
from harness.data.frame_source import FrameSource
from harness.data.parquet_source import ParquetSource
from harness.data.source import Piece

_ROWS, _EVENTS = 1 << 12, 1 << 20
"""Rows that are read at once, and elements of their lists."""
_PLACE = "\0place"


class UnequalError(Exception):
    """Lists of one row that are missing, or of other lengths than each other.

    Attributes
    ----------
    row : int
        The first, from 0.
    """

    def __init__(self, row: int, says: str) -> None:
        super().__init__(says)
        self.row = row


def kinds_of(kinds: Mapping[str, pl.DataType], rows: Sequence[str]) -> dict[str, pl.DataType]:
    """Return the columns that there are when the lists are rows; fields of records have theirs.

    Raises
    ------
    ValueError
        No list has such a name, or a field of its records has another column's.
    """
    found = {name: kind for name, kind in kinds.items() if name not in rows}
    for name in rows:
        kind = kinds.get(name)
        if not isinstance(kind, (pl.List, pl.Array)):
            there = [own for own, kind in kinds.items() if isinstance(kind, (pl.List, pl.Array))]
            hint = f"; {suggest(name, there)}" if there else ""
            raise ValueError(f'"{name}" is not a column of lists{hint}')
        inner = kind.inner
        if isinstance(inner, pl.Struct):
            own = {field.name: _instance(field.dtype) for field in inner.fields}
        else:
            own = {name: _instance(inner)}
        for column in own:
            if column in found:
                raise ValueError(f'"{column}" is a column and also a field in "{name}"')
        found |= own
    return found


def _instance(kind: object) -> pl.DataType:
    return kind() if isinstance(kind, type) else kind  # type: ignore[return-value]


def in_rows(piece: Piece, rows: Sequence[str], most: int = _EVENTS) -> Iterator[Piece]:
    """Yield the elements of lists as rows, a bounded number at once; an empty list has none.

    Raises
    ------
    UnequalError
        Lists of one row have other lengths, or one is missing.
    """
    frame = piece.frame
    if piece.places is not None:
        frame = frame.with_columns(pl.Series(_PLACE, piece.places))
    for name in rows:
        if (none := frame[name].is_null()).any():
            says = f'"{name}" is missing; expected a list, or [] if there are no events'
            raise UnequalError(int(none.arg_max() or 0), says)
    lengths = [frame[name].list.len().to_numpy() for name in rows]
    for name, other in zip(rows[1:], lengths[1:], strict=True):
        if (wrong := other != lengths[0]).any():
            row = int(wrong.argmax())
            says = f'"{rows[0]}" has {lengths[0][row]} elements and "{name}" has {other[row]}'
            raise UnequalError(row, f"{says}; expected the same number")
    ends = np.cumsum(lengths[0], dtype=np.int64)
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start > 0 else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        some = frame[start:stop].filter(pl.col(rows[0]).list.len() > 0)
        if some.height > 0:
            some = some.explode(rows)
            some = some.unnest([name for name in rows if isinstance(some.schema[name], pl.Struct)])
            numbered = _PLACE in some.columns
            yield Piece(some.drop(_PLACE), some[_PLACE].to_numpy()) if numbered else Piece(some)
        start = stop


class ParquetLists(FrameSource):
    """A Parquet file whose rows hold lists of events."""

    unit = "row"

    def __init__(self, file: ParquetSource, n_rows: int = _ROWS, n_events: int = _EVENTS) -> None:
        """Take so many rows at a time, or as many as have so many events."""
        self._n_rows, self._n_events = n_rows, n_events
        self.table, self.shown, self.file = file.table, file.shown, file
        self.rows = file.table.rows
        file.require(self.rows)
        try:
            self.kinds = kinds_of(file.kinds, self.rows)
        except ValueError as error:
            raise DataError(f"{self.shown}: [data] rows: {error}") from error
        self.names = list(self.kinds)

    def about(self) -> int:
        """Return how many rows there are when lists are rows."""
        try:
            longest = pl.col(self.rows[0]).list.len().sum()
            return int(self.file.frame.select(longest).collect().item() or 0)
        except UNREADABLE:
            return 0  # told when the rows are read

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield the elements of the lists, with some of the columns."""
        own = [name for name in self.file.names if name in {*self.rows, *columns}]
        before = 1
        try:
            for batch in self.file.frame.select(own).collect_batches(chunk_size=self._n_rows):
                places = np.arange(before, before + batch.height)
                fixed = {n: k for n, k in batch.schema.items() if isinstance(k, pl.Array)}
                lists = batch.cast({name: pl.List(kind.inner) for name, kind in fixed.items()})
                for piece in in_rows(Piece(lists, places), self.rows, self._n_events):
                    yield Piece(piece.frame.select(columns), piece.places)
                before += batch.height
        except UnequalError as error:
            raise DataError(f"{self.shown}: row {before + error.row}: {error}") from error
        except UNREADABLE as error:
            raise self._unreadable(error) from error
