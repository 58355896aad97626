"""A submission as a header and blocks of lines, whatever it is stored in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.core.errors import UsageError, suggest
from harness.delimited import blocks
from harness.delimited.blocks import Blocks, Reader
from harness.delimited.stream import Opened, is_parquet, opened
from harness.submission import header
from harness.submission.expected import Against, first_cells
from harness.submission.format import Cells, Format, Named
from harness.submission.header import Header
from harness.submission.problems import Findings
from harness.submission.scan import GROUP, Form

if TYPE_CHECKING:
    import polars as pl

    from harness.submission.frame_rows import Batches


@dataclass(frozen=True, eq=False)
class Source:
    """A submission that has been opened.

    `places` has the field of each wanted column that can be told, `between` the byte between items,
    if not the format's. `line_of` takes a row that was read and returns its line, both from 1;
    without it they are the same.
    """

    head: Header
    wanted: Format
    places: dict[str, int]
    reader: Blocks
    between: int | None = None
    line_of: Callable[[int], int] | None = None

    @property
    def readable(self) -> bool:
        """Whether all wanted columns can be told."""
        return len(self.places) == len(self.wanted.columns)

    @property
    def form(self) -> Form:
        """How lines are cut."""
        wanted, places = self.wanted, self.places
        return Form(
            fields=len(self.head.columns),
            user=places[wanted.user],
            items=places[wanted.items],
            between=ord(wanted.between) if self.between is None else self.between,
            width=Form.width if wanted.long or wanted.k is None else wanted.k,
            order=places[wanted.order] if wanted.long and wanted.order else None,
            long=wanted.long,
            letters=wanted.letters.encode(),
            length=wanted.length,
        )

    def cells(self, wanted: list[int], column: int) -> dict[int, bytes]:
        """Return a column's cells of some physical lines, which are read from the first row."""
        cells, numbers = dict[int, bytes](), np.array(wanted, np.int64)
        before = self.reader.header_lines
        for block in self.reader.blocks():
            starts, stops, _ = blocks.fields(block, self.form.wanted)
            lines = np.arange(len(starts)) if block.lines is None else block.lines
            for row in np.flatnonzero(np.isin(lines + before + 1, numbers)).tolist():
                text = block.text(int(starts[row, column]), int(stops[row, column]))
                cells[int(lines[row]) + before + 1] = text
            if len(cells) == len(wanted):
                break
            before += len(starts) if block.ended is None else block.ended
        return cells


@contextmanager
def source(path: Path | pl.DataFrame, against: Against, findings: Findings) -> Iterator[Source]:
    """Open a submission, a file or a frame; note what is wrong with its encoding and its header.

    Refused where it cannot be read.
    """
    if not isinstance(path, Path):
        yield of_frame(path.lazy(), against, findings)
        return
    if is_parquet(path):
        from harness.submission.frame_rows import parquet  # it takes Polars

        _check_name(path, "parquet", findings)
        with parquet(path) as frame:
            table = of_frame(frame, against, findings, path.stat().st_size)
            if against.format is not None:
                findings.note("SUB110", "Parquet")
            _refuse_missing(path, table.head, against.named)
            yield table
        return
    with opened(path) as file:
        if file.is_json:
            yield _of_json(path, file, against, findings)
            return
        head = header.read(file.stream)
        _refuse_missing(path, head, against.named)
        if file.encoding != "utf-8":
            findings.note("SUB006")
        _check_name(path, file.packed, findings)
        wanted = against.wanted(head.columns, partial(first_cells, path))
        places = header.check(head, wanted, findings)
        if wanted.long and against.format is not None:
            findings.note("SUB110", "one row per item")
        reader = Reader(file.stream, head.separator.encode(), returns=head.returns)
        yield Source(head, wanted, places, reader)


def of_frame(
    frame: pl.LazyFrame, against: Against, findings: Findings, packed: int | None = None
) -> Source:
    """Return the rows of a frame, or of a file of `packed` bytes; note what columns are wrong."""
    from harness.submission.frame_rows import batches_of  # it takes Polars

    def first(column: str, most: int | None) -> list[str]:
        return first_cells(frame.select(column).collect(), column, most)

    kinds = dict(frame.collect_schema())
    return _of_batches(batches_of(frame), kinds, first, against, findings, packed)


def _of_json(path: Path, file: Opened, against: Against, findings: Findings) -> Source:
    """Return the rows of a file of JSON."""
    from harness.submission import json_lists  # it takes Polars

    _check_name(path, file.packed or "json", findings)
    if file.encoding != "utf-8":
        findings.note("SUB006")
    user, item = against.named.user, against.named.item
    if against.format is not None:
        user, item = user or against.format.user, item or against.format.items
    table = json_lists.table(file.stream, user, item)
    size, first = path.stat().st_size, partial(first_cells, path)
    opened_ = _of_batches(table.batches, table.kinds, first, against, findings, size)
    if against.format is not None:
        findings.note("SUB110", "JSON")
    _refuse_missing(path, opened_.head, against.named)
    return replace(opened_, line_of=table.line_of)


def _of_batches(
    batches: Batches,
    kinds: dict[str, pl.DataType],
    first: Cells,
    against: Against,
    findings: Findings,
    packed: int | None,
) -> Source:
    from harness.submission.frame_rows import Rows, is_list, is_text  # they take Polars

    head = Header(tuple(kinds), ",", returns=False, mark=False)
    wanted = against.wanted(head.columns, first)
    places = header.check(head, wanted, findings)
    names = {meant: head.columns[place] for meant, place in places.items()}
    wrong = [
        column
        for meant, column in names.items()
        if not is_text(kinds[column], listed=meant == wanted.items and not wanted.long)
    ]
    for column in wrong:
        findings.note("SUB108", f"{column} ({kinds[column]})", 1)
    listed = wanted.items in names and is_list(kinds[names[wanted.items]])
    plain = {column for column, kind in kinds.items() if is_text(kind)}
    rows = Rows(batches, kinds, plain | set(names.values()), packed)
    return Source(head, wanted, {} if wrong else places, rows, GROUP if listed else None)


_JSON = ("json", "jsonl", "ndjson")


def _check_name(path: Path, kind: str, findings: Findings) -> None:
    """Note a name that says another kind of file; `kind` is that of the content."""
    ending = path.suffix.lstrip(".").lower()
    ending = "json" if ending in _JSON else ending
    if ending != kind and (kind or ending in ("gz", "zip", "parquet", "json")):
        findings.note("SUB020", f".{ending}, but the file is {kind or 'plain text'}")


def _refuse_missing(path: Path, head: Header, named: Named) -> None:
    """Raise UsageError where a column that was named is not there."""
    for name, column in named.columns.items():
        if column not in head.columns:
            raise UsageError(
                f'{path}: no column "{column}"; {suggest(column, head.columns)} (you named it '
                f"with --{name}-column)"
            )
