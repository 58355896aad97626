"""A shop in a few literal rows as training data, and a model's lists as words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from harness.core.random import Draws
from harness.data.dataset import NO_TIME, Dataset, Events
from harness.data.ordering import canonical
from harness.models.base import Train

DAY = 86_400_000_000
CUTOFF = 1_000 * DAY
USERS = ["ann", "bob", "cid", "new"]
"""Nobody writes events of "new"."""
KINDS = ("purchase", "visit")
NO_DRAWS = Draws(0, 0, np.zeros(0, np.uint64))
Row = tuple[str, str, float] | tuple[str, str, float, str]
Table = dict[str, list[str | None]]


def shop(
    rows: Sequence[Row],
    candidates: Sequence[str],
    items: Table | None = None,
    users: Table | None = None,
    shown: dict[str, float] | None = None,
    cutoff: int | None = CUTOFF,
    everyone: Sequence[str] = USERS,
    extra: str = "z",
    kinds: tuple[str, ...] = KINDS,
) -> Train:
    """Return a shop of (user, item, days before the cut-off, kind) events.

    `items` and `users` are the tables, ids first; `shown` says how many days before the cut-off
    an item was first shown. Every item has a letter as its id; `everyone` stands in order; `extra`
    are items beside those of rows and tables.
    """
    listed = [] if items is None else [i for i in next(iter(items.values())) if i is not None]
    ids = sorted({*candidates, *(row[1] for row in rows), *listed, *extra})
    code = {item: n for n, item in enumerate(ids)}
    position = {user: n for n, user in enumerate(everyone)}
    events = Events(
        np.array([position[row[0]] for row in rows], np.int32),
        np.array([code[row[1]] for row in rows], np.int32),
        np.array([CUTOFF - round(row[2] * DAY) for row in rows], np.int64),
        np.array([kinds.index(row[3]) if len(row) == 4 else 0 for row in rows], np.uint8),
    )
    ordered = canonical(events, len(everyone), len(ids), len(kinds))
    times = None
    if shown is not None:
        times = np.full(len(ids), NO_TIME, np.int64)
        for item, age in shown.items():
            times[code[item]] = CUTOFF - round(age * DAY)
    data = Dataset(
        "table", pl.Series(everyone), pl.Series(ids), ordered, kinds, "train", shown_from=times,
        users_table=None if users is None else pl.DataFrame(users),
        items_table=None if items is None else pl.DataFrame(items),
    )  # fmt: skip
    return Train(data, ordered, np.array([code[c] for c in candidates], np.int32), cutoff)


def train_of(
    rows: Sequence[Row], candidates: Sequence[str] | None = None, users: str = ""
) -> Train:
    """Return a shop whose users have letters, too, in their order; all items are candidates."""
    everyone = sorted({row[0] for row in rows} | set(users))
    return shop(rows, candidates or sorted({row[1] for row in rows}), everyone=everyone, extra="")


def words(*baskets: str) -> list[Row]:
    """Return an event of each letter of each basket; user "0" has the first basket, and so on."""
    return [(str(user), item, 1.0) for user, basket in enumerate(baskets) for item in basket]


def listed(
    model: Any, train: Train, users: str, k: int = 4, exclude: Any = None, draws: Draws = NO_DRAWS
) -> list[str]:
    """Return the users' lists as words of candidate ids, with "-" where they are empty."""
    ids = train.user_ids.to_list()
    asked = np.array([ids.index(user) for user in users.split()], np.int32)
    codes = model.fit(train).recommend(asked, k, draws, exclude=exclude)
    assert (codes.dtype, codes.shape) == (np.int32, (len(asked), k))
    names = [*train.candidate_ids.to_list(), "-"]
    return ["".join(names[i] for i in row) for row in codes]


def lists(model: Any, train: Train, users: str, k: int, exclude: Any = None) -> list[str]:
    """Return the same of users whose names are letters."""
    return listed(model, train, " ".join(users), k, exclude)
