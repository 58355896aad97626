"""Tables of other users than the examined: of some of them, and of more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from harness.report.page.cells import Cell, Column, Row, Table, figure, model
from harness.report.page.view import Document, View, decimals, spread


def slice_columns(view: View) -> list[str]:
    """Return the columns by which users are divided."""
    return list(dict.fromkeys(str(part["by"]) for part in view.document["slices"]))


def slices(view: View) -> list[Table]:
    """Return a table for each column, with a row a model and a column a slice."""
    grouped = groupby(view.document["slices"], key=lambda part: part["by"])
    return [_sliced(view, list(parts)) for _, parts in grouped]


def _sliced(view: View, parts: Sequence[Document]) -> Table:
    columns = [Column("model", words=True)]
    for part in parts:
        few = ", few users" if part["small"] else ""
        columns.append(Column(str(part["label"]), f"n = {part['users']:,}{few}"))
    rows = []
    for i, name in enumerate(view.names):
        found = [part["models"][name] for part in parts]
        cells = [figure(f["mean"], view.decimals, spread(f["ci95"], view.decimals)) for f in found]
        rows.append(Row([model(view, i), *cells], (i,)))
    return Table(columns, rows)


def bridge(view: View) -> Table | None:
    """Return every model's leaderboard estimates; nothing of a metric that has none."""
    found = view.document["bridge"]
    if not found["models"]:
        return None
    wider = {"window": ("users with true items", found["with_items"])}
    if found["sample"] is not None:
        wider["sample"] = ("all ids of the sample submission", found["sample"])
    columns = [
        Column("model", words=True),
        Column("this evaluation set", f"{found['examined']:,} users"),
        *(Column(title, f"{users:,} users") for title, users in wider.values()),
    ]
    counted: dict[str, Any] = found["models"]
    values = [by[key] for by in counted.values() for key in wider if by[key] is not None]
    places = max(view.decimals, decimals(values))
    rows = [
        Row(
            [
                model(view, i),
                figure(view.mean(view.models[i]), places),
                *(_estimate(counted[name], key, places) for key in wider),
            ],
            (i,),
        )
        for i, name in enumerate(view.names)
    ]
    return Table(columns, rows)


def _estimate(of_model: Document, key: str, places: int) -> Cell:
    cell = figure(of_model[key], places)
    least = of_model[key] is not None and of_model.get("at_least", True)
    return replace(cell, text=f"at least {cell.text}") if least else cell
