"""Events, lists and a model that a run is given as Python objects."""

import io
from typing import Any

import polars as pl
from small import LOG

EVENTS = pl.read_csv(io.StringIO(LOG))
DAY = {"strategy": "time", "valid_days": 1}
LISTS = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["b", "a", "c"]})
"""Of the held-out day, ann b, bob d, cid a, the first alone hits."""


class First:
    """Recommends the first candidates, a and b, or the last, to everyone."""

    def __init__(self, last: bool = False, seed: int = 0) -> None:
        self.last, self.seed = last, seed

    def fit(self, train: Any) -> "First":
        n = len(train.candidates)
        self.items_ = list(range(n))[:: -1 if self.last else 1]
        return self

    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return [self.items_[:k]] * len(users)
