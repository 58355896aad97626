"""``harness score``: a file of lists validated and scored."""

from __future__ import annotations

import gc
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import forms, options
from harness.cli.output import Format, note, show, stdout_to_stderr
from harness.cli.validate import leave_processors, tell
from harness.scoring.options import SubmissionOptions


@options.of_submissions()
def score(
    context: typer.Context,
    file: options.Lists,
    metric: Annotated[list[str] | None, "A metric, such as MAP@12. Repeatable."] = None,
    k: options.Cut = None,
    conventions: Annotated[bool, "Also print MAP@k as other tools compute it."] = False,
    strict: options.Strict = False,
    force: options.Force = False,
    codabench: Annotated[
        Path | None, "Write scores.json for Codabench to this folder.", "FOLDER"
    ] = None,
    evalai: Annotated[Path | None, "Write the result for EvalAI to this file.", "FILE"] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: options.Output = "table",
    *,
    submission: SubmissionOptions,
) -> int:
    """Check a submission, then score it.

    Name what to score it against: --solution FILE, or a config. To score the lists of a run,
    name the run folder alone.
    """
    leave_processors()
    from harness.core.io import exists, refuse_overwriting
    from harness.core.table import document

    if exists(file) and (file / "result.json").is_file():
        forms.refuse_other_forms(context, forms.RUN)
        _score_run(file, metric or [], format_)
        return 0
    forms.refuse_other_forms(context, forms.FILE)
    from harness.hosting import export
    from harness.metrics import each_once, parse
    from harness.scoring.submissions import Scorer, SubmissionError
    from harness.scoring.terms import Terms, which_fold

    gc.freeze()  # what is imported stays: it is not searched for garbage, nor at the end
    try:
        with stdout_to_stderr():  # what a metric prints must not mix with the table
            terms = Terms(submission)
            asked = each_once(parse(text, terms.folder) for text in metric or [])
            for out in filter(None, (evalai, codabench and codabench / "scores.json")):
                read = [file, *terms.files]
                refuse_overwriting(out, read, export.is_scores, what="file of scores")
            scorer = Scorer.of(terms, asked, k, conventions=conventions)
            scored = scorer.score(file, strict=strict, force=force)
    except SubmissionError as error:
        if terms.folds > 1:
            note(f"note  {which_fold(terms.folds, terms.folds)}")
        nothing: dict[str, Any] = {"evaluation": None, "metrics": {}, "usage": {}}
        record = nothing | {"problems": error.validation.summary(forced=False)}
        mending = forms.mending(context, file)
        tell(error.validation, partial(document, record), format_, command=mending)
        hint = "" if force else ", or score it with --force"
        print(f"not scored: the file has errors; fix them{hint}", file=sys.stderr)
        return 1
    show(format_, scored)
    if codabench is not None:
        export.write_codabench(scored, codabench)
    if evalai is not None:
        export.write_evalai(scored, evalai)
    return 0


def _score_run(folder: Path, metric: list[str], format_: Format) -> None:
    """Score the lists of a run's models."""
    from harness.evaluation.rescore import rescore
    from harness.metrics import each_once, parse
    from harness.results.run import read

    with stdout_to_stderr():  # what a metric prints must not mix with the table
        named = read(folder).metrics
        asked = each_once(named.get(text) or parse(text, Path()) for text in metric)
        scored = rescore(folder, asked)
    show(format_, scored)
