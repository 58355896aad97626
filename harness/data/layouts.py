"""Layouts that are built in, as built_in.toml declares them, and those that a config imports.

You declare your own in the same way, in a file beside the config: docs/layouts.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, cast, get_args

from harness.core import plugins
from harness.core.errors import UsageError
from harness.core.table import Column, Sheet
from harness.data.layout import (
    AttributeTable,
    CandidateRule,
    EventTable,
    Layout,
    attributes,
    events,
    require_separator,
)
from harness.data.times import require_time_format

_DECLARED: Mapping[str, dict[str, Any]] = tomllib.loads(
    files("harness.data").joinpath("built_in.toml").read_text(encoding="utf-8")
)


def _layout(name: str, declared: Mapping[str, Any]) -> Layout:
    return Layout(
        name=name,
        events=tuple(events(**table) for table in declared["events"]),
        users=attributes(**declared["users"]) if "users" in declared else None,
        items=attributes(**declared["items"]) if "items" in declared else None,
        candidates=declared.get("candidates", "train"),
        id_width=declared.get("id_width"),
    )


BUILT_IN: Mapping[str, Layout] = {name: _layout(name, _DECLARED[name]) for name in _DECLARED}
"""By name."""


def document() -> dict[str, Any]:
    """Return the built-in layouts as the JSON document of ``harness list layouts``."""
    facts = [
        {
            "name": name,
            "data": _DECLARED[name]["about"],
            "events": [str(table.table.path) for table in layout.events],
            "columns": list(_columns(layout)),
        }
        for name, layout in BUILT_IN.items()
    ]
    return {"schema": 1, "layouts": facts}


def _columns(layout: Layout) -> Iterator[str]:
    for table in layout.events:
        yield table.type if table.kind is None else f"{table.kind} (column)"
        if table.value is not None:
            yield f"{table.value} (value)"


def sheet() -> Sheet:
    """Return them as a table."""
    columns: list[Column[dict[str, Any]]] = [
        Column("layout", lambda facts: facts["name"], "name"),
        Column("data", lambda facts: facts["data"], "words"),
        Column("events", lambda facts: ", ".join(facts["events"]), "words"),
        Column("event types and values", lambda facts: ", ".join(facts["columns"]), "words"),
    ]
    footing = ['any other log: layout = "table", or your own layout: docs/layouts.md']
    return Sheet.of(document()["layouts"], columns, footing=footing)


def plugged_in(name: str, folder: Path) -> Layout:
    """Return the layout that ``module:name`` names: a `Layout`, or what returns one.

    Parameters
    ----------
    folder : Path
        The config's own, where the module is looked for first.

    Raises
    ------
    UsageError
        No such module or name, or one that is no layout.
    """
    owner = f'[data] layout "{name}"'
    layout = plugins.load(owner, name, folder, "layout")
    if callable(layout):
        try:
            layout = layout()
        except BaseException as error:  # a stranger's code may raise anything
            plugins.raise_interrupt(error)
            raise UsageError(f"{owner}: cannot be made: {plugins.told(error)}") from error
    return require_layout(layout, owner)


def require_layout(layout: Any, owner: str) -> Layout:
    """Return what should be a layout; `owner` names it in the message.

    Raises
    ------
    UsageError
        It is no layout, or does not say what it must.
    """
    for fault in _faults(layout):
        raise UsageError(f"{owner}: {fault}")
    return cast(Layout, layout)


def _faults(layout: Any) -> Iterator[str]:
    if not isinstance(layout, Layout):
        yield f"is {type(layout).__name__}; expected a harness.layouts.Layout"
        return
    if not _is_filled(layout.name):
        yield f"name is {layout.name!r}; expected a text"
    if not isinstance(layout.events, tuple) or not layout.events:
        shown = "()" if layout.events == () else type(layout.events).__name__
        yield f"events is {shown}; expected a tuple of events(…), one or more"
        return
    for log in layout.events:
        yield from _faults_of_events(log)
    for role, table in (("users", layout.users), ("items", layout.items)):
        if isinstance(table, AttributeTable):
            yield from _faults_of_text(table)
        elif table is not None:
            yield f"{role} is {table!r}; expected attributes(…)"
    yield from _faults_of_candidates(layout)
    if layout.id_width is not None and not isinstance(layout.id_width, int):
        yield f"id_width is {layout.id_width!r}; expected a whole number"


def _faults_of_candidates(layout: Layout) -> Iterator[str]:
    rules = get_args(CandidateRule)
    if layout.candidates not in rules:
        yield f"candidates is {layout.candidates!r}; allowed: {', '.join(rules)}"
    elif layout.items is None:
        if layout.candidates != "train":
            yield f'candidates is "{layout.candidates}", which needs items=attributes(…)'
    elif layout.candidates == "shown" and layout.items.since is None:
        yield 'candidates is "shown", which needs items=attributes(…, since="…")'


def _faults_of_events(log: Any) -> Iterator[str]:
    if not isinstance(log, EventTable):
        yield f"events holds {log!r}; expected events(…)"
        return
    path = log.table.path
    for role, column in (("user", log.user), ("item", log.item), ("time", log.time)):
        if not _is_filled(column):
            yield f"{path}: {role} is {column!r}; expected a column"
    if log.user == log.item:
        yield f'{path}: user and item are both the column "{log.user}"'
    if not _is_filled(log.type):
        yield f"{path}: type is {log.type!r}; expected a text"
    yield from _faults_of_text(log)


def _is_filled(text: object) -> bool:
    return isinstance(text, str) and text != ""


def _faults_of_text(table: EventTable | AttributeTable) -> Iterator[str]:
    path = table.table.path
    try:
        require_time_format(table.time_format)
    except (TypeError, ValueError) as error:
        yield f"{path}: {error}"
    try:
        require_separator(table.table.separator, table.table.escape)
    except (AttributeError, ValueError) as error:
        yield f"{path}: separator: {error}"
