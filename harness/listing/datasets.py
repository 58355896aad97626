"""What there is of public data sets, as ``harness list datasets`` shows it."""

from __future__ import annotations

from typing import Any

from harness.core.table import Column, Sheet
from harness.data.datasets import DATASETS, PublicDataset, megabytes


def sheet() -> Sheet:
    """Return the data sets as a table."""
    columns: list[Column[PublicDataset]] = [
        Column("data set", lambda d: d.name, "name"),
        Column("events", lambda d: f"{d.events:,}"),
        Column("users", lambda d: f"{d.users:,}"),
        Column("items", lambda d: f"{d.items:,}"),
        Column("download", lambda d: megabytes(d.size)),
        Column("licence", lambda d: d.licence.short, "words"),
    ]
    footing = ["harness fetch NAME shows the full terms before it downloads"]
    return Sheet.of(DATASETS.values(), columns, footing=footing)


def document() -> dict[str, Any]:
    """Return the data sets as the JSON document of ``harness list datasets``."""
    names = ("name", "title", "events", "users", "items", "url", "size", "sha256", "terms")
    facts = [
        {**{name: getattr(d, name) for name in names}, "licence": d.licence.text}
        for d in DATASETS.values()
    ]
    return {"schema": 1, "datasets": facts}
