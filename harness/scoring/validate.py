"""A submission validated, as the command ``validate`` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from harness.core.errors import DataError, UsageError
from harness.scoring.options import SubmissionOptions
from harness.scoring.terms import Terms, path_or_frame
from harness.submission.expected import Against
from harness.submission.problems import Problem, Validation
from harness.submission.validate import Examined, examine

if TYPE_CHECKING:
    import polars as pl

    from harness.protocol.task import Task


def examine_on(
    path: Path | pl.DataFrame, terms: Terms, k: int | None = None, *, strict: bool = False
) -> Examined:
    """Return everything that is wrong with a submission: what `score` would say, and no less.

    A config's evaluation set is read for it. Where it cannot be, the config's tables alone tell.

    Parameters
    ----------
    k : int, optional
        The longest list, if not the config's or the competition's.
    strict : bool
        Whether warnings are errors.

    Raises
    ------
    HarnessError
        What the submission is checked against cannot be used.
    """
    from harness.metrics import parse  # a sample alone needs none

    if terms.solution is not None:
        terms = replace(terms, keep_users_without_items=True)  # nothing is averaged
    metrics = () if terms.config is None else (parse("MAP@1"),)  # any that is cheap
    try:
        against, solution = terms.checking(metrics)
        read = "" if solution is None or not solution.shape else f"; truth: {solution.shape}"
    except DataError as error:
        if terms.config is None:
            raise
        # Its tables can tell much, as where a competitor has not downloaded the events.
        against, solution = terms.against(), None
        if len(against.users) == 0:
            raise
        read = f"; without the evaluation set: {str(error).splitlines()[0]}"
    found = examine(path, against.cut_at(k), solution, strict=strict)
    checked = found.validation.checked and f"{found.validation.checked}{read}"
    return replace(found, validation=replace(found.validation, checked=checked, folds=terms.folds))


def faults_of(path: Path, against: Against, task: Task) -> tuple[Problem, ...]:
    """Return the errors of a file that was written for a task, as `validate` finds them."""
    from harness.protocol.truth import Solution  # it takes Polars

    evaluation_set = task.evaluation_set
    solution = Solution(
        evaluation_set.user_ids, evaluation_set.candidate_ids, evaluation_set.judgments()
    )
    return examine(path, against.scored_by(solution), solution).validation.errors


def validate(
    submission: Any,
    *,
    k: int | None = None,
    strict: bool = False,
    **options: Unpack[SubmissionOptions],
) -> Validation:
    """Return everything that is wrong with a submission.

    Parameters
    ----------
    submission : path or frame
        CSV (plain, .gz, .zip) or Parquet; or a pandas, Polars or Arrow frame.
    k : int, optional
        The longest list; that of the config or of the competition by default.
    strict : bool
        Whether warnings are errors.
    **options
        What it is checked against, and how it is read: see
        `harness.scoring.options.SubmissionOptions`.

    Returns
    -------
    Validation
        ``valid``, ``problems``, ``rows``; a problem has a code, a line, a count, a message, a hint.

    Raises
    ------
    HarnessError
        What the submission is checked against cannot be used.
    """
    if options.get("keep_users_without_items"):
        raise UsageError("keep_users_without_items goes with a score; leave it out")
    terms = Terms.of(**options)
    return examine_on(path_or_frame(submission, "submission"), terms, k, strict=strict).validation
