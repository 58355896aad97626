"""``harness compare``: which model is really better, pair by pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from harness.cli import forms, options
from harness.cli.show import FormatOption, show
from harness.cli.streams import stdout_to_stderr

if TYPE_CHECKING:
    from harness.experiment.compare_plan import Asked
    from harness.experiment.contest import Contest


def compare(
    context: typer.Context,
    of: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…|FILE…",
            help="Folders of runs; or two or more submissions, with --solution or --config.",
        ),
    ],
    solution: options.Solution = None,
    config: options.Config = None,
    sample: options.Sample = None,
    items: options.Items = None,
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
    slices: Annotated[
        list[str] | None,
        typer.Option(help="Slice users by activity, truth, repeats or a column; repeatable."),
    ] = None,
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
    verbose: options.Verbose = False,
    format_: FormatOption = "table",
) -> None:
    """Compare models on the same evaluation set, in one run or in several; or submissions.

    What is not named is as in the first run's config, or as in --config. CSV has the pairs.
    """
    beside: dict[str, Any] = locals() | {"metric": options.one_of(metric, "--metric")}
    asked: Asked = {
        "metric": beside["metric"],
        "models": model or (),
        "baseline": baseline,
        "all_pairs": all_pairs,
        "correction": correction,
        "resamples": resamples,
        "seed": seed,
        "public_shares": public_share,
    }
    if solution is not None or config is not None:
        forms.refuse_other_forms(context, forms.SUBMISSIONS)
        from harness.experiment.comparing import submissions

        with stdout_to_stderr():
            names = (*_COMMON, *forms.of_lists(context))
            competition = contest(**{name: beside[name] for name in names})
            found = competition.compared(submissions(of))
        show(format_, found.to_dict, found.sheets(), found.records())
        return
    forms.refuse_other_forms(context, forms.RUNS)
    from harness.experiment.compare import compare as compare_runs
    from harness.experiment.comparing import require_runs

    with stdout_to_stderr():  # what a metric prints must not mix with the results
        compared = compare_runs(*require_runs(of), slices=slices or (), **asked)
    show(format_, compared.to_dict, compared.sheets(), compared.records())


_COMMON = ("metric", "baseline", "correction", "resamples", "seed")


def contest(
    metric: str | None,
    *,
    set_: list[str] | None,
    keep: bool,
    user_column: str | None,
    item_column: str | None,
    rank_column: str | None,
    score_column: str | None,
    row_order: bool,
    truth_user_column: str | None,
    truth_item_column: str | None,
    grade_column: str | None,
    **given: Any,
) -> Contest:
    """Return how submissions are compared, of a command's options."""
    from harness.experiment.comparing import contest as contest_of
    from harness.submission.format import Named

    named = Named(
        user_column,
        item_column,
        rank_column,
        score_column,
        row_order=row_order,
        truth_user=truth_user_column,
        truth_item=truth_item_column,
        grade=grade_column,
    )
    own: dict[str, Any] = {"keep_users_without_items": keep, "overrides": set_ or ()}
    return contest_of(metric, named=named, **own, **given)
