"""``harness leaderboard``: the runs of a folder side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli import options
from harness.cli.output import show, stdout_to_stderr
from harness.scoring.options import SubmissionOptions


@options.of_submissions(without=("beside_lists",))
def leaderboard(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR|FILE…",
            help="A folder of runs, at any depth; runs by default. Or two or more submissions, "
            "with --solution or --config.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None, "As MAP@12; the first of most runs, or the competition's, by default."
    ] = None,
    k: options.Cut = None,
    sort: Annotated[
        Literal["score", "date", "model", "run"] | None,
        "Best first (score, by default), latest first, or by name.",
    ] = None,
    model: Annotated[str | None, "Only names that hold this text."] = None,
    evaluation_set: Annotated[
        str | None, "Only the evaluation set whose fingerprint begins so."
    ] = None,
    correction: options.Correction = None,
    resamples: options.Resamples = None,
    seed: options.Seed = None,
    strict: options.Strict = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    format_: options.Output = "table",
    *,
    submission: SubmissionOptions,
) -> int:
    """Show the best run of every model, by evaluation set; or rank submissions.

    Of submissions: their ranks, who is tied with whom by the paired test, and how far a rank could
    move. One that cannot be scored is left out, with the reason, and the exit status is 1.
    """
    from harness.comparison.leaderboard import leaderboard as rank

    with stdout_to_stderr():  # what a metric prints must not mix with the results
        ranked = rank(
            *(paths or []),
            metric=options.single(metric, "--metric"),
            k=k,
            sort=sort,
            model=model,
            evaluation_set=evaluation_set,
            correction=correction,
            resamples=resamples,
            seed=seed,
            strict=strict,
            force=force,
            **submission,
        )
    show(format_, ranked)
    return 1 if getattr(ranked, "refused", ()) else 0
