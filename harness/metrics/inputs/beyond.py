"""Training events, candidates and attributes as people hold them, for metrics beyond accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from harness.core.arrays import Int32
from harness.core.errors import DataError, UsageError
from harness.metrics import Metric
from harness.metrics.inputs.cells import MISMATCH, as_list, ids_of, shown
from harness.metrics.inputs.codes import Coder, Coders
from harness.metrics.inputs.frame import TWO_COLUMNS, Table, accept, frame_of, require
from harness.metrics.inputs.lists import id_order
from harness.metrics.inputs.order import CALLER
from harness.models.item_stats import Catalogue, attribute_columns, train_counts

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


def read(given: Given, coders: Coders, metrics: tuple[Metric, ...]) -> Catalogue | None:
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
    if not needs.keys() - {""}:
        return None
    events = None if given.train is None else _events(given, coders)
    candidate = _candidates(given, coders, events)
    n_items = len(coders.items)
    ids = coders.items.ids
    return Catalogue(
        np.isin(np.arange(n_items), candidate),
        None if events is None else train_counts(*events, n_items, id_order(ids)),
        None if given.attributes is None else _attributes(given, ids),
    )


_ASKED = {
    "train": "training events: evaluate(…, train=frame)",
    "attributes": "item attributes: evaluate(…, attributes=frame)",
    "candidates": "the items that may be recommended: evaluate(…, candidates=ids), or train=frame",
}


def _events(given: Given, coders: Coders) -> tuple[Int32, Int32]:
    table = accept(given.train, "train", user=given.user, item=given.item, numbers={})
    known = len(coders.items)
    rows = Coders(items=coders.items).read(table)
    _warn_of_strangers("train", rows.item, known, coders.items)
    return rows.users, rows.item


def _candidates(given: Given, coders: Coders, events: tuple[Int32, Int32] | None) -> Int32:
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
    _warn_of_strangers("candidates", codes, known, coders.items)
    return codes


def _warn_of_strangers(role: str, codes: Int32, known: int, coder: Coder) -> None:
    """Warn of items none of which had a code, among so many, before these were told."""
    if len(codes) > 0 and 0 < known <= codes.min():
        here, there = coder.ids[int(codes[0])], coder.ids[0]
        warnings.warn(
            f"{role}: not one of the items is known: {shown(here)} here, {shown(there)} in lists "
            "or truth; are the ids written alike?",
            stacklevel=CALLER + 2,
        )


def _attributes(given: Given, ids: pl.Series) -> dict[str, Any]:
    frame = frame_of(given.attributes, "attributes")
    require(frame, "attributes", "item", given.item)
    if len(set(map(str, frame.columns))) < len(frame.columns):
        raise DataError(TWO_COLUMNS.format("attributes"))
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
    _warn_of_strangers("attributes", code, len(ids), known)
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
