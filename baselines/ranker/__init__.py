"""Ranker: boosted trees over what is known of user and candidate, learnt from the last days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from baselines.ranker.pair_features import Pairs, attributes
from harness.core.arrays import Floats, Int32, Int64
from harness.core.params import (
    ParameterError,
    require_above,
    require_flag,
    require_texts,
    require_whole,
)
from harness.data import dataset
from harness.models.base import Draws, Train
from harness.models.recommendations import EMPTY

_CELLS = 1 << 18
"""Pairs whose features are held at a time."""


@dataclass(eq=False)
class Ranker:
    """Boosted trees on features of user and candidate, learned from the last `window_days`.

    The last days of the training events become a task of their own: its labels are what users
    touched in them, the features are made from what happened before, and its candidates are like
    the real ones: those that were new in the window, where most of the real ones are new at the
    cut-off, else all items that were there (`baselines.ranker`).

    Features are, for each group of columns, the cosine with the user's profile; for each
    category the share of the user's events with the candidate's value; for each number the
    distance from the mean of the user's items; the user's events with the candidate, and how late
    the last of them was; the user's activity and attributes; the candidate's attributes, its
    popularity, that of late and that of similar items, and the days since it was first shown.

    Gradient boosting of the logistic loss (Friedman, 2001) over histograms, scikit-learn's, much
    as RecoTour (Rodriguez Zaurin, 2019), chapter 10, uses LightGBM's.

    Users without history are ranked by what is known of them and of the candidates, as are
    candidates without attributes; items of the log without attributes add nothing to a profile.
    Lists are as long as the catalogue and `shortlist` allow; ties go by item id. Where nobody
    touched such a candidate in the last `window_days`, there is nothing to learn from, and all
    lists are empty.

    Parameters
    ----------
    categories, numbers, texts : sequences of str
        Columns of the items' table, at least one; see `harness.models.features.feature_groups`.
    user_categories, user_numbers : sequences of str
        Columns of the users' table; none by default.
    window_days : float
        The days to learn from; best as many as the evaluated window has.
    half_life_days : float, optional
        In a user's history an event counts 2^(−age / half_life_days); 1 by default.
    weights : mapping of event type to weight, optional
        What an event of each type counts, in histories and as an example to learn from; 1 by
        default.
    values : bool
        Whether an event counts as much as its value, in the same places.
    neighbours : int
        How many similar items the popularity of a candidate is carried from.
    negatives : int
        Candidates drawn for each one that was touched, to tell it from; those drawn twice or
        touched as well are left out.
    shortlist : int
        How many candidates are scored for a user, see
        `baselines.ranker.pair_features.Pairs.shortlist`.
    trees : int
        The number of trees.
    learning_rate : float
        The factor of each tree's answer.
    leaves : int
        The most leaves of a tree; 2 or more.
    seed : int
        The seed of the drawn negatives and of the trees' bins.
    """

    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    texts: Sequence[str] = ()
    user_categories: Sequence[str] = ()
    user_numbers: Sequence[str] = ()
    window_days: float = 7
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    values: bool = False
    neighbours: int = 50
    negatives: int = 10
    shortlist: int = 500
    trees: int = 100
    learning_rate: float = 0.1
    leaves: int = 8
    seed: int = 0

    def fit(self, train: Train) -> Self:
        """Learn from the last days what the next ones may bring."""
        require_above(0, window_days=self.window_days, learning_rate=self.learning_rate)
        whole = ("neighbours", "negatives", "shortlist", "trees")
        require_whole(1, **{name: getattr(self, name) for name in whole})
        require_whole(2, leaves=self.leaves)
        require_whole(0, seed=self.seed)
        require_flag(values=self.values)
        require_texts(user_categories=self.user_categories, user_numbers=self.user_numbers)
        known = attributes(
            train, self.categories, self.numbers, self.texts,
            self.user_categories, self.user_numbers,
        )  # fmt: skip
        self.pairs_ = Pairs(
            known,
            train,
            recent_days=self.window_days,
            neighbours=self.neighbours,
            half_life_days=self.half_life_days,
            weights=self.weights,
            values=self.values,
        )
        past = replace(self.pairs_, train=rehearsal(train, self.window_days))
        self.trees_ = self._learnt(past, train)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the likeliest candidates."""
        lists = np.full((len(users), k), EMPTY, np.int32)
        if self.trees_ is None:
            return lists
        for rows in _blocks(len(users), min(self.shortlist, len(self.pairs_.train.candidates))):
            places = self.pairs_.shortlist(
                users[rows], self.shortlist, None if exclude is None else exclude[rows]
            )
            score = np.full(places.shape, -np.inf)
            if (places >= 0).any():
                features = self.pairs_.features(users[rows], places)
                score[places >= 0] = self.trees_.decision_function(features)
            order = np.argsort(-score, axis=1, kind="stable")[:, :k]
            lists[rows, : order.shape[1]] = np.take_along_axis(places, order, axis=1)
        return lists

    def _learnt(self, past: Pairs, train: Train) -> Any:
        """Return trees that tell what was touched in the window from what was drawn, or None."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        touched = train.interactions(self.window_days, None, self.weights, values=self.values)
        touched = csr_array(touched[:, past.train.candidates])
        if touched.nnz == 0:
            return None
        features, weight = self._examples(past, touched)
        hit = weight > 0
        trees = HistGradientBoostingClassifier(
            max_iter=self.trees, learning_rate=self.learning_rate, max_leaf_nodes=self.leaves,
            categorical_features=past.categorical, early_stopping=False, random_state=self.seed,
        )  # fmt: skip
        # Some releases add up gradients by thread, so that the number of threads would show.
        with threadpool_limits(1, user_api="openmp"):
            return trees.fit(features, hit, sample_weight=np.where(hit, weight, 1.0))

    def _examples(self, past: Pairs, touched: csr_array[Any]) -> tuple[Floats, Floats]:
        """Return features and weights of what was touched, and of what was drawn against it: 0."""
        users = np.flatnonzero(np.diff(touched.indptr)).astype(np.int32)
        row, place, weight = self._with_drawn(past.shortlist(users, self.shortlist), touched[users])
        size = np.bincount(row, minlength=len(users))
        slots = np.arange(size.max(initial=0)) < size[:, None]
        places: Int32 = np.full(slots.shape, EMPTY, np.int32)
        places[slots] = place  # rows are ascending
        blocks = [past.features(users[b], places[b]) for b in _blocks(len(users), places.shape[1])]
        features = np.concatenate(blocks)
        features[:, np.isnan(features).all(axis=0)] = 0.0  # the trees' bins need some number
        return features, weight

    def _with_drawn(self, short: Int32, touched: csr_array[Any]) -> tuple[Int64, Int32, Floats]:
        """Return rows, candidates and weights of pairs, ascending; 0 for pairs only drawn."""
        row, place = touched.nonzero()
        draw = np.random.default_rng(self.seed).random((len(row), self.negatives))
        slot = (draw * (short >= 0).sum(axis=1)[row][:, None]).astype(np.int64)
        width = touched.shape[1]
        pairs = row.astype(np.int64) * width + place
        drawn = (row[:, None] * np.int64(width) + short[row[:, None], slot]).ravel()
        every = np.union1d(pairs, drawn)
        weight = np.zeros(len(every))
        weight[np.searchsorted(every, pairs)] = touched.data
        return every // width, (every % width).astype(np.int32), weight


def _blocks(n: int, width: int) -> list[slice]:
    """Return slices of `n` rows that hold a bounded number of pairs."""
    step = max(1, _CELLS // max(width, 1))
    return [slice(start, start + step) for start in range(0, n, step)]


def rehearsal(train: Train, days: float) -> Train:
    """Return what was known `days` before the cut-off, and which candidates there would have been.

    Its cut-off is where the window begins, and its events lie before. Where most of the real
    candidates are new at the cut-off, its candidates are the items that were new within the last
    `days`; else all items that were there before the cut-off. An item is new from the time that its
    table says it was first shown, where the table tells times, else from its first event.
    """
    if train.cutoff is None:
        raise ParameterError("the events carry no time, so there are no last days to learn from")
    start = train.cutoff - round(days * dataset.DAY_US)
    began = train.dataset.shown_from
    if began is None:  # when an item was first met; never: after everything
        began = np.full(len(train.item_ids), np.iinfo(np.int64).max)
        np.minimum.at(began, train.events.item, train.events.time)
    there = began < train.cutoff
    if np.mean(began[train.candidates] >= train.cutoff) > 0.5:
        there &= began >= start
    candidates = np.flatnonzero(there).astype(np.int32)
    return Train(train.dataset, train.events.where(~train.last_days(days)), candidates, start)
