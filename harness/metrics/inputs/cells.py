"""Cells and columns of Python values, and the words for what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Int64
from harness.core.errors import DataError, printable, row_text

MISMATCH = (
    ArithmeticError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
    pl.exceptions.PanicException,
    pl.exceptions.PolarsError,
)
"""What libraries raise over values that they cannot hold."""

_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Decimal)


def missing(value: Any) -> bool:
    """Return whether a cell holds nothing: None, NaN, NA or NaT."""
    if value is None or (isinstance(value, (float, np.floating)) and value != value):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
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


def ids_of(values: list[Any], where: str, row_of: Callable[[int], int] = int) -> pl.Series:
    """Return ids, which must be of one type, as a column; `row_of` a value is its row."""
    cells = [None if missing(value) else value for value in values]
    kinds = set(map(type, cells)) - {type(None)}
    if len(kinds) > 1 and kinds & {bool, np.bool_}:  # True would be the id 1
        raise mixed(where, cells, row_of)
    try:
        return pl.Series(cells, dtype=pl.Int128 if _whole(kinds) else None, strict=True)
    except MISMATCH as error:
        raise mixed(where, cells, row_of) from error


def numbers_of(values: list[Any], where: str, row_of: Callable[[int], int] = int) -> pl.Series:
    """Return numbers as a column: whole ones, or floats where any is one."""
    cells = [None if missing(v) and not isinstance(v, (float, np.floating)) else v for v in values]
    for entry, cell in enumerate(cells):
        if cell is not None and not isinstance(cell, _NUMBERS):
            row = row_text(row_of(entry))
            raise DataError(f"{where}, {row}: found {shown(cell)}, expected a number")
    if not cells or _whole(set(map(type, cells)) - {type(None)}):
        with suppress(*MISMATCH):  # whole numbers too large become floats
            return pl.Series(cells, dtype=pl.Int128, strict=True)
    try:
        floats = [None if cell is None else float(cell) for cell in cells]
    except MISMATCH as error:
        raise DataError(f"{where}: has a number that is too large ({error})") from error
    return pl.Series(floats, dtype=pl.Float64)


def _whole(kinds: set[type]) -> bool:
    """Return whether there are types, and all are whole numbers of some width."""
    return bool(kinds) and all(issubclass(k, (int, np.integer)) and k is not bool for k in kinds)


def mixed(where: str, values: list[Any], row_of: Callable[[int], int] = int) -> DataError:
    """Return what to say of values of several types in one column."""
    filled = [(entry, value) for entry, value in enumerate(values) if not missing(value)]
    first = type(filled[0][1]) if filled else object
    entry, other = next(((n, v) for n, v in filled if type(v) is not first), (-1, None))
    if entry < 0:
        odd = next(filter(_unreadable, values), values[0])
        return DataError(
            f"{where} holds values of type {first.__name__} that cannot be read, such as "
            f"{shown(odd)}; convert them to text or whole numbers"
        )
    return DataError(
        f"{where}, {row_text(row_of(entry))}: found {shown(other)} ({type(other).__name__}) "
        f"among values of type {first.__name__}; make all ids text, or all whole numbers"
    )


def _unreadable(value: Any) -> bool:
    try:
        return pl.Series([value], strict=True).dtype == pl.Object
    except MISMATCH:
        return True


def shown(value: object) -> str:
    """Return a value of the user's as a message shows it."""
    return printable(repr(value))[:60]


def number_text(value: float) -> str:
    """Return a number with all digits that tell it from others: 3 for 3.0."""
    return repr(value).removesuffix(".0")


def row_within(sizes: Int64 | None, entry: int) -> int:
    """Return the row that an item stands in, where rows hold lists of these sizes."""
    return entry if sizes is None else int(np.searchsorted(np.cumsum(sizes), entry, "right"))
