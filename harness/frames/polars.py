"""Any frame as Polars holds it, cells of other types as text."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from harness.errors import UsageError
from harness.frames.accept import frame_of
from harness.frames.values import MISMATCH, as_list, missing, shown


def as_polars(given: Any, role: str) -> pl.DataFrame:
    """Return a frame with columns of text, numbers or lists of text.

    Parameters
    ----------
    given : pandas, Polars or Arrow frame
    role : str
        What it is, for messages.

    Raises
    ------
    UsageError, DataError
        Something that is no frame, or a frame with two columns of one name.
    """
    columns = getattr(given, "columns", ())
    if any(not isinstance(name, str) for name in columns):
        raise UsageError(f"{role}: names of columns are text; found {shown(list(columns)[:5])}")
    frame = frame_of(given, role)
    return pl.DataFrame({name: _column(frame.get_column(name)) for name in frame.columns})


def _column(column: nw.Series[Any]) -> pl.Series:
    try:
        if column.dtype != nw.Object:
            return column.to_polars()
    except (ImportError, *MISMATCH):  # pandas without pyarrow, cells of several types
        pass
    cells = [as_list(cell) for cell in column.to_list()]
    if any(isinstance(cell, list) for cell in cells):
        lists = [
            cell if isinstance(cell, list) else [] if cell is None else [cell] for cell in cells
        ]
        return pl.Series([list(map(_text, items)) for items in lists], dtype=pl.List(pl.String))
    return pl.Series(list(map(_text, cells)), dtype=pl.String)


def _text(cell: Any) -> str | None:
    """Return a cell as text; half of a character, which no file can hold, becomes a question."""
    return None if missing(cell) else str(cell).encode("utf-8", "replace").decode()
