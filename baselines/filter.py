"""Filter: another model's lists without what the user had, or what is out of stock."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Int32
from harness.core.params import ParameterError, require_above, require_flag, require_models
from harness.models.base import Draws, Recommender, Train
from harness.models.recommendations import EMPTY
from harness.models.topk import ask, excluded_rows


@dataclass(eq=False)
class Filter:
    """One model's lists, asked for without some candidates, so that they stay full.

    Parameters
    ----------
    models : list of one recommender
        In a config: ``of``.
    seen : bool
        Leave out the candidates that the user has an event with.
    out_of_stock_days : float, optional
        Leave out the candidates without any event in the last so many days before the cut-off. A
        copy of the model is then fitted with the others as its only candidates.
    """

    models: Sequence[Recommender]
    seen: bool = False
    out_of_stock_days: float | None = None

    def fit(self, train: Train) -> Self:
        """Find what is in stock, and fit the model."""
        require_models(self.models, most=1)
        require_flag(seen=self.seen)
        if not self.seen and self.out_of_stock_days is None:
            raise ParameterError("nothing is left out; set seen = true, out_of_stock_days, or both")
        (model,) = self.models
        self.kept_ = np.arange(len(train.candidates), dtype=np.int32)
        if self.out_of_stock_days is not None:
            # A copy: other ensembles of this model expect it fitted to `train`.
            model, self.kept_ = copy.deepcopy(model), _in_stock(train, self.out_of_stock_days)
            train = replace(train, candidates=train.candidates[self.kept_])
        self.model_ = model.fit(train) if len(self.kept_) > 0 else model
        self.train_ = train
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the model's lists of what is left."""
        n = len(self.kept_)
        if n == 0:
            return np.full((len(users), k), EMPTY, np.int32)
        if exclude is not None:
            exclude = exclude[:, self.kept_]
        if self.seen:
            exclude = _with_seen(exclude, users, self.train_)
        lists = ask(self.model_, users, k, n, draws, exclude)
        return np.append(self.kept_, np.int32(EMPTY))[lists]  # −1, empty, takes the last


def _in_stock(train: Train, days: float) -> Int32:
    """Return the positions of the candidates with an event in the last `days`."""
    require_above(0, out_of_stock_days=days)
    item = train.events.item[train.last_days(days)]
    sold = np.zeros(len(train.item_ids), np.bool_)
    sold[item] = True
    return np.flatnonzero(sold[train.candidates]).astype(np.int32)


def _with_seen(exclude: csr_array[Any] | None, users: Int32, train: Train) -> csr_array[Any]:
    """Return what is excluded and what each user has an event with."""
    indptr, excluded = excluded_rows(exclude, len(users))
    starts, users = train.user_starts, np.ascontiguousarray(users, np.int32)
    most = len(excluded) + int((starts[users + 1] - starts[users]).sum())
    ends, both = np.zeros(len(users) + 1, np.int64), np.zeros(most, np.int64)
    given = users, starts, train.events.item, train.candidate_of_item, indptr, excluded
    _kernels.unite(*given, np.empty(most, np.int64), ends, both)
    held = np.ones(ends[-1], np.bool_)
    return csr_array((held, both[: ends[-1]], ends), shape=(len(users), len(train.candidates)))
