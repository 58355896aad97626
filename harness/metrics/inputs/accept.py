"""Any form that holds lists or truth in, a `Table` out; any frame as Polars holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from harness.core.arrays import Int64
from harness.core.errors import DataError, UsageError, suggest
from harness.metrics.inputs.cells import (
    MISMATCH,
    as_list,
    ids_of,
    missing,
    mixed,
    numbers_of,
    row_text,
    shown,
)
from harness.metrics.inputs.table import Columns, Held, Table, flat

_FORMS = (
    "a pandas, Polars or Arrow frame, a dict {user: [item, …]} or {user: {item: number}}, or one "
    "list a row"
)

ROWS = (np.ndarray, list, tuple)
"""What holds one list a row."""


def accept(
    given: Any, role: str, *, user: str, item: str, numbers: Mapping[str, str | None]
) -> Table:
    """Return a table of what a person gave.

    Parameters
    ----------
    role : str
        What it is, for messages.
    user, item : str
        Column names, where columns have names.
    numbers : mapping of meaning to column name or None
        ``rank``, ``score`` or ``grade``; where none is named, a column of that very name is taken.

    Raises
    ------
    DataError, UsageError
        A form that is not known, a missing column, something that is no list among lists.
    """
    if isinstance(given, (Mapping, *ROWS)):
        for meaning, name in numbers.items():
            if name is not None:
                raise UsageError(f'{role}: {meaning}="{name}" names a column, but this is no frame')
    if isinstance(given, Mapping):
        return _from_mapping(given, role, list(numbers)[-1] if numbers else "")
    if isinstance(given, ROWS):
        return _from_rows(given, role)
    frame = frame_of(given, role)
    return _from_frame(frame, role, user, item, numbers)


def frame_of(given: Any, role: str) -> nw.DataFrame[Any]:
    """Return any frame as narwhals holds it.

    Raises
    ------
    UsageError, DataError
        Something that is no frame, or a frame with two columns of one name.
    """
    try:
        if isinstance(given, pl.LazyFrame):
            given = given.collect()
        return nw.from_native(given, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"{role}: two columns have one name; rename one of them") from error
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{role}: the lazy frame cannot be worked out: {error}") from error
    except TypeError:
        pass
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        with suppress(*MISMATCH):  # a single column, as a Series is
            return nw.from_native(pl.DataFrame(given))
    raise UsageError(f"{role}: found {type(given).__name__}; give {_FORMS}")


def _from_frame(
    frame: nw.DataFrame[Any], role: str, user: str, item: str, numbers: Mapping[str, str | None]
) -> Table:
    kinds = frame.schema  # asked once: it takes as long as there are columns
    lists = [n for n in frame.columns if n != user and _holds_lists(frame, n, kinds[n])]
    if item not in frame.columns and len(lists) == 1:
        item = lists[0]
    for parameter, name in (("user", user), ("item", item)):
        require(frame, role, parameter, name)
    meaning, number = _number(frame, role, numbers)
    if item in lists and number is not None:
        raise UsageError(
            f'{role}: the {meaning} in column "{number}" says nothing of the items of lists in '
            f'column "{item}"; drop that column, or give one row an item'
        )
    return Table(role, frame, Columns(user, item, number, meaning), item in lists)


def _number(
    frame: nw.DataFrame[Any], role: str, numbers: Mapping[str, str | None]
) -> tuple[str, str | None]:
    """Return what orders or grades the rows, and in which column."""
    named = {meaning: name for meaning, name in numbers.items() if name is not None}
    if len(named) > 1:
        raise UsageError(f"{role}: give {' or '.join(named)}, not both")
    for meaning, name in named.items():
        require(frame, role, meaning, name)
        return meaning, name
    return next(((m, m) for m in numbers if m in frame.columns), ("", None))


def require(frame: nw.DataFrame[Any], role: str, parameter: str, name: str) -> None:
    """Raise DataError where a frame has no column of this name."""
    if name not in frame.columns:
        raise DataError(
            f'{role}: no column "{name}"; {suggest(str(name), map(str, frame.columns))} '
            f'(another is named with {parameter}="…")'
        )


def _holds_lists(frame: nw.DataFrame[Any], name: str, dtype: Any) -> bool:
    if dtype in (nw.List, nw.Array):
        return True
    column = frame.get_column(name)
    if dtype == nw.Object:
        return any(isinstance(as_list(cell), list) for cell in column)
    if dtype != nw.String or str(getattr(column.to_native(), "dtype", "")) != "object":
        return False
    # What pandas calls text may begin with many missing lists.
    return isinstance(next((as_list(c) for c in column if not missing(c)), None), list)


def _from_mapping(given: Mapping[Any, Any], role: str, meaning: str) -> Table:
    values = [{} if missing(value) else value for value in given.values()]
    if not isinstance(next((v for v in given.values() if not missing(v)), None), Mapping):
        return _wide(role, list(given), list(given.values()))
    table = Table(role, _NOTHING, Columns("user", "item", meaning, meaning), wide=True)
    for user, value in zip(given, values, strict=True):
        if not isinstance(value, Mapping):
            raise DataError(
                f"{role}: user {user!r}: found {type(value).__name__} where others have a dict of "
                f"items and {meaning}s; give every user the same form"
            )
    items, sizes = flat([list(value) for value in values], table.where("item"))
    numbers = [number for value in values for number in value.values()]
    part = Held(
        ids_of(list(given), table.where("user")),
        items,
        sizes,
        numbers_of(numbers, table.where("number")),
    )
    return Table(role, part, table.columns, wide=True)


def _from_rows(given: Any, role: str) -> Table:
    if isinstance(given, np.matrix):
        given = np.asarray(given)
    flat_objects = isinstance(given, np.ndarray) and given.dtype == np.object_ and given.ndim == 1
    if isinstance(given, np.ndarray) and given.ndim != 2 and not flat_objects:
        raise UsageError(f"{role}: an array of {given.ndim} dimensions; give one list a row")
    return _wide(role, list(range(len(given))), given)


def _wide(role: str, users: list[Any], lists: Sequence[Any] | np.ndarray[Any, Any]) -> Table:
    table = Table(role, _NOTHING, Columns("user", "item"), wide=True)
    if isinstance(lists, np.ndarray) and lists.ndim == 2 and lists.dtype != np.object_:
        items, sizes = _filled(lists, table.where("item"))
    else:
        for user, cell in zip(users, lists, strict=True):
            table.check_list(cell, f"user {user!r}")
        items, sizes = flat(list(lists), table.where("item"))
    part = Held(ids_of(users, table.where("user")), items, sizes)
    return Table(role, part, table.columns, wide=True)


def _filled(lists: np.ndarray[Any, Any], where: str) -> tuple[pl.Series, Int64]:
    """Return the items of a 2-d array, less the −1 that fill rows up, and how long each row is."""
    empty = (lists == -1) if lists.dtype.kind == "i" else np.zeros(lists.shape, np.bool_)
    sizes = np.full(len(lists), lists.shape[1], np.int64) - empty.sum(axis=1)
    inside = empty & (np.arange(lists.shape[1]) < sizes[:, None])
    if inside.any():
        row = int(inside.any(axis=1).argmax())
        raise DataError(
            f"{where}, {row_text(row)}: found −1, an empty position, before an item; move "
            "empty positions to the end"
        )
    try:
        return pl.Series(lists[~empty]), sizes
    except MISMATCH as error:
        raise mixed(where, lists.ravel().tolist()) from error


_NOTHING = Held(pl.Series(), pl.Series(), np.zeros(0, np.int64))


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
