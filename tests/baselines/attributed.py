"""A shop whose items and users have attributes, in a few literal rows."""

from typing import Any

import numpy as np
import polars as pl

from harness.core.random import Draws
from harness.data.dataset import NO_TIME, Dataset, Events, canonical
from harness.models.base import Train

DAY = 86_400_000_000
CUTOFF = 20 * DAY
USERS = ["ann", "bob", "cid", "new"]
"""Nobody writes events of "new"."""
KINDS = ("purchase", "visit")
NO_DRAWS = Draws(0, 0, np.zeros(0, np.uint64))
Row = tuple[str, str, float] | tuple[str, str, float, str]


def shop(
    rows: list[Row],
    candidates: str,
    items: dict[str, list[str | None]] | None,
    users: dict[str, list[str | None]] | None = None,
    shown: dict[str, float] | None = None,
    cutoff: int | None = CUTOFF,
    everyone: list[str] = USERS,
) -> Train:
    """Return a shop of (user, item, days before the cut-off, kind) events.

    `items` and `users` are the tables, ids first; `shown` says how many days before the cut-off
    an item was first shown. Every item has a letter as its id; `everyone` stands in order.
    """
    listed = [] if items is None else [i for i in next(iter(items.values())) if i is not None]
    ids = sorted({*candidates, *(row[1] for row in rows), *listed})
    events = Events(
        np.array([everyone.index(row[0]) for row in rows], np.int32),
        np.array([ids.index(row[1]) for row in rows], np.int32),
        np.array([CUTOFF - round(row[2] * DAY) for row in rows], np.int64),
        np.array([KINDS.index(row[3]) if len(row) == 4 else 0 for row in rows], np.uint8),
    )
    ordered = canonical([events], len(everyone), len(ids), len(KINDS))
    times = None
    if shown is not None:
        times = np.full(len(ids), NO_TIME, np.int64)
        for item, age in shown.items():
            times[ids.index(item)] = CUTOFF - round(age * DAY)
    data = Dataset(
        "table", pl.Series(everyone), pl.Series(ids), ordered, KINDS, "train", shown_from=times,
        users_table=None if users is None else pl.DataFrame(users),
        items_table=None if items is None else pl.DataFrame(items),
    )  # fmt: skip
    return Train(data, ordered, np.array([ids.index(c) for c in candidates], np.int32), cutoff)


def listed(model: Any, train: Train, users: str, k: int = 4, exclude: Any = None) -> list[str]:
    """Return the users' lists as words of candidate ids, with "-" where they are empty."""
    positions = np.array([USERS.index(user) for user in users.split()], np.int32)
    found = model.fit(train).recommend(positions, k, NO_DRAWS, exclude=exclude)
    assert found.shape == (len(positions), k)
    assert found.dtype == np.int32
    names = [*train.candidate_ids.to_list(), "-"]
    return ["".join(names[i] for i in row) for row in found]
