"""``harness validate``: everything that is wrong with a submission."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.show import Format, FormatOption, show


def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The submission: CSV, .gz or .zip.")],
    sample: Annotated[
        Path | None, typer.Option(help="A file with a row for each id that must be there.")
    ] = None,
    items: Annotated[
        Path | None, typer.Option(help="A table of all items; ids in its first column.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="The competition; by the header if not named.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="The longest list; the format's.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are errors.")] = False,
    format_: FormatOption = Format.TABLE,
) -> int:
    """Say everything that is wrong with a submission: where, how often, how to mend it."""
    from harness.report import validated
    from harness.submission.validate import Asked
    from harness.submission.validate import validate as check

    began = time.perf_counter()
    found = check(file, Asked(sample, items, None, kind, k, strict))
    if format_ is Format.TABLE:
        print(validated.text(found, time.perf_counter() - began))
    else:
        show(format_, found.to_dict(), [validated.sheet(found)], validated.records(found))
    return 0 if found.valid else 1
