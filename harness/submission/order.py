"""What the rows of a user mean where nobody has said so: a row an item, columns that order them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.core.arrays import Int32
from harness.core.column_names import is_called, is_index, order_of
from harness.core.errors import DataError
from harness.delimited import blocks
from harness.delimited._delimited import NO_ROW, behind_last, find_byte
from harness.delimited.blocks import Block, cut, in_order
from harness.delimited.stream import Refused
from harness.submission import _kernels as faults
from harness.submission.admitted import Admitted
from harness.submission.expected import Against
from harness.submission.format import SCORES, Named
from harness.submission.keys import Learning
from harness.submission.lists import numbers_in
from harness.submission.problems import Findings, shown
from harness.submission.rules import RULES
from harness.submission.scan import Expected, Form, Scanned, scan
from harness.submission.source import source

if TYPE_CHECKING:
    import polars as pl

    from harness.submission.read import File

_FIRST = 1 << 16
"""Bytes whose lists usually tell that a row holds several items."""
_NUMBER = re.compile(rb"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")


class SeveralItemsError(Exception):
    """A list of several items, in a file whose first rows hold one item each."""


@dataclass(frozen=True, eq=False)
class OneItemCheck:
    """Of lists as they are cut: whether each has one item, or none."""

    form: Form
    expected: Expected

    def scanned(self, block: Block) -> Scanned | None:
        """Return what a block holds; None where one of its lists has several items."""
        scanned = scan(block, self.form, self.expected)
        single = scanned.tally.lines[[faults.EMPTY, faults.ONE_ITEM]].sum()
        return scanned if single == np.count_nonzero(scanned.users != NO_ROW) else None

    def refuse_several(self, block: Block) -> None:
        """Raise SeveralItemsError where a list of a block has several items."""
        between = find_byte(block.buffer, 0, block.size, self.form.between)
        if between < block.size and self.scanned(block) is None:
            raise SeveralItemsError


def row_an_item(path: Path | pl.DataFrame, against: Against) -> OneItemCheck | None:
    """Return a check, where users stand in several rows of one item, and no column orders these.

    The order of rows is that of the items then. A list of several items, usually the first, tells
    that it is otherwise. Rows behind the first user who comes again are left to it.
    """
    try:
        check = _of_first_lines(path, against) if against.may_be_long else None
        return check if check is not None and _again(path, against, check) else None
    except Refused:
        return None


def _of_first_lines(path: Path | pl.DataFrame, against: Against) -> OneItemCheck | None:
    """Return a check, unless columns tell what rows hold or one of a few lists has two items."""
    with source(path, against, Findings()) as opened:
        block = None if opened.wanted.long else next(opened.reader.blocks(), None)
        if block is None or not opened.readable:
            return None
        nobody = np.full(len(against.users), -1, np.int32)  # no list is kept
        expected = Expected.of(
            against.users, against.items_of(opened.wanted), nobody, 0, opened.wanted
        )
        check = OneItemCheck(opened.form, expected)
        stop = behind_last(block.buffer, 0, min(block.size, _FIRST), block.end)
        few = replace(block, size=stop or block.size)
        return None if check.scanned(few) is None else check


def _again(path: Path | pl.DataFrame, against: Against, check: OneItemCheck) -> bool:
    """Return whether a user comes again before any list has several items."""
    users = Admitted(len(against.users))
    with source(path, against, Findings()) as opened:
        for scanned in in_order(opened.reader, check.scanned):
            if scanned is None:
                return False
            again = users.admit(scanned.users, scanned.keys, scanned.list_keys)
            if len(again.other) + len(again.same) > 0:
                return True
    return False


def unsaid(path: Path | pl.DataFrame, against: Against) -> list[str]:
    """Return the columns with numbers that nothing is known of, by the first rows of a file.

    So is the column of items where it holds hardly any, and another column nothing else.
    """
    with source(path, against, Findings()) as opened:
        block = next(opened.reader.blocks(), None)
        if block is None:
            return []
        head, wanted, items = opened.head, opened.wanted, against.items_of(opened.wanted)
        item_place = opened.places[wanted.items]
        places = [
            place
            for place, column in enumerate(head.columns)
            if place == item_place or (place not in opened.places.values() and not is_index(column))
        ]
        starts, stops = blocks.spans(block, len(head.columns), places)
        whole = block.text(0, block.size)
        columns = list(zip(places, starts.T, stops.T, strict=True))
        known = {
            place: items.codes(block.buffer, begins, ends) >= 0 for place, begins, ends in columns
        }
        of_items = [item_place]
        if items.complete and known[item_place].sum() < known[item_place].size / 2:
            of_items = [place for place in places if known[place].all()] or [item_place]
        numbers = [
            head.columns[place]
            for place, begins, ends in columns
            if place not in of_items and any(map(_NUMBER.fullmatch, cut(whole, begins, ends)))
        ]
        return _likely_first(numbers)


def _likely_first(columns: Sequence[str]) -> list[str]:
    """Return columns, first those that are called as what orders rows is: ``est`` before others."""
    return sorted(columns, key=lambda name: order_of(name) is None)


def otherwise(path: Path | pl.DataFrame, against: Against) -> tuple[str, int] | None:
    """Return a further column of scores or ranks, and how many rows it puts before earlier ones.

    None where there is no such column. The column that is read decides which rows are earlier.
    """
    with source(path, against, Findings()) as opened:
        wanted, head = opened.wanted, opened.head.columns
        names = ("rank",) if wanted.descending else ("score", *SCORES)
        spelled = {name.strip().casefold(): name for name in reversed(head)}
        other = next((spelled[name] for name in names if name in spelled), None)
        if other is None or not wanted.order:
            return None
        places = [opened.places[wanted.user], opened.places[wanted.order], head.index(other)]
        ids, codes = Learning(), [np.zeros(0, np.int32)]
        numbers, seconds = [np.zeros(0)], [np.zeros(0)]
        for block in opened.reader.blocks():
            starts, stops = blocks.spans(block, len(head), places)
            codes.append(ids.add(block.buffer, starts[:, 0], stops[:, 0]))
            numbers.append(numbers_in(block, starts[:, 1], stops[:, 1]))
            seconds.append(numbers_in(block, starts[:, 2], stops[:, 2]))
            opened.reader.give_back(block)
    user, number = np.concatenate(codes), np.concatenate(numbers)
    second = np.concatenate(seconds)
    first = -number if wanted.descending else number
    second = second if wanted.descending else -second
    rows = np.lexsort((second, first, user))
    same = user[rows][1:] == user[rows][:-1]
    return other, int(np.count_nonzero(same & (second[rows][1:] < second[rows][:-1])))


def of_models(path: Path | pl.DataFrame, against: Against) -> list[str]:
    """Return the further columns called as a model is that differ among the rows of a user."""
    with source(path, against, Findings()) as opened:
        head, used = opened.head, opened.places
        places = [
            place
            for place, column in enumerate(head.columns)
            if place not in used.values() and is_called(column, "model")
        ]
        if not places:
            return []
        places = [used[opened.wanted.user], *places]
        ids = [Learning() for _ in places]
        codes = [[np.zeros(0, np.int32)] for _ in places]
        for block in opened.reader.blocks():
            starts, stops = blocks.spans(block, len(head.columns), places)
            for n, learning in enumerate(ids):
                codes[n].append(learning.add(block.buffer, starts[:, n], stops[:, n]))
            opened.reader.give_back(block)
    users, *models = map(np.concatenate, codes)
    return [
        head.columns[place]
        for place, codes_of_models in zip(places[1:], models, strict=True)
        if _differ(users, codes_of_models)
    ]


def _differ(users: Int32, codes: Int32) -> bool:
    """Return whether a user has several codes."""
    any_of = np.zeros(int(users.max(initial=-1)) + 1, np.int32)
    any_of[users] = codes
    return bool((any_of[users] != codes).any())


def refuse_unsaid(file: File, named: Named | None) -> None:
    """Raise HarnessError where a further column may tell lists apart, or order a user's rows.

    Nothing else is known to be wrong with such a table, which is read without being validated.
    """
    from harness.metrics.inputs.order import refuse_models  # it takes Polars

    table = file.table
    refuse_models(table)
    is_ordered = "number" in table.names or (named is not None and named.row_order)
    if table.wide or is_ordered:
        return
    for column in file.frame.select(_likely_first(file.frame.columns)):
        further = column.name not in table.names.values() and not is_index(column.name)
        if further and _holds_numbers(column):
            rule, name = RULES["SUB111"], shown(column.name)
            says = rule.says.format(value=name)
            raise DataError(f"{file.path}: {says}; {rule.hint.format(quoted=shlex.quote(name))}")


def _holds_numbers(column: pl.Series) -> bool:
    import polars as pl  # slow to import

    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return False
    return bool(column.cast(pl.String).str.contains(f"^(?:{_NUMBER.pattern.decode()})$").any())
