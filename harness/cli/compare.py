"""``harness compare``: which model is really better, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.output import say, show_parts, stdout_to_stderr
from harness.comparison.options import CompareOptions


@options.of_submissions(CompareOptions, without=("beside_lists", "metric", "k"))
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
    pairs: Annotated[
        bool, "Print the difference and tests of each pair. JSON and CSV always have them."
    ] = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: options.Output = "table",
    *,
    submission: CompareOptions,
) -> None:
    """Compare the models of runs, or several submissions.

    Defaults come from the config of the first run, or from --config. CSV has one row per pair.
    """
    from harness.comparison.compare import compare as compare_models

    with stdout_to_stderr():  # what a metric prints must not mix with the results
        submission["metric"], submission["k"] = options.single(metric, "--metric"), k
        compared = compare_models(*paths, **submission)
    sheets = compared.sheets(pairs)
    show_parts(format_, compared.to_dict, sheets, compared.records())
    if format_ == "table" and len(compared.sheets(pairs=True)) > len(sheets):
        say("\nmore  add --pairs to print all differences with their intervals")
