"""``harness leaderboard``: the runs of a folder side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from harness.cli import forms, options
from harness.cli.compare import contest
from harness.cli.show import FormatOption, show
from harness.cli.streams import stdout_to_stderr


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
    solution: options.Solution = None,
    config: options.Config = None,
    sample: options.Sample = None,
    items: options.Items = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="As MAP@12; the first of the latest run, or the competition's, by default."
        ),
    ] = None,
    sort: Annotated[
        Literal["score", "date", "model", "run"],
        typer.Option(help="Best, or latest, first; or by name."),
    ] = "score",
    model: Annotated[str | None, typer.Option(help="Only names that hold this text.")] = None,
    evaluation_set: Annotated[
        str | None, typer.Option(help="Only the evaluation set whose fingerprint begins so.")
    ] = None,
    correction: Annotated[
        Literal["holm", "bh"] | None, typer.Option(help="Of p values, for the number of pairs.")
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(help="B, of the bootstrap and of the randomization test.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Equal seeds, equal results.")] = None,
    k: options.Cut = None,
    keep: options.Keep = False,
    separator: options.Separator = None,
    strict: options.Strict = False,
    force: options.Force = False,
    user_column: options.UserColumn = None,
    item_column: options.ItemColumn = None,
    rank_column: options.RankColumn = None,
    score_column: options.ScoreColumn = None,
    row_order: options.RowOrder = False,
    truth_user_column: options.TruthUserColumn = None,
    truth_item_column: options.TruthItemColumn = None,
    grade_column: options.GradeColumn = None,
    ids: options.Ids = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    format_: FormatOption = "table",
) -> int:
    """Show the best run of every model, by evaluation set; or rank submissions.

    Of submissions: their ranks, who is tied with whom by the paired test, and how far a rank could
    move. One that cannot be scored is left out, with the reason, and the exit status is 1.
    """
    beside: dict[str, Any] = locals() | {"metric": options.one_of(metric, "--metric")}
    if solution is not None or config is not None:
        forms.refuse_other_forms(context, forms.SUBMISSIONS)
        from harness.experiment.comparing import submissions

        with stdout_to_stderr():  # what a metric prints must not mix with the results
            names = ("metric", *_RULES, *forms.of_lists(context))
            competition = contest(**{name: beside[name] for name in names})
            ranked = competition.ranked(submissions(of or []))
        show(format_, ranked.to_dict, ranked.sheets(), ranked.records())
        return 1 if ranked.refused else 0
    forms.refuse_other_forms(context, forms.RUNS)
    from harness.experiment.comparing import leaderboard as leaderboard_of

    folders = of or [Path("runs")]
    found = leaderboard_of(
        *folders, metric=beside["metric"], sort=sort, model=model, evaluation_set=evaluation_set
    )
    show(format_, found.to_dict, found.sheets(), found.records())
    return 0


_RULES = ("correction", "resamples", "seed")
