"""A Parquet file, or a frame that was given in Python, read by Polars: columns have types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl

from harness.core.errors import DataError, row_text
from harness.core.frames import UNREADABLE
from harness.core.unpacking import PARQUET
from harness.data.layout import Table
from harness.data.source import Source, Wanted, unreadable
from harness.data.to_events import Met, Rows, key_of

BATCH_ROWS, LIST_ROWS = 1_000_000, 1 << 12
"""Rows that are read at once, and of those that hold lists."""
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
"""Bytes that no text has, and any Parquet file."""
_COPY = "; copy or write it again"


def parquet_source(table: Table, plain: Path, shown: Path) -> Source:
    """Return a Parquet file of a table; `shown` is how the user knows it, perhaps packed."""
    try:
        frame = pl.scan_parquet(plain.absolute(), glob=False)  # Polars expands "~"
        kinds = dict(frame.collect_schema())
    except UNREADABLE as error:
        with plain.open("rb") as file:
            first = file.read(1 << 10)
        if first and not first.startswith(PARQUET) and first == first.translate(None, _CONTROLS):
            name = shown.name.replace(plain.suffix, ".csv")
            raise DataError(
                f"{shown}: not a Parquet file; it looks like text. Rename it {name}, also in the "
                "config or the command"
            ) from error
        raise unreadable(shown, error, _COPY) from error
    rows, size = partial(_rows, frame, table, shown), partial(_size, frame)
    return Source(table, shown, list(kinds), rows, kinds, size=size)


def frame_source(table: Table, frame: pl.DataFrame) -> Source:
    """Return a frame as a Parquet file of its rows would be read."""
    rows, kinds = partial(_rows, frame.lazy(), table, table.path), dict(frame.schema)
    size, place = lambda: frame.height, lambda row: row_text(row - 1)
    return Source(table, table.path, list(kinds), rows, kinds, size=size, place=place)


def _rows(frame: pl.LazyFrame, table: Table, shown: Path, wanted: Wanted) -> Iterator[Rows]:
    ids = () if wanted.secret is None else dict.fromkeys(wanted.ids)
    keys = {name: f"\0{name}" for name in ids}
    hashes = [key_of(name).alias(key) for name, key in keys.items()]  # while rows before are coded
    some = frame.select([*wanted.every, *hashes]).slice(wanted.first, wanted.count)
    try:
        for batch in some.collect_batches(chunk_size=LIST_ROWS if table.rows else BATCH_ROWS):
            ids_met = {name: Met.of(batch[name], batch[key]) for name, key in keys.items()}
            yield Rows(batch.select(wanted.every), ids=ids_met)
    except UNREADABLE as error:
        raise unreadable(shown, error, _COPY) from error


def _size(frame: pl.LazyFrame) -> int:
    try:
        return int(frame.select(pl.len()).collect().item())
    except UNREADABLE:
        return 0  # told when the rows are read
