"""Tables of other users than the examined: of some of them, and of more."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from harness.report.page.cells import Column, Row, Table, figure, model
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
    """Return every model's figure over more users; nothing for a figure of all lists."""
    found = view.document["bridge"]
    if not found["models"]:
        return None
    wider = {"window": "all users of the window", "sample": "all ids of the sample submission"}
    known = {key: text for key, text in wider.items() if found[key] is not None}
    columns = [
        Column("model", words=True),
        Column("this exam", f"{found['examined']:,} users"),
        *(Column(text, f"{found[key]:,} users") for key, text in known.items()),
    ]
    scaled: dict[str, Any] = found["models"]
    every = [v for by in scaled.values() for v in by.values() if v is not None]
    places = max(view.decimals, decimals(every))
    rows = [
        Row(
            [
                model(view, i),
                figure(view.mean(view.models[i]), places),
                *(figure(scaled[name][key], places) for key in known),
            ],
            (i,),
        )
        for i, name in enumerate(view.names)
    ]
    return Table(columns, rows)
