"""``harness explain``: a user's list and its score, from a file or from a model of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import forms, options
from harness.cli.log import note
from harness.cli.show import FormatOption, show
from harness.cli.streams import stdout_to_stderr
from harness.core.errors import UsageError, suggest
from harness.scoring.options import SubmissionOptions

if TYPE_CHECKING:
    from harness.comparison.explain import Explanations
    from harness.metrics import Metric
    from harness.scoring.submitted_lists import SubmittedLists
    from harness.scoring.terms import Terms

_K = 12


@options.of_submissions(without=("sample", "items"))
def explain(
    context: typer.Context,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A file of lists, or a run's folder.")
    ],
    model: Annotated[str | None, typer.Option("--model", help="Which model of the run.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", help="Which of its repeats.")] = 0,
    fold: options.Fold = None,
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
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: FormatOption = "table",
    *,
    submission: SubmissionOptions,
) -> None:
    """Show a user's list position by position: hits, what each adds, every convention's value."""
    from harness.core.io import exists
    from harness.results.folder import part
    from harness.scoring.terms import Terms

    if not (user or worst or best):
        raise UsageError("nobody to explain; name --user ID, or ask for --worst 3 or --best 3")
    if metric is not None and k is not None:
        raise UsageError(f"--metric {metric} says its own cut-off; leave --k out")
    if not exists(source):
        raise UsageError(f"{source}: no such file or run folder")
    if source.is_dir():
        part(source, "result.json")
    forms.refuse_other_forms(context, forms.RUN if source.is_dir() else forms.FILE)
    with stdout_to_stderr():  # what a metric or a model prints must not mix with the tables
        asked = _asked(source, metric, k, options.folder_of(submission))
        if source.is_dir():
            submitted = _of_run(source, model, repeat, fold, asked)
        elif not options.is_scored(submission):
            raise UsageError(
                f"{source}: scored against what? name one of --config CONFIG and --solution "
                "SOLUTION"
            )
        else:
            submitted = _of_file(source, Terms.of(**submission), asked)
        found = _explained(submitted, asked, user or [], worst, best)
    show(format_, found.to_dict, found.sheets(), found.records())


def _of_file(file: Path, terms: Terms, asked: tuple[Metric, ...]) -> SubmittedLists:
    """Return the lists of a file; say it where the file would not be scored."""
    from harness.scoring.submissions import refused
    from harness.scoring.submitted_lists import lists_on_terms

    submitted = lists_on_terms(file, terms, asked)
    codes = [problem.code for problem in refused(file, terms, asked)]
    if codes:  # its values here may be due to its errors
        note(
            f"note  {file} has errors, for which harness score refuses it ({', '.join(codes)}); "
            "see them: harness validate"
        )
    return submitted


def _explained(
    submitted: SubmittedLists,
    asked: tuple[Metric, ...],
    users: list[str],
    worst: int,
    best: int,
) -> Explanations:
    """Return the explanations of the users named, and of the worst and the best."""
    from harness.comparison.explain import Explanations, explain, extremes, rows_of
    from harness.metrics import parse

    solution = submitted.solution
    by = (asked or solution.metrics or (parse(f"MAP@{_K}"),))[0]
    solution.require(by)
    if by.definition.of == "set":
        raise UsageError(f"metric {by} has no value for a user; name another with --metric")
    rows = [*rows_of(solution, users), *extremes(submitted, by, worst, best)]
    k = by.k or solution.k or _K
    found = (explain(submitted, row, k, by) for row in dict.fromkeys(rows))
    folds = solution.folds
    return Explanations(submitted.title, tuple(found), folds, solution.fold or folds)


def _asked(source: Path, metric: str | None, k: int | None, folder: Path) -> tuple[Metric, ...]:
    """Return the metric that was asked for; that of a run by the name its table gives it."""
    from harness.metrics import parse
    from harness.results.run import read

    if metric is None:
        return () if k is None else (parse(f"MAP@{k}"),)
    named = read(source).metrics if source.is_dir() else {}
    return (named[metric] if metric in named else parse(metric, folder),)


def _of_run(
    folder: Path,
    model: str | None,
    repeat: int,
    fold: int | None,
    asked: tuple[Metric, ...],
) -> SubmittedLists:
    """Return the lists of a run's model."""
    from harness.comparison.explain import of_run
    from harness.results.run import read

    run = read(folder)
    if model is None:
        names = [known.name for known in run.models]
        raise UsageError(f"{folder}: which model? name one with --model; {suggest('', names)}")
    for line in run.source_notes(asked or run.metrics.values()):
        note(f"note  {line}")
    return of_run(folder, model, repeat, asked, fold)
