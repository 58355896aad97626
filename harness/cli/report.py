"""``harness report``: a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import Quiet
from harness.cli.output import say
from harness.core.errors import UsageError, printable


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    out: Annotated[Path | None, "The page to write. Default: report.html in the run."] = None,
    users: Annotated[
        int | None,
        typer.Option(
            "--users",
            min=1,
            help="Add up to N users that you can look at one by one, such as 600: the worst and "
            "best of each model, those where the two best models differ most, and random ones.",
        ),
    ] = None,
    force: Annotated[bool, "Replace the file that --out names, even if it is no report."] = False,
    quiet: Quiet = False,
) -> None:
    """Write a run as one HTML page with charts and tables.

    The page works offline.
    """
    from harness.core.io import refuse_overwriting, whole_file, written
    from harness.report.page import is_page, page
    from harness.results.folder import FILES, PAGE, TABLES
    from harness.results.run import read

    target, names = out or run / PAGE, {*FILES, *TABLES}
    refuse_overwriting(
        target,
        [run / name for name in names],
        lambda path: path == run / PAGE or is_page(path),
        what="report",
        force=force,
    )
    if target.name in names:
        raise UsageError(f"{target}: a run has a file of this name; choose another, as {PAGE}")
    text = page(read(run), users)
    with written(target, "; choose another --out"), whole_file(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    say(f"written to {printable(str(target))}  {target.stat().st_size:,} bytes")
