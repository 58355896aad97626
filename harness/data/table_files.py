"""The files of a table, each by the reader of its kind."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.core.errors import DataError
from harness.core.io import PACKED, unpacked
from harness.data import json_source
from harness.data.database_source import kind_of, source_of
from harness.data.frame_source import PartitionedText
from harness.data.json_source import JsonLinesSource
from harness.data.layout import Table
from harness.data.lazy_source import GivenSource
from harness.data.lists import ParquetLists
from harness.data.naming import Part, parts_of
from harness.data.parquet_source import ParquetSource
from harness.data.source import Source
from harness.data.text_source import TextSource
from harness.delimited.stream import is_parquet

_LOGS = (".wal", "-wal", "-journal")
"""Of DuckDB, and of SQLite."""


def sources(table: Table) -> Generator[Source, None, None]:
    """Yield the files of a table, by name; packed Parquet is there in plain while it is used.

    Raises
    ------
    DataError
        A file that is missing or empty, no UTF-8, or without a usable header.
    """
    for part in parts_of(table):
        if table.frame is not None:
            yield GivenSource(table, table.frame)
            continue
        with opened(table, part) as source:
            yield source


@contextmanager
def opened(table: Table, part: Part) -> Iterator[Source]:
    """Yield a file of a table; see `sources`."""
    path = part.path
    kind = kind_of(path)
    if part.inside is not None or kind is not None:
        _refuse_of_text(table, path, "a database")
        if table.rows:
            raise DataError(f"{path}: [data] rows goes with JSON lines and Parquet; leave it out")
        yield source_of(table, part)
        return
    plain = path.with_suffix("") if path.suffix in PACKED else path
    if is_parquet(path):  # whatever its name is
        _refuse_of_text(table, path, "Parquet")
        yield _parquet(table, path, part)
    elif plain.suffix.lower() == ".parquet":
        _refuse_of_text(table, path, "Parquet")
        with unpacked(path, table.cap) as file:
            yield _parquet(table, file, part)
    elif plain.suffix.lower() in json_source.SUFFIXES:
        _refuse_of_text(table, path, "JSON lines")
        yield JsonLinesSource(table, part)
    elif table.rows:
        raise DataError(
            f"{path}: [data] rows names lists, which JSON lines (.jsonl) and Parquet have; "
            "leave it out for other files"
        )
    elif part.partition:
        yield PartitionedText(table, path, part.partition)
    else:
        yield TextSource(table, path)


def _refuse_of_text(table: Table, path: Path, kind: str) -> None:
    """Raise DataError where a config says of a file of another kind how its text is written."""
    says = {
        "separator": table.separator not in (",", "\t"),  # by default what the file's name says
        "header": table.header is not None,
        "encoding": table.encoding != "utf-8",
        "quote": not table.quote and not table.inherits_quote,
        "escape": table.escape != "" and not table.inherits_quote,
        "bad_lines": table.drop_bad_lines,
    }
    for key in says:
        if says[key] and table.key:
            raise DataError(
                f"{path}: {table.named(key)} says how text is written, and this is {kind}; leave "
                "it out"
            )


def _parquet(table: Table, plain: Path, part: Part) -> Source:
    source = ParquetSource(table, plain, part)
    return ParquetLists(source) if table.rows else source


def files_of(table: Table) -> list[Path]:
    """Return the files that a table is read from; a frame is none."""
    if table.frame is not None:
        return []
    found = []
    for part in parts_of(table):
        found.append(part.path)
        if part.inside is not None:  # what was written and is not in the file yet
            beside = (part.path.with_name(part.path.name + end) for end in _LOGS)
            # Reading leaves an empty one, and the next program that writes takes it away.
            found += [path for path in beside if path.is_file() and path.stat().st_size > 0]
    return found
