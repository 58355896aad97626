"""Filter: another model's lists without what the user had, or what is out of stock."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Int32
from harness.core.exact_sum import Sums
from harness.core.params import ParameterError, require_above, require_flag, require_models
from harness.models.base import Draws, Recommender, Train
from harness.models.recommendations import EMPTY
from harness.models.sums import Steps
from harness.models.topk import ask


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
        self._require_parameters()
        self._keep(train, self._lately(train))
        self.train_ = self._kept_of(train)
        if len(self.kept_) > 0:
            self.model_.fit(self.train_)
        return self

    def fit_steps(self, train: Train) -> Steps:
        """Find what is in stock, then take the model's steps."""
        self._require_parameters()
        self._keep(train, (yield self._lately) if self.out_of_stock_days is not None else {})
        if len(self.kept_) > 0:
            yield from self.model_.fit_steps(self._kept_of(train))

    def for_users(self, train: Train) -> Self:
        """Keep the users' own events, and tell the model whose lists are asked for."""
        self.train_ = self._kept_of(train)
        if len(self.kept_) > 0:
            self.model_.for_users(self.train_)
        return self

    def _lately(self, train: Train) -> Sums:
        """Return how many events items had in the last days, where that is asked for."""
        if self.out_of_stock_days is None:
            return {}
        return {"events": train.item_sums(train.last_days(self.out_of_stock_days))}

    def _require_parameters(self) -> None:
        require_models(self.models, most=1)
        require_flag(seen=self.seen)
        if not self.seen and self.out_of_stock_days is None:
            raise ParameterError("nothing is left out; set seen = true, out_of_stock_days, or both")
        if self.out_of_stock_days is not None:
            require_above(0, out_of_stock_days=self.out_of_stock_days)

    def _keep(self, train: Train, lately: Mapping[str | int, Any]) -> None:
        """Note which candidates are not left out for everybody, and the model that has them."""
        self.model_: Any = self.models[0]
        self.kept_: Int32 = np.arange(len(train.candidates), dtype=np.int32)
        if self.out_of_stock_days is not None:
            # A copy: other ensembles of this model expect it fitted to all candidates.
            self.model_ = copy.deepcopy(self.model_)
            self.kept_ = self.kept_[lately["events"][train.candidates] > 0]

    def _kept_of(self, train: Train) -> Train:
        """Return `train` with what is in stock as its only candidates."""
        if self.out_of_stock_days is None:
            return train
        return replace(train, candidates=train.candidates[self.kept_])

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


def _with_seen(exclude: csr_array[Any] | None, users: Int32, train: Train) -> csr_array[Any]:
    """Return what is excluded and what each user has an event with."""
    events = train.events.of_users(users, len(train.user_ids))
    candidate = train.candidate_of_item[events.item]
    known = candidate >= 0
    rows, columns = events.user[known], candidate[known]
    held = np.ones(len(rows), np.bool_)
    seen = csr_array((held, (rows, columns)), shape=(len(users), len(train.candidates)))
    return seen if exclude is None else seen + exclude.astype(np.bool_)
