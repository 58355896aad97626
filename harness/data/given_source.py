"""A frame that was given in Python as a table."""

from __future__ import annotations

import polars as pl

from harness.core.errors import row_text
from harness.data.layout import Table
from harness.data.lazy_source import LazySource


class GivenSource(LazySource):
    """A frame as a table, read as a Parquet file of its rows would be."""

    header, holder = "", "it"

    def __init__(self, table: Table, frame: pl.DataFrame) -> None:
        self.table, self.shown, self.frame = table, table.path, frame.lazy()
        self.kinds = dict(frame.schema)
        self.names = list(self.kinds)

    def row(self, at: int) -> str:
        """Return how messages name a row, counted as frames count."""
        return row_text(at)
