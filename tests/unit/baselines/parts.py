"""A base model for tests of models made of others: lists that stand in a dict; and its shop."""

from typing import Any, Self

import numpy as np
import shops
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shops import CUTOFF, Row

from harness.core.arrays import Int32
from harness.core.random import Draws, id_hashes
from harness.models.base import Train
from harness.models.topk import extend

USERS = ["ann", "bob", "cid"]
ITEMS = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6).map("".join)
LISTS = st.fixed_dictionaries(dict.fromkeys(USERS, ITEMS))


class Fixed:
    """Gives each user the candidates of a word, in its order; `asked_` has all calls."""

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
    """Return a shop of (user, item, days before the cut-off) events."""
    rows = rows or [("cid", "z", 19)]
    return shops.shop(rows, candidates, cutoff=CUTOFF if timed else None, everyone=USERS)


def listed(model: Any, train: Train, k: int = 4, exclude: Any = None) -> list[str]:
    """Return everyone's list as a word."""
    draws = Draws(7, 0, id_hashes(train.user_ids))
    return shops.listed(model, train, " ".join(USERS), k, exclude, draws)


def held(*rows: str, candidates: str = "abcdef") -> csr_array[Any]:
    """Return a row of candidates for each word."""
    return csr_array(np.array([[c in row for c in candidates] for row in rows], bool))
