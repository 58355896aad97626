"""`harness validate` on Spark: what is said of a submission without it, wherever it lies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.errors import HarnessError
from harness.experiment.terms import Terms
from harness.experiment.validate import open_checks, untold
from harness.spark.submission import SparkOptions, Submission, opened
from harness.submission.format import Named
from harness.submission.problems import Validation

if TYPE_CHECKING:
    from harness.config import Config


def validate_on(
    submission: Path | str,
    terms: Terms,
    k: int | None = None,
    *,
    solution: Path | str | None = None,
    strict: bool = False,
    options: SparkOptions,
) -> Validation:
    """Return everything that is wrong with a submission.

    Parameters
    ----------
    submission, solution, k, strict
        As for `validate`.
    terms : Terms
        What it is checked against but for a solution.
    options : SparkOptions
        On which Spark.
    """
    with opened(submission, terms, solution, options, strict=strict) as given:
        true = None if solution is None else given.truths_of_file(keep=True)
        found = given.examined(given.like(k), true).validation
        if terms.config is not None:
            found = _with_evaluated(given, found, terms.config, k)
    return replace(found, folds=terms.folds)


def _with_evaluated(
    given: Submission, found: Validation, config: Config, k: int | None
) -> Validation:
    """Return the same, or what is wrong where the ids of the evaluation set are known too."""
    others = open_checks(config)
    if not others & {problem.code for problem in found.problems}:
        return found
    try:
        evaluated = given.truths_of_config(())
    except HarnessError as error:
        return untold(found, others, error)
    return given.examined(given.like(k), evaluated, admitted=True).validation


def validate(
    submission: Path | str,
    *,
    config: Config | Path | str | None = None,
    sample: Path | str | None = None,
    items: Path | str | None = None,
    solution: Path | str | None = None,
    k: int | None = None,
    separator: str | None = None,
    strict: bool = False,
    user_column: str | None = None,
    item_column: str | None = None,
    rank_column: str | None = None,
    score_column: str | None = None,
    master: str | None = None,
    remote: str | None = None,
    buckets: int | None = None,
) -> Validation:
    """Return everything that is wrong with a submission, as `harness.validate` does.

    Parameters
    ----------
    submission : path or text
        A file that workers see (CSV or Parquet), or what Spark reads: a folder of Parquet files, a
        URI, or a table of the session's catalog, such as ``table:shop.lists``.
    solution : path or text, optional
        True items, in any such place.
    config, sample, items, k, separator, strict, user_column, item_column, rank_column, score_column
        As for `harness.validate`.
    master, remote : str, optional
        As `harness.spark.session.session` takes them.
    buckets : int, optional
        How many parts users are divided into, up to 4,096; by default as many as there are lines
        for.

    Returns
    -------
    Validation
        As of `harness.validate`; rows of a table, which have no lines, are told by their users.

    Raises
    ------
    HarnessError
        Whatever `harness.validate` raises; rows of one item that no column orders; and what is
        wrong with Spark.
    """
    named = Named(user_column, item_column, rank_column, score_column)
    terms = Terms.of(config, sample=sample, items=items, named=named, separator=separator)
    on = SparkOptions(master, remote, buckets)
    return validate_on(submission, terms, k, solution=solution, strict=strict, options=on)
