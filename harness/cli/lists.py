"""``harness list``: what there is."""

from __future__ import annotations

import shutil
from enum import StrEnum
from typing import Annotated

import typer

from harness.cli.show import Format, FormatOption, show


class Topic(StrEnum):
    """What can be listed."""

    METRICS = "metrics"
    CONVENTIONS = "conventions"
    CHECKS = "checks"


def list_(
    topic: Annotated[Topic, typer.Argument(metavar="TOPIC", help="What to list.")],
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show every metric or convention of MAP@k with a worked example, or every check of files."""
    if topic is Topic.CHECKS:
        _checks(format_)
        return
    from harness.report import docs

    if topic is Topic.METRICS:
        document, sheet = docs.metrics(), docs.metrics_sheet()
    else:
        document, sheet = docs.conventions(), docs.conventions_sheet()
    if format_ is Format.TABLE:
        of = docs.metrics_text if topic is Topic.METRICS else docs.conventions_text
        print(of(shutil.get_terminal_size((100, 24)).columns))
        return
    records = [dict(zip(sheet.titles, row, strict=True)) for row in sheet.rows]
    show(format_, document, [sheet], records)


def _checks(format_: Format) -> None:
    from harness.report import rule_docs

    sheet = rule_docs.checks_sheet()
    records = [dict(zip(sheet.titles, row, strict=True)) for row in sheet.rows]
    show(format_, rule_docs.checks_document(), [sheet], records)
