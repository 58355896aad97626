"""Event types: numbered as they are met, and in the end by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.core.arrays import Int32
from harness.core.errors import DataError
from harness.data import dataset
from harness.data.dataset import Events
from harness.data.layout import EventTable, Layout
from harness.data.to_events import MOST_LABELS, Batch, too_many_labels

Codes = npt.NDArray[np.uint8]


class EventType(NamedTuple):
    """A type of events; `valid` ones stand in the table to be evaluated on, where one is given."""

    valid: bool
    name: str


def codes_met(met: dict[EventType, int], table: EventTable, batch: Batch) -> Codes:
    """Return the type of each event, numbered as types are `met`; new ones join these."""
    names = [table.type] if batch.kind is None else batch.kind.names
    numbers = [met.setdefault(EventType(table.valid, name), len(met)) for name in names]
    if len(met) > MOST_LABELS:
        raise DataError(too_many_labels(table.name, table.kind or "", [type.name for type in met]))
    kind = 0 if batch.kind is None else batch.kind.codes
    return np.broadcast_to(np.array(numbers, np.uint8)[kind], len(batch.time))


def in_order(met: Iterable[EventType]) -> tuple[EventType, ...]:
    """Return event types in the order of their codes: by name, those to be evaluated on last."""
    return tuple(sorted(set(met)))


def codes_of(met: Sequence[EventType], types: Sequence[EventType]) -> Codes:
    """Return the code of each number that was given as types were met."""
    return np.array([types.index(type) for type in met], np.uint8)


def columns_of(
    layout: Layout,
    met: dict[EventType, int],
    number: int,
    *,
    user: Int32,
    item: Int32,
    batch: Batch,
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a batch of a layout's table, by codes of its users and items."""
    columns: dict[str, npt.NDArray[Any]]
    columns = {dataset.USER: user, dataset.ITEM: item, dataset.TIME: batch.time}
    kinds = codes_met(met, layout.events[number], batch)
    if layout.several_types:
        columns[dataset.KIND] = kinds
    if batch.row is not None:
        columns[dataset.ROW] = batch.row
    if layout.has_values:
        columns[dataset.VALUE] = np.ones(len(user)) if batch.value is None else batch.value
    return columns


def of_types(events: Events, codes: Codes) -> Events:
    """Return the same events of types with other codes."""
    if (codes == np.arange(len(codes))).all():
        return events
    kind = codes[events.kind]
    return Events(events.user, events.item, events.time, kind, events.row, events.value)
