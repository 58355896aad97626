"""``harness explain``: a user's list and its score, from a file or from a model of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import forms, options
from harness.cli.output import note, show, stdout_to_stderr
from harness.core.errors import UsageError, suggest
from harness.scoring.options import SubmissionOptions

if TYPE_CHECKING:
    from harness.scoring.submissions import SubmittedLists


@options.of_submissions(without=("sample", "items"))
def explain(
    context: typer.Context,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A file of lists, or a run's folder.")
    ],
    model: Annotated[str | None, "Which model of the run."] = None,
    repeat: options.Repeat = 0,
    fold: options.Fold = None,
    user: Annotated[list[str] | None, "Whose; repeatable."] = None,
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="Explain this many of the worst users.")
    ] = 0,
    best: Annotated[
        int, typer.Option("--best", min=0, help="Explain this many of the best users.")
    ] = 0,
    metric: Annotated[str | None, "What worst and best go by, and the cut-off."] = None,
    k: Annotated[int | None, "The cut-off, by MAP; 12."] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: options.Output = "table",
    *,
    submission: SubmissionOptions,
) -> None:
    """Show a user's list position by position: hits, what each adds, every convention's value."""
    from harness.comparison.explain import explain_users
    from harness.core.io import exists
    from harness.results.folder import part

    if not (user or worst or best):
        raise UsageError("nobody to explain; name --user ID, or ask for --worst 3 or --best 3")
    if metric is not None and k is not None:
        raise UsageError(f"--metric {metric} says its own cut-off; leave --k out")
    if not exists(source):
        raise UsageError(f"{source}: no such file or run folder")
    if k is not None:
        metric = f"MAP@{k}"
    with stdout_to_stderr():  # what a metric or a model prints must not mix with the tables
        if source.is_dir():
            part(source, "result.json")
            forms.refuse_other_forms(context, forms.RUN)
            submitted = _of_run(source, model, repeat, fold, metric)
        else:
            forms.refuse_other_forms(context, forms.FILE)
            submitted = _of_file(source, metric, submission)
        explanations = explain_users(submitted, user or [], worst, best)
    show(format_, explanations)


def _of_file(file: Path, metric: str | None, submission: SubmissionOptions) -> SubmittedLists:
    """Return the lists of a file; say it where the file would not be scored."""
    from harness.metrics import parse
    from harness.scoring.submissions import lists_on_terms
    from harness.scoring.terms import Terms

    terms = Terms(submission)
    asked = () if metric is None else (parse(metric, terms.folder),)
    validation, submitted = lists_on_terms(file, terms, asked)
    if validation.errors:  # its values here may be due to its errors
        codes = ", ".join(problem.code for problem in validation.errors)
        note(
            f"note  {file} has errors, for which harness score refuses it ({codes}); "
            "see them: harness validate"
        )
    return submitted


def _of_run(
    folder: Path, model: str | None, repeat: int, fold: int | None, metric: str | None
) -> SubmittedLists:
    """Return the lists of a run's model, by a metric as the run's table calls it."""
    from harness.comparison.explain import of_run
    from harness.metrics import parse
    from harness.results.run import read

    run = read(folder)
    if model is None:
        names = [known.name for known in run.models]
        raise UsageError(f"{folder}: which model? name one with --model; {suggest('', names)}")
    asked = () if metric is None else (run.metrics.get(metric) or parse(metric, Path()),)
    for line in run.source_notes(asked or run.metrics.values()):
        note(f"note  {line}")
    return of_run(folder, model, repeat, asked, fold)
