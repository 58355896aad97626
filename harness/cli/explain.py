"""``harness explain``: a user's list and its score, from a file or from a model of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import forms, options
from harness.cli.output import note, show_parts, stdout_to_stderr
from harness.core.errors import UsageError, suggest
from harness.scoring.options import SubmissionOptions

if TYPE_CHECKING:
    from harness.comparison.explain import Explanations
    from harness.results.run import Run


@options.of_submissions(without=("sample", "items"))
def explain(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A submission or a run folder.")],
    model: Annotated[
        list[str] | None, "A model of the run. Name two to see their lists side by side."
    ] = None,
    repeat: options.Repeat = 0,
    fold: options.Fold = None,
    user: Annotated[list[str] | None, "The id of a user to show. Repeatable."] = None,
    worst: Annotated[
        int,
        "Show the N users where the model loses most to the best model of the run. For the best "
        "model or a submission: the N users with the lowest scores.",
    ] = 0,
    best: Annotated[int, "Show the N users with the best scores."] = 0,
    most_different: Annotated[
        int, "Show the N users where two models differ most. Needs --model A --model B."
    ] = 0,
    metric: Annotated[
        str | None,
        "The metric that orders users, such as MAP@12. Default: the first.",
    ] = None,
    k: Annotated[int | None, typer.Option(min=1, help="Same as --metric MAP@k.")] = None,
    all_: Annotated[
        bool,
        "Also print every metric of single users, and every convention. JSON always has them, CSV "
        "never.",
    ] = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: options.Output = "table",
    *,
    submission: SubmissionOptions,
) -> None:
    """Show a user's history, true items, and list with its hits.

    Choose the users with the options below. Of a run, name a model: --model NAME.
    """
    from harness.comparison.explain import explain_run
    from harness.core.io import exists
    from harness.metrics import parse
    from harness.results.folder import part
    from harness.results.run import read

    if metric is not None and k is not None:
        raise UsageError(f"--metric {metric} has its own cut-off; remove --k")
    if not exists(source):
        raise UsageError(f"{source}: no such file or run folder")
    if k is not None:
        metric = f"MAP@{k}"
    models = model or []
    if not (user or worst or best or most_different):
        raise UsageError(
            "no user to explain; add --user ID, or --worst 3 or --best 3; for two models, "
            "--most-different 3"
        )
    with stdout_to_stderr():  # what a metric or a model prints must not mix with the tables
        if source.is_dir():
            part(source, "result.json")
            forms.refuse_other_forms(context, forms.RUN)
            run = read(source)
            _require_models(run, models, 2 if most_different else 1)
            asked = () if metric is None else (run.metrics.get(metric) or parse(metric, Path()),)
            for line in run.source_notes(asked or run.metrics.values()):
                note(f"note  {line}")
            explanations = explain_run(
                run,
                models,
                user or [],
                repeat=repeat,
                fold=fold,
                metrics=asked,
                worst=worst,
                best=best,
                most_different=most_different,
            )
        else:
            forms.refuse_other_forms(context, forms.FILE)
            explanations = _of_file(source, metric, submission, user or [], worst, best)
    show_parts(
        format_, explanations.to_dict, explanations.sheets(every=all_), explanations.records()
    )


def _require_models(run: Run, models: list[str], count: int) -> None:
    """Raise UsageError unless there is a model, or two, and `count` of them at least."""
    if not count <= len(models) <= 2 or len(set(models)) < len(models):
        wanted = (
            "two models: --model A --model B" if count == 2 else "a model, or two: --model NAME"
        )
        names = [known.name for known in run.models if known.name not in models]
        raise UsageError(f"{run.folder}: name {wanted}; {suggest('', names)}")


def _of_file(
    file: Path,
    metric: str | None,
    submission: SubmissionOptions,
    users: list[str],
    worst: int,
    best: int,
) -> Explanations:
    """Return the explanations by a file's lists; say it where the file would not be scored."""
    from harness.comparison.explain import explain_users
    from harness.metrics import parse
    from harness.scoring.submissions import lists_on_terms
    from harness.scoring.terms import Terms

    terms = Terms(submission)
    asked = () if metric is None else (parse(metric, terms.folder),)
    if terms.config is not None:
        from harness.protocol.task import make_task

        terms.task = make_task(terms.config)
    validation, submitted = lists_on_terms(file, terms, asked)
    if validation.errors:  # its values here may be due to its errors
        codes = ", ".join(problem.code for problem in validation.errors)
        note(
            f"note  {file} has errors, so harness score refuses it ({codes}); harness validate "
            "shows them"
        )
    return explain_users(submitted, users, worst=worst, best=best, task=terms.task)
