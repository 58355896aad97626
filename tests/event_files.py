"""Layouts on one file of events, and the events that are read by them."""

from pathlib import Path
from typing import Any

import small
from conftest import Words, flat, refusal
from hypothesis import HealthCheck, settings

from harness.config import DataConfig
from harness.core.errors import DataError
from harness.data.conditions import conditions
from harness.data.dataset import Dataset
from harness.data.layout import Layout
from harness.data.loading import load

DAY = 86_400_000_000
"""Microseconds."""
FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
"""Of properties that write into a folder; each example writes its files anew."""


def log(folder: Path, events: str = "log.csv", **keys: Any) -> Layout:
    """Return the layout of a file of events, by keys of [data]."""
    where = conditions(keys.pop("where", {}))
    data = DataConfig(layout="table", path=".", events=events, **keys)
    return data.table_layout(folder).with_events(where=where)


def of(data: Dataset) -> list[tuple[str, str, int]]:
    """Return user, item and microsecond of all events, in their order."""
    events = data.events
    rows = zip(events.user.tolist(), events.item.tolist(), events.time.tolist(), strict=True)
    return [(data.user_ids[u], data.item_ids[i], t) for u, i, t in rows]


def moments(layout: Layout) -> list[tuple[str, str, int]]:
    """Return the same of all events of a layout."""
    return of(load(layout))


def typed(data: Dataset) -> list[tuple[str, str, str, float | None]]:
    """Return the events of a data set in its order: user, item, type, value."""
    users, items, e = data.user_ids.to_list(), data.item_ids.to_list(), data.events
    values = [None] * len(e) if e.value is None else e.value.tolist()
    columns = zip(e.user, e.item, e.kind, values, strict=True)
    return [(users[u], items[i], data.kinds[k], v) for u, i, k, v in columns]


def rows(layout: Layout) -> list[tuple[str, str, int]]:
    """Return user, item and day of all events, in their order."""
    return [(user, item, time // DAY) for user, item, time in moments(layout)]


def events(folder: Path, content: str | bytes, **keys: Any) -> list[tuple[str, str, int]]:
    """Write log.csv; return the `moments` of its events."""
    data = content.encode() if isinstance(content, str) else content
    (folder / "log.csv").write_bytes(data)
    return moments(log(folder, **keys))


def refused(folder: Path, *words: Words, **keys: Any) -> None:
    """Check that a log is refused as it is read, with every word."""
    with refusal(DataError, flat(words)):
        load(log(folder, **keys))


SHOP = """
from harness.layouts import Layout, events

Shop = Layout(
    name="shop",
    events=(
        events("sales.txt", user="who", item="what", time="at", type="sale",
               time_format="%d.%m.%Y", separator=";"),
    ),
)
"""
"""A layout in a module of one's own, on `SALES`."""
TWO_TABLES = """
from harness.layouts import Layout, events

Shop = Layout(
    name="shop",
    events=(
        events("one.csv", user="user", item="item", time="time", type="sale"),
        events("two.csv", user="who", item="item", time="at", type="view"),
    ),
)
"""
"""A layout of two tables, which name users and times otherwise."""
SALES = "who;what;at\n" + "".join(
    f"{user};{item};{int(time[-2:])}.1.2020\n"
    for user, item, time in (line.split(",") for line in small.LOG.splitlines()[1:])
)
"""The events of `small.LOG`, written otherwise."""
