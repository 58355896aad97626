"""What the rows of a user mean where nobody has said so: a row an item, columns that order them."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.core.errors import DataError
from harness.delimited import fields
from harness.delimited._bytes import behind_last
from harness.delimited._lines import NO_ROW
from harness.delimited.blocks import Block, cut
from harness.delimited.stream import Refused
from harness.submission import faults, header
from harness.submission.admitted import Admitted
from harness.submission.expected import Against
from harness.submission.findings import Findings, shown
from harness.submission.format import INDEX, Named
from harness.submission.rules import RULES
from harness.submission.scan import Expected, Scanned
from harness.submission.scan_file import scan_block, scan_file
from harness.submission.source import Source, source

if TYPE_CHECKING:
    import polars as pl

    from harness.submission.read import File

_FIRST = 1 << 16
"""Bytes whose lists usually tell that a row holds several items."""
_NUMBER = re.compile(rb"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")


def is_row_an_item(path: Path | pl.DataFrame, against: Against) -> bool:
    """Return whether users stand in several rows, each with one item, and no column orders them.

    The order of rows is that of the items then. A list of several items, usually the first, tells
    that it is otherwise.
    """
    try:
        return against.may_be_long and not _several_items(path, against) and _again(path, against)
    except Refused:
        return False


def _several_items(path: Path | pl.DataFrame, against: Against) -> bool:
    """Return whether columns tell what a row holds, or one of the first lists has several items."""
    with source(path, against, Findings()) as opened:
        if not opened.readable or opened.wanted.long:
            return True
        block = next(opened.reader.blocks(), None)
        if block is None:
            return True
        stop = behind_last(block.buffer, 0, min(block.size, _FIRST), block.end)
        first = replace(block, size=stop or block.size)
        return not _is_single(scan_block(first, opened.form, _expected(opened, against)).found)


def _again(path: Path | pl.DataFrame, against: Against) -> bool:
    """Return whether no list has several items, and a user stands in several rows."""
    users, again = Admitted(len(against.users)), False
    with source(path, against, Findings()) as opened:
        for scanned in scan_file(opened.reader, opened.form, _expected(opened, against)):
            found = scanned.found
            if not _is_single(found):
                return False
            rows = users.admit(found.users, found.keys, found.list_keys)
            again = again or len(rows.other) + len(rows.same) > 0
    return again


def _expected(opened: Source, against: Against) -> Expected:
    """Return what is known, of which no list is kept."""
    nobody = np.full(len(against.users), -1, np.int32)
    return Expected(against.users, against.items_of(opened.wanted), nobody, 0)


def _is_single(found: Scanned) -> bool:
    """Return whether no list of a block has several items."""
    single = found.tally.lines[[faults.EMPTY, faults.ONE_ITEM]].sum()
    return bool(single == np.count_nonzero(found.users != NO_ROW))


def unsaid(path: Path | pl.DataFrame, against: Against) -> list[str]:
    """Return the columns with numbers that nothing is known of, by the first rows of a file.

    So is the column of items where it holds hardly any, and another column nothing else.
    """
    with source(path, against, Findings()) as opened:
        block = next(opened.reader.blocks(), None)
        return [] if block is None else _of_block(block, opened, against)


def refuse_unsaid(found: File, named: Named | None) -> None:
    """Raise DataError where a column of a table may order the rows of a user, and nobody says so.

    Nothing else is known to be wrong with such a table, which is read without being validated.
    """
    table = found.table
    said = "number" in table.names or (named is not None and named.row_order)
    if table.wide or said:
        return
    used = (*table.names.values(), *INDEX)
    for column in found.frame:
        if column.name not in used and _holds_numbers(column):
            rule, name = RULES["SUB111"], shown(column.name)
            says = rule.says.format(value=name)
            raise DataError(f"{found.path}: {says}; {rule.hint.format(quoted=shlex.quote(name))}")


def _holds_numbers(column: pl.Series) -> bool:
    import polars as pl  # slow to import

    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return False
    return bool(column.cast(pl.String).str.contains(f"^(?:{_NUMBER.pattern.decode()})$").any())


def _of_block(block: Block, opened: Source, against: Against) -> list[str]:
    head, wanted, items = opened.head, opened.wanted, against.items_of(opened.wanted)
    own = opened.places[wanted.items]
    places = [
        place
        for place, column in enumerate(head.columns)
        if place == own
        or (place not in opened.places.values() and not header.is_index(column, head, wanted))
    ]
    starts, stops = fields.spans(block, len(head.columns), *places)
    spans = dict(zip(places, zip(starts.T, stops.T, strict=True), strict=True))
    whole = block.text(0, block.size)
    known = {place: items.codes(block.buffer, *at) >= 0 for place, at in spans.items()}
    of_items = [own]
    if items.complete and known[own].sum() < known[own].size / 2:
        of_items = [place for place in spans if known[place].all()] or [own]
    return [
        head.columns[place]
        for place, at in spans.items()
        if place not in of_items and any(map(_NUMBER.fullmatch, cut(whole, *at)))
    ]
