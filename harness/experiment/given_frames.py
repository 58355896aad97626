"""The frames of a config that was made in Python, and their columns as Polars holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from harness.config import Config
from harness.core.errors import DataError, row_text, suggest
from harness.core.given import name_of
from harness.core.given import shown as role_of
from harness.data.layout import EventTable
from harness.metrics.inputs.cells import missing, shown
from harness.metrics.inputs.frame import Table, as_polars, frame_of, require_names, type_of

if TYPE_CHECKING:
    from harness.metrics.inputs.frame import Column, Frame

FORMS = "a pandas, Polars or Arrow frame or a DuckDB relation"


def name_frames(value: Any, role: str, frames: dict[str, Any]) -> Any:
    """Return a name for a frame, or for each in a list of one a fold; anything else as it is.

    The frame is added to `frames` by that name.
    """
    if isinstance(value, list):
        return [name_frames(v, f"{role} of fold {n}", frames) for n, v in enumerate(value, 1)]
    if not is_frame(value):
        return value
    name = name_of(role)
    frames[name] = value
    return name


def is_frame(value: Any) -> bool:
    """Return whether something looks like a frame of any library."""
    if isinstance(value, type):
        return False
    return isinstance(value, pl.LazyFrame) or any(
        hasattr(value, name) for name in ("__arrow_c_stream__", "__dataframe__", "columns")
    )


def read_frames(config: Config, frames: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the frames as Polars holds them; of events only the columns that are asked for."""
    tables = {
        name_of(table.table.name): table
        for fold in config.folds()
        for table in fold.layout().events
    }
    return {
        name: _read_events(tables[name], frame)
        if name in tables
        else as_polars(frame, role_of(name))
        for name, frame in frames.items()
    }


def _read_events(table: EventTable, native: Any) -> pl.DataFrame:
    """Return the columns of events; ids of mixed types are refused, as by `harness.evaluate`."""
    role = table.table.name
    if isinstance(native, pl.LazyFrame):
        try:
            names = native.collect_schema().names()
        except pl.exceptions.PolarsError as error:
            raise DataError(f"{role}: the lazy frame cannot be worked out: {error}") from error
        _require_columns(role, table, native, names)
        native = native.select(table.columns)
    frame = frame_of(native, role, forms=FORMS)
    _require_columns(role, table, native, frame.columns)
    ids = Table(role, {"user": table.user, "item": table.item}, "", wide=False, frame=frame)
    columns = {table.user: ids.column("user"), table.item: ids.column("item")}
    for name in table.columns:
        if name not in columns:
            columns[name] = _read_column(frame, name, role)
        kind = columns[name].dtype
        is_extension = isinstance(kind, pl.datatypes.BaseExtension)
        if kind in (pl.Object, pl.Duration, pl.Time) or is_extension:
            cells = frame.get_column(name)
            held = next((type(cell).__name__ for cell in cells if not missing(cell)), "nothing")
            raise DataError(
                f'{role}: column "{name}" holds {held} values; expected text, numbers, dates or '
                f'times: frame["{name}"].astype(str) makes texts of them in pandas'
            )
    return pl.DataFrame(columns)


def _read_column(frame: Frame, name: str, role: str) -> pl.Series:
    """Return a column; dates or times among pandas' objects stay dates or times."""
    column = frame.get_column(name)
    if type_of(column) == "Object":
        kinds = set(map(type, column)) - {type(None), float}
        # Of both dates and times, Arrow would cut the times to days.
        if len(kinds) == 1 and issubclass(kinds.pop(), date):
            _refuse_mixed_zones(column, f'{role}: column "{name}"')
            with suppress(ImportError):  # of PyArrow, without which they are read as text
                return cast(pl.Series, pl.from_arrow(column.to_arrow()))
    return as_polars(frame.select(name), role).to_series()


def _refuse_mixed_zones(column: Column, where: str) -> None:
    """Raise DataError where only some times have a zone: Arrow takes the others for UTC."""
    has_zone = {
        row: getattr(time, "tzinfo", None) is not None
        for row, time in enumerate(column)
        if not missing(time)
    }
    bare = next((row for row, zoned in has_zone.items() if not zoned), None)
    if bare is not None and any(has_zone.values()):
        raise DataError(
            f"{where}, {row_text(bare)}: found {shown(str(column[bare]))}, a time without a zone, "
            "where others have one; give all of them a zone, or none"
        )


def _require_columns(role: str, table: EventTable, native: Any, columns: Sequence[Any]) -> None:
    """Raise DataError where a frame of events lacks a column."""
    for name in table.columns:
        if name in columns:
            continue
        require_names(columns, role)
        if name in (getattr(getattr(native, "index", None), "names", None) or ()):
            raise DataError(f'{role}: its index has "{name}": give frame.reset_index()')
        keys = [key for key in ("user", "item", "time") if getattr(table, key) == name]
        hint = "".join(f' (name yours: data={{"{key}": "…"}})' for key in keys)
        raise DataError(f'{role}: no column "{name}"; {suggest(name, columns)}{hint}')
