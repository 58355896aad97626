"""``harness list``: what there is."""

from __future__ import annotations

import shutil
from importlib import import_module
from typing import Annotated, Any, Literal

import typer

from harness.cli.options import Output
from harness.cli.output import show_parts


def list_(
    topic: Annotated[
        Literal["metrics", "conventions", "baselines", "layouts", "checks", "datasets"],
        typer.Argument(
            metavar="TOPIC",
            help="What to list: metrics, conventions, baselines, layouts, checks or datasets.",
        ),
    ],
    format_: Output = "table",
) -> None:
    """List metrics, conventions, baselines, layouts, checks or datasets."""
    document: Any
    if topic in ("metrics", "conventions"):
        from harness.listing import metrics

        if topic == "metrics":
            document, sheet, text = metrics.metrics(), metrics.metrics_sheet(), metrics.metrics_text
        else:
            document, sheet = metrics.conventions(), metrics.conventions_sheet()
            text = metrics.conventions_text
    else:
        listing: Any = import_module(f"harness.listing.{topic}")
        document, sheet, text = listing.document(), listing.sheet(), None
    if format_ == "table" and text is not None:
        print(text(shutil.get_terminal_size((100, 24)).columns))
    else:
        from pydantic_core import to_jsonable_python  # slow to import

        records = [dict(zip(sheet.titles, row, strict=True)) for row in sheet.rows]
        show_parts(format_, lambda: to_jsonable_python(document), [sheet], records)
