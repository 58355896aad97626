"""How results are printed: as a table on a terminal or in a pipe, JSON, CSV or Markdown."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from harness.core.table import Sheet


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


FormatOption = Annotated[Format, typer.Option("--format", help="What to print.")]


def show(
    format_: Format,
    document: Any,
    sheets: Sequence[Sheet],
    records: Sequence[Mapping[str, object]],
) -> None:
    """Print results: `document` as JSON, `records` as CSV, `sheets` for a reader."""
    from harness.core import table, terminal

    match format_:
        case Format.JSON:
            print(table.as_json(document))
        case Format.CSV:
            print(table.as_csv(records))
        case Format.MARKDOWN:
            print("\n\n".join(map(table.markdown, sheets)))
        case Format.TABLE if sys.stdout.isatty():
            for i, sheet in enumerate(sheets):
                print("\n" if i else "", end="")
                terminal.print_rich(sheet)
        case Format.TABLE:
            print("\n\n".join(map(table.plain, sheets)))
