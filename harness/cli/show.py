"""How results are printed: as a table on a terminal or in a pipe, JSON, CSV or Markdown."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from harness.core.table import Sheet


Format = Literal["table", "json", "csv", "markdown"]
FormatOption = Annotated[Format, typer.Option("--format", help="What to print.")]


def show(
    format_: Format,
    document: Callable[[], object],
    sheets: Sequence[Sheet],
    records: Sequence[Mapping[str, object]],
) -> None:
    """Print results: what `document` returns as JSON, `records` as CSV, `sheets` for a reader."""
    from harness.core import table

    match format_:
        case "json":
            print(table.as_json(document()))
        case "csv":
            print(table.as_csv(records))
        case "markdown":
            print("\n\n".join(map(table.markdown, sheets)))
        case "table" if sys.stdout.isatty():
            from harness.core import terminal  # it takes Rich

            for i, sheet in enumerate(sheets):
                print("\n" if i else "", end="")
                terminal.print_rich(sheet)
        case "table":
            print("\n\n".join(map(table.plain, sheets)))


def to_type(*arguments: str) -> str:
    """Return the command with some arguments, by its path where a shell does not find its name."""
    from shutil import which

    path = Path(sys.argv[0])
    is_known = path.name != "harness" or which("harness") is not None
    return shlex.join(["harness" if is_known else str(path), *arguments])
