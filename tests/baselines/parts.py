"""A part for tests of models made of others: lists that stand in a dict, and a tiny shop."""

from typing import Any, Self

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.random import Draws, id_hashes
from harness.data.dataset import Dataset, Events, canonical
from harness.models.base import Train
from harness.models.topk import extend

DAY = 86_400_000_000
USERS = ["ann", "bob", "cid"]
Row = tuple[str, str, float]


class Fixed:
    """Gives each user the candidates of a word, in its order; `asked` notes what it was asked."""

    def __init__(self, **words: str) -> None:
        self.words = words

    def fit(self, train: Train) -> Self:
        items = train.candidate_ids.to_list()
        width = max(map(len, self.words.values()), default=0)
        self.lists_ = np.full((len(train.user_ids), width), -1, np.int32)
        for row, user in enumerate(train.user_ids.to_list()):
            known = [items.index(item) for item in self.words.get(user, "") if item in items]
            self.lists_[row, : len(known)] = known
        self.asked_: list[Any] = []
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        self.asked_.append((users, k, draws, exclude))
        return extend(np.full((len(users), k), -1, np.int32), self.lists_[users], exclude)


def shop(rows: list[Row] | None = None, candidates: str = "abcdef", *, timed: bool = True) -> Train:
    """Return a shop of (user, item, days before the cut-off) events on day 20."""
    rows = rows or [("cid", "z", 19)]
    items = sorted({*candidates, *(item for _, item, _ in rows), "z"})
    events = Events(
        np.array([USERS.index(user) for user, _, _ in rows], np.int32),
        np.array([items.index(item) for _, item, _ in rows], np.int32),
        np.array([20 * DAY - round(age * DAY) for _, _, age in rows], np.int64),
        np.zeros(len(rows), np.uint8),
    )
    ordered = canonical([events], len(USERS), len(items), 1)
    data = Dataset("table", pl.Series(USERS), pl.Series(items), ordered, ("event",), "train")
    positions = np.array([items.index(c) for c in candidates], np.int32)
    return Train(data, ordered, positions, 20 * DAY if timed else None)


def listed(
    model: Any, train: Train, k: int = 4, exclude: csr_array[Any] | None = None, users: str = ""
) -> list[str]:
    """Return the users' lists as words of candidate ids, with "-" where they are empty."""
    asked = np.array([USERS.index(user) for user in users.split() or USERS], np.int32)
    draws = Draws(7, 0, id_hashes(train.user_ids))
    found = model.fit(train).recommend(asked, k, draws, exclude=exclude)
    assert (found.dtype, found.shape) == (np.int32, (len(asked), k))
    names = [*train.candidate_ids.to_list(), "-"]
    return ["".join(names[i] for i in row) for row in found]


def held(*rows: str, candidates: str = "abcdef") -> csr_array[Any]:
    """Return a row of candidates for each word."""
    return csr_array(np.array([[c in row for c in candidates] for row in rows], bool))
