"""The frames of a config that was made in Python, and their columns as Polars holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from harness.config import Config
from harness.core.errors import DataError, row_text, suggest
from harness.core.given import FRAMES, name_of
from harness.core.given import shown as role_of
from harness.data.layout import EventTable
from harness.metrics.inputs.cells import missing, shown
from harness.metrics.inputs.frame import Table, as_polars, frame_of, require_names, type_of

if TYPE_CHECKING:
    from harness.metrics.inputs.frame import Frame


def read_frames(config: Config, frames: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the frames as Polars holds them; of events only the columns that are asked for."""
    layouts = [fold.layout() for fold in config.folds()]
    events = {name_of(table.table.name): table for layout in layouts for table in layout.events}
    return {
        name: _events(events[name], frame) if name in events else as_polars(frame, role_of(name))
        for name, frame in frames.items()
    }


def _events(table: EventTable, native: Any) -> pl.DataFrame:
    """Return the columns of events; ids of mixed types are refused, as by `harness.evaluate`."""
    role = table.table.name
    if isinstance(native, pl.LazyFrame):
        _require_columns(table, native, frame_of(native.head(0), role).columns)
        native = native.select(table.columns)
    frame = frame_of(native, role, forms=FRAMES)
    _require_columns(table, native, frame.columns)
    ids = Table(role, {"user": table.user, "item": table.item}, "", wide=False, frame=frame)
    columns = {table.user: ids.column("user"), table.item: ids.column("item")}
    for name in table.columns:
        if name not in columns:
            columns[name] = _column(frame, name, role)
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


def _column(frame: Frame, name: str, role: str) -> pl.Series:
    """Return a column; dates or times among pandas' objects stay dates or times."""
    column = frame.get_column(name)
    is_object = type_of(column) == "Object"
    kinds = set(map(type, column)) - {type(None), float} if is_object else set()
    # Of both dates and times, Arrow would cut the times to days.
    if len(kinds) == 1 and issubclass(kinds.pop(), date):
        zones = {r: getattr(t, "tzinfo", None) for r, t in enumerate(column) if not missing(t)}
        bare = next((row for row, zone in zones.items() if zone is None), None)
        if bare is not None and any(zones.values()):  # Arrow would take the bare ones for UTC
            raise DataError(
                f'{role}: column "{name}", {row_text(bare)}: found {shown(str(column[bare]))}, a '
                "time without a zone, where others have one; give all of them a zone, or none"
            )
        with suppress(ImportError):  # of PyArrow, without which they are read as text
            return cast(pl.Series, pl.from_arrow(column.to_arrow()))
    return as_polars(frame.select(name), role).to_series()


def _require_columns(table: EventTable, native: Any, columns: Sequence[Any]) -> None:
    """Raise DataError where a frame of events lacks a column."""
    role = table.table.name
    for name in table.columns:
        if name in columns:
            continue
        require_names(columns, role)
        if name in (getattr(getattr(native, "index", None), "names", None) or ()):
            raise DataError(f'{role}: its index has "{name}": give frame.reset_index()')
        keys = [key for key in ("user", "item", "time") if getattr(table, key) == name]
        hint = "".join(f' (name yours: data={{"{key}": "…"}})' for key in keys)
        raise DataError(f'{role}: no column "{name}"; {suggest(name, columns)}{hint}')
