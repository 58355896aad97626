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
    """Return a note where whole numbers stand with zeros in front and without.

    That is where an id has both forms; or where most have zeros, and some are shorter without.
    Nothing is known of how long the ids of such a log should be.
    """
    padded = ids.filter(ids.str.contains("^0[0-9]+$")).unique().sort()
    if padded.is_empty():
        return []
    plain = ids.filter(ids.str.contains("^[1-9][0-9]*$")).unique().sort()
    bare = without_zeros(padded)
    in_both_forms = plain.filter(plain.is_in(bare.implode()))
    width = int(np.bincount(padded.str.len_bytes().to_numpy()).argmax())
    whole = padded.filter(padded.str.len_bytes() == width)
    shorter = plain.filter(plain.str.len_bytes() < width)
    total = counted(ids.n_unique(), "item id")
    if not in_both_forms.is_empty():
        first, are = in_both_forms[0], "is" if len(in_both_forms) == 1 else "are"
        what = (
            f"{len(in_both_forms):,} of {total} {are} also written with leading zeros, such as "
            f'"{first}" and "{padded.filter(bare == first)[0]}"'
        )
    elif 0 < len(shorter) < len(whole):
        are = "is a shorter number" if len(shorter) == 1 else "are shorter numbers"
        what = (
            f'{len(shorter):,} of {total} {are} without leading zeros, such as "{shorter[0]}", '
            f'and {len(whole):,} have {width} digits with them, such as "{whole[0]}"'
        )
    else:
        return []
    return [
        f"{what}. If some were saved as numbers and lost their zeros, write them as text again; "
        "now they count as other items"
    ]


def without_zeros(ids: pl.Series) -> pl.Series:
    """Return ids as they are where they were saved as numbers."""
    return ids.str.strip_chars_start("0")


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
