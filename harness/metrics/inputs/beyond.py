"""Training events, candidates and attributes as people hold them, for metrics beyond accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from harness.core.arrays import Int32
from harness.core.errors import DataError, UsageError
from harness.metrics import Metric
from harness.metrics.inputs.cells import MISMATCH, as_list, ids_of, shown
from harness.metrics.inputs.codes import Coder, Coders
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
class Given:
    """What a person gave, and what its columns are called: the parameters of `evaluate`."""

    recommendations: Any
    truth: Any
    user: str
    item: str
    rank: str | None = None
    score: str | Literal[False] | None = None
    grade: str | None = None
    train: Any = None
    candidates: Any = None
    attributes: Any = None
    truth_user: str | None = None
    truth_item: str | None = None


@dataclass(frozen=True, eq=False)
class ItemCounts:
    """Training events that are counted already.

    Attributes
    ----------
    items : polars.DataFrame
        Columns item, count (events) and users (who have it), a row an item.
    users : int
        How many users have any.
    """

    items: pl.DataFrame
    users: int


Strangers: TypeAlias = "dict[str, tuple[Any, Any] | None]"
"""Of each table of items: None, or where lists and truth have none of them, one here, one there."""


def read(
    given: Given, coders: Coders, metrics: tuple[Metric, ...]
) -> tuple[Catalogue | None, Strangers]:
    """Return what the metrics need to know of the items; None where they need nothing.

    Raises
    ------
    UsageError
        Something that a metric needs was not given.
    DataError
        Missing columns or ids, ids of another kind than the truth's.
    """
    needs = {metric.definition.needs: metric for metric in reversed(metrics)}
    for need, there in (
        ("train", given.train is not None),
        ("attributes", given.attributes is not None),
        ("candidates", given.candidates is not None or given.train is not None),
    ):
        if need in needs and not there:
            raise UsageError(f"metric {needs[need]} needs {_ASKED[need]}")
    strangers: Strangers = {}
    if not needs.keys() - {""}:
        return None, strangers
    events = None if given.train is None else _events(given, coders, strangers)
    candidate = _candidates(given, coders, events, strangers)
    ids = coders.items.ids
    catalogue = Catalogue(
        np.isin(np.arange(len(ids)), candidate),
        None if events is None else _train_counts(given, events, ids),
        None if given.attributes is None else _attributes(given, ids, strangers),
    )
    return catalogue, strangers


def of_strangers(role: str, here: Any, there: Any) -> str:
    """Return the warning of items that neither lists nor truth have."""
    return (
        f"{role}: not one of the items is known: {shown(here)} here, {shown(there)} in lists or "
        "truth; are the ids written alike?"
    )


_ASKED = {
    "train": "training events: evaluate(…, train=frame)",
    "attributes": "item attributes: evaluate(…, attributes=frame)",
    "candidates": "the items that may be recommended: evaluate(…, candidates=ids), or train=frame",
}


def _events(given: Given, coders: Coders, strangers: Strangers) -> tuple[Int32, Int32]:
    """Return the user and the item of every event; of those counted already, the item alone."""
    known = len(coders.items)
    if isinstance(given.train, ItemCounts):
        codes = coders.items.codes(given.train.items["item"], f'train: column "{given.item}"')
        users = np.zeros(0, np.int32)
    else:
        table = accept(given.train, "train", user=given.user, item=given.item, numbers={})
        rows = Coders(items=coders.items).read(table)
        users, codes = rows.users, rows.item
    _look_for_strangers("train", codes, known, coders.items, strangers)
    return users, codes


def _train_counts(given: Given, events: tuple[Int32, Int32], ids: pl.Series) -> TrainCounts:
    counted, (users, items) = given.train, events
    if not isinstance(counted, ItemCounts):
        return train_counts(users, items, len(ids), id_order(ids))
    count, having = (np.zeros(len(ids), np.int64) for _ in range(2))
    count[items], having[items] = counted.items["count"], counted.items["users"]
    return item_counts(count, lambda: having / max(counted.users, 1), id_order(ids))


def _candidates(
    given: Given, coders: Coders, events: tuple[Int32, Int32] | None, strangers: Strangers
) -> Int32:
    candidates = given.candidates
    if candidates is None:
        return np.zeros(0, np.int32) if events is None else events[1]
    cells = None if isinstance(candidates, (Mapping, str, bytes)) else as_list(candidates)
    if not isinstance(cells, list):
        raise UsageError(f"candidates: found {type(candidates).__name__}; give a list of item ids")
    ids = ids_of(cells, "candidates")
    if ids.null_count() > 0:
        raise DataError("candidates: an id is missing")
    known = len(coders.items)
    codes = coders.items.codes(ids, "candidates")
    _look_for_strangers("candidates", codes, known, coders.items, strangers)
    return codes


def _look_for_strangers(
    role: str, codes: Int32, known: int, coder: Coder, strangers: Strangers
) -> None:
    """Note whether none of the items had a code, among so many, before these were told."""
    if len(codes) > 0 and known > 0:
        examples = coder.ids[int(codes[0])], coder.ids[0]
        strangers[role] = examples if codes.min() >= known else None


def _attributes(given: Given, ids: pl.Series, strangers: Strangers) -> dict[str, Any]:
    frame = frame_of(given.attributes, "attributes")
    require(frame, "attributes", "item", given.item)
    if len(set(map(str, frame.columns))) < len(frame.columns):
        raise two_columns(given.attributes, "attributes")
    others = [name for name in frame.columns if name != given.item]
    if not others:
        raise DataError(
            f'attributes: there is nothing beside the column "{given.item}"; add attributes'
        )
    own = Table("attributes", {"item": given.item}, "", False, frame)
    items = own.column("item")
    if items.null_count() > 0:
        raise DataError(f"{own.where('item')}: an id is missing; give every row one")
    # A coder that is told of the lists' and the truth's items first says whether ids are alike.
    known = Coder()
    known.codes(ids, "lists and truth: item ids")
    code = known.codes(items, own.where("item"))
    _look_for_strangers("attributes", code, len(ids), known, strangers)
    again = pl.Series(code).is_duplicated()
    if again.any():
        raise DataError(
            f"attributes: item {shown(items.filter(again)[0])} has two rows; give it one"
        )
    columns = {name: _attribute(frame, name) for name in others}
    held = pl.DataFrame([pl.Series(str(given.item), code, dtype=pl.Int32), *columns.values()])
    return attribute_columns(held, pl.Series(np.arange(len(ids), dtype=np.int32)))


def _attribute(frame: Frame, name: str) -> pl.Series:
    try:
        column = Table("attributes", {"item": name}, "", False, frame).column("item")
        column.cast(pl.Float64 if column.dtype.is_numeric() else pl.String)
    except MISMATCH as error:
        raise DataError(
            f'attributes: column "{name}" holds what is neither text nor number'
        ) from error
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise DataError(
            f'attributes: column "{name}" holds {column.dtype}; an attribute is a text or a number'
        )
    if column.dtype.is_float() and not column.is_finite().fill_null(True).all():
        raise DataError(
            f'attributes: column "{name}" holds a number that is not finite; leave it empty, or '
            "leave the column out"
        )
    return column.alias(str(name))
