"""``harness compare``: which model is really better, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli import forms, options
from harness.cli.show import FormatOption, show
from harness.cli.streams import stdout_to_stderr
from harness.scoring.options import SubmissionOptions

Correction = Annotated[
    Literal["holm", "bh"] | None, typer.Option(help="Of p values, for the number of pairs.")
]
Resamples = Annotated[
    int | None, typer.Option(help="B, of the bootstrap and of the randomization test.")
]
Seed = Annotated[int | None, typer.Option(min=0, help="Equal seeds, equal results.")]


@options.of_submissions(without=("beside_file",))
def compare(
    context: typer.Context,
    of: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…|FILE…",
            help="Folders of runs; or two or more submissions, with --solution or --config.",
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(help="Of runs, only this model and others named so; repeatable."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Compare all with this model, not every two.")
    ] = None,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Every two, whatever baseline the run has.")
    ] = False,
    metric: Annotated[
        list[str] | None, typer.Option(help="As MAP@12; the first by default.")
    ] = None,
    correction: Correction = None,
    resamples: Resamples = None,
    seed: Seed = None,
    public_share: Annotated[
        list[float] | None, typer.Option(help="Users on the public leaderboard; repeatable.")
    ] = None,
    slices: Annotated[
        list[str] | None,
        typer.Option(help="Slice users by activity, truth, repeats or a column; repeatable."),
    ] = None,
    k: options.Cut = None,
    strict: options.Strict = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: FormatOption = "table",
    *,
    submission: SubmissionOptions,
) -> None:
    """Compare models on the same evaluation set, in one run or in several; or submissions.

    What is not named is as in the first run's config, or as in --config. CSV has the pairs.
    """
    form = forms.SUBMISSIONS if options.is_scored(submission) else forms.RUNS
    forms.refuse_other_forms(context, form)
    from harness.comparison.compare import compare as compare_models

    with stdout_to_stderr():  # what a metric prints must not mix with the results
        compared = compare_models(
            *of,
            metric=options.one_of(metric, "--metric"),
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
    show(format_, compared.to_dict, compared.sheets(), compared.records())
