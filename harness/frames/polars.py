"""Any frame as Polars holds it, cells of other types as text."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import polars as pl

from harness.frames.accept import frame_of
from harness.frames.values import MISMATCH, as_list, missing


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
        texts = [[None if missing(item) else str(item) for item in items] for items in lists]
        return pl.Series(texts, dtype=pl.List(pl.String))
    return pl.Series([None if missing(cell) else str(cell) for cell in cells], dtype=pl.String)
