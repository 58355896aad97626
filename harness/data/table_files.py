"""The files of tables, each by the reader of its kind; the events of all, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from harness.core.errors import DataError, counted, printable, suggest
from harness.core.io import PACKED, unpacked
from harness.data import oddities
from harness.data.layout import EventTable, Layout, Table
from harness.data.naming import Part, parts_of
from harness.data.oddities import Low, watching
from harness.data.source import Source, in_folders
from harness.data.sources import json_lines
from harness.data.sources.database import database_source, kind_of
from harness.data.sources.json_lines import json_source
from harness.data.sources.lists import in_lists
from harness.data.sources.parquet import frame_source, parquet_source
from harness.data.sources.text import text_source
from harness.data.to_events import Batch
from harness.delimited import blocks
from harness.delimited.stream import is_parquet

_LOGS = (".wal", "-wal", "-journal")
"""Of DuckDB, and of SQLite."""


def sources(table: Table) -> Generator[Source, None, None]:
    """Yield the files of a table, by name; packed Parquet is there in plain while it is used."""
    for part in parts_of(table):
        if table.frame is not None:
            yield frame_source(table, table.frame)
            continue
        with opened(table, part) as source:
            yield source


@contextmanager
def opened(table: Table, part: Part) -> Iterator[Source]:
    """Yield a file of a table, with the columns that the names of its folders say."""
    path = part.path
    plain = path.with_suffix("") if path.suffix in PACKED else path
    if part.inside is not None or kind_of(path) is not None:
        _refuse_of_text(table, path, "a database")
        if table.rows:
            raise DataError(
                f"{path}: [data] rows works with JSON lines and Parquet only; remove it"
            )
        yield database_source(table, part)
    elif (whatever_its_name := is_parquet(path)) or plain.suffix.lower() == ".parquet":
        _refuse_of_text(table, path, "Parquet")
        file = nullcontext(path) if whatever_its_name else unpacked(path, table.cap)
        with file as unpacked_path:
            source = in_folders(parquet_source(table, unpacked_path, path), part.partition)
            yield in_lists(source) if table.rows else source
    elif plain.suffix.lower() in json_lines.SUFFIXES:
        _refuse_of_text(table, path, "JSON lines")
        yield in_folders(json_source(table, path), part.partition)
    elif table.rows:
        raise DataError(
            f"{path}: [data] rows names lists, which only JSON lines (.jsonl) and Parquet have; "
            "remove it for other files"
        )
    else:
        yield in_folders(text_source(table, path), part.partition)


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
                f"{path}: {table.named(key)} is for text files, but this is {kind}; remove it"
            )


def files_of(table: Table) -> list[Path]:
    """Return the files that a table is read from; a frame is none."""
    if table.frame is not None:
        return []
    files = []
    for part in parts_of(table):
        files.append(part.path)
        if part.inside is not None:  # what was written and is not in the file yet
            beside = (part.path.with_name(part.path.name + end) for end in _LOGS)
            # Reading leaves an empty one, and the next program that writes takes it away.
            files += [path for path in beside if path.is_file() and path.stat().st_size > 0]
    return files


class EventReader:
    """Reads the events of a layout, and counts the rows that are left out, table by table.

    `lows` is what watched columns say, by name; `type_columns` are columns of event types that the
    config does not name.
    """

    def __init__(self, layout: Layout, progress: Callable[[int], object]) -> None:
        self.layout, self.progress, self._secret = layout, progress, blocks.secret()
        self.rows, self.left_out = [0] * len(layout.events), [0] * len(layout.events)
        self.lows: list[dict[str, Low]] = [{} for _ in layout.events]
        self.type_columns: list[str | None] = [None] * len(layout.events)

    def batches(self) -> Iterator[tuple[int, Batch]]:
        """Yield the events, with the number of the table that they are of."""
        for number, table in enumerate(self.layout.events):
            for source in sources(table):
                yield from self.of_file(number, table, source)
            self.check(number, table)

    def of_file(
        self, number: int, table: EventTable, source: Source
    ) -> Iterator[tuple[int, Batch]]:
        """Yield the events of one file."""
        source.require(table.columns)
        if self.type_columns[number] is None:
            self.type_columns[number] = oddities.type_column(table, source.names)
        for batch in source.events(watching(table, source.names, source.first), self._secret):
            yield number, self.counted(number, batch)

    def counted(self, number: int, batch: Batch) -> Batch:
        """Count a batch of a table, and return it."""
        read = len(batch.time) + batch.left_out
        self.rows[number] += read
        self.left_out[number] += batch.left_out
        for column, numbers in batch.watched.items():
            self.add_low(number, column, Low.of(numbers))
        self.progress(read)
        return batch

    def add_low(self, number: int, column: str, more: Low) -> None:
        """Take in what a column of a table says."""
        low = self.lows[number].get(column, Low())
        self.lows[number][column] = low.with_more(more)

    def check(self, number: int, table: EventTable) -> None:
        """Raise DataError where a table that was read has no events, or held-out ones in doubt."""
        rows = self.rows[number]
        if rows == self.left_out[number]:
            what = "the table has no rows; expected events"
            if rows > 0:
                none = f"none of {counted(rows, 'row')} has {_kept(table)}; check [data] where"
                what = "\n".join([none, *_there(table)])
            raise DataError(f"{table.name}: {what}")
        if table.valid:
            oddities.refuse_lows(self.layout, self.lows, table, rows - self.left_out[number])

    def notes(self) -> Iterator[str]:
        """Yield what was left out of each table."""
        for table, rows, left_out in zip(self.layout.events, self.rows, self.left_out, strict=True):
            if left_out:
                counts = f"{left_out:,} of {counted(rows, 'row')} left out"
                yield f"{table.path.name}: {counts} (kept: {_kept(table)})"
        yield from oddities.notes_of_types(self.layout, self.type_columns)
        yield from oddities.notes_of_lows(
            self.layout, self.lows, sum(self.rows) - sum(self.left_out)
        )


_LOOKED_AT, _SHOWN = 10_000, 5
"""Rows whose values are looked at where no row holds the conditions, and values that are shown."""


def _there(table: EventTable) -> Iterator[str]:
    """Yield what the columns of conditions hold in the first rows of a table's first file."""
    if table.remote:
        return
    with closing(sources(table)) as files:
        source = next(files)
        for condition in table.where:
            texts = source.first(condition.column, _LOOKED_AT).unique(maintain_order=True)
            names = [name for name in texts.to_list() if name]
            if names and set(names).isdisjoint(condition.among):
                shown = ", ".join(map(printable, names[:_SHOWN])) + ", …" * (len(names) > _SHOWN)
                hints = [suggest(name, names) for name in condition.among]
                hint = next((f"; {hint}" for hint in hints if hint.startswith("did")), "")
                yield f'column "{condition.column}" holds {shown}{hint}'


def _kept(table: EventTable) -> str:
    return ", ".join([*["whole lines"] * table.drop_bad_lines, *map(str, table.where)])
