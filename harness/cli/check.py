"""``harness check``: conditions on a run, for a job that passes or fails."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import Output, Quiet
from harness.cli.output import show, stdout_to_stderr


def check(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    at_least: Annotated[
        list[str] | None,
        'A condition, such as "MAP@12 of mine >= popular", "MAP@12 of mine >= 0.02" or "MAP@12 of '
        'mine better than popular" (by the paired test). Repeatable.',
        "CONDITION",
    ] = None,
    quiet: Quiet = False,
    format_: Output = "table",
) -> int:
    """Check conditions on the scores of a run, for example in CI.

    The exit status is 1 if a condition fails.
    """
    from harness.comparison.check import check as check_run

    with stdout_to_stderr():  # what a metric prints must not mix with the table
        checked = check_run(run, at_least or [])
    show(format_, checked)
    return 0 if checked.passed else 1
