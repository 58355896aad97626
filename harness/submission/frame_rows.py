"""The rows of a frame as blocks of lines, so that they are read like those of any file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from polars.selectors import by_name

from harness.core.arrays import Int64
from harness.core.frames import UNREADABLE, bytes_of, column_of
from harness.core.unpacking import SENT, Refused
from harness.delimited._delimited import FIELD, RECORD
from harness.delimited.blocks import LONGEST, SIZE, Block, padded
from harness.submission import unpack
from harness.submission.scan import GROUP

_ROWS, _RANK = 1 << 17, "\0rank"
_CONTROL = f"[\r{chr(FIELD)}{chr(RECORD)}{chr(GROUP)}]"
_SUBSTITUTE = "\N{REPLACEMENT CHARACTER}"

Batches: TypeAlias = Callable[[Sequence[pl.Expr]], Iterator[pl.DataFrame]]
"""Takes columns, and yields them some rows at a time."""


@contextmanager
def parquet(path: Path) -> Iterator[pl.LazyFrame]:
    """Yield the rows of a file, to be read within the block.

    Refused where it is damaged, or unpacks to too much.
    """
    try:
        unpacked = unpack.parquet(path)
        frame = _apart(pl.scan_ipc(unpacked.path, glob=False))
    except UNREADABLE as error:
        raise Refused("damaged", str(error).partition("\n")[0]) from error
    yield frame
    del unpacked  # until here it keeps the file that the frame reads


def _apart(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row for each item of lists of records, as Spark recommends them, with its rank."""
    kinds = frame.collect_schema()
    listed = [
        (name, [field.name for field in kind.inner.fields])
        for name, kind in kinds.items()
        if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct)
    ]
    if len(listed) != 1:
        return frame
    ((name, fields),) = listed
    if ({*kinds} - {name}).intersection(["rank", *fields]):
        return frame
    # A list without items is a row, as a missing one is.
    lists = pl.when(column_of(name).list.len() > 0).then(column_of(name)).alias(name)
    frame = frame.with_columns(lists)
    if "rank" in fields:
        return frame.explode(by_name(name)).unnest(name)
    ranks = pl.int_ranges(1, column_of(name).list.len().cast(pl.Int64) + 1).alias(_RANK)
    rows = frame.with_columns(ranks).explode(by_name(name), _RANK).unnest(name)
    return rows.rename({_RANK: "rank"})


def batches_of(frame: pl.LazyFrame) -> Batches:
    """Return the rows of a frame."""

    def batches(columns: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        yield from frame.select(columns).collect_batches(chunk_size=_ROWS)

    return batches


def is_list(kind: pl.DataType) -> bool:
    """Return whether a column holds lists."""
    return isinstance(kind, pl.List | pl.Array)


def is_text(kind: pl.DataType, *, listed: bool = False) -> bool:
    """Return whether ids are to be read from such a column, which may hold lists of them."""
    inner = kind.inner if listed and isinstance(kind, pl.List | pl.Array) else kind
    return inner.is_numeric() or inner in (pl.String, pl.Null, pl.Categorical, pl.Enum)


class Rows:
    """Reads a frame block by block, as `Reader` reads a file.

    Of its columns those in `read`, of text, numbers or lists of them, are read, and the others
    passed over. `packed` has the bytes of the file that it stands in, of which only so much text
    may come.
    """

    header_lines = 0
    ends = True

    def __init__(
        self,
        batches: Batches,
        columns: dict[str, pl.DataType],
        read: set[str],
        packed: int | None = None,
    ) -> None:
        cells = [_text(n, kind) if n in read else pl.lit("") for n, kind in columns.items()]
        self._line = pl.concat_str(cells, separator=chr(FIELD)) + chr(RECORD)
        self._bytes = bytes_of({name: kind for name, kind in columns.items() if name in read})
        names = [name for name in columns if name in read] or list(columns)[:1]
        self._batches, self._packed = partial(batches, list(map(column_of, names))), packed

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order.

        A short text of a file may stand in many rows, so the length of lines is worked out first.
        """
        total = 0
        try:
            for batch in self._batches():
                sizes = _column(batch, self._bytes).to_numpy()
                total += int(sizes.sum())
                self._check(int(sizes.max(initial=0)), total)
                for start, stop in _cuts(sizes):
                    lines = _column(batch[start:stop], self._line)
                    text = "".join(lines.to_list()).encode()
                    ended = len(lines)
                    yield Block(padded(text), len(text), FIELD, RECORD, ord(","), ended=ended)
        except UNREADABLE as error:  # pages that are damaged
            raise Refused("damaged", str(error).partition("\n")[0]) from error

    def _check(self, longest: int, total: int) -> None:
        if longest > LONGEST:
            raise Refused("endless", f"{LONGEST:,} bytes")
        if self._packed is not None:
            SENT.check(total, self._packed)

    def give_back(self, block: Block) -> None:
        """Do nothing: no buffer is used again."""


def _cuts(sizes: Int64) -> Iterator[tuple[int, int]]:
    """Yield the first row and the row behind the last of parts of at most SIZE bytes, or a row."""
    ends, start, before = np.cumsum(sizes), 0, 0
    while start < len(sizes):
        stop = max(start + 1, int(np.searchsorted(ends, before + SIZE, "right")))
        yield start, stop
        start, before = stop, int(ends[stop - 1])


def _column(rows: pl.DataFrame, values: pl.Expr) -> pl.Series:
    """Return a value for each row, also where it is the same for all."""
    return rows.with_columns(values.alias("\0own"))["\0own"]


def _text(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column as text; what is missing is empty, a missing item a word for nothing."""
    if not isinstance(kind, pl.List | pl.Array):
        return _plain(column_of(name).cast(pl.String)).fill_null("")
    items = column_of(name).cast(pl.List(pl.String))
    return (
        items.list.eval(_plain(pl.element()).fill_null("null")).list.join(chr(GROUP)).fill_null("")
    )


def _plain(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(_CONTROL, _SUBSTITUTE)
