"""``harness explain``: whose list earned what, from a file or from a model of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import (
    ConfigOption,
    ItemColumn,
    KeepOption,
    RankColumn,
    RowOrder,
    ScoreColumn,
    SeparatorOption,
    SetOption,
    SolutionOption,
    UserColumn,
    folder_of,
    terms_of,
)
from harness.cli.show import Format, FormatOption, show
from harness.cli.streams import stdout_to_stderr
from harness.core.errors import UsageError

if TYPE_CHECKING:
    from harness.experiment.score import Paper
    from harness.experiment.terms import Terms
    from harness.metrics import Metric

_K = 12


def explain(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A file of lists, or a run's folder.")
    ],
    model: Annotated[str | None, typer.Option("--model", help="Which model of the run.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", help="Which of its repeats.")] = 0,
    config: ConfigOption = None,
    solution: SolutionOption = None,
    user: Annotated[list[str] | None, typer.Option("--user", help="Whose; repeatable.")] = None,
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="Explain this many of the worst users.")
    ] = 0,
    best: Annotated[
        int, typer.Option("--best", min=0, help="Explain this many of the best users.")
    ] = 0,
    metric: Annotated[
        str | None, typer.Option("--metric", help="What worst and best go by, and the cut-off.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="The cut-off, by MAP; 12.")] = None,
    keep: KeepOption = False,
    separator: SeparatorOption = None,
    user_column: UserColumn = None,
    item_column: ItemColumn = None,
    rank_column: RankColumn = None,
    score_column: ScoreColumn = None,
    row_order: RowOrder = False,
    set_: SetOption = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show a user's list place by place: hits, what each adds, and every convention's figure."""
    from harness.experiment import explain as sheets
    from harness.experiment import score
    from harness.experiment.explain import explain as explained
    from harness.experiment.explain import extremes, rows_of
    from harness.metrics import parse
    from harness.submission.format import Named

    if not (user or worst or best):
        raise UsageError("nobody to explain; name --user ID, or ask for --worst 3 or --best 3")
    if metric is not None and k is not None:
        raise UsageError(f"--metric {metric} says its own cut-off; leave --k out")
    if not source.exists():
        raise UsageError(f"{source}: no such file or run folder")
    named = Named(user_column, item_column, rank_column, score_column, row_order=row_order)
    with stdout_to_stderr():  # what a metric or a model prints must not mix with the figures
        asked = _asked(source, metric, k, config)
        if source.is_dir():
            paper = _of_run(source, model, repeat, config or solution or set_, asked)
        elif model is not None or repeat:
            raise UsageError(f"{source}: --model and --repeat go with a run, not with a file")
        else:
            if config is None and solution is None:
                raise UsageError(
                    f"{source}: marked by what? name one of --config CONFIG and --solution SOLUTION"
                )
            terms = terms_of(
                config, None, None, solution, named, keep=keep, separator=separator, overrides=set_
            )
            paper = score.of_terms(source, terms, asked)
            _tell_errors(source, terms, asked)
        by = (asked or paper.metrics or (parse(f"MAP@{_K}"),))[0]
        paper.require(by)
        if by.definition.of == "set":
            raise UsageError(f"metric {by} has no value for a user; name another with --metric")
        rows = [*rows_of(paper, user or []), *extremes(paper, by, worst, best)]
        cut = by.k or paper.k or _K
        found = [explained(paper, row, cut, by) for row in dict.fromkeys(rows)]
    document = {"schema": 1, "paper": paper.title, "users": [one.to_dict() for one in found]}
    show(
        format_,
        document,
        [sheet for one in found for sheet in sheets.sheets(one, paper.title)],
        [record for one in found for record in sheets.records(one)],
    )


def _tell_errors(file: Path, terms: Terms, asked: tuple[Metric, ...]) -> None:
    """Say that a file would not be scored: what it earns here may be due to its errors."""
    from harness.experiment.submissions import refused

    codes = [problem.code for problem in refused(file, terms, asked)]
    if codes:
        print(
            f"note  {file} has errors, for which harness score refuses it ({', '.join(codes)}); "
            "see them: harness validate",
            file=sys.stderr,
        )


def _asked(
    source: Path, metric: str | None, k: int | None, config: Path | None
) -> tuple[Metric, ...]:
    """Return the metric that was asked for; that of a run by the name its table gives it."""
    from harness.experiment import run_folder
    from harness.metrics import parse

    if metric is None:
        return () if k is None else (parse(f"MAP@{k}"),)
    named = run_folder.read(source).metrics if source.is_dir() else {}
    return (named[metric] if metric in named else parse(metric, folder_of(config)),)


def _of_run(
    folder: Path, model: str | None, repeat: int, evaluation_set: object, asked: tuple[Metric, ...]
) -> Paper:

    from harness.experiment import explain as run_papers

    if model is None and not (folder / "config.toml").is_file():
        raise UsageError(f"{folder}: is no run folder; name a file of lists, or a run")
    if model is None:
        raise UsageError(f"{folder}: which model? name one with --model")
    if evaluation_set:
        raise UsageError(
            f"{folder}: a run knows its exam; leave --config and --solution out, and --set"
        )
    return run_papers.of_run(folder, model, repeat, asked)
