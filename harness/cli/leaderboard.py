"""``harness leaderboard``: the runs of a folder side by side."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.show import Format, FormatOption, show


class Sort(StrEnum):
    """What entries are ordered by."""

    SCORE = "score"
    DATE = "date"
    MODEL = "model"
    RUN = "run"


def leaderboard(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of runs, at any depth.")
    ] = Path("runs"),
    metric: Annotated[
        str | None, typer.Option(help="As MAP@12; the first of the latest run by default.")
    ] = None,
    sort: Annotated[Sort, typer.Option(help="Best, or latest, first; or by name.")] = Sort.SCORE,
    model: Annotated[str | None, typer.Option(help="Only names that hold this text.")] = None,
    evaluation_set: Annotated[
        str | None, typer.Option(help="Only the evaluation set whose fingerprint begins so.")
    ] = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show the best run of every model, grouped by evaluation set."""
    from harness.experiment.leaderboard import leaderboard as leaderboard_of

    found = leaderboard_of(
        folder, metric=metric, sort=sort.value, model=model, evaluation_set=evaluation_set
    )
    show(format_, found.to_dict(), found.sheets(), found.records())
