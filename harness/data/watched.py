"""Columns that a config does not name, and that may say that a row is no hit.

A returned article has a quantity of −1, an article that was shown and not clicked a label of 0, an
article that was looked at the event type "view".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl

from harness.core.arrays import Floats
from harness.core.column_names import column_of, has_role
from harness.core.errors import DataError, counted, in_toml, printable
from harness.data.conditions import Condition, as_number, conditions
from harness.data.layout import EventTable, Layout

_FIRST = 1_000
"""Rows by which a column holds numbers."""


class Low(NamedTuple):
    """What a column says of some events.

    Attributes
    ----------
    events : int
        How many have 0 or less there.
    lowest : float
        The lowest number; infinity: there is none.
    empty : bool
        Whether nothing stands there in some.
    text : bool
        Whether some hold a text that is no number.
    """

    events: int = 0
    lowest: float = math.inf
    empty: bool = False
    text: bool = False

    @classmethod
    def of(cls, numbers: Floats) -> Low:
        """Return it by the numbers of events; see `harness.data.to_events.Batch`."""
        lowest = float(np.fmin.reduce(numbers, initial=math.inf))
        events = 0 if lowest > 0 else int(np.count_nonzero(numbers <= 0))
        return cls(events, lowest, bool(np.isnan(numbers).any()), bool((numbers == np.inf).any()))

    def with_others(self, others: Low) -> Low:
        """Return the same of these events and others."""
        return Low(
            events=self.events + others.events,
            lowest=min(self.lowest, others.lowest),
            empty=self.empty or others.empty,
            text=self.text or others.text,
        )


HITS = {"above": 0, "empty": True}
"""In ``where`` it leaves out the events with 0 or less in a column, and no others."""


Lows: TypeAlias = Sequence[Mapping[str, Low]]
"""Of each table, by column."""


def watching(
    table: EventTable, names: Iterable[str], first: Callable[[str, int], pl.Series]
) -> EventTable:
    """Return a table of events with those of its columns that are watched.

    A config that names one of them says by it which rows are hits: none is watched.

    Parameters
    ----------
    names : iterable of str
        Of its columns.
    first : callable
        Takes one of them and a number of rows, and returns the first texts.
    """

    def holds_numbers(name: str) -> bool:
        texts = first(name, _FIRST).to_frame("text")
        return not texts.select(as_number(pl.col("text"), is_text=True).is_null().all()).item()

    named = (table.kind, table.value, *(condition.column for condition in table.where))
    usual = [name for name in names if has_role(name, ("grade",))]
    if not set(usual).isdisjoint(named):
        return table
    free = (name for name in usual if name not in table.columns)
    return replace(table, watched=tuple(filter(holds_numbers, free)))


def type_column(table: EventTable, names: Iterable[str]) -> str | None:
    """Return the column of event types of a table, by its name, if the config does not name it."""
    column = column_of("kind", names)
    return None if table.kind is not None or column in table.columns else column


def notes_of_types(layout: Layout, columns: Sequence[str | None]) -> Iterator[str]:
    """Yield a note on each table with a column of event types that the config does not name."""
    if layout.tells_types:
        return
    for table, column in zip(layout.events, columns, strict=True):
        if column is None:
            continue
        cure = "keep only these in the file"
        if set(columns) == {column}:
            cure = f"kind = {in_toml(column)} names it, and [evaluation] hits chooses the types"
        yield (
            f"{table.table.path.name}: every row counts, with any value of column "
            f'"{printable(column)}". If only some event types are hits, {cure}'
        )


def refuse(layout: Layout, lows: Lows, table: EventTable, events: int) -> None:
    """Raise DataError where some of the held-out events of a given split may be no hits.

    Parameters
    ----------
    events : int
        How many there are.
    """
    for column, low in lows[layout.events.index(table)].items():
        if low.events > 0:
            raise DataError(
                f'{table.table.name}: column "{printable(column)}" holds 0 or less in '
                f"{low.events:,} of {counted(events, 'event')}; this may mean that an item is "
                "not relevant\n" + "\n".join(_cures(layout, lows, column, low.events < events))
            )


def _cures(layout: Layout, lows: Lows, column: str, some_are_hits: bool) -> Iterator[str]:
    """Yield what to do about a column of held-out events."""
    low = _of_all(lows, column)
    if low is None or low.text:
        yield "if so, remove these rows from the file; if every row is a hit, remove the column"
        return
    if some_are_hits:
        where = layout.where_with(*conditions({column: HITS}))
        yield f"if so, {where} leaves such rows out of both tables"
    if some_are_hits and not low.empty:
        grades = f"value = {in_toml(column)} under [data] reads it this way"
        yield f"if it grades true items, {grades}: items of 0 or less are not true"
    every = layout.where_with(Condition(column, low=low.lowest, empty=True))
    yield f"if every row is a hit, {every} says so"


def _of_all(lows: Lows, column: str) -> Low | None:
    """Return what a column says of the events of all tables; None where a table has no such."""
    if not all(column in of_table for of_table in lows):
        return None
    return reduce(Low.with_others, (of_table[column] for of_table in lows))


def notes(layout: Layout, lows: Lows, events: int) -> Iterator[str]:
    """Yield a note on each column that may say of some of all events that they are no hits."""
    for column in dict.fromkeys(name for of_table in lows for name in of_table):
        count = sum(of_table[column].events for of_table in lows if column in of_table)
        if count == 0:
            continue
        cure, low = "remove these from the files of the log", _of_all(lows, column)
        if low is not None and not low.text and count < events:
            cure = f"{layout.where_with(*conditions({column: HITS}))} leaves them out"
        have = "has" if count == 1 else "have"
        yield (
            f"of {counted(events, 'event')} {count:,} {have} 0 or less in column "
            f'"{printable(column)}", and each counts. If these are returns, or mean that nothing '
            f"happened, {cure}"
        )
