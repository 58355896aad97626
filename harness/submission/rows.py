"""The rows of a frame as blocks of lines, so that they are read like those of any file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from harness.layouts.locate import UNREADABLE
from harness.submission.blocks import Block
from harness.submission.opened import Refused
from harness.submission.quotes import FIELD, RECORD
from harness.submission.scan import GROUP
from harness.submission.words import PAD

_PARQUET = b"PAR1"
_ROWS = 1 << 17
_CONTROL = f"[\r{chr(FIELD)}{chr(RECORD)}{chr(GROUP)}]"
_SUBSTITUTE = "\N{REPLACEMENT CHARACTER}"


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(4) == _PARQUET
    except OSError:
        return False


def parquet(path: Path) -> pl.LazyFrame:
    """Return the rows of a file.

    Raises
    ------
    Refused
        It is damaged.
    """
    frame = pl.scan_parquet(path, glob=False)
    try:
        frame.collect_schema()
    except UNREADABLE as error:
        raise Refused("SUB015", str(error).partition("\n")[0]) from error
    return frame


class Rows:
    """Reads a frame block by block, as `Reader` reads a file.

    Parameters
    ----------
    frame : polars.LazyFrame
    columns : mapping of name to type
    read : set of str
        Columns of text, numbers or lists of them; the others are passed over.
    """

    header_lines = 0
    ends = True

    def __init__(
        self, frame: pl.LazyFrame, columns: dict[str, pl.DataType], read: set[str]
    ) -> None:
        self._texts = frame.select(_line(columns, read).alias("line"))

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order."""
        start = 0
        while True:
            try:
                lines = self._texts.slice(start, _ROWS).collect()["line"]
            except UNREADABLE as error:  # pages that are damaged
                raise Refused("SUB015", str(error).partition("\n")[0]) from error
            if len(lines) == 0:
                return
            text = "".join(lines.to_list()).encode()
            buffer = np.frombuffer(text + bytes(PAD), np.uint8)
            yield Block(buffer, len(text), FIELD, RECORD, ord(","), ended=len(lines))
            start += len(lines)

    def give_back(self, block: Block) -> None:
        """Do nothing: no buffer is used again."""


def _line(columns: dict[str, pl.DataType], read: set[str]) -> pl.Expr:
    cells = [_text(n, kind) if n in read else pl.lit("") for n, kind in columns.items()]
    return pl.concat_str(cells, separator=chr(FIELD)) + chr(RECORD)


def _text(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column as text; what is missing is empty, a missing item a word for nothing."""
    if not isinstance(kind, pl.List | pl.Array):
        return _plain(pl.col(name).cast(pl.String)).fill_null("")
    items = pl.col(name).cast(pl.List(pl.String))
    return (
        items.list.eval(_plain(pl.element()).fill_null("null")).list.join(chr(GROUP)).fill_null("")
    )


def _plain(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(_CONTROL, _SUBSTITUTE)
