"""What competitors are scored by: a solution with two leaderboards, and a sample submission."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness.config import Config
from harness.core.arrays import Bool
from harness.core.errors import DataError, UsageError
from harness.core.random import mixed
from harness.data.dataset import ITEM, KIND, TIME, USER, VALUE
from harness.delimited.stream import Refused
from harness.hosting.submit import OTHERWISE, form_of, shown_id
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.task import Task
from harness.scoring.validate import validate
from harness.stats.shakeup import public_users
from harness.submission.columns import users_and_items
from harness.submission.expected import Against
from harness.submission.format import FORMATS, Format, generic
from harness.submission.solution import of_file

SOLUTION, SAMPLE, ITEMS = "solution.csv", "sample_submission.csv", "items.csv"


def is_public(evaluation_set: EvaluationSet, share: float) -> Bool:
    """Return which users are on the public leaderboard, (n,).

    They are those with the lowest hashes: a function of the ids and the fingerprint alone.

    Raises
    ------
    UsageError
        A share that leaves a leaderboard empty.
    """
    n = len(evaluation_set.user_ids)
    key = np.array([int(evaluation_set.fingerprint[:16], 16)], np.uint64)
    order = np.argsort(mixed(evaluation_set.user_hashes ^ mixed(key)), kind="stable")
    found = np.zeros(n, np.bool_)
    found[order[: public_users(n, share)]] = True
    return found


def columns_of(config: Config) -> tuple[str, str]:
    """Return what the log calls its users and items, where such a solution is read so again."""
    log = config.layout().events[0]
    names = log.user, log.item
    others = {"Usage", "grade", TIME, KIND, VALUE}
    with suppress(Refused):
        if users_and_items([*names, "grade", "Usage"]) == names and others.isdisjoint(names):
            return names
    return USER, ITEM


def form(asked: Against, k: int, names: tuple[str, str]) -> Format:
    """Return what lists are written as: the competition's, where its header allows such lists."""
    user, item = names
    asked = asked if asked.format else replace(asked, format=generic(user, item))
    wanted = form_of(asked, k)
    alike = [known for known in FORMATS.values() if known.columns == wanted.columns]
    if any(known.kinds or (known.k or k) < k for known in alike):  # a reader may go by it
        return form_of(Against(format=generic(USER, ITEM), between=wanted.between), k)
    return wanted


def write_sample(
    task: Task, users: pl.Series, wanted: Format, folder: Path, separator: str | None
) -> None:
    """Write one list for everyone: the candidates with most training events, ties by id.

    It is valid by the solution beside it. Without a table of items such a candidate as NA, or one
    of another shape than all true items, looks damaged there: then true items alone are in it.

    Raises
    ------
    UsageError
        An id that could not be read again, or that is taken for a damaged one.
    """
    evaluation_set, sums = task.evaluation_set, task.train.candidate_sums()
    sample, solution = folder / SAMPLE, folder / SOLUTION
    message = ""
    for some in (np.arange(len(sums)), np.unique(evaluation_set.truth.indices)):
        top = some[np.argsort(-sums[some], kind="stable")[: evaluation_set.k]]
        text = wanted.between.join(evaluation_set.candidate_ids.gather(top))
        frame = users.alias(wanted.user).to_frame()
        frame.with_columns(pl.lit(text).alias(wanted.items)).write_csv(sample)
        found = validate(sample, sample=sample, solution=solution, separator=separator)
        if not found.errors:
            return
        message = message or found.errors[0].message
    raise UsageError(f"{SAMPLE} would be refused: {message}; {OTHERWISE}")


def write_solution(evaluation_set: EvaluationSet, public: Bool, wanted: Format, path: Path) -> None:
    """Write the true items of all users, candidates or not: lists, or with grades a row each."""
    rows = np.arange(len(public), dtype=np.int32)
    usage = np.where(public, "Public", "Private")
    users = pl.DataFrame({"row": rows, USER: evaluation_set.user_ids, "Usage": usage})
    items = _true_items(evaluation_set)
    graded = evaluation_set.grades is not None
    if not graded:
        items = items.group_by("row").agg(pl.col(ITEM).str.join(wanted.between))
    frame = users.join(items, on="row", how="left", maintain_order="left_right")
    own = [pl.col(USER).alias(wanted.user), pl.col(ITEM).alias(wanted.items)]
    if graded:  # a user without true items has a row of grade 0
        own[1] = own[1].fill_null(evaluation_set.candidate_ids[0])
        own.append(pl.col("grade").fill_null(0))
    frame.select(*own, "Usage").write_csv(path)


def _true_items(evaluation_set: EvaluationSet) -> pl.DataFrame:
    """Return a row for each true item: its user's place, its id and its grade, in id order."""
    truth, users = evaluation_set.truth, np.arange(len(evaluation_set.users), dtype=np.int32)
    sizes = truth.sizes, evaluation_set.relevant - truth.sizes
    ids = evaluation_set.candidate_ids.gather(truth.indices), evaluation_set.outside_ids
    columns: dict[str, Any] = {
        "row": np.concatenate([np.repeat(users, size) for size in sizes]),
        ITEM: pl.concat([part.alias(ITEM) for part in ids]),
    }
    if evaluation_set.grades is not None and evaluation_set.outside_grades is not None:
        columns["grade"] = np.concatenate([evaluation_set.grades, evaluation_set.outside_grades])
    return pl.DataFrame(columns).sort("row", ITEM)


def refuse_misread(folder: Path, evaluation_set: EvaluationSet, separator: str | None) -> None:
    """Raise UsageError where the solution would not be read as what it was made of.

    It depends on ids: what stands between items in one file is a part of ids in another.
    """
    true = _true_items(evaluation_set)[ITEM]
    reason = f"{SOLUTION} would be read otherwise than it is"
    try:
        solution = of_file(folder / SOLUTION, keep_users_without_items=True, between=separator)
    except DataError as error:
        misread, reason = true.filter(true.str.contains(_SIGNS)), str(error)
    else:
        misread = true.filter(~true.is_in(solution.items.implode()))
        if (
            len(misread) == 0
            and solution.users.equals(evaluation_set.user_ids)
            and np.array_equal(solution.judgments.relevant, evaluation_set.relevant)
        ):
            return
    if len(misread) > 0:
        reason = (
            f"{SOLUTION} would be read otherwise than it is: item {shown_id(misread[0])} holds "
            "what may stand between items or around them (a space, comma, semicolon, bar, bracket "
            "or quote), or an end of line"
        )
    raise UsageError(f"{reason}; {OTHERWISE}".replace(f"{folder}/", ""))


_SIGNS = r"""[,;|\s]|^[\[({'"]|[\])}'"]$"""
