"""The lines of a submission in buckets of users, as they stand in its file, with their numbers.

A file is read by one worker, as the local engine reads it; what is wrong with its bytes and lines
is told there. A folder, and what Spark alone can read, Spark reads: its rows have no numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.core.arrays import Int64
from harness.core.errors import DataError, UsageError
from harness.data.layout import Table, is_remote
from harness.delimited import fields
from harness.delimited.blocks import Block, cut, padded, survey
from harness.delimited.stream import Refused
from harness.spark import remote
from harness.spark.parts import SCHEMA, Batches, attempted, rows
from harness.spark.users import Division
from harness.submission.expected import Against
from harness.submission.findings import Findings
from harness.submission.rules import OF_FAULT
from harness.submission.scan_file import PlacedBlock
from harness.submission.source import Source, of_frame, source
from harness.submission.validate import note_lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LINES, NUMBERS, FORM = "lines", "numbers", "form"
FINDINGS, UNREAD = "findings", "unread"
TOLD = -1
"""The number of what is told of the file."""
BLANK = b" \t\r"
"""What is left out around an id."""
Meant = Mapping[str, int]
"""The buckets of ids that are written otherwise than those of the users who are meant."""
_PIECE_BYTES = 1 << 26
"""Of lines that are divided at a time."""


def of(
    spark: SparkSession,
    path: Path | Table,
    against: Against,
    division: Division,
    meant: Meant,
) -> DataFrame:
    """Return the lines of a submission by the key of their bucket, and what is told of the file.

    Parameters
    ----------
    against : Against
        Says what it looks like; no ids are looked up.
    meant : mapping of text to int
        The buckets of ids that are no user's own.
    """
    if isinstance(path, Path):
        task = spark.range(0, 1, 1, 1)
        return task.mapInArrow(partial(_of_file, path.absolute(), against, division, meant), SCHEMA)
    frame = remote.whole(spark, path)
    return frame.mapInArrow(partial(_of_rows, against, division, meant), SCHEMA)


def place_of(name: str | Path, role: str) -> Path | Table:
    """Return a file that workers see, or what Spark reads: a folder, a URI, a table.

    Parameters
    ----------
    role : str
        What is there, for messages.

    Raises
    ------
    UsageError, DataError
        No name; nothing of that name.
    """
    if not isinstance(name, str | Path):
        raise UsageError(
            f"{role}: found {type(name).__name__}; give a path, a URI or table:NAME (of a "
            'DataFrame: .createOrReplaceTempView("lists") makes table:lists), or call '
            "harness.spark.evaluate, which takes DataFrames"
        )
    path = Path(name)
    if not is_remote(str(name)) and not path.exists():
        raise DataError(
            f"{role}: there is no file {name}; check the path (a table of the session's catalog is "
            f"named table:{path.name})"
        )
    if is_remote(str(name)):
        return Table(path, remote=str(name))
    return Table(path, remote=f"file:{path.absolute()}") if path.is_dir() else path


def _of_file(
    path: Path, against: Against, division: Division, meant: Meant, batches: Batches
) -> Batches:
    def work() -> Batches:
        findings = Findings()
        try:
            with source(path, against, Findings()) as opened:
                gathered = _Divided(division, meant)
                last = opened.reader.header_lines
                for block in opened.reader.blocks():
                    placed = gathered.take(opened, block, last)
                    placed.note_bytes(survey(block.buffer, block.size, block.end), findings)
                    last = placed.last
                    opened.reader.give_back(block)
                    yield from gathered.full()
                note_lines(opened, last, findings)
                yield from gathered.rest()
        except Refused as refused:
            yield from rows(TOLD, None, {UNREAD: [OF_FAULT[refused.fault], refused.value]})
        yield from rows(TOLD, None, {FINDINGS: findings.to_json()})

    for _ in batches:
        yield from attempted(TOLD, work)


def _of_rows(against: Against, division: Division, meant: Meant, batches: Batches) -> Batches:
    gathered = _Divided(division, meant)

    def work() -> Batches:
        for batch in batches:
            frame = pl.DataFrame(pl.from_arrow(batch))
            opened = of_frame(frame.lazy(), against, Findings())
            for block in opened.reader.blocks():
                gathered.take(opened, block, 0)
            yield from gathered.full()
        yield from gathered.rest()

    yield from attempted(TOLD, work)
    for _ in batches:  # whoever sends them waits until they are taken
        pass


@dataclass(eq=False)
class _Divided:
    """Lines of a submission, taken in block by block, that wait to be divided."""

    division: Division
    meant: Meant
    _waiting: dict[tuple[int, ...], dict[int, tuple[list[bytes], list[Int64]]]] = field(
        default_factory=dict
    )
    _size: int = 0
    _source: int = 0

    def take(self, opened: Source, block: Block, before: int) -> PlacedBlock:
        """Take in the lines of a block, before which there are so many."""
        user = opened.places[opened.wanted.user]
        starts, stops, _ = fields.fields(block, fields.wanted(len(opened.head.columns), user))
        text = block.buffer[: block.size].tobytes()
        cells = cut(text, starts[:, 0], stops[:, 0])
        ids = [cell.strip(BLANK).decode("utf-8", "replace") for cell in cells]
        placed = PlacedBlock(block, len(ids), before)
        numbers = placed.lines_of(np.arange(len(ids)))
        lines = np.array([*text.split(bytes([block.end]))[: len(ids)], b""], object)[:-1]
        bucket = self.division.buckets_of(pl.Series(ids, dtype=pl.String))
        for line, at in enumerate(map(self.meant.get, ids)) if self.meant else ():
            bucket[line] = bucket[line] if at is None else at
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=len(self.division.keys)))
        form = block.separator, block.end, block.written
        of_form = self._waiting.setdefault(form, {})
        for at, (start, stop) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            own = order[start:stop]
            if len(own) > 0:
                held = of_form.setdefault(at, ([], []))
                held[0].extend(lines[own])
                held[1].append(numbers[own])
        self._size += block.size
        return placed

    def full(self) -> Batches:
        """Yield what waits, if it is much."""
        if self._size >= _PIECE_BYTES:
            yield from self.rest()

    def rest(self) -> Batches:
        """Yield what waits."""
        for form, buckets in self._waiting.items():
            for at, (lines, numbers) in buckets.items():
                end = bytes([form[1]])
                content = {
                    LINES: np.frombuffer(b"".join(line + end for line in lines), np.uint8),
                    NUMBERS: np.concatenate(numbers),
                    FORM: np.array(form),
                }
                yield from rows(self.division.keys[at], content, source=self._source)
                self._source += 1
        self._waiting.clear()
        self._size = 0


class Lines:
    """Lines that a bucket got, read block by block as a file's are.

    Parameters
    ----------
    pieces : iterable of mapping
        Contents as `of` makes them.
    numbered : bool
        Whether lines have numbers; else they get some in the order of what stands there, which is
        the same wherever they came from.
    """

    header_lines = 0
    ends = True

    def __init__(self, pieces: Iterable[Mapping[str, Any]], numbered: bool) -> None:
        self._blocks = sorted(map(_block, pieces), key=_first)
        if not numbered:
            self._blocks = _in_own_order(self._blocks)

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order."""
        return iter(self._blocks)

    def give_back(self, block: Block) -> None:
        """Do nothing: no buffer is used again."""


def _block(piece: Mapping[str, Any]) -> Block:
    separator, end, written = map(int, piece[FORM])
    text = piece[LINES]
    # A block is told its lines from 0, and that it has none beside them.
    return Block(padded(text), len(text), separator, end, written, piece[NUMBERS] - 1, ended=0)


def _first(block: Block) -> int:
    assert block.lines is not None  # noqa: S101 - `_block` gives them
    return int(block.lines[0])


def _in_own_order(blocks: list[Block]) -> list[Block]:
    """Return blocks of rows, which all are of one form, as one, whose lines are in order."""
    if not blocks:
        return []
    form = blocks[0]
    end = bytes([form.end])
    lines = sorted(
        line for block in blocks for line in block.buffer[: block.size].tobytes().split(end)[:-1]
    )
    text = b"".join(line + end for line in lines)
    numbers = np.arange(len(lines))
    return [replace(form, buffer=padded(text), size=len(text), lines=numbers)]
