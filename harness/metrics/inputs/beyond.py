"""Training events, candidates and attributes as people hold them, for metrics beyond accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from harness.core.arrays import Int32
from harness.core.errors import DataError, UsageError
from harness.metrics import Metric
from harness.metrics.inputs.cells import MISMATCH, as_list, ids_of, shown
from harness.metrics.inputs.codes import Coder, Coders
from harness.metrics.inputs.frame import Table, accept, frame_of, require
from harness.metrics.inputs.lists import id_order
from harness.models.item_stats import Catalogue, attribute_columns, train_counts


@dataclass(frozen=True)
class Beside:
    """What a person gave beside lists and truth."""

    train: Any
    candidates: Any
    attributes: Any
    user: str
    item: str


def read(beside: Beside, coders: Coders, metrics: tuple[Metric, ...]) -> Catalogue | None:
    """Return what the metrics need to know of the items; None where they need nothing.

    Raises
    ------
    UsageError
        Something that a metric needs was not given.
    DataError
        Missing columns or ids, ids of another kind than the truth's.
    """
    needs = {metric.definition.needs: metric for metric in reversed(metrics)}
    for need, given in (
        ("train", beside.train is not None),
        ("attributes", beside.attributes is not None),
        ("candidates", beside.candidates is not None or beside.train is not None),
    ):
        if need in needs and not given:
            raise UsageError(f"metric {needs[need]} needs {_ASKED[need]}")
    if not needs.keys() - {""}:
        return None
    events = None if beside.train is None else _events(beside, coders)
    candidate = _candidates(beside, coders, events)
    n_items = len(coders.items)
    ids = coders.items.ids
    return Catalogue(
        np.isin(np.arange(n_items), candidate),
        None if events is None else train_counts(*events, n_items, id_order(ids)),
        None if beside.attributes is None else _attributes(beside, ids),
    )


_ASKED = {
    "train": "training events: evaluate(…, train=frame)",
    "attributes": "item attributes: evaluate(…, attributes=frame)",
    "candidates": "the items that may be recommended: evaluate(…, candidates=ids), or train=frame",
}


def _events(beside: Beside, coders: Coders) -> tuple[Int32, Int32]:
    table = accept(beside.train, "train", user=beside.user, item=beside.item, numbers={})
    rows = Coders(items=coders.items).read(table)
    return rows.users, rows.item


def _candidates(beside: Beside, coders: Coders, events: tuple[Int32, Int32] | None) -> Int32:
    given = beside.candidates
    if given is None:
        return np.zeros(0, np.int32) if events is None else events[1]
    cells = None if isinstance(given, (Mapping, str, bytes)) else as_list(given)
    if not isinstance(cells, list):
        raise UsageError(f"candidates: found {type(given).__name__}; give a list of item ids")
    ids = ids_of(cells, "candidates")
    if ids.null_count() > 0:
        raise DataError("candidates: an id is missing")
    return coders.items.codes(ids, "candidates")


def _attributes(beside: Beside, ids: pl.Series) -> dict[str, Any]:
    frame = frame_of(beside.attributes, "attributes")
    require(frame, "attributes", "item", beside.item)
    others = [name for name in frame.columns if name != beside.item]
    if not others:
        raise DataError(
            f'attributes: there is nothing beside the column "{beside.item}"; add attributes'
        )
    own = Table("attributes", {"item": beside.item}, "", False, frame)
    items = own.column("item")
    if items.null_count() > 0:
        raise DataError(f"{own.where('item')}: an id is missing; give every row one")
    # A coder that is told of the lists' and the truth's items first says whether ids are alike.
    known = Coder()
    known.codes(ids, "lists and truth: item ids")
    code = known.codes(items, own.where("item"))
    again = pl.Series(code).is_duplicated()
    if again.any():
        raise DataError(
            f"attributes: item {shown(items.filter(again)[0])} has two rows; give it one"
        )
    columns = {name: _attribute(frame, name) for name in others}
    held = pl.DataFrame([pl.Series(_CODE, code, dtype=pl.Int32), *columns.values()])
    return attribute_columns(held, pl.Series(np.arange(len(ids), dtype=np.int32)))


_CODE = "\x00code"


def _attribute(frame: nw.DataFrame[Any], name: str) -> pl.Series:
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
