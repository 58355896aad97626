"""``harness list``: what there is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Annotated, Literal

import typer

from harness.cli.options import Output
from harness.cli.output import show_parts


def list_(
    topic: Annotated[
        Literal["metrics", "conventions", "baselines", "layouts", "checks", "datasets"],
        typer.Argument(metavar="TOPIC", help="What to list."),
    ],
    format_: Output = "table",
) -> None:
    """Show metrics or conventions by examples, baselines, layouts, checks, or data sets."""
    document: Callable[[], object]
    if topic == "checks":
        from harness.report.rule_docs import checks_document as document
        from harness.report.rule_docs import checks_sheet as sheet_of
    elif topic == "baselines":
        from harness.report.model_docs import document
        from harness.report.model_docs import sheet as sheet_of
    elif topic == "datasets":
        from harness.data.datasets import document
        from harness.data.datasets import sheet as sheet_of
    elif topic == "layouts":
        from harness.data.layouts import document
        from harness.data.layouts import sheet as sheet_of
    else:
        from harness.report import docs

        is_metrics = topic == "metrics"
        if format_ == "table":
            text = docs.metrics_text if is_metrics else docs.conventions_text
            print(text(shutil.get_terminal_size((100, 24)).columns))
            return
        document = docs.metrics if is_metrics else docs.conventions
        sheet_of = docs.metrics_sheet if is_metrics else docs.conventions_sheet
    sheet = sheet_of()
    records = [dict(zip(sheet.titles, row, strict=True)) for row in sheet.rows]
    show_parts(format_, document, [sheet], records)
