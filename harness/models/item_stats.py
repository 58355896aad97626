"""What training events and attribute tables say of the items: their counts and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array, vstack

from harness.core.arrays import Bool, Counts, Floats, Int32, Int64
from harness.core.errors import UsageError
from harness.data.attributes import of_ids
from harness.models.base import Train, descending


def of_train(train: Train, needs: Set[str]) -> Catalogue | None:
    """Return what metrics need to know of a run's candidates; None where they need nothing.

    `needs` are those of `harness.metrics.needs`; UsageError for attributes without a table.
    """
    counts = None
    if "train" in needs:
        having = partial(users_having, train)
        counts = candidate_counts(train.item_sums(), train.candidates, having)
    return catalogue_of(train, needs, counts)


def catalogue_of(train: Train, needs: Set[str], counts: TrainCounts | None) -> Catalogue | None:
    """Return the same where the events are counted elsewhere; `train` has the items' attributes."""
    if not needs:
        return None
    attributes = None
    if "attributes" in needs:
        if train.items_table is None:
            raise UsageError(
                "metric ILD needs a table of item attributes; name one as [data] items"
            )
        attributes = attribute_columns(train.items_table, train.candidate_ids)
    return Catalogue(np.ones(len(train.candidates), np.bool_), counts, attributes)


def users_having(train: Train) -> tuple[Int64, int]:
    """Return how many users have each item, and how many have any."""
    having = np.bincount(train.matrix.indices, minlength=len(train.item_ids))
    return having.astype(np.int64), int(np.count_nonzero(np.diff(train.user_starts)))


def candidate_counts(
    counts: Int64, candidates: Int32, having: Callable[[], tuple[Int64, int]]
) -> TrainCounts:
    """Return what the training events of all items say of the candidates.

    `counts` are events by item; `having` returns what `users_having` does, of all users.
    """

    def shares() -> Floats:
        held, users = having()
        return np.asarray(held[candidates] / max(users, 1), np.float64)

    count = counts[candidates]
    return TrainCounts(count, descending(count, count > 0), shares)


def train_counts(user: Int32, item: Int32, n_items: int, id_order: Int32) -> TrainCounts:
    """Return the counts of coded training events; ranks in the `id_order` break ties."""

    def shares() -> Floats:
        pairs = np.unique(user.astype(np.int64) * n_items + item)
        users = max(len(np.unique(user)), 1)
        return np.asarray(np.bincount(pairs % n_items, minlength=n_items) / users, np.float64)

    return item_counts(np.bincount(item, minlength=n_items), shares, id_order)


def item_counts(count: Int64, shares: Callable[[], Floats], id_order: Int32) -> TrainCounts:
    """Return the counts of items whose training events, (n items,), are counted already."""
    most_first = np.lexsort((id_order, -count))
    return TrainCounts(count, most_first[: np.count_nonzero(count)], shares)


def attribute_columns(table: pl.DataFrame, ids: pl.Series) -> dict[str, csr_array[Any]]:
    """Return every attribute as a (items, values) matrix with rows in the order of `ids`.

    The first column of the table holds the ids, each once. A column of numbers is taken as it
    stands; any other becomes an indicator for each of its values; a missing value is all zeros.
    """
    rows = of_ids(table, ids)
    vectors = {}
    for name in table.columns[1:]:
        column = rows[name]
        if column.dtype.is_numeric():
            numbers = column.cast(pl.Float64).fill_null(0.0).to_numpy()
            vectors[name] = csr_array(numbers[:, None])
            continue
        text = column.cast(pl.String)
        values = text.drop_nulls().unique().sort()
        held = np.flatnonzero(text.is_not_null().to_numpy())
        place = values.search_sorted(text.drop_nulls()).to_numpy()
        shape = (len(column), max(len(values), 1))
        vectors[name] = csr_array((np.ones(len(held)), (held, place)), shape=shape)
    return vectors


@dataclass(frozen=True, eq=False)
class TrainCounts:
    """How often the items were used in training.

    `count` has the training events of each position, `popular` the positions that have any, most
    first, ties by item id; `shares` works `user_share` out, which takes a while.
    """

    count: Int64
    popular: Counts
    shares: Callable[[], Floats]

    @cached_property
    def user_share(self) -> Floats:
        """The share of the training users that have each item."""
        shares: Floats = self.shares()
        return shares


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What training and attribute tables say of the items.

    `candidate` says of each position whether it may be recommended: coverage and Gini look at these
    alone. `attributes` are (items, values) by column: an indicator for every text, or the number.
    """

    candidate: Bool
    train: TrainCounts | None = None
    attributes: Mapping[str, csr_array[Any]] | None = None

    def wider(self, more: int) -> Catalogue:
        """Return a catalogue with `more` positions of which nothing is known."""
        train, held = self.train, self.attributes
        if train is not None:
            known = train
            train = TrainCounts(
                np.pad(known.count, (0, more)),
                known.popular,
                lambda: np.pad(known.user_share, (0, more)),
            )
        if held is not None:
            held = {
                name: vstack([rows, csr_array((more, rows.shape[1]))], format="csr")
                for name, rows in held.items()
            }
        return Catalogue(np.pad(self.candidate, (0, more)), train, held)
