"""`harness score` on Spark: the figures that it prints without it, wherever the lists lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core import steps
from harness.core.errors import DataError
from harness.experiment.score import ALL, Scored, score_steps
from harness.experiment.submissions import SubmissionError, by_metrics
from harness.experiment.terms import Terms
from harness.metrics import Metric, parse
from harness.protocol.truth import Solution
from harness.spark.examining import left_out_of
from harness.spark.submission import Examined, SparkOptions, opened
from harness.submission.format import Named

if TYPE_CHECKING:
    from harness.config import Config


def score_on(
    submission: Path | str,
    terms: Terms,
    metrics: tuple[Metric, ...] = (),
    k: int | None = None,
    *,
    solution: Path | str | None = None,
    strict: bool = False,
    force: bool = False,
    options: SparkOptions,
) -> Scored:
    """Validate a submission and score it.

    Parameters
    ----------
    submission, solution, k, strict, force
        As for `score`.
    terms : Terms
        What it is checked and scored against but for a solution.
    metrics : tuple of Metric
    options : SparkOptions
        On which Spark.
    """
    if terms.config is None and solution is None:
        terms.scored_against()  # which raises
    with opened(submission, terms, solution, options, strict=strict) as given:
        like = given.like()
        given.refuse_unreadable(like)
        if terms.config is None:
            true = given.truths_of_file(keep=terms.keep_users_without_items)
        else:
            true = given.truths_of_config(metrics)
        known = replace(true.known, metrics=metrics or true.known.metrics)
        known, cut = by_metrics(known, like.format, metrics, k)
        for metric in known.metrics:
            known.require(metric)
        examined = given.examined(like, true._replace(known=known), known.metrics)
        if not examined.validation.valid and not force:
            raise SubmissionError(examined.validation)
        return _scored(given.name, examined, known, cut)


def _scored(name: str, examined: Examined, known: Solution, cut: int) -> Scored:
    """Return the estimates of the lists."""
    told, parts = examined.told, examined.parts
    if parts is None:
        first = examined.validation.problems[0]
        raise DataError(f"{name}: cannot be read: {first.message}; {first.hint}")
    if told.rows > 0 and told.answered == 0:
        raise DataError(
            f"{name}: not one of the users is in the truth; write ids alike (all faults: "
            "harness validate, with the same options)"
        )
    weights = tuple(weight for _, weight in examined.kinds) or (1.0,)
    users, estimates = steps.found(score_steps(known.metrics, weights), parts.total)
    return Scored(
        name,
        cut,
        estimates.pop(ALL),
        estimates,
        users,
        known.fingerprint,
        left_out_of(parts.facts),
        "ml_metrics" if known.averaged is None else "kaggle",
        validation=examined.validation,
        folds=known.folds,
    )


def score(
    submission: Path | str,
    *,
    config: Config | Path | str | None = None,
    solution: Path | str | None = None,
    sample: Path | str | None = None,
    items: Path | str | None = None,
    metrics: Sequence[str | Metric] = (),
    k: int | None = None,
    separator: str | None = None,
    strict: bool = False,
    force: bool = False,
    keep_users_without_items: bool = False,
    user_column: str | None = None,
    item_column: str | None = None,
    rank_column: str | None = None,
    score_column: str | None = None,
    master: str | None = None,
    remote: str | None = None,
    buckets: int | None = None,
) -> Scored:
    """Validate a submission and score it, as `harness.score` does, to the same last bit.

    Parameters
    ----------
    submission, solution, master, remote, buckets
        As for `harness.spark.validate`; a config or a solution is needed.
    config, sample, items, metrics, k, separator, strict, force, keep_users_without_items,
    user_column, item_column, rank_column, score_column
        As for `harness.score`.

    Returns
    -------
    Scored
        As of `harness.score`.

    Raises
    ------
    SubmissionError
        The submission has errors, and `force` is not given.
    HarnessError
        Whatever `harness.score` raises; rows of one item that no column orders; and what is wrong
        with Spark.

    Examples
    --------
    >>> found = score("table:shop.lists", config="shop.toml")  # doctest: +SKIP
    >>> found.metrics["MAP@12"].mean  # doctest: +SKIP
    0.0089
    """
    terms = Terms.of(
        config,
        sample=sample,
        items=items,
        named=Named(user_column, item_column, rank_column, score_column),
        separator=separator,
        keep_users_without_items=keep_users_without_items,
    )
    asked = tuple(m if isinstance(m, Metric) else parse(m, terms.folder) for m in metrics)
    on = SparkOptions(master, remote, buckets)
    return score_on(
        submission, terms, asked, k, solution=solution, strict=strict, force=force, options=on
    )
