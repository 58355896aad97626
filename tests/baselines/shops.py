"""A few literal events as training data, and a model's lists as words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from harness.core.random import Draws
from harness.data.dataset import Dataset, Events, canonical
from harness.models.base import Train

DAY = 86_400_000_000
CUTOFF = 1_000 * DAY
NO_DRAWS = Draws(0, 0, np.zeros(0, np.uint64))
Row = tuple[str, str, float]


def train_of(
    rows: Sequence[Row], candidates: Sequence[str] | None = None, users: str = ""
) -> Train:
    """Return training data of (user, item, days before the cut-off) events; ids are letters.

    All items are candidates unless they are named; `users` names users without events.
    """
    people = sorted({user for user, _, _ in rows} | set(users))
    items = sorted({item for _, item, _ in rows} | set(candidates or ""))
    events = Events(
        np.array([people.index(user) for user, _, _ in rows], np.int32),
        np.array([items.index(item) for _, item, _ in rows], np.int32),
        np.array([CUTOFF - round(days * DAY) for _, _, days in rows], np.int64),
        np.zeros(len(rows), np.uint8),
    )
    ordered = canonical([events], len(people), len(items), 1)
    data = Dataset("table", pl.Series(people), pl.Series(items), ordered, ("event",), "train")
    positions = np.array([items.index(c) for c in candidates or items], np.int32)
    return Train(data, ordered, positions, CUTOFF)


def words(*baskets: str) -> list[Row]:
    """Return an event of each letter of each basket; user "0" has the first basket, and so on."""
    return [(str(user), item, 1.0) for user, basket in enumerate(baskets) for item in basket]


def lists(model: Any, train: Train, users: str, k: int, exclude: Any = None) -> list[str]:
    """Return each user's list as a word of candidate ids, with "-" where it is empty."""
    ids = train.user_ids.to_list()
    asked = np.array([ids.index(user) for user in users], np.int32)
    found = model.fit(train).recommend(asked, k, NO_DRAWS, exclude=exclude)
    assert found.shape == (len(users), k)
    names = [*train.candidate_ids.to_list(), "-"]
    return ["".join(names[place] for place in row) for row in found]
