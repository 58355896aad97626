"""Item ids that lost their leading zero when a file was saved as numbers."""

from __future__ import annotations

import polars as pl

from harness.layouts.tables import Layout

CURE = "restore it with [data] restore_zeros = true"


def lost(ids: pl.Series, width: int) -> pl.Series:
    """Return the ids that are one digit shorter than all should be."""
    return ids.filter(ids.str.len_chars() == width - 1)


def told(layout: Layout, items: pl.Series, described: pl.Series, width: int) -> str:
    """Return where a layout's ids lost their zero: in the events, and in the table of items."""
    places = {layout.events[0].table.path.name: items}
    if layout.items is not None:
        places[layout.items.table.path.name] = described
    short = {name: lost(ids, width) for name, ids in places.items()}
    first = next(ids for ids in short.values() if len(ids) > 0).sort()[0]
    counts = [
        f"{len(short[name]):,} of {len(places[name]):,} item ids in {name}" for name in places
    ]
    return (
        f'{" and ".join(counts)} have {width - 1} digits (such as "{first}"): the leading zero was '
        "lost when the file was saved as numbers"
    )
