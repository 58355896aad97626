"""``harness compare``: which model is really better, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.output import say, show_parts, stdout_to_stderr
from harness.scoring.options import SubmissionOptions


@options.of_submissions(without=("beside_lists",))
def compare(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…|FILE…",
            help="One or more run folders; or two or more submissions with --solution or --config.",
        ),
    ],
    metric: Annotated[list[str] | None, "The metric, such as MAP@12. Default: the first."] = None,
    k: options.Cut = None,
    baseline: Annotated[str | None, "Compare every model with this one only."] = None,
    all_pairs: Annotated[bool, "Compare all pairs of models, even if a baseline is set."] = False,
    model: Annotated[list[str] | None, "Compare only this model of the runs. Repeatable."] = None,
    pairs: Annotated[
        bool, "Print the difference and tests of each pair. JSON and CSV always have them."
    ] = False,
    slices: Annotated[
        list[str] | None,
        "Compare within slices of users: activity, truth, repeats or a column. Repeatable.",
    ] = None,
    public_share: Annotated[
        list[float] | None,
        "The share of users on the public leaderboard, such as 0.3. Repeatable. Default: that of "
        "the config, else 0.01 and 0.3.",
    ] = None,
    correction: options.Correction = None,
    resamples: options.Resamples = None,
    seed: options.Seed = None,
    strict: options.Strict = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: options.Output = "table",
    *,
    submission: SubmissionOptions,
) -> None:
    """Compare the models of runs, or several submissions.

    Defaults come from the config of the first run, or from --config. CSV has one row per pair.
    """
    from harness.comparison.compare import compare as compare_models

    with stdout_to_stderr():  # what a metric prints must not mix with the results
        compared = compare_models(
            *paths,
            metric=options.single(metric, "--metric"),
            k=k,
            models=model or (),
            baseline=baseline,
            all_pairs=all_pairs,
            correction=correction,
            resamples=resamples,
            seed=seed,
            public_shares=public_share,
            slices=slices or (),
            strict=strict,
            force=force,
            **submission,
        )
    sheets = compared.sheets(pairs)
    show_parts(format_, compared.to_dict, sheets, compared.records())
    if format_ == "table" and len(compared.sheets(pairs=True)) > len(sheets):
        say("\nmore  add --pairs to print all differences with their intervals")
