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


class EventTypes:
    """Numbers the event types of tables by the order in which they are `met`."""

    def __init__(self) -> None:
        self.met: list[EventType] = []

    def codes(self, table: EventTable, batch: Batch) -> Codes:
        """Return the type of each event of a batch.

        Raises
        ------
        DataError
            There are more types than any log has.
        """
        if batch.kind is None:
            return np.broadcast_to(np.uint8(self._code(table, table.type)), len(batch.time))
        numbers = np.array([self._code(table, name) for name in batch.kind.names], np.uint8)
        codes: Codes = numbers[batch.kind.codes]
        return codes

    def _code(self, table: EventTable, name: str) -> int:
        type = EventType(table.valid, name)
        if type not in self.met:
            self.met.append(type)
        if len(self.met) > MOST_LABELS:
            names = [met.name for met in self.met]
            raise DataError(too_many_labels(table.name, table.kind or "", names))
        return self.met.index(type)


def in_order(met: Iterable[EventType]) -> tuple[EventType, ...]:
    """Return event types in the order of their codes: by name, those to be evaluated on last.

    Examples
    --------
    >>> [of.name for of in in_order([EventType(False, "view"), EventType(False, "sale")])]
    ['sale', 'view']
    """
    return tuple(sorted(set(met)))


def codes_of(met: Sequence[EventType], types: Sequence[EventType]) -> Codes:
    """Return the code of each number that was given as types were met."""
    return np.array([types.index(type) for type in met], np.uint8)


def columns_of(
    layout: Layout, types: EventTypes, number: int, codes: tuple[Int32, Int32], batch: Batch
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a batch of a layout's table, by codes of its users and items."""
    user, item = codes
    columns: dict[str, npt.NDArray[Any]]
    columns = {dataset.USER: user, dataset.ITEM: item, dataset.TIME: batch.time}
    kinds = types.codes(layout.events[number], batch)
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
