"""What users did before the window, as a reader looks at it: their last events, items' titles."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
import polars as pl

from harness.core.column_names import plain
from harness.data import attributes
from harness.data.dataset import Dataset
from harness.data.layout import AttributeTable
from harness.data.table_files import sources
from harness.protocol.task import Task

LAST = 10  # events of a user that are shown
_TITLES = ("title", "name", "itemname", "itemtitle", "prodname", "productname", "producttitle")
"""What columns of titles are called, in small letters without other signs."""


@dataclass(frozen=True)
class TrainingEvent:
    """An event that models could learn from."""

    day: str | None
    """Its date, such as 2020-09-15; None where events have no times."""
    item: str
    type: str | None
    """None where there is one type of events."""


@dataclass(frozen=True)
class History:
    """What a user did before the window: the last events, the latest first, and how many in all."""

    events: tuple[TrainingEvent, ...]
    total: int


def histories(task: Task, rows: Sequence[int], last: int = LAST) -> list[History]:
    """Return what some users of an evaluation set did, by their rows in it."""
    data, users = task.data, task.evaluation_set.users[np.asarray(rows, np.int64)]
    events = task.split.train.of_users(users, len(data.user_ids))
    starts = events.user_starts(len(users))
    shown = [
        np.arange(stop - 1, max(start, stop - last) - 1, -1) for start, stop in pairwise(starts)
    ]
    last_ones = np.concatenate(shown) if shown else np.zeros(0, np.int64)
    times = events.time[last_ones].astype("datetime64[us]")
    days = times.astype("datetime64[D]").astype(str).tolist()
    items = data.item_ids.gather(events.item[last_ones]).to_list()
    has_types = len(set(data.kinds)) > 1
    types = [data.kinds[kind] if has_types else None for kind in events.kind[last_ones].tolist()]
    known = map(TrainingEvent, days if data.has_time else [None] * len(days), items, types)
    return [
        History(tuple(islice(known, len(of_user))), int(total))
        for of_user, total in zip(shown, np.diff(starts), strict=True)
    ]


def titles_of(data: Dataset, items: Sequence[str]) -> dict[str, str]:
    """Return the titles of items, where the items' table has such a column and a value in it."""
    table = data.items_table
    column = None if table is None else _title_column(table)
    if table is None or column is None:
        return {}
    titles = attributes.column(table, column, pl.Series(items, dtype=pl.String))
    return {item: title for item, title in zip(items, titles, strict=True) if title}


def _title_column(table: AttributeTable | pl.DataFrame) -> str | None:
    if isinstance(table, pl.DataFrame):
        names = table.columns[1:]
    else:
        with closing(sources(table)) as files:
            names = [name for name in next(files).names if name != table.id]
    by_plain = {plain(name): name for name in reversed(names)}
    return next((by_plain[title] for title in _TITLES if title in by_plain), None)
