"""A submission validated, as the command ``validate`` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from harness.core.errors import DataError, UsageError
from harness.scoring.options import SubmissionOptions, require, require_options
from harness.scoring.terms import Terms, path_or_frame
from harness.submission.problems import Validation
from harness.submission.validate import Examined, examine

if TYPE_CHECKING:
    import polars as pl


def validate(
    submission: Any,
    *,
    k: int | None = None,
    strict: bool = False,
    **options: Unpack[SubmissionOptions],
) -> Validation:
    """Find every fault in a submission.

    Parameters
    ----------
    submission : path or frame
        CSV (plain, .gz, .zip), JSON or Parquet; or a pandas, Polars or Arrow frame.
    k : int, optional
        The most items that a list may have; by default that of the config or the competition.
    strict : bool
        Treat warnings as errors.
    **options
        What to check it against, and how to read it: `harness.scoring.options.SubmissionOptions`.

    Returns
    -------
    Validation
        ``valid``, ``problems``, ``rows``; a problem has a code, a line, a count, a message, a hint.

    Raises
    ------
    HarnessError
        The config, the solution or another file cannot be used.
    """
    require_options(validate, options, SubmissionOptions)
    require(bool, "True or False", strict=strict)
    if options.get("keep_users_without_items"):
        raise UsageError("keep_users_without_items is for score; remove it")
    file = path_or_frame(submission, "submission")
    return examine_on(file, Terms(options), k, strict=strict).validation


def examine_on(
    path: Path | pl.DataFrame, terms: Terms, k: int | None = None, *, strict: bool = False
) -> Examined:
    """Return everything that is wrong with a submission: what `score` would say, and no less.

    A config's evaluation set is read for it. Where it cannot be, the config's tables alone tell.
    """
    from harness.metrics import parse  # a sample alone needs none

    metrics = () if terms.config is None else (parse("MAP@1"),)  # any that is cheap
    solution, truth = None, ""
    try:
        if terms.config is not None or terms.solution is not None:
            against, solution = terms.checking(metrics, everyone=True)  # nothing is averaged
            truth = f"; truth: {solution.shape}" if solution.shape else ""
        else:
            against = terms.against()
    except DataError as error:
        if terms.config is None:
            raise
        # Its tables can tell much, as where a competitor has not downloaded the events.
        against = terms.against()
        if len(against.users) == 0:
            raise
        truth = f"; checked without the evaluation set: {str(error).splitlines()[0]}"
    examined = examine(path, against.cut_at(k), solution, strict=strict)
    validation = examined.validation
    checked = validation.checked and f"{validation.checked}{truth}"
    return replace(examined, validation=replace(validation, checked=checked, folds=terms.folds))
