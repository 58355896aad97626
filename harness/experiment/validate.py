"""A submission validated, as the command ``validate`` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.core.errors import DataError
from harness.experiment.terms import Terms, path_or_frame
from harness.submission.expected import Against
from harness.submission.format import Named
from harness.submission.problems import Problem, Validation
from harness.submission.validate import Examined, examine

if TYPE_CHECKING:
    import polars as pl

    from harness.config import Config
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
    config: Config | Path | str | None = None,
    sample: Path | str | None = None,
    items: Path | str | None = None,
    solution: Any = None,
    k: int | None = None,
    separator: str | None = None,
    strict: bool = False,
    user_column: str | None = None,
    item_column: str | None = None,
    rank_column: str | None = None,
    score_column: str | None = None,
    row_order: bool = False,
    truth_user_column: str | None = None,
    truth_item_column: str | None = None,
    grade_column: str | None = None,
    ids: Literal["exact"] | None = None,
) -> Validation:
    """Return everything that is wrong with a submission.

    Parameters
    ----------
    submission : path or frame
        CSV (plain, .gz, .zip) or Parquet; or a pandas, Polars or Arrow frame.
    config : Config or path, optional
        The competition, which says it all; one with ``[submission]`` alone says what submissions
        look like, and goes with what follows.
    sample, items : path, optional
        a file with a row for each id that must be there, a table of all items (ids first), and
    solution : path or frame, optional
        the true items.
    k : int, optional
        The longest list; that of the config or of the competition by default.
    separator : str, optional
        What stands between the items of a list, where no config with data says it: a space, ``,``,
        ``;`` or ``|``; by default what is plain in the sample or the solution, else a space.
    strict : bool
        Whether warnings are errors.
    user_column, item_column : str, optional
        The columns of users, and of items or lists, here and in the solution. By default names
        such as ``customer_id`` and ``article_id`` tell, or there are no others.
    rank_column, score_column : str, optional
        The column that orders the rows of a user, the lowest rank or the highest score first;
        ``rank`` or ``score`` by default, if there is one.
    row_order : bool
        Whether the rows of a user stand in order, the best first, whatever columns there are.
    truth_user_column, truth_item_column : str, optional
        The same columns of the solution, where they are called otherwise there.
    grade_column : str, optional
        The solution's column that says how relevant an item is; items of grade 0 are not true.
        ``grade`` by default, if there is one; ``none``: every row is a true item.
    ids : "exact", optional
        Compare ids letter by letter. By default an id that only looks like a known one is a fault.

    Returns
    -------
    Validation
        ``valid``, ``problems``, ``rows``; a problem has a code, a line, a count, a message, a hint.

    Raises
    ------
    HarnessError
        What the submission is checked against cannot be used.
    """
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
    terms = Terms.of(
        config,
        sample=sample,
        items=items,
        solution=solution,
        named=named,
        separator=separator,
        ids=ids,
    )
    return examine_on(path_or_frame(submission, "submission"), terms, k, strict=strict).validation
