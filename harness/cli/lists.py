"""``harness list``: what there is."""

from __future__ import annotations

import shutil
from importlib import import_module
from typing import Annotated, Literal

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
    module = "metrics" if topic in ("metrics", "conventions") else "tables"
    listing = import_module(f"harness.listing.{module}")
    sheet = getattr(listing, f"{topic}_sheet")()
    text = getattr(listing, f"{topic}_text", None)
    if format_ == "table" and text is not None:
        print(text(shutil.get_terminal_size((100, 24)).columns))
    else:
        from pydantic_core import to_jsonable_python  # slow to import

        records = [dict(zip(sheet.titles, row, strict=True)) for row in sheet.rows]
        document = getattr(listing, topic)
        show_parts(format_, lambda: to_jsonable_python(document()), [sheet], records)
