"""``harness compare``: which model is really better, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.cli.options import (
    Buckets,
    Engine,
    Master,
    Quiet,
    Remote,
    Verbose,
    refuse_without,
)
from harness.cli.show import FormatOption, show
from harness.cli.streams import stdout_to_stderr

if TYPE_CHECKING:
    from harness.experiment.compare_plan import Asked


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    model: Annotated[
        list[str] | None, typer.Option(help="Only this model and others named so; repeatable.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Compare all with this model, not every two.")
    ] = None,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Every two, whatever baseline the run has.")
    ] = False,
    metric: Annotated[str | None, typer.Option(help="One of the runs' metrics; the first.")] = None,
    correction: Annotated[
        Literal["holm", "bh"] | None, typer.Option(help="Of p values, for the number of pairs.")
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(help="B, of the bootstrap and of the randomization test.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Equal seeds, equal results.")] = None,
    public_share: Annotated[
        list[float] | None, typer.Option(help="Users on the public leaderboard; repeatable.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Slice users by activity, truth, repeats or a column; repeatable."),
    ] = None,
    engine: Engine = "local",
    master: Master = None,
    remote: Remote = None,
    buckets: Buckets = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    format_: FormatOption = "table",
) -> None:
    """Compare models on the same evaluation set, in one run or in several.

    What is not named is as in the first run's config. CSV has the pairs.
    """
    refuse_without(engine, "spark", master=master, remote=remote, buckets=buckets)
    asked: Asked = {
        "metric": metric,
        "models": model or (),
        "baseline": baseline,
        "all_pairs": all_pairs,
        "correction": correction,
        "resamples": resamples,
        "seed": seed,
        "public_shares": public_share,
    }
    if engine == "spark":
        from harness.spark.compare import compare as compare_on_spark  # slow to import

        found = compare_on_spark(
            *runs, by=by or (), master=master, remote=remote, buckets=buckets, **asked
        )
    else:
        from harness.experiment.compare import compare as compare_runs

        with stdout_to_stderr():  # what a metric prints must not mix with the results
            found = compare_runs(*runs, by=by or (), **asked)
    show(format_, found.to_dict, found.sheets(), found.records())
