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


class Frames:
    """Frames that were met, by the names that stand for them in the config."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def named(self, what: str, given: Any) -> Any:
        """Return a name for a frame, or for each of one a fold; anything else as it is."""
        if isinstance(given, list):
            return [self.named(f"{what} of fold {n}", one) for n, one in enumerate(given, 1)]
        if not is_frame(given):
            return given
        name = name_of(what)
        self.found[name] = given
        return name


def is_frame(given: Any) -> bool:
    """Return whether something looks like a frame of any library."""
    if isinstance(given, type):
        return False
    return isinstance(given, pl.LazyFrame) or any(
        hasattr(given, name) for name in ("__arrow_c_stream__", "__dataframe__", "columns")
    )


def read_frames(config: Config, given: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the frames as Polars holds them: of events the columns alone that are asked for."""
    folds = [fold.layout().events for fold in config.folds()]
    events = {name_of(table.table.name): table for own in folds for table in own}
    return {
        name: _events(events[name], own) if name in events else as_polars(own, role_of(name))
        for name, own in given.items()
    }


def _events(table: EventTable, given: Any) -> pl.DataFrame:
    """Return the columns of events; ids of several types are refused, as by `harness.evaluate`."""
    role = table.table.name
    if isinstance(given, pl.LazyFrame):
        try:
            names = given.collect_schema().names()
        except pl.exceptions.PolarsError as error:
            raise DataError(f"{role}: the lazy frame cannot be worked out: {error}") from error
        _require_columns(role, table, given, names)
        given = given.select(table.columns)
    frame = frame_of(given, role, forms=FORMS)
    _require_columns(role, table, given, frame.columns)
    ids = Table(role, {"user": table.user, "item": table.item}, "", wide=False, frame=frame)
    others = [name for name in table.columns if name not in (table.user, table.item)]
    columns = {table.user: ids.column("user"), table.item: ids.column("item")}
    columns |= {name: _typed(frame, name, role) for name in others}
    for name, column in columns.items():
        _refuse_objects(role, name, frame, column)
    return pl.DataFrame(columns)


def _refuse_objects(role: str, name: str, frame: Frame, column: pl.Series) -> None:
    """Raise DataError where a column holds what is neither text, number, date nor time."""
    kind = column.dtype
    if kind in (pl.Object, pl.Duration, pl.Time) or isinstance(kind, pl.datatypes.BaseExtension):
        own = frame.get_column(name)
        found = next((type(cell).__name__ for cell in own if not missing(cell)), "nothing")
        raise DataError(
            f'{role}: column "{name}" holds {found} values; expected text, numbers, dates or '
            f'times: frame["{name}"].astype(str) makes texts of them in pandas'
        )


def _typed(frame: Frame, name: str, role: str) -> pl.Series:
    """Return a column; dates or times of pandas' objects as what they are, and no texts."""
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
    """Raise DataError where some times have a zone and others none: Arrow takes these for UTC."""
    bare = [getattr(time, "tzinfo", None) is None and not missing(time) for time in column]
    zoned = [getattr(time, "tzinfo", None) is not None for time in column]
    if any(bare) and any(zoned):
        at = bare.index(True)
        raise DataError(
            f"{where}, {row_text(at)}: found {shown(str(column[at]))}, a time without a zone, "
            "where others have one; give all of them a zone, or none"
        )


def _require_columns(role: str, table: EventTable, given: Any, columns: Sequence[Any]) -> None:
    """Raise DataError where a frame of events lacks a column."""
    if set(table.columns) - set(columns):
        require_names(columns, role)
    keys = {table.user: "user", table.item: "item", table.time: "time"}
    for name in table.columns:
        if name in columns:
            continue
        told = f'{role}: no column "{name}"; it has: {", ".join(map(str, columns))}'
        levels = getattr(getattr(given, "index", None), "names", None) or ()
        if name in levels:
            raise DataError(f'{told}\nits index has "{name}": give frame.reset_index()')
        near = suggest(name, map(str, columns))
        near = near if near.startswith("did") else ""
        key = keys.get(name)
        how = f'name yours: data={{"{key}": "…"}}' if key else ""
        raise DataError("\n".join([told, "; ".join(filter(None, (near, how)))]).rstrip())
