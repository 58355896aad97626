"""What there is of layouts, as ``harness list layouts`` shows it."""

from __future__ import annotations

from typing import Any

from harness.core.table import Column, Sheet
from harness.data.layouts import BUILT_IN


def document() -> dict[str, Any]:
    """Return the built-in layouts as the JSON document of ``harness list layouts``."""
    facts = []
    for name, layout in BUILT_IN.items():
        columns = []
        for table in layout.events:
            columns.append(f"{table.kind} (column)" if table.kind else table.type)
            if table.value:
                columns.append(f"{table.value} (value)")
        files = [table.file for table in layout.events]
        facts.append({"name": name, "data": layout.about, "events": files, "columns": columns})
    return {"schema": 1, "layouts": facts}


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
