"""A submission validated, as the command ``validate`` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core.errors import HarnessError
from harness.experiment.terms import Terms, path_or_frame
from harness.submission.expected import Against
from harness.submission.format import Named
from harness.submission.problems import Problem, Validation
from harness.submission.validate import Examined, examine

if TYPE_CHECKING:
    import polars as pl

    from harness.config import Config
    from harness.protocol.task import Task
    from harness.protocol.truth import Solution

_USERS = frozenset({"SUB202", "SUB209"})
"""What users are told whom no table has."""
_UNKNOWN = frozenset({"SUB304", "SUB305", "SUB312"})
_DAMAGED = frozenset({"SUB306", "SUB307", "SUB308", "SUB309", "SUB310", "SUB317"})
"""What items are told that no table has, and those that are not known to be written so."""


def examine_on(
    path: Path | pl.DataFrame, terms: Terms, k: int | None = None, *, strict: bool = False
) -> Examined:
    """Return everything that is wrong with a submission, as validate says it.

    Where a config's tables do not have all of its ids, and only then, the evaluation set is read:
    its users and candidates may be there too.

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
    against, solution = terms.checking(k)
    found = examine(path, against, solution, strict=strict)
    if terms.config is None:
        return found
    found = _with_evaluated(path, found, against, terms.config, strict=strict)
    return replace(found, validation=replace(found.validation, folds=terms.folds))


def _with_evaluated(
    path: Path | pl.DataFrame, found: Examined, against: Against, config: Config, *, strict: bool
) -> Examined:
    """Return the same, or what is wrong where the ids of the evaluation set are known too."""
    from harness.metrics import parse
    from harness.protocol import truth  # it takes Polars

    others = _of_evaluated(config)
    if not others & _codes(found):
        return found
    try:
        evaluated = truth.of_config(config, (parse("MAP@1"),))  # any that is cheap
    except HarnessError as error:
        why = f"whether the evaluation set has it cannot be told: {str(error).splitlines()[0]}"
        problems = tuple(
            replace(p, hint=f"{p.hint}; {why}") if p.code in others else p
            for p in found.validation.problems
        )
        return replace(found, validation=replace(found.validation, problems=problems))
    return examine(path, _admitting(against, evaluated, found), strict=strict)


def _of_evaluated(config: Config) -> frozenset[str]:
    """Return what may be told of ids that no table has, and the evaluation set."""
    rule = config.evaluation.candidates or config.layout().candidates
    return _USERS | _UNKNOWN | _DAMAGED if rule == "train" else _USERS


def _codes(found: Examined) -> set[str]:
    return {problem.code for problem in found.validation.problems}


def _admitting(against: Against, evaluated: Solution, found: Examined) -> Against:
    """Return the same where the ids of an evaluation set are known too.

    Without a table of items others may be there: an item such as NA or a'b is then told apart from
    a damaged one by the candidates alone.
    """
    admitted = against.admitting(evaluated)
    if against.items.complete or not _DAMAGED & _codes(found):
        return admitted
    items = against.items.more(evaluated.items)
    return replace(admitted, items=replace(items, digits=False, width=0, telling=False))


def faults_of(path: Path, against: Against, task: Task) -> tuple[Problem, ...]:
    """Return the errors of a file that was written for a task, as `validate` tells them.

    Raises
    ------
    HarnessError
        What it is checked against cannot be used.
    """
    from harness.protocol.truth import Solution  # it takes Polars

    of, found = task.evaluation_set, examine(path, against)
    if _of_evaluated(task.config) & _codes(found):
        evaluated = Solution(of.user_ids, of.candidate_ids, of.judgments())
        found = examine(path, _admitting(against, evaluated, found))
    return found.validation.errors


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
        The columns of users, and of items or lists; ``user`` and ``item`` by default, or those that
        the competition has, else the first two.
    rank_column, score_column : str, optional
        The column that orders the rows of a user, the lowest rank or the highest score first;
        ``rank`` or ``score`` by default, if there is one.
    row_order : bool
        Whether the rows of a user stand in order, the best first, whatever columns there are.

    Returns
    -------
    Validation
        ``valid``, ``problems``, ``rows``; a problem has a code, a line, a count, a message, a hint.

    Raises
    ------
    HarnessError
        What the submission is checked against cannot be used.
    """
    named = Named(user_column, item_column, rank_column, score_column, row_order=row_order)
    terms = Terms.of(
        config, sample=sample, items=items, solution=solution, named=named, separator=separator
    )
    return examine_on(path_or_frame(submission, "submission"), terms, k, strict=strict).validation
