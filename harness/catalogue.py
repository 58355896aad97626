"""What metrics beyond accuracy look at: how popular the items were, and what they are like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.dataset import Int32, Int64
from harness.errors import UsageError
from harness.metrics import Catalogue, Floats, Metric, TrainCounts
from harness.recommender import Train


def of_train(train: Train, metrics: Sequence[Metric]) -> Catalogue | None:
    """Return what the metrics need to know of a run's candidates; None where they need nothing.

    Raises
    ------
    UsageError
        A metric needs attributes and the layout has no table of items.
    """
    needs = {metric.definition.needs for metric in metrics} - {""}
    if not needs:
        return None
    attributes = None
    if "attributes" in needs:
        if train.items_table is None:
            raise UsageError(
                "metric ILD needs a table of item attributes; name one with [data] items = …"
            )
        attributes = attribute_columns(train.items_table, train.candidate_ids)
    counted = _train_counts(train) if "train" in needs else None
    return Catalogue(np.ones(len(train.candidates), np.bool_), counted, attributes)


def _train_counts(train: Train) -> TrainCounts:
    """Return the counts of the candidates among all training events."""

    def shares() -> Floats:
        users = max(int(np.count_nonzero(np.diff(train.user_starts))), 1)
        having = np.bincount(train.matrix.indices, minlength=len(train.item_ids))
        return np.asarray(having[train.candidates] / users, np.float64)

    return TrainCounts(train.candidate_sums(), train.candidates_by_count(), shares)


def train_counts(user: Int32, item: Int32, n_items: int, id_order: Int64) -> TrainCounts:
    """Return the counts of coded training events.

    Parameters
    ----------
    user, item : int32 array, one entry an event
    id_order : int64 array, (n items,)
        The items' places in the order of their ids, which breaks ties.
    """

    def shares() -> Floats:
        pairs = np.unique(user.astype(np.int64) * n_items + item)
        users = max(len(np.unique(user)), 1)
        return np.asarray(np.bincount(pairs % n_items, minlength=n_items) / users, np.float64)

    count = np.bincount(item, minlength=n_items)
    most_first = np.lexsort((id_order, -count))
    return TrainCounts(count, most_first[: np.count_nonzero(count)], shares)


def attribute_columns(table: pl.DataFrame, ids: pl.Series) -> dict[str, csr_array[Any]]:
    """Return every attribute as a (items, values) matrix whose rows stand in the order of `ids`.

    Parameters
    ----------
    table : polars.DataFrame
        The first column holds the ids, each once. A column of numbers is taken as it stands; any
        other becomes an indicator for each of its values; a missing value is all zeros.
    ids : polars.Series
        Of the type of the first column.
    """
    own = table.columns[0]
    rows = pl.DataFrame({own: ids.alias(own)}).join(
        table, on=own, how="left", maintain_order="left"
    )
    return {name: _vectors(rows[name]) for name in table.columns[1:]}


def _vectors(column: pl.Series) -> csr_array[Any]:
    if column.dtype.is_numeric():
        return csr_array(column.cast(pl.Float64).fill_null(0.0).to_numpy()[:, None])
    text = column.cast(pl.String)
    values = text.drop_nulls().unique().sort()
    held = np.flatnonzero(text.is_not_null().to_numpy())
    place = values.search_sorted(text.drop_nulls()).to_numpy()
    shape = (len(column), max(len(values), 1))
    return csr_array((np.ones(len(held)), (held, place)), shape=shape)
