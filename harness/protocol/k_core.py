"""The k-core of a log: users with so many events, of items with so many, until none goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from harness.core.arrays import Bool, Int64
from harness.core.errors import DataError, counted
from harness.core.exact_sum import Largest, Sums, Total, of_one
from harness.data import _events
from harness.data.dataset import Dataset, Events
from harness.protocol.evaluation_set import CORE, LOG


@dataclass(frozen=True, eq=False)
class Core:
    """The k-core of a log."""

    items: Bool  # which items are in it, (n items,)
    least: int  # events with such items that a user must have
    span: tuple[int, int]  # of its first and last event, microseconds since 1970
    note: str  # what was left out

    def of(self, part: Dataset) -> Dataset:
        """Return a part of the log, with the events of the core alone; it stays so."""
        if part.steps:
            return part
        events = _within(part, self.items, self.least)
        users = int(np.count_nonzero(np.diff(events.user_starts(len(part.user_ids)))))
        return replace(
            part,
            events=events,
            span=self.span,
            notes=(*part.notes, self.note),
            steps=((LOG, len(part.user_ids)), (CORE, users)),
        )


def core_of(data: Dataset, least_user: int, least_item: int) -> Dataset:
    """Return the k-core of a log; DataError where nothing is left."""
    core = core_of_parts(least_user, least_item, len(data.item_ids), of_one(data))
    return data if core is None else core.of(data)


def core_of_parts(
    least_user: int, least_item: int, n_items: int, total: Total[Dataset]
) -> Core | None:
    """Return the k-core of a log in parts of its users, None where it is the log.

    A user stays who has `least_user` events with items that stay, and an item stays that has
    `least_item` events of users who stay: the largest such set, which is what is left when
    items with fewer are taken away again and again (Batagelj and Zaversnik 2003). An event counts
    as often as it happened.

    Examples
    --------
    With two of each: ann has a, a, b and bob has b, c. Item c has one event; without it bob has
    one, without him b has one, and so ann stays with a and a.
    """
    if least_user == least_item == 1:
        return None
    items = np.ones(n_items, np.bool_)
    while True:
        sums: Any = total(partial(_counted, items, least_user))
        staying = items & (sums["items"] >= least_item)
        if (staying == items).all():
            break
        items = staying
    rules = f"min_user_events = {least_user:,}, min_item_events = {least_item:,}"
    users, events = sums["kept"].tolist()
    before = int(sums["all"][0])
    if events == 0:
        raise DataError(
            f"[data] {rules}: none of {counted(before, 'event')} is left without the users and "
            "items that have fewer; use smaller numbers"
        )
    note = (
        f"k-core: {before - events:,} of {counted(before, 'event')} left out ({rules}; "
        f"{counted(users, 'user')} and {counted(int(items.sum()), 'item')} stay)"
    )
    span: Any = total(partial(_span, items, least_user))
    low, high = span["span"].values.tolist()
    return Core(items, least_user, (-low, high), note)


def _counted(items: Bool, least: int, part: Dataset) -> Sums:
    """Return the events of each item that stay if these items do, and of how many users."""
    counts = np.zeros(len(items), np.int64)
    kept = _core(part, items, least, counts, np.zeros(0, np.uint8))
    return {"items": counts, "kept": np.array(kept), "all": np.array([len(part.events)])}


def _span(items: Bool, least: int, part: Dataset) -> Sums:
    time = _within(part, items, least).time
    lowest = np.iinfo(np.int64).min
    ends = [-int(time.min()), int(time.max())] if len(time) > 0 else [lowest, lowest]
    return {"span": Largest(np.array(ends))}


def _within(part: Dataset, items: Bool, least: int) -> Events:
    kept = np.zeros(len(part.events), np.uint8)
    _core(part, items, least, np.zeros(len(items), np.int64), kept)
    return part.events.where(kept.view(np.bool_))


def _core(part: Dataset, items: Bool, least: int, counts: Int64, kept: Any) -> tuple[int, int]:
    starts = part.events.user_starts(len(part.user_ids))
    alive = np.ascontiguousarray(items).view(np.uint8)
    return _events.core(np.ascontiguousarray(starts), part.events.item, alive, least, counts, kept)
