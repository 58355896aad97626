"""A Parquet file as a table, read by Polars: columns have types, and rows are whole."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from harness.core.errors import DataError
from harness.core.frames import UNREADABLE
from harness.core.unpacking import PARQUET
from harness.data.frame_source import constants, refuse_known
from harness.data.layout import Table
from harness.data.lazy_source import LazySource
from harness.data.naming import Part

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
"""Bytes that no text has, and any Parquet file."""


class ParquetSource(LazySource):
    """A Parquet file of a table.

    Parameters
    ----------
    plain : Path
        The file as it can be read; the user knows it, perhaps packed, by that of its part.

    Raises
    ------
    DataError
        A file that cannot be read.
    """

    def __init__(self, table: Table, plain: Path, part: Part) -> None:
        self.table, self.plain, self.shown = table, plain, part.path
        shown = part.path
        try:
            frame = pl.scan_parquet(plain.absolute(), glob=False)  # Polars expands "~"
            own, said = frame.collect_schema().names(), [column for column, _ in part.partition]
            refuse_known(shown, own, part.partition)
            self.frame = frame.with_columns(constants(part.partition, said))
            self.kinds = dict(self.frame.collect_schema())
        except UNREADABLE as error:
            _refuse_text(plain, shown)
            first = str(error).strip().splitlines()[0]
            raise DataError(f"{shown}: cannot be read as a table: {first}") from error
        self.names = list(self.kinds)

    def only(self, first: int, rows: int) -> None:
        """Let `events` have these rows alone."""
        self.range = first, rows


def _refuse_text(plain: Path, shown: Path) -> None:
    """Raise DataError where a file that should be Parquet is text by its first bytes."""
    with plain.open("rb") as file:
        first = file.read(1 << 10)
    if first and not first.startswith(PARQUET) and first == first.translate(None, _CONTROLS):
        name = shown.name.replace(plain.suffix, ".csv")
        raise DataError(
            f"{shown}: not a Parquet file; it looks like text. Rename it {name}, also in the "
            "config or the command"
        )
