"""The column of numbers: ranks, scores and grades, each checked before it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.errors import DataError
from harness.frames.table import Slice, Table
from harness.frames.values import Int64, row_text, shown


def ranks(table: Table, part: Slice) -> Int64:
    """Return whole numbers from 1, or raise DataError."""
    numbers = _numbers(table, part)
    if numbers.dtype == pl.Int64 and len(numbers) > 0 and numbers.to_numpy().min() > 0:
        return numbers.to_numpy()
    value = numbers.cast(pl.Float64)
    wrong = ~value.is_finite() | (value < 1) | (value != value.floor()) | (value >= 2**63)
    zero = "; where ranks begin with 0, add 1 to all" if (numbers == 0).any() else ""
    _refuse(table, part, wrong, f"a whole number from 1{zero}")
    return numbers.cast(pl.Int64).to_numpy()


def scores(table: Table, part: Slice) -> npt.NDArray[Any]:
    """Return int64 or float64 scores without NaN, or raise DataError."""
    numbers = _numbers(table, part)
    if numbers.dtype.is_integer():
        whole = numbers.cast(pl.Int64, strict=False)
        _refuse(table, part, whole.is_null(), "a number of 64 bits")
        return whole.to_numpy()
    values = numbers.cast(pl.Float64)
    _refuse(table, part, values.is_nan(), "a number")
    return values.to_numpy()


def grades(table: Table, part: Slice) -> npt.NDArray[np.float64]:
    """Return float64 grades from 0, or raise DataError."""
    values = _numbers(table, part).cast(pl.Float64)
    _refuse(table, part, ~values.is_finite() | (values < 0), "a number from 0")
    return values.to_numpy()


def _numbers(table: Table, part: Slice) -> pl.Series:
    numbers = part.numbers
    meaning = table.columns.meaning
    if numbers is None or not (numbers.dtype.is_numeric() or numbers.dtype == pl.Null):
        found = None if numbers is None or len(numbers) == 0 else numbers[0]
        raise DataError(
            f"{table.where('number')} holds no numbers (first {shown(found)}); "
            f"a {meaning} is a number"
        )
    _refuse(table, part, numbers.is_null(), "a number")
    return numbers


def _refuse(table: Table, part: Slice, wrong: pl.Series, wanted: str) -> None:
    if not wrong.any() or part.numbers is None:
        return
    entry = int(wrong.arg_true()[0])
    row = table.row_of(part, entry)
    found = part.numbers[entry]
    value = "a missing value" if found is None else found
    raise DataError(
        f"{table.where('number')}, {row_text(row)}, user {shown(part.users[row - part.start])}: "
        f"found {value}; a {table.columns.meaning} is {wanted}"
    )
