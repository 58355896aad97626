"""What is known of a user and a candidate together: the features of a learnt ranking.

All pairs would be too many: products of chosen pairs of rows are worked out alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, eye_array, hstack

from baselines import _kernels
from harness.core.arrays import Floats, Int32
from harness.data import dataset
from harness.data.dataset import NO_TIME
from harness.models.base import Train
from harness.models.features import (
    category_columns,
    divided_rows,
    feature_groups,
    feature_matrix,
    number_columns,
    unit_rows,
)
from harness.models.products import in_threads, largest_products
from harness.models.recommendations import EMPTY
from harness.models.similarity import carried_means, most_similar
from harness.models.topk import fill

_BLOCK = 256


def pair_products(left: csr_array[Any], right: csr_array[Any], places: Int32) -> Floats:
    """Return the products of rows of `left` with rows of `right` at their places; 0 where −1."""
    products = np.zeros(places.shape)
    left_starts, left_columns, left_values = _parts(left)
    right_starts, right_columns, right_values = _parts(right)
    places = np.ascontiguousarray(places, np.int32)

    def block(first: int, last: int) -> None:
        row_of = np.zeros(left.shape[1])
        _kernels.pair_products(
            first, last, left_starts, left_columns, left_values,
            right_starts, right_columns, right_values, places, row_of, products,
        )  # fmt: skip

    in_threads(block, len(places), _BLOCK)
    return products


def _parts(matrix: csr_array[Any]) -> tuple[Any, ...]:
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64),
    )


@dataclass(frozen=True, eq=False)
class Attributes:
    """What the tables say of items and users; it is the same at every moment.

    `groups` are as `harness.models.features.feature_groups` gives them: the item is like the user's
    profile. `values` are one-hot rows of each categorical column of items: the user's share of the
    item's value. `numbers` are number columns of items: how far from the mean of the user's items.
    `items` and `users` are features as they stand, NaN where unknown; `codes` names those of them
    that are codes of categories.
    """

    groups: Mapping[str, csr_array[Any]]
    values: Mapping[str, csr_array[Any]]
    numbers: Mapping[str, Floats]
    items: Mapping[str, Floats]
    users: Mapping[str, Floats]
    codes: frozenset[str]


def attributes(
    train: Train,
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    texts: Sequence[str] = (),
    user_categories: Sequence[str] = (),
    user_numbers: Sequence[str] = (),
) -> Attributes:
    """Return what the tables of a data set say, in columns of these names."""
    codes = {f"{c} of the item": category_columns(train, "items", [c])[:, 0] for c in categories}
    user_codes = {
        f"{c} of the user": category_columns(train, "users", [c])[:, 0] for c in user_categories
    }
    of_items = {n: number_columns(train, "items", [n])[:, 0] for n in numbers}
    of_users = {n: number_columns(train, "users", [n])[:, 0] for n in user_numbers}
    return Attributes(
        groups=feature_groups(train, categories=categories, numbers=numbers, texts=texts),
        values={c: feature_groups(train, categories=[c])["categories"] for c in categories},
        numbers=of_items,
        items=codes | {f"{name} of the item": value for name, value in of_items.items()},
        users=user_codes | {f"{name} of the user": value for name, value in of_users.items()},
        codes=frozenset({*codes, *user_codes}),
    )


@dataclass(frozen=True, eq=False)
class Pairs:
    """The features of users and candidates of `train` at its cut-off.

    `recent_days` are those of the popularity of late, and the half-life of a user's own last event;
    `neighbours` is how many similar items the popularity of a candidate is carried from. The rest
    is of the users' histories, as in `Train.event_weights`.
    """

    known: Attributes
    train: Train
    recent_days: float
    neighbours: int
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    values: bool = False

    @cached_property
    def history(self) -> csr_array[Any]:
        """The users' weights of items, (n users, n items), float64."""
        weights = self.train.interactions(
            None, self.half_life_days, self.weights, counts=True, values=self.values
        )
        return csr_array(weights.astype(np.float64))

    @cached_property
    def _latest(self) -> csr_array[Any]:
        """How late each user had each item: 2^(−age / recent_days) of the last event, or 0."""
        return self.train.interactions(None, self.recent_days, self.weights, values=self.values)

    @cached_property
    def names(self) -> list[str]:
        """The features' names, in the order of the columns."""
        return [
            name for name, _ in self._columns(np.zeros(0, np.int32), np.zeros((0, 1), np.int32))
        ]

    @property
    def categorical(self) -> list[bool]:
        """Which features are codes of categories."""
        return [name in self.known.codes for name in self.names]

    def features(self, users: Int32, places: Int32) -> Floats:
        """Return the features of pairs, one row a place that is not empty, row after row.

        `places` are candidates of each user, (n, s), −1 = empty. A feature is NaN where unknown.
        """
        there = places >= 0
        columns = self._columns(users, places)
        return np.column_stack([column[there] for _, column in columns])

    def _columns(self, users: Int32, places: Int32) -> list[tuple[str, Floats]]:
        """Return each feature's name and its values, (n, s)."""
        item = self.train.candidates[places] if places.size else places
        of_pair = self._products(users, places)
        for name, value in self.known.numbers.items():
            distance = value[item] - self._means[name][users][:, None]
            of_pair.append((f"{name} above the user's mean", distance))
        of_user = {"activity": self._activity, **self.known.users}
        of_candidate = {name: values[places] for name, values in self._item_features.items()}
        of_item = {name: values[item] for name, values in self.known.items.items()}
        of_users = {
            name: np.broadcast_to(values[users][:, None], places.shape)
            for name, values in of_user.items()
        }
        return [*of_pair, *of_users.items(), *of_candidate.items(), *of_item.items()]

    def _products(self, users: Int32, places: Int32) -> list[tuple[str, Floats]]:
        """Return likeness to the profile, shares of the item's values, and its own events."""
        history, candidates = self.history[users], self.train.candidates
        features = [
            (
                f"{name} like the profile",
                pair_products(unit_rows(history @ g), g[candidates], places),
            )
            for name, g in self.known.groups.items()
        ]
        shares = divided_rows(history, self._activity[users])
        for name, values in self.known.values.items():
            share = pair_products(csr_array(shares @ values), values[candidates], places)
            features.append((f"share of {name}", share))
        features.append(("own events", pair_products(history, self._own, places)))
        latest = pair_products(self._latest[users], self._own, places)
        return [*features, ("own last event", latest)]

    @cached_property
    def _rows(self) -> csr_array[Any]:
        """All groups side by side."""
        return feature_matrix(self.known.groups)

    @cached_property
    def _own(self) -> csr_array[Any]:
        """Which item each candidate is, (n candidates, n items)."""
        return csr_array(eye_array(len(self.train.item_ids), format="csr")[self.train.candidates])

    @cached_property
    def _activity(self) -> Floats:
        return np.asarray(self.history.sum(axis=1), np.float64)

    @cached_property
    def _means(self) -> dict[str, Floats]:
        """The mean of each number over a user's items, NaN for users without any."""
        means = {}
        for name, value in self.known.numbers.items():
            known = ~np.isnan(value)
            total = self.history @ known.astype(np.float64)
            mean = np.full(len(total), np.nan)
            np.divide(self.history @ np.where(known, value, 0.0), total, out=mean, where=total > 0)
            means[name] = mean
        return means

    @cached_property
    def _item_features(self) -> dict[str, Floats]:
        """What is known of each candidate beside its attributes; shares are of all events."""
        train = self.train
        recent, weight = train.event_weights(self.recent_days, None, self.weights, self.values)
        popularity = _shares(train.item_sums(None, weight))
        popular = np.flatnonzero(popularity > 0).astype(np.int32)
        similar = most_similar(self._rows, train.candidates, popular, self.neighbours)
        features = {
            "content popularity": carried_means(popularity[popular], similar),
            "popularity": popularity[train.candidates],
            "recent popularity": _shares(train.item_sums(recent, weight))[train.candidates],
        }
        shown, cutoff = train.dataset.shown_from, train.cutoff
        if shown is not None and cutoff is not None:
            since = shown[train.candidates]
            days = np.where(since == NO_TIME, np.nan, (cutoff - since) / dataset.DAY_US)
            features["days since shown"] = days
        return features

    def shortlist(self, users: Int32, size: int, exclude: csr_array[Any] | None = None) -> Int32:
        """Return the candidates that are worth a look: those like the user's, and popular ones.

        Half of the places go to the candidates most like the user's items, those items first of
        all; the rest is filled by popularity of late, then by that of similar items. Lists have
        `size` places, ascending, then −1; or as many as there are candidates where these are no
        more: then every candidate that is not excluded stands there.
        """
        n_candidates = len(self.train.candidates)
        size = min(size, n_candidates)
        lists = np.full((len(users), size), EMPTY, np.int32)
        if size < n_candidates:
            history = self.history[users]
            # An item itself adds its share of the history to a cosine, which is 1 at most.
            likeness, held = unit_rows(history @ self._rows), unit_rows(history) * 2.0
            profiles = csr_array(hstack([likeness, held], format="csr"))
            alike = largest_products(profiles, self._targets, size // 2, exclude=exclude)[0]
            lists[:, : size // 2] = alike
        full = fill(lists, self._popular_first, exclude)
        full[full == EMPTY] = n_candidates
        full.sort(axis=1)
        full[full == n_candidates] = EMPTY
        return full

    @cached_property
    def _targets(self) -> csr_array[Any]:
        rows = hstack([self._rows[self.train.candidates], self._own], format="csr")
        return csr_array(rows.T.tocsr())

    @cached_property
    def _popular_first(self) -> Int32:
        features = self._item_features
        content = np.nan_to_num(features["content popularity"])
        order: Int32 = np.lexsort((-content, -features["recent popularity"])).astype(np.int32)
        return order


def _shares(counts: npt.NDArray[Any]) -> Floats:
    total = counts.sum()
    return np.asarray(counts / total if total > 0 else counts, np.float64)
