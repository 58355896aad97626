"""``harness leaderboard``: the runs of a folder side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli import forms, options
from harness.cli.compare import Correction, Resamples, Seed
from harness.cli.show import FormatOption, show
from harness.cli.streams import stdout_to_stderr
from harness.scoring.options import SubmissionOptions


@options.of_submissions(without=("beside_file",))
def leaderboard(
    context: typer.Context,
    of: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR|FILE…",
            help="A folder of runs, at any depth; runs by default. Or two or more submissions, "
            "with --solution or --config.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="As MAP@12; the first of most runs, or the competition's, by default."),
    ] = None,
    sort: Annotated[
        Literal["score", "date", "model", "run"],
        typer.Option(help="Best, or latest, first; or by name."),
    ] = "score",
    model: Annotated[str | None, typer.Option(help="Only names that hold this text.")] = None,
    evaluation_set: Annotated[
        str | None, typer.Option(help="Only the evaluation set whose fingerprint begins so.")
    ] = None,
    correction: Correction = None,
    resamples: Resamples = None,
    seed: Seed = None,
    k: options.Cut = None,
    strict: options.Strict = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    format_: FormatOption = "table",
    *,
    submission: SubmissionOptions,
) -> int:
    """Show the best run of every model, by evaluation set; or rank submissions.

    Of submissions: their ranks, who is tied with whom by the paired test, and how far a rank could
    move. One that cannot be scored is left out, with the reason, and the exit status is 1.
    """
    form = forms.SUBMISSIONS if options.is_scored(submission) else forms.RUNS
    forms.refuse_other_forms(context, form)
    from harness.comparison.leaderboard import leaderboard as rank

    with stdout_to_stderr():  # what a metric prints must not mix with the results
        ranked = rank(
            *(of or []),
            metric=options.one_of(metric, "--metric"),
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
    show(format_, ranked.to_dict, ranked.sheets(), ranked.records())
    return 1 if getattr(ranked, "refused", ()) else 0
