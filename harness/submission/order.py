"""Columns that may order the rows of a user, or tell several lists of a user apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from harness.core.column_names import is_called, is_index, order_of
from harness.delimited import blocks
from harness.delimited.blocks import cut
from harness.submission.expected import Against
from harness.submission.format import SCORES
from harness.submission.keys import Learning
from harness.submission.lists import numbers_in
from harness.submission.problems import Findings
from harness.submission.source import Source, source

if TYPE_CHECKING:
    import polars as pl

_NUMBER = re.compile(rb"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")


def unsaid(path: Path | pl.DataFrame, against: Against) -> list[str]:
    """Return the columns with numbers that nothing is known of, by the first rows of a file.

    So is the column of items where it holds hardly any, and another column nothing else. Columns
    that are called as what orders rows is, such as ``est``, come first.
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
        return sorted(numbers, key=lambda name: order_of(name) is None)


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
        numbers = [opened.places[wanted.order], head.index(other)]
        user, number, second = _columns(opened, [opened.places[wanted.user]], numbers)
    first = -number if wanted.descending else number
    second = second if wanted.descending else -second
    rows = np.lexsort((second, first, user))
    same = user[rows][1:] == user[rows][:-1]
    return other, int(np.count_nonzero(same & (second[rows][1:] < second[rows][:-1])))


def of_models(path: Path | pl.DataFrame, against: Against) -> list[str]:
    """Return the further columns called as a model is that differ among the rows of a user."""
    with source(path, against, Findings()) as opened:
        head, used = opened.head.columns, opened.places
        places = [
            place
            for place, column in enumerate(head)
            if place not in used.values() and is_called(column, "model")
        ]
        if not places:
            return []
        users, *models = _columns(opened, [used[opened.wanted.user], *places])
    any_of = np.zeros(int(users.max(initial=-1)) + 1, np.int32)
    several = []
    for place, model in zip(places, models, strict=True):
        any_of[users] = model
        if (any_of[users] != model).any():
            several.append(head[place])
    return several


def _columns(
    opened: Source, ids: Sequence[int], numbers: Sequence[int] = ()
) -> list[npt.NDArray[Any]]:
    """Return the codes of some columns of a file, and the numbers of others."""
    places, learning = [*ids, *numbers], [Learning() for _ in ids]
    parts: list[list[npt.NDArray[Any]]] = [[np.zeros(0, np.int32)] for _ in places]
    for block in opened.reader.blocks():
        starts, stops = blocks.spans(block, len(opened.head.columns), places)
        for n, (begins, ends) in enumerate(zip(starts.T, stops.T, strict=True)):
            if n < len(ids):
                parts[n].append(learning[n].add(block.buffer, begins, ends))
            else:
                parts[n].append(numbers_in(block, begins, ends))
        opened.reader.give_back(block)
    return list(map(np.concatenate, parts))
