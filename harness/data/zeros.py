"""Leading zeros of item ids, which spreadsheets take: noticed, told, and refused where in doubt."""

from __future__ import annotations

import numpy as np
import polars as pl

from harness.core.errors import DataError, counted
from harness.data import dataset
from harness.data.layout import EventTable, Layout
from harness.data.source import Source

_FIRST = 1_000
CURE = "restore it with [data] restore_zeros = true"


def lost(ids: pl.Series, width: int) -> pl.Series:
    """Return the ids that are one digit shorter than all should be."""
    return ids.filter(ids.str.len_chars() == width - 1)


def also_told(error: DataError, layout: Layout, events: EventTable, source: Source) -> DataError:
    """Return an error that also tells of lost zeros, which the same spreadsheet took."""
    width = layout.id_width
    if width is None or layout.restore_zeros or events.item not in source.names:
        return error
    short = lost(source.first(events.item, _FIRST), width)
    if short.is_empty():
        return error
    return DataError(
        f'{error}\nand its item ids, such as "{short[0]}", have {width - 1} digits: '
        f"the leading zero was lost when the file was saved as numbers; {CURE}"
    )


def notes(layout: Layout, items: pl.Series, catalogue: pl.Series, width: int) -> list[str]:
    """Return a note on item ids that lost their leading zero, or raise where nothing matches."""
    short = [len(lost(ids, width)) for ids in (items, catalogue)]
    if not any(short) or layout.restore_zeros:
        padded = sum(short)
        return [f"{counted(padded, 'item id')} padded to {width} digits"] if padded else []
    what = _losses(layout, items, catalogue, width)
    every = pl.concat([items.alias(dataset.ID), catalogue.alias(dataset.ID)])
    in_both_forms = lost(every, width).str.zfill(width).is_in(every.implode()).any()
    if 0 in short or in_both_forms:
        raise DataError(f"{layout.events[0].table.path.parent}: {what}\n{CURE}")
    return [f"LOST ZEROS: {what}; an upload with such ids would hit nothing and score 0; {CURE}"]


def note_of_shorter(ids: pl.Series) -> list[str]:
    """Return a note where most whole numbers have zeros in front, and some are shorter without.

    Nothing is known of how long the ids of such a log should be.
    """
    padded = ids.filter(ids.str.starts_with("0")).unique()
    padded = padded.filter(padded.str.contains("^0[0-9]+$"))
    if padded.is_empty():
        return []
    width = int(np.bincount(padded.str.len_bytes().to_numpy()).argmax())
    padded = padded.filter(padded.str.len_bytes() == width)
    plain = ids.filter((ids.str.len_bytes() < width) & ids.str.contains("^[1-9][0-9]*$")).unique()
    if not 0 < len(plain) < len(padded):
        return []
    are = "is a shorter number" if len(plain) == 1 else "are shorter numbers"
    of = counted(ids.n_unique(), "item id")
    return [
        f'{len(plain):,} of {of} {are} without zeros in front, such as "{plain.sort()[0]}", and '
        f'{len(padded):,} have {width} digits with them, such as "{padded.sort()[0]}": if some '
        "were saved as numbers, which takes zeros, write them as texts again; now they are other "
        "items"
    ]


def _losses(layout: Layout, items: pl.Series, catalogue: pl.Series, width: int) -> str:
    """Return where ids lost their zero: in the events, and in the table of items."""
    ids = {layout.events[0].table.path.name: items}
    if layout.items is not None:
        ids[layout.items.table.path.name] = catalogue
    short = {file: lost(ids[file], width) for file in ids}
    first = next(texts for texts in short.values() if len(texts) > 0).sort()[0]
    counts = [f"{len(short[file]):,} of {len(ids[file]):,} item ids in {file}" for file in ids]
    return (
        f'{" and ".join(counts)} have {width - 1} digits (such as "{first}"): the leading zero was '
        "lost when the file was saved as numbers"
    )
