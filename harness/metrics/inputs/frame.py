"""Any form that holds lists or truth in, a `Table` out; any frame as Polars holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import polars as pl

from harness.core.arrays import Int64
from harness.core.column_names import has_role, is_called, order_of
from harness.core.errors import DataError, UsageError, row_text, suggest
from harness.metrics.inputs.cells import (
    MISMATCH,
    as_list,
    ids_of,
    missing,
    mixed,
    numbers_of,
    row_within,
    shown,
)

if TYPE_CHECKING:
    import narwhals as nw

    Frame: TypeAlias = pl.DataFrame | nw.DataFrame[Any]
    Column: TypeAlias = pl.Series | nw.Series[Any]
    """Polars' own, or any other library's as narwhals holds it."""

_FORMS = (
    "a pandas, Polars or Arrow frame, a dict {user: [item, …]} or {user: {item: number}}, or one "
    "list per row"
)
_FRAMES = "a pandas, Polars or Arrow frame"

ROWS = (np.ndarray, list, tuple)
"""What holds one list a row."""
_LISTS = ("List", "Array")
_PART = 1 << 18
"""Rows that are converted at a time."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with a user and an item, or, if `wide`, a user and a list of items.

    `role` says in messages what it is: ``recommendations``, ``truth`` or ``train``. `names` has the
    columns of ``user``, ``item`` and ``number``; without the last there are no numbers. `meaning`
    says what these are: ``rank``, ``score`` or ``grade``.

    `frame` is what was given, if it was one. Else `held` has the users, the items of all lists one
    after another, and their numbers, and `sizes` how long each list is. `place` names a row, from
    0, in messages; without it rows have no numbers, and are named by their users.
    """

    role: str
    names: Mapping[str, str]
    meaning: str
    wide: bool
    frame: Frame | None = None
    held: Mapping[str, Any] | None = None
    sizes: Int64 | None = None
    place: Callable[[int], str] | None = row_text

    def __len__(self) -> int:
        return len((self.held or {})["user"] if self.frame is None else self.frame)

    def where(self, name: str) -> str:
        """Return how a message names a column: ``user``, ``item`` or ``number``."""
        if self.frame is None:
            return f"{self.role}: {self.meaning if name == 'number' else name + 's'}"
        return f'{self.role}: column "{self.names[name]}"'

    def row(self, row: int) -> str:
        """Return how a message names a row."""
        if self.place is not None:
            return self.place(row)
        user = self.column("user")[row]
        return "a row" if user is None else f"a row of user {shown(user)}"

    def row_and_user(self, row: int, between: str = ", ") -> str:
        """Return how a message names a row and its user."""
        user = f"user {shown(self.column('user')[row])}"
        return user if self.place is None else f"{self.place(row)}{between}{user}"

    def column(self, name: str) -> pl.Series:
        """Return a column, converted anew: nothing is held that is not looked at."""
        row_of = partial(row_within, self.sizes if name == "item" else None)
        make = partial(numbers_of if name == "number" else ids_of, where=self.where(name))
        if self.frame is None:
            cells = (self.held or {})[name]
            return cells if isinstance(cells, pl.Series) else make(cells, row_of=row_of)
        column = self.frame.get_column(self.names[name])
        try:
            kind = type_of(column)
            if kind == "String" and not isinstance(column, pl.Series):
                return cast(pl.Series, pl.from_arrow(column.to_arrow(), rechunk=False))
            if kind != "Object":
                return _in_polars(column)
        except (ImportError, *MISMATCH):  # pandas without pyarrow, or what has to be looked at
            pass
        return make(column.to_list())

    def parts(self, name: str) -> Iterator[pl.Series]:
        """Yield a column, of a frame a part at a time: what is converted at once stays small."""
        whole = None if self.frame is None else self.frame.get_column(self.names[name])
        if whole is None or type_of(whole) == "Object":
            yield self.column(name)
            return
        for start in range(0, len(whole), _PART):
            try:
                part = _in_polars(whole[start : start + _PART])
            except (ImportError, *MISMATCH):  # converted, or told, as a whole
                yield self.column(name)[start:]
                return
            yield part

    def lists(self) -> tuple[pl.Series, Int64]:
        """Return the items of all lists one after another, and how long each list is."""
        if self.frame is None or self.sizes is not None:
            return self.column("item"), np.asarray(self.sizes)
        column, where = self.frame.get_column(self.names["item"]), self.where("item")
        try:
            if type_of(column) in _LISTS:
                return _apart(_in_polars(column))
        except MISMATCH as error:
            raise mixed(where, column.to_list()) from error
        cells = [(row_text(n), cell) for n, cell in enumerate(column.to_list())]
        items, sizes = _flat(self.role, where, cells)
        return ids_of(items, where, partial(row_within, sizes)), sizes


def type_of(column: Column) -> str:
    """Return the name of a column's type, which Polars and narwhals name alike."""
    return column.dtype.base_type().__name__


def _in_polars(column: Column) -> pl.Series:
    if isinstance(column, pl.Series):
        return column
    # Alone, numbers of an Arrow dictionary in several chunks would become text.
    return column.alias("cells").to_frame().to_polars().to_series()


def _flat(role: str, where: str, cells: list[tuple[str, Any]]) -> tuple[list[Any], Int64]:
    """Return the items of lists one after another, and their sizes; messages name each list."""
    lists: list[list[Any]] = []
    for row, cell in cells:
        plain = as_list(cell)
        if plain is not None and not isinstance(plain, list):
            raise DataError(
                f"{where}, {row}: found {shown(cell)} ({type(cell).__name__}) "
                "where a list of items was expected; split a text first, as in "
                'frame["item"].str.split(" ")'
            )
        if isinstance(cell, (set, frozenset)) and role == "recommendations":
            raise DataError(
                f"{where}, {row}: found {shown(cell)}, a set, which has no order; give a list"
            )
        lists.append(plain or [])
    return [item for items in lists for item in items], np.array(list(map(len, lists)), np.int64)


def _apart(lists: pl.Series) -> tuple[pl.Series, Int64]:
    if isinstance(lists.dtype, pl.Array):
        lists = lists.arr.to_list()
    sizes = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
    return lists.explode(empty_as_null=False, keep_nulls=False), sizes


def accept(
    data: Any,
    role: str,
    *,
    user: str,
    item: str,
    numbers: Mapping[str, str | None],
    prefix: str = "",
    named: bool = False,
) -> Table:
    """Return a table of what a person gave.

    `numbers` has the columns of ``rank``, ``score`` or ``grade``; where none is named, a column of
    that very name is taken. `prefix` is that of the parameters that name user and item, for
    messages. Unless a person has `named` the column of items, it may be the only one that has
    lists. DataError or UsageError over a form that is not known, a missing column, and what is no
    list among lists.
    """
    for parameter, name in {f"{prefix}user": user, f"{prefix}item": item, **numbers}.items():
        if not isinstance(name == "", (bool, np.bool_)):  # a column is compared cell by cell
            raise UsageError(
                f"{role}: {parameter} takes a column's name; found {type(name).__name__}"
            )
    if not isinstance(data, (Mapping, *ROWS)):
        return _of_frame(frame_of(data, role), role, user, item, numbers, prefix, named)
    for meaning, name in numbers.items():
        if name is not None:
            raise UsageError(f'{role}: {meaning}="{name}" names a column, but this is not a frame')
    if not isinstance(data, Mapping):
        return _of_rows(data, role)
    if isinstance(next((v for v in data.values() if not missing(v)), None), Mapping):
        return _of_dicts(data, role, list(numbers)[-1] if numbers else "")
    return _of_lists(role, list(data), list(data.values()))


def frame_of(data: Any, role: str, *, forms: str = _FORMS) -> Frame:
    """Return a frame of Polars as it is, and any other as narwhals holds it.

    `role` and `forms` say in messages what it is and may be. UsageError over what is no frame,
    DataError over two columns of one name.
    """
    if isinstance(data, pl.DataFrame):
        return data
    import narwhals as nw  # slow to import

    data = nw.to_native(data, pass_through=True)
    _refuse_index(data, role)
    try:
        if isinstance(data, pl.LazyFrame):
            return data.collect()
        frame: nw.DataFrame[Any] = nw.from_native(data, eager_only=True)
        return frame
    except nw.exceptions.DuplicateError as error:
        raise two_columns(data, role) from error
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{role}: the lazy frame cannot be computed: {error}") from error
    except TypeError:
        pass
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        try:
            return pl.DataFrame(data)
        except pl.exceptions.DuplicateError as error:
            raise two_columns(data, role) from error
        except MISMATCH:  # a single column, as a Series is
            pass
        except Exception as error:  # a relation is worked out by its own library
            raise DataError(f"{role}: the rows cannot be computed: {error}") from error
    raise UsageError(f"{role}: found {type(data).__name__}; give {forms}")


def _refuse_index(data: Any, role: str) -> None:
    """Raise DataError where pandas' index, which nobody reads, holds users, items or an order."""
    levels = getattr(getattr(data, "index", None), "names", None) or ()
    for name in levels:
        if not isinstance(name, str) or name in getattr(data, "columns", levels):
            continue
        is_number = order_of(name) or has_role(name, ("grade",)) or name.lower() == "usage"
        if is_number or is_called(name, "user", "item", "list"):
            raise DataError(
                f'{role}: its index has "{name}", but harness does not read an index: give '
                "frame.reset_index(), or frame.reset_index(drop=True) to drop it"
            )


def two_columns(data: Any, role: str) -> DataError:
    """Return what to say of a frame in which two columns have one name."""
    names = [str(name) for name in getattr(data, "column_names", getattr(data, "columns", ()))]
    again = [f' "{name}"' for n, name in enumerate(names) if name in names[:n]][:1]
    return DataError(f"{role}: two columns have one name{''.join(again)}; rename one of them")


def _of_frame(
    frame: Frame,
    role: str,
    user: str,
    item: str,
    numbers: Mapping[str, str | None],
    prefix: str,
    named_item: bool,
) -> Table:
    lists = [n for n in frame.columns if n != user and _holds_lists(frame.get_column(n))]
    if item not in frame.columns and len(lists) == 1 and not named_item:
        item = lists[0]
    named = {meaning: name for meaning, name in numbers.items() if name is not None}
    for parameter, name in ((f"{prefix}user", user), (f"{prefix}item", item)):
        require(frame, role, parameter, name)
    if len(named) > 1:
        raise UsageError(f"{role}: give {' or '.join(named)}, not both")
    for parameter, name in named.items():
        require(frame, role, parameter, name)
    named = named or {meaning: meaning for meaning in numbers if meaning in frame.columns}
    meaning, number = next(iter(named.items()), ("", ""))
    if item in lists and meaning:
        raise UsageError(
            f'{role}: the {meaning} in column "{number}" has one value per row, but column '
            f'"{item}" has lists; drop that column, or write one row per item'
        )
    names = {"user": user, "item": item} | ({"number": number} if meaning else {})
    return Table(role, names, meaning, item in lists, frame)


def require_names(columns: Iterable[Any], role: str) -> None:
    """Raise UsageError where columns have no names of text."""
    names = list(columns)
    if any(not isinstance(name, str) for name in names):
        # Of several levels, the last.
        lowest = [name[-1] if isinstance(name, tuple) and name else name for name in names[:5]]
        raise UsageError(
            f"{role}: column names must be text; found {shown(names[:5])}; name them, as in "
            f"frame.columns = {list(map(str, lowest))}"
        )


def require(frame: Frame, role: str, parameter: str, name: str) -> None:
    """Raise DataError where a frame has no column of this name."""
    if name not in frame.columns:
        raise DataError(
            f'{role}: no column "{name}"; {suggest(str(name), map(str, frame.columns))} (to use '
            f'another: {parameter}="…")'
        )


def _holds_lists(column: Column) -> bool:
    kind = type_of(column)
    if kind in _LISTS:
        return True
    if kind == "Object":
        return any(isinstance(as_list(cell), list) for cell in column)
    if kind != "String" or isinstance(column, pl.Series):
        return False
    if str(getattr(column.to_native(), "dtype", "")) != "object":
        return False
    # What pandas calls text may begin with many missing lists.
    return isinstance(next((as_list(c) for c in column if not missing(c)), None), list)


def _of_dicts(data: Mapping[Any, Any], role: str, meaning: str) -> Table:
    rows = [{} if missing(row) else row for row in data.values()]
    for user, row in zip(data, rows, strict=True):
        if not isinstance(row, Mapping):
            raise DataError(
                f"{role}: user {user!r}: found {type(row).__name__}, but other users have a dict "
                f"of items and {meaning}s; use the same form for every user"
            )
    items, numbers = [i for row in rows for i in row], [n for row in rows for n in row.values()]
    held = {"user": list(data), "item": items} | ({"number": numbers} if meaning else {})
    sizes = np.array(list(map(len, rows)), np.int64)
    return Table(role, dict.fromkeys(held, ""), meaning, wide=True, held=held, sizes=sizes)


def _of_rows(data: Any, role: str) -> Table:
    if isinstance(data, np.matrix):
        data = np.asarray(data)
    if isinstance(data, np.ndarray):
        of_objects = data.dtype == np.object_
        if data.ndim != 2 and not (of_objects and data.ndim == 1):
            raise UsageError(f"{role}: an array of {data.ndim} dimensions; give one list per row")
        if not of_objects:
            return _of_array(data, role)
    return _of_lists(role, list(range(len(data))), list(data))


def _of_lists(role: str, users: list[Any], lists: list[Any]) -> Table:
    cells = [(f"user {user!r}", cell) for user, cell in zip(users, lists, strict=True)]
    items, sizes = _flat(role, f"{role}: items", cells)
    held = {"user": users, "item": items}
    return Table(role, dict.fromkeys(held, ""), "", wide=True, held=held, sizes=sizes)


def _of_array(lists: np.ndarray[Any, Any], role: str) -> Table:
    """Return a 2-d array, less the −1 that fill rows up."""
    empty = (lists == -1) if lists.dtype.kind == "i" else np.zeros(lists.shape, np.bool_)
    sizes = np.full(len(lists), lists.shape[1], np.int64) - empty.sum(axis=1)
    inside = empty & (np.arange(lists.shape[1]) < sizes[:, None])
    if inside.any():
        row = int(inside.any(axis=1).argmax())
        raise DataError(
            f"{role}: items, {row_text(row)}: found −1, an empty position, before an item; move "
            "empty positions to the end"
        )
    try:
        held = {"user": pl.Series(np.arange(len(lists))), "item": pl.Series(lists[~empty])}
    except MISMATCH as error:
        raise mixed(f"{role}: items", lists.ravel().tolist()) from error
    return Table(role, dict.fromkeys(held, ""), "", wide=True, held=held, sizes=sizes)


def as_polars(data: Any, role: str) -> pl.DataFrame:
    """Return any frame with columns of text, numbers or lists of text; errors as of `frame_of`."""
    frame = frame_of(data, role, forms=_FRAMES)
    require_names(frame.columns, role)
    return pl.DataFrame({name: _readable(frame.get_column(name)) for name in frame.columns})


def _readable(column: Column) -> pl.Series:
    try:
        if type_of(column) != "Object":
            return _in_polars(column)
    except (ImportError, *MISMATCH):  # pandas without pyarrow, cells of several types
        pass
    cells = [as_list(cell) for cell in column.to_list()]
    if not any(isinstance(cell, list) for cell in cells):
        return pl.Series(list(map(_text, cells)), dtype=pl.String)
    lists = [c if isinstance(c, list) else [] if c is None else [c] for c in cells]
    return pl.Series([list(map(_text, items)) for items in lists], dtype=pl.List(pl.String))


def _text(cell: Any) -> str | None:
    """Return a cell as text; half of a character, which no file can hold, becomes a question."""
    return None if missing(cell) else str(cell).encode("utf-8", "replace").decode()
