"""MTS KION (ODS, 2021): films and series watched."""

from __future__ import annotations

from pathlib import Path

from harness.layouts.tables import AttributeTable, EventTable, Layout, Table


def layout(
    folder: Path, *, minimum: dict[str, float] | None = None, time_format: str = "iso"
) -> Layout:
    """Return the layout of the data set's folder; ``minimum`` may bound total_dur, watched_pct."""
    watched = EventTable(
        Table(folder / "interactions.csv"),
        user="user_id",
        item="item_id",
        time="last_watch_dt",
        kind="watch",
        time_format=time_format,
        minimum=tuple(sorted((minimum or {}).items())),
    )
    return Layout(
        name="kion",
        events=(watched,),
        users=AttributeTable(Table(folder / "users.csv"), id="user_id"),
        items=AttributeTable(Table(folder / "items.csv"), id="item_id"),
    )
