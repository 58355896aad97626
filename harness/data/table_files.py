"""The files of a table, each by the reader of its kind."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.io import PACKED, parts, unpacked
from harness.data.layout import Table
from harness.data.parquet_source import ParquetSource
from harness.data.source import Source
from harness.data.text_source import TextSource
from harness.delimited.stream import is_parquet


def sources(table: Table) -> Iterator[Source]:
    """Yield the files of a table, by name; packed Parquet is there in plain while it is used.

    Raises
    ------
    DataError
        A file that is missing or empty, no UTF-8, or without a usable header.
    """
    for part in parts(table.local):
        plain = part.with_suffix("") if part.suffix in PACKED else part
        if is_parquet(part):  # whatever its name is
            yield ParquetSource(table, part, part)
        elif plain.suffix.lower() == ".parquet":
            with unpacked(part, table.cap) as file:
                yield ParquetSource(table, file, part)
        else:
            yield TextSource(table, part)
