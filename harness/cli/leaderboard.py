"""``harness leaderboard``: the runs of a folder side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.output import show, stdout_to_stderr
from harness.comparison.options import LeaderboardOptions


@options.of_submissions(LeaderboardOptions, without=("beside_lists", "metric", "k"))
def leaderboard(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR|FILE…",
            help="A folder with runs, at any depth (default: runs); or two or more submissions "
            "with --solution or --config.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        "The metric, such as MAP@12. Default: the first metric of most runs, or the "
        "competition's metric.",
    ] = None,
    k: options.Cut = None,
    quiet: options.Quiet = False,
    format_: options.Output = "table",
    *,
    submission: LeaderboardOptions,
) -> int:
    """Rank the models of all runs in a folder, or several submissions.

    For runs, it shows the best score of each model, by evaluation set.

    For submissions, it shows their ranks, the ties by the paired test, and how far each rank could
    move. If it cannot score a submission, it says why and ranks the others; the exit status is 1.
    """
    from harness.comparison.leaderboard import leaderboard as rank

    with stdout_to_stderr():  # what a metric prints must not mix with the results
        submission["metric"], submission["k"] = options.single(metric, "--metric"), k
        ranked = rank(*(paths or []), **submission)
    show(format_, ranked)
    return 1 if getattr(ranked, "refused", ()) else 0
