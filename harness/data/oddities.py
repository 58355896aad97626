"""What looks odd in the events of a log: ids that are words for nothing, and repeated events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Int64
from harness.core.errors import counted, printable
from harness.data.dataset import DAY_US, ITEM, TIME, USER, VALUE, Events
from harness.data.layout import Layout

WORDS = ("null", "nan", "none", "na", "n/a", "<na>", "\\n")
"""What programs write where there is no value, in small letters."""
_LONGEST = max(map(len, WORDS))


class Oddities(NamedTuple):
    """What looks odd in some events; those of other users add up to it.

    Attributes
    ----------
    users, items : mapping of text to int
        How many events there are of each id that is a word for nothing.
    repeated : int
        Events that are equal to another one, which is not counted.
    of_day : int
        How many of these have a time of day.
    events : int
        How many events there are.
    """

    users: Mapping[str, int]
    items: Mapping[str, int]
    repeated: int
    of_day: int
    events: int


def words_of(ids: pl.Series) -> dict[int, str]:
    """Return the ids that are words for nothing, by their positions.

    Examples
    --------
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

    Parameters
    ----------
    users : polars.Series of str
        The id of each position.
    items : mapping of int to text
        What `words_of` returns.
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
    words = [
        *_added(USER, [part.users for part in parts]),
        *_added(ITEM, [part.items for part in parts]),
    ]
    repeated, of_day = (sum(counts) for counts in zip(*(part[2:4] for part in parts), strict=True))
    return [*_missing(layout, words, events), *_repeats(layout, repeated, of_day, events)]


def _added(role: str, parts: Sequence[Mapping[str, int]]) -> list[tuple[str, str, int]]:
    """Return the words that stand for a user or an item, each with its role and its events."""
    words = sorted({word for part in parts for word in part})
    counts = [sum(part.get(word, 0) for part in parts) for word in words]
    return [(role, word, n) for word, n in zip(words, counts, strict=True) if n > 0]


def _missing(layout: Layout, words: Sequence[tuple[str, str, int]], events: int) -> list[str]:
    """Return a note on ids that are words for nothing, if there are any."""
    if not words:
        return []
    first, *others = (f'the {role} "{printable(word)}" has {n:,}' for role, word, n in words)
    more = [phrase.replace('" has ', '" ') for phrase in others]
    counts = " and ".join(filter(None, [", ".join([first, *more[:-1]]), *more[-1:]]))
    changes = {
        role: {"without": tuple(word for other, word, _ in words if other == role)}
        for role, _, _ in words
    }
    where = layout.where_with(**changes)
    cure = f"{where} leaves them out" if where else "remove them from the files of the log"
    of = counted(events, "event")
    return [f"of {of} {counts}. If these are missing values, {cure}"]


def _repeats(layout: Layout, repeated: int, of_day: int, events: int) -> list[str]:
    """Return a note on events that are equal, where that is odd.

    Where times are dates, two of an item in one basket are equal. Half of a log, or events of one
    moment of a day, were more likely written twice.
    """
    if of_day == 0 and 2 * repeated < max(events, 1):
        return []
    columns = {
        USER: True,
        ITEM: True,
        TIME: all(table.time is not None for table in layout.events),
        "event type": layout.tells_types,
        VALUE: layout.has_values,
    }
    *most, last = (column for column, is_there in columns.items() if is_there)
    are = "is equal to another one" if repeated == 1 else "are equal to others"
    of = counted(events, "event")
    return [
        f"{repeated:,} of {of} {are} (the same {', '.join(most)} and {last}), and each counts. "
        "If rows were exported or joined twice, remove the copies from the files"
    ]
