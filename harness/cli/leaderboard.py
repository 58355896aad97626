"""``harness leaderboard``: the runs of a folder side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli.options import Quiet
from harness.cli.show import FormatOption, show


def leaderboard(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of runs, at any depth.")
    ] = Path("runs"),
    metric: Annotated[
        str | None, typer.Option(help="As MAP@12; the first of the latest run by default.")
    ] = None,
    sort: Annotated[
        Literal["score", "date", "model", "run"],
        typer.Option(help="Best, or latest, first; or by name."),
    ] = "score",
    model: Annotated[str | None, typer.Option(help="Only names that hold this text.")] = None,
    evaluation_set: Annotated[
        str | None, typer.Option(help="Only the evaluation set whose fingerprint begins so.")
    ] = None,
    quiet: Quiet = False,
    format_: FormatOption = "table",
) -> None:
    """Show the best run of every model, grouped by evaluation set."""
    from harness.experiment.leaderboard import leaderboard as leaderboard_of

    found = leaderboard_of(
        folder, metric=metric, sort=sort, model=model, evaluation_set=evaluation_set
    )
    show(format_, found.to_dict, found.sheets(), found.records())
