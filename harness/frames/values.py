"""Cells and columns of Python values, and the words for what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.errors import DataError, printable

Int64 = npt.NDArray[np.int64]

MISMATCH = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError)


def missing(value: Any) -> bool:
    """Return whether a cell holds nothing: None, NaN, NA or NaT."""
    if value is None or (isinstance(value, (float, np.floating)) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def as_list(cell: Any) -> Any:
    """Return a list where the cell is some sequence of items, None where it is missing."""
    if isinstance(cell, (list, str, bytes, dict)):
        return cell
    if isinstance(cell, (tuple, set, frozenset)):
        return list(cell)
    to_list = getattr(cell, "tolist", None) or getattr(cell, "to_list", None)
    if to_list is not None and np.ndim(cell) > 0:
        return to_list()
    return None if missing(cell) else cell


def ids_of(values: list[Any], where: str) -> pl.Series:
    """Return ids as a column; they must be of one type.

    Raises
    ------
    DataError
        Values of several types; the message names the first that is of another than the first.
    """
    cells = [None if missing(value) else value for value in values]
    try:
        return pl.Series(cells, strict=True)
    except MISMATCH as error:
        raise mixed(where, cells) from error


def numbers_of(values: list[Any], where: str) -> pl.Series:
    """Return numbers as a column: whole ones, or floats where any is one.

    Raises
    ------
    DataError
        A value that is no number.
    """
    cells = [None if missing(v) and not isinstance(v, (float, np.floating)) else v for v in values]
    for row, cell in enumerate(cells):
        if cell is not None and (isinstance(cell, (str, bytes)) or not np.isreal(cell)):
            raise DataError(f"{where}, {row_text(row)}: found {shown(cell)}, expected a number")
    try:
        return pl.Series(cells, strict=True)
    except MISMATCH:
        return pl.Series([None if cell is None else float(cell) for cell in cells])


def mixed(where: str, values: list[Any]) -> DataError:
    """Return what to say of values of several types in one column."""
    filled = [(row, value) for row, value in enumerate(values) if not missing(value)]
    first = type(filled[0][1]) if filled else object
    row, other = next(((r, v) for r, v in filled if type(v) is not first), (0, values[0]))
    return DataError(
        f"{where}, {row_text(row)}: found {shown(other)} ({type(other).__name__}) among values of "
        f"type {first.__name__}; make ids all text, or all whole numbers"
    )


def shown(value: object) -> str:
    """Return a value of the user's as a message shows it."""
    return printable(repr(value))[:60]


def row_text(row: int) -> str:
    """Return how a message names a row, counted as frames count."""
    return f"row {row:,} (the first is 0)"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "user")
    ('1 row', '2,000 users')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
