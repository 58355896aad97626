"""Training events, candidates and attributes as people hold them, for metrics beyond accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from harness.catalogue import attribute_columns, train_counts
from harness.encode import Int32
from harness.errors import DataError, UsageError
from harness.frames.accept import accept
from harness.frames.ids import Coder, Coders
from harness.frames.lists import id_order
from harness.frames.table import shown
from harness.metrics import Catalogue, Metric


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
    ids = coders.items.ids()
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
    own = Coders(Coder(), coders.items, coders.pool)
    users, items = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for part in table.slices():
        user, item = own.of(table, part)
        users.append(np.repeat(user, part.sizes) if table.wide else user)
        items.append(item)
    return np.concatenate(users), np.concatenate(items)


def _candidates(beside: Beside, coders: Coders, events: tuple[Int32, Int32] | None) -> Int32:
    if beside.candidates is None:
        return np.zeros(0, np.int32) if events is None else events[1]
    ids = pl.Series("item", list(beside.candidates), strict=True)
    if ids.null_count() > 0:
        raise DataError("candidates: an id is missing")
    return coders.items.codes(ids, "candidates")


def _attributes(beside: Beside, ids: pl.Series) -> dict[str, Any]:
    frame = nw.from_native(beside.attributes, eager_only=True)
    if beside.item not in frame.columns:
        raise DataError(
            f'attributes: no column "{beside.item}"; there are {", ".join(frame.columns)}'
        )
    columns = {name: frame.get_column(name).to_polars() for name in frame.columns}
    own = columns.pop(beside.item)
    # Another coder, told of the items first, says whether the ids are of one kind.
    known = Coder()
    known.codes(ids, "recommendations and truth")
    code = known.codes(own, f'attributes: column "{beside.item}"')
    again = pl.Series(code).is_duplicated()
    if again.any():
        raise DataError(f"attributes: item {shown(own.filter(again)[0])} has two rows; give it one")
    held = pl.DataFrame({"item": pl.Series(code, dtype=pl.Int32), **columns})
    return attribute_columns(held, pl.Series(np.arange(len(ids), dtype=np.int32)))
