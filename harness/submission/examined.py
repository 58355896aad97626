"""A submission examined on what a person names; the verdict depends on the files alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from harness import solutions
from harness.errors import HarnessError
from harness.metrics import parse
from harness.submission.terms import Terms
from harness.submission.validate import Examined, examine

if TYPE_CHECKING:
    from harness.config import Config

_USERS, _ITEMS = frozenset({"SUB202", "SUB209"}), frozenset({"SUB304", "SUB305", "SUB312"})
"""What users and items are told whom no table has."""
_CHEAP = (parse("MAP@1"),)


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
    others = frozenset() if terms.config is None else _open(terms.config)
    if terms.config is None or not others & {problem.code for problem in found.validation.problems}:
        return found
    try:
        evaluated = solutions.of_config(terms.config, _CHEAP)
    except HarnessError as error:
        return _untold(found, others, error)
    return examine(path, against.admitting(evaluated), strict=strict)


def _open(config: Config) -> frozenset[str]:
    """Return the checks whose ids the evaluation set may have, though no table has them."""
    rule = config.evaluation.candidates or config.layout().candidates
    return _USERS | _ITEMS if rule == "train" else _USERS


def _untold(found: Examined, others: frozenset[str], error: HarnessError) -> Examined:
    """Return the same, the checks of such ids saying that the evaluation set cannot be read."""
    why = f"whether the evaluation set has it cannot be told: {str(error).splitlines()[0]}"
    told = tuple(
        replace(p, hint=f"{p.hint}; {why}") if p.code in others else p
        for p in found.validation.problems
    )
    return replace(found, validation=replace(found.validation, problems=told))
