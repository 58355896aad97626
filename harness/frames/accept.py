"""Any form that holds lists or truth in, a `Table` out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from harness.errors import DataError, UsageError, suggest
from harness.frames.table import Columns, Table, as_list, mixed, shown

_FORMS = (
    "a pandas, Polars or Arrow frame, a dict {user: [item, …]} or {user: {item: number}}, or one "
    "list a row"
)
_SEQUENCES = (list, tuple, set, frozenset, np.ndarray)


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
    if isinstance(given, Mapping):
        return _from_mapping(given, role, list(numbers)[-1] if numbers else "")
    if isinstance(given, pl.LazyFrame):
        given = given.collect()
    try:
        frame = nw.from_native(given, eager_only=True)
    except TypeError:
        return _from_rows(given, role)
    return _from_frame(frame, role, user, item, numbers)


def _from_frame(
    frame: nw.DataFrame[Any], role: str, user: str, item: str, numbers: Mapping[str, str | None]
) -> Table:
    lists = [name for name in frame.columns if name != user and _holds_lists(frame, name)]
    if item not in frame.columns and len(lists) == 1:
        item = lists[0]
    for parameter, name in (("user", user), ("item", item)):
        _require(frame, role, parameter, name)
    meaning, number = _number(frame, role, numbers)
    if item in lists and number is not None:
        raise UsageError(
            f'{role}: the {meaning}s in column "{number}" do not go with lists in column "{item}", '
            "whose order is the rank; drop that column, or give one row an item"
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
        _require(frame, role, meaning, name)
        return meaning, name
    return next(((m, m) for m in numbers if m in frame.columns), ("", None))


def _require(frame: nw.DataFrame[Any], role: str, parameter: str, name: str) -> None:
    if name not in frame.columns:
        raise DataError(
            f'{role}: no column "{name}"; {suggest(name, frame.columns)}; '
            f'name another with {parameter}="…"'
        )


def _holds_lists(frame: nw.DataFrame[Any], name: str) -> bool:
    dtype = frame.schema[name]
    if dtype in (nw.List, nw.Array):
        return True
    if dtype != nw.Object:
        return False
    cells = frame.get_column(name)
    return isinstance(next((c for c in cells if as_list(c) is not None), None), _SEQUENCES)


def _from_mapping(given: Mapping[Any, Any], role: str, meaning: str) -> Table:
    values = list(given.values())
    if not values or not all(isinstance(value, Mapping) for value in values):
        return _wide(role, list(given), values)
    columns = {
        "user": [user for user, value in given.items() for _ in value],
        "item": [item for value in values for item in value],
        meaning: [number for value in values for number in value.values()],
    }
    if not columns["user"]:
        return _wide(role, list(given), [[] for _ in values])
    frame = pl.DataFrame({name: _series(role, name, cells) for name, cells in columns.items()})
    return Table(role, nw.from_native(frame), Columns("user", "item", meaning, meaning), wide=False)


def _from_rows(given: Any, role: str) -> Table:
    if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, np.ndarray)):
        raise UsageError(f"{role}: a {type(given).__name__} cannot be read; give {_FORMS}")
    if isinstance(given, np.ndarray) and given.ndim != 2 and given.dtype != np.object_:
        raise UsageError(f"{role}: an array of {given.ndim} dimensions; give one list a row")
    return _wide(role, list(range(len(given))), given)


def _wide(role: str, users: list[Any], lists: Any) -> Table:
    if isinstance(lists, np.ndarray) and lists.ndim == 2:
        items = _series(role, "item", lists.ravel()).reshape(lists.shape)
    else:
        items = _column_of_lists(role, users, [_ordered(role, cell) for cell in lists])
    frame = nw.from_native(pl.DataFrame({"user": _series(role, "user", users), "item": items}))
    return Table(role, frame, Columns("user", "item"), wide=True)


def _column_of_lists(role: str, users: list[Any], cells: list[Any]) -> pl.Series:
    for user, cell in zip(users, cells, strict=True):
        if cell is not None and not isinstance(cell, list):
            raise DataError(
                f"{role}: user {shown(user)}: found {shown(cell)}, a {type(cell).__name__} where a "
                "list of items was expected"
            )
    series = _series(role, "item", cells)
    return series if isinstance(series.dtype, pl.List) else series.cast(pl.List(pl.Null))


def _ordered(role: str, cell: Any) -> Any:
    if isinstance(cell, (set, frozenset)) and role != "truth":
        raise DataError(f"{role}: found {shown(cell)}, a set, which has no order; give a list")
    return as_list(cell)


def _series(role: str, name: str, values: Any) -> pl.Series:
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        cells = [v for value in values for v in (value if isinstance(value, list) else [value])]
        raise mixed(f"{role}: {name}", cells) from error
