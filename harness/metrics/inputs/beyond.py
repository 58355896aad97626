"""Training events, candidates and attributes as people hold them, for metrics beyond accuracy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.core.arrays import Int32
from harness.core.errors import DataError, UsageError
from harness.metrics import Metric
from harness.metrics.inputs.cells import MISMATCH, as_list, ids_of, shown
from harness.metrics.inputs.codes import Coder, Coders, Overlap
from harness.metrics.inputs.frame import Table, accept, frame_of, require, two_columns
from harness.metrics.inputs.lists import id_order
from harness.models.item_stats import (
    Catalogue,
    TrainCounts,
    attribute_columns,
    item_counts,
    train_counts,
)

if TYPE_CHECKING:
    from harness.metrics.inputs.frame import Frame


@dataclass(frozen=True, eq=False)
class ItemTables:
    """What metrics beyond accuracy need, and what its columns are called: see `evaluate`."""

    user: str
    item: str
    train: Any = None
    candidates: Any = None
    attributes: Any = None


@dataclass(frozen=True, eq=False)
class ItemCounts:
    """Training events that are counted already.

    `items` has columns item, count (events) and users (those who have it), a row an item; `users`
    is how many users have any.
    """

    items: pl.DataFrame
    users: int


def read(
    tables: ItemTables, coders: Coders, metrics: tuple[Metric, ...]
) -> tuple[Catalogue | None, dict[str, Overlap]]:
    """Return what the metrics need to know of the items, if anything, and each table's overlap.

    An overlap tells whether a table's items are those of the lists and the truth. UsageError where
    something that a metric needs was not given; DataError over missing columns or ids, and ids of
    another kind than the truth's.
    """
    needs = {metric.definition.needs: metric for metric in reversed(metrics)}
    for need, there in (
        ("train", tables.train is not None),
        ("attributes", tables.attributes is not None),
        ("candidates", tables.candidates is not None or tables.train is not None),
    ):
        if need in needs and not there:
            raise UsageError(f"metric {needs[need]} needs {_ASKED[need]}")
    if not needs.keys() - {""}:
        return None, {}
    overlaps: dict[str, Overlap] = {}
    candidate, counts = np.zeros(0, np.int32), None
    if tables.train is not None:
        known = len(coders.items)
        candidate, counts = _train(tables, coders)
        overlaps["train"] = coders.items.overlap(candidate, known)
    if tables.candidates is not None:
        known = len(coders.items)
        candidate = coders.items.codes(candidate_ids(tables.candidates), "candidates")
        overlaps["candidates"] = coders.items.overlap(candidate, known)
    ids, attributes = coders.items.ids, None
    if tables.attributes is not None:
        attributes, overlaps["attributes"] = _attributes(tables, ids)
    is_candidate = np.zeros(len(ids), np.bool_)
    is_candidate[candidate] = True
    return Catalogue(is_candidate, counts and counts(ids), attributes), overlaps


_ASKED = {
    "train": "training events: evaluate(…, train=frame)",
    "attributes": "item attributes: evaluate(…, attributes=frame)",
    "candidates": "the items that may be recommended: evaluate(…, candidates=ids), or train=frame",
}


def _train(tables: ItemTables, coders: Coders) -> tuple[Int32, Callable[[pl.Series], TrainCounts]]:
    """Return the items of all training events, and what counts these once all ids are known."""
    train = tables.train
    if not isinstance(train, ItemCounts):
        table = accept(train, "train", user=tables.user, item=tables.item, numbers={})
        rows = Coders(items=coders.items).read(table)
        return rows.item, lambda ids: train_counts(rows.users, rows.item, len(ids), id_order(ids))
    items = coders.items.codes(train.items["item"], f'train: column "{tables.item}"')

    def counts(ids: pl.Series) -> TrainCounts:
        count, having = (np.zeros(len(ids), np.int64) for _ in range(2))
        count[items], having[items] = train.items["count"], train.items["users"]
        return item_counts(count, lambda: having / max(train.users, 1), id_order(ids))

    return items, counts


def candidate_ids(candidates: Any) -> pl.Series:
    """Return the ids of items that may be recommended, or raise UsageError or DataError."""
    cells = None if isinstance(candidates, (Mapping, str, bytes)) else as_list(candidates)
    if not isinstance(cells, list):
        raise UsageError(f"candidates: found {type(candidates).__name__}; give a list of item ids")
    ids = ids_of(cells, "candidates")
    if ids.null_count() > 0:
        raise DataError("candidates: an id is missing")
    return ids


def _attributes(tables: ItemTables, ids: pl.Series) -> tuple[dict[str, Any], Overlap]:
    """Return the attributes of the items with these ids, and whether any of them has some."""
    frame = frame_of(tables.attributes, "attributes")
    require(frame, "attributes", "item", tables.item)
    if len(set(map(str, frame.columns))) < len(frame.columns):
        raise two_columns(tables.attributes, "attributes")
    names = [name for name in frame.columns if name != tables.item]
    if not names:
        raise DataError(f'attributes: there is only the column "{tables.item}"; add attributes')
    table = Table("attributes", {"item": tables.item}, "", False, frame)
    items = table.column("item")
    if items.null_count() > 0:
        raise DataError(f"{table.where('item')}: an id is missing; give every row an id")
    coder = Coder()  # the ids of lists and truth first: it says whether all are of one kind
    coder.codes(ids, "lists and truth: item ids")
    codes = coder.codes(items, table.where("item"))
    again = pl.Series(codes).is_duplicated()
    if again.any():
        raise DataError(
            f"attributes: item {shown(items.filter(again)[0])} has two rows; give it one row"
        )
    coded = pl.Series(str(tables.item), codes, dtype=pl.Int32)
    columns = pl.DataFrame([coded, *(_attribute(frame, name) for name in names)])
    positions = pl.Series(np.arange(len(ids), dtype=np.int32))
    return attribute_columns(columns, positions), coder.overlap(codes, len(ids))


def _attribute(frame: Frame, name: str) -> pl.Series:
    try:
        column = Table("attributes", {"item": name}, "", False, frame).column("item")
        column.cast(pl.Float64 if column.dtype.is_numeric() else pl.String)
    except MISMATCH as error:
        raise DataError(
            f'attributes: column "{name}" has values that are neither text nor numbers'
        ) from error
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise DataError(
            f'attributes: column "{name}" holds {column.dtype}; an attribute is a text or a number'
        )
    if column.dtype.is_float() and not column.is_finite().fill_null(True).all():
        raise DataError(
            f'attributes: column "{name}" has a number that is not finite; leave the cell empty, '
            "or remove the column"
        )
    return column.alias(str(name))
