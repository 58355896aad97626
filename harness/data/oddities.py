"""What looks odd in a log, and what to do: rows that are no hits, lost zeros, words, copies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int64
from harness.core.column_names import column_of, has_role
from harness.core.errors import DataError, counted, in_toml, printable
from harness.data.conditions import Condition, as_number, condition
from harness.data.dataset import DAY_US, ID, ITEM, TIME, USER, VALUE, Events
from harness.data.layout import EventTable, Layout

_FIRST = 1_000
"""Rows by which a column holds numbers, or ids without zeros."""
HITS = {"above": 0, "empty": True}
"""In ``where`` it leaves out the events with 0 or less in a column, and no others."""
WORDS = ("null", "nan", "none", "na", "n/a", "<na>", "\\n")
"""What programs write where there is no value, in small letters."""
_LONGEST = max(map(len, WORDS))
CURE = "restore it with [data] restore_zeros = true"


# Columns that a config does not name, and that may say that a row is no hit.


class Low(NamedTuple):
    """What a column says of some events.

    How many have 0 or less there, the lowest number, and whether some have nothing there, or a text
    that is no number.
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

    def with_more(self, more: Low) -> Low:
        """Return the same of these events and more."""
        return Low(
            events=self.events + more.events,
            lowest=min(self.lowest, more.lowest),
            empty=self.empty or more.empty,
            text=self.text or more.text,
        )


Lows: TypeAlias = Sequence[Mapping[str, Low]]
"""Of each table, by column."""
First: TypeAlias = Callable[[str, int], pl.Series]
"""Returns the first texts of a column, so many of them."""


def watching(table: EventTable, names: Iterable[str], first: First) -> EventTable:
    """Return a table of events with those of its columns that are watched.

    A config that names one of them says by it which rows are hits: none is watched.
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
    for table, column in zip(layout.events, columns, strict=True):
        if column is None or layout.tells_types:
            continue
        cure = "keep only these in the file"
        if set(columns) == {column}:
            cure = f"kind = {in_toml(column)} names it, and [evaluation] hits chooses the types"
        yield (
            f"{table.path.name}: every row counts, with any value of column "
            f'"{printable(column)}". If only some event types are hits, {cure}'
        )


def notes_of_lows(layout: Layout, lows: Lows, events: int) -> Iterator[str]:
    """Yield a note on each column that may say of some of all events that they are no hits."""
    for column in dict.fromkeys(name for of_table in lows for name in of_table):
        count = sum(of_table[column].events for of_table in lows if column in of_table)
        if count == 0:
            continue
        cure = "remove these from the files of the log"
        if count < events and _numbers_of_all(lows, column) is not None:
            cure = f"{layout.where_with([condition(column, HITS)])} leaves them out"
        yield (
            f"of {counted(events, 'event')} {counted(count, 'has', 'have')} 0 or less in column "
            f'"{printable(column)}", and each counts. If these are returns, or mean that nothing '
            f"happened, {cure}"
        )


def refuse_lows(layout: Layout, lows: Lows, table: EventTable, events: int) -> None:
    """Raise DataError where some of the held-out events of a given split may be no hits."""
    for column, low in lows[layout.events.index(table)].items():
        if low.events == 0:
            continue
        cures, log = list[str](), _numbers_of_all(lows, column)
        if log is None:
            every = "if every row is a hit, remove the column"
            cures = [f"if so, remove these rows from the file; {every}"]
        else:
            if low.events < events:
                where = layout.where_with([condition(column, HITS)])
                cures.append(f"if so, {where} leaves such rows out of both tables")
            if low.events < events and not log.empty:
                grades = f"value = {in_toml(column)} under [data] reads it this way"
                cures.append(f"if it grades true items, {grades}: items of 0 or less are not true")
            every = layout.where_with([condition(column, {"min": log.lowest, "empty": True})])
            cures.append(f"if every row is a hit, {every} says so")
        raise DataError(
            f'{table.name}: column "{printable(column)}" holds 0 or less in {low.events:,} of '
            f"{counted(events, 'event')}; this may mean that an item is not relevant\n"
            + "\n".join(cures)
        )


def _numbers_of_all(lows: Lows, column: str) -> Low | None:
    """Return what a column says of all events; None where a table lacks it or it has texts."""
    if not all(column in of_table for of_table in lows):
        return None
    low = reduce(Low.with_more, (of_table[column] for of_table in lows))
    return None if low.text or math.isinf(low.lowest) else low


# Leading zeros of item ids: noticed, and refused where in doubt.


def lost_zero(ids: pl.Series, width: int) -> pl.Series:
    """Return the ids that are one digit shorter than all should be."""
    return ids.filter(ids.str.len_chars() == width - 1)


def without_zeros(ids: pl.Series) -> pl.Series:
    """Return ids as they are where they were saved as numbers."""
    return ids.str.strip_chars_start("0")


def notes_of_zeros(layout: Layout, items: pl.Series, catalogue: pl.Series, width: int) -> list[str]:
    """Return a note on item ids that lost their leading zero, or raise where nothing matches."""
    short = [lost_zero(ids, width) for ids in (items, catalogue)]
    n_short = sum(map(len, short))
    if n_short == 0:
        return []
    if layout.restore_zeros:
        return [f"{counted(n_short, 'item id')} padded to {width} digits"]
    files = [table.path.name for table in (layout.events[0], layout.items) if table is not None]
    counts = " and ".join(
        f"{len(lost):,} of {len(ids):,} item ids in {file}"
        for lost, ids, file in zip(short, (items, catalogue), files, strict=True)
    )
    first = (short[0] if len(short[0]) > 0 else short[1]).sort()[0]
    what = (
        f'{counts} have {width - 1} digits (such as "{first}"): the leading zero was lost when '
        "the file was saved as numbers"
    )
    every = pl.concat([items.alias(ID), catalogue.alias(ID)])
    in_both_forms = lost_zero(every, width).str.zfill(width).is_in(every.implode()).any()
    if min(map(len, short)) == 0 or in_both_forms:
        raise DataError(f"{layout.events[0].path.parent}: {what}\n{CURE}")
    return [f"LOST ZEROS: {what}; an upload with such ids would hit nothing and score 0; {CURE}"]


def note_of_shorter(ids: pl.Series) -> list[str]:
    """Return a note where ids are written with leading zeros and without."""
    padded = ids.filter(ids.str.contains("^0[0-9]+$")).unique().sort()
    bare = without_zeros(padded)
    both = ids.filter(ids.is_in(bare.implode())).unique().sort()
    if both.is_empty():
        return []
    return [
        f"{len(both):,} of {counted(ids.n_unique(), 'item id')} {'is' if len(both) == 1 else 'are'}"
        f' also written with leading zeros, such as "{both[0]}" and '
        f'"{padded.filter(bare == both[0])[0]}". If some were saved as numbers and lost their '
        "zeros, write them as text again; now they count as other items"
    ]


# Ids that are words for nothing, and repeated events.


class Oddities(NamedTuple):
    """What looks odd in some events; those of other users add up to it.

    How many events there are of each id that is a word for nothing, how many are equal to another
    one, which is not counted, how many of these have a time of day, and how many events there are.
    """

    users: Mapping[str, int]
    items: Mapping[str, int]
    repeated: int
    of_day: int
    events: int


def words_of(ids: pl.Series) -> dict[int, str]:
    """Return the ids that are words for nothing, by their positions.

    >>> words_of(pl.Series(["ann", "NULL", "N/A", "nana"]))
    {1: 'NULL', 2: 'N/A'}
    """
    short = np.flatnonzero((ids.str.len_bytes() <= _LONGEST).to_numpy())
    texts = ids.gather(short)
    places = short[texts.str.to_lowercase().is_in(WORDS).to_numpy()]
    return dict(zip(places.tolist(), ids.gather(places).to_list(), strict=True))


def oddities_of(
    events: Events, users: pl.Series, items: Mapping[int, str], n_kinds: int
) -> Oddities:
    """Return what looks odd in events in canonical order.

    `users` has the id of each position, `items` what `words_of` returns.
    """
    starts = events.user_starts(len(users))
    repeated = _repeated(events, starts, n_kinds)
    return Oddities(
        users={word: int(starts[n + 1] - starts[n]) for n, word in words_of(users).items()},
        items={word: int(np.count_nonzero(events.item == n)) for n, word in items.items()},
        repeated=len(repeated),
        of_day=int(np.count_nonzero(events.time[repeated] % DAY_US)),
        events=len(events),
    )


def _repeated(events: Events, starts: Int64, n_kinds: int) -> Int64:
    """Return where events stand that are equal to one before them."""
    item, time = events.item, events.time
    same = np.zeros(len(item), np.bool_)
    same[1:] = (time[1:] == time[:-1]) & (item[1:] == item[:-1])
    same[starts[:-1][starts[:-1] < len(item)]] = False
    if n_kinds > 1:
        same[1:] &= events.kind[1:] == events.kind[:-1]
    repeated = np.flatnonzero(same)
    if events.value is None or len(repeated) == 0:
        return repeated
    # Where events have rows, those of other values may stand between equal ones.
    alike = np.union1d(repeated - 1, repeated)
    run = np.cumsum(~same[alike])
    order = np.lexsort((events.value[alike], run))
    run, value = run[order], events.value[alike][order]
    equal = (run[1:] == run[:-1]) & (value[1:] == value[:-1])
    return np.sort(alike[order][1:][equal])


def notes_of(layout: Layout, parts: Sequence[Oddities]) -> list[str]:
    """Return what is odd about a log, and what to do, by the oddities of its parts."""
    events = sum(part.events for part in parts)
    total, notes = counted(events, "event"), list[str]()
    phrases, words = list[str](), list[Condition]()
    for role, counts in ((USER, [p.users for p in parts]), (ITEM, [p.items for p in parts])):
        sums = sum(map(Counter, counts), Counter[str]())  # without those of 0 events
        for word in sorted(sums):
            has = "" if phrases else "has "
            phrases.append(f'the {role} "{printable(word)}" {has}{sums[word]:,}')
        if sums:
            words.append(condition(layout.column(role), {"not": sorted(sums)}))
    if phrases:
        where = layout.where_with(words)
        cure = f"{where} leaves them out" if where else "remove them from the files of the log"
        listed = " and ".join(filter(None, [", ".join(phrases[:-1]), phrases[-1]]))
        notes.append(f"of {total} {listed}. If these are missing values, {cure}")
    repeated = sum(part.repeated for part in parts)
    # Where times are dates, two of an item in one basket are equal. Half of a log, or events of
    # one moment of a day, were more likely written twice.
    if any(part.of_day for part in parts) or 2 * repeated >= max(events, 1):
        has_time = all(table.time is not None for table in layout.events)
        same = [USER, ITEM, *[TIME] * has_time, *["event type"] * layout.tells_types]
        same += [VALUE] * layout.has_values
        are = "is equal to another one" if repeated == 1 else "are equal to others"
        *most, last = same
        notes.append(
            f"{repeated:,} of {total} {are} (the same {', '.join(most)} and "
            f"{last}), and each counts. If rows were exported or joined twice, remove the copies "
            "from the files"
        )
    return notes
