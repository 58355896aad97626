"""A competition's metric on Kaggle: ``score`` as its custom metric is called.

A host's notebook holds one line, ``from harness.kaggle import ParticipantVisibleError, score``.
Kaggle hands over the rows of one leaderboard at a time, and shows participants the text of a
`ParticipantVisibleError` alone. Template: kaggle.com/code/metric/competition-metric-template.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from harness.core.errors import HarnessError
from harness.delimited.stream import Refused, is_parquet
from harness.metrics import parse
from harness.metrics.inputs.frame import as_polars
from harness.protocol.truth import Solution
from harness.scoring.submissions import Scorer, score_lists
from harness.submission.columns import users_and_items
from harness.submission.expected import Against, ids
from harness.submission.format import Format, TrueColumns, generic
from harness.submission.keys import Known, learnt, nothing
from harness.submission.problems import Problem
from harness.submission.rules import RULES
from harness.submission.solution import of_file
from harness.submission.validate import examine

if TYPE_CHECKING:
    import pandas as pd


_HINTS: Mapping[str, str] = {
    "SUB111": 'name it "score" (highest first) or "rank" (1, 2, 3 …), or write lists without it'
}
"""What others are told of with options of the command, which no participant has."""
_INSTEAD: Mapping[str, str] = {
    r"\? several: --separator.*": "? write one space between items, and none within an id",
    ", or name the separator with --separator": "",
    r"--[a-z-]+ \(Python: (.*?)\)": r"\1",
}
"""What a host is told in place of such options."""


class ParticipantVisibleError(Exception):
    """A participant's mistake, told to the participant."""


class HostVisibleError(Exception):
    """A mistake in the solution or in the metric's parameters, told to the host alone."""


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    metric: str = "MAP@12",
    item_column: str = "",
    items_path: str = "",
    item_digits: int = 0,
    keep_users_without_items: bool = False,
) -> float:
    """Return the mean of a metric over the users of a solution.

    Parameters
    ----------
    solution, submission : pandas.DataFrame
        A row a user: the id, and items as text with spaces between them.
    row_id_column_name : str
        The column of the id.
    metric : str
        As ``MAP@12``; its cut-off is the longest list that is looked at.
    item_column : str
        The column of the items; by default the solution's other column, or the one whose name
        tells, such as ``items``.
    items_path : str
        A CSV file of all items, ids first: a list with others is refused.
    item_digits : int
        How many digits every item id has, where that is so; lost zeros are told by it.
    keep_users_without_items : bool
        Whether users without true items count with 0, instead of being left out as in H&M.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    ParticipantVisibleError
        Everything that is wrong with the submission. Nothing of the solution stands in it but ids
        that the submission lacks, which the sample submission has.
    HostVisibleError
        The solution or a parameter cannot be used.

    Examples
    --------
    Ann's first item hits, bob's second: (1 + 1/2) / 2.

    >>> import pandas as pd
    >>> solution = pd.DataFrame({"id": ["ann", "bob"], "items": ["a", "b"]})
    >>> submission = pd.DataFrame({"id": ["bob", "ann"], "items": ["x b", "a"]})
    >>> score(solution, submission, "id", metric="MAP@2")
    0.75
    """
    try:
        asked = parse(metric)
        truth, users, wanted = _truth(
            solution, row_id_column_name, item_column, keep=keep_users_without_items
        )
        wanted = replace(wanted, k=asked.k, width=item_digits)
        short = truth.items.filter(truth.items.str.len_chars() < item_digits)
        if len(short) > 0:
            raise HostVisibleError(
                f'solution: item "{short[0]}" has fewer than {item_digits} digits; read the file '
                "as text (pandas: dtype=str)"
            )
        catalogue = _items(Path(items_path)) if items_path else nothing()
    except HarnessError as error:
        text = str(error)
        for option, instead in _INSTEAD.items():
            text = re.sub(option, instead, text)
        raise HostVisibleError(text) from error
    try:
        lists = _whole(as_polars(submission, "submission"))
    except HarnessError as error:
        raise ParticipantVisibleError(str(error)) from error
    # What a participant is told is found without the solution's items.
    known = learnt(users)
    against = Against(known, catalogue, wanted, required=len(known))
    problems = examine(lists, against).validation.errors
    if problems:
        raise ParticipantVisibleError("\n".join(map(_line, problems)))
    against = against.scored_by(truth)
    for code, odd in against.odd_in_solution().items():
        if odd:
            text = RULES[code].says.format(values=", ".join(odd))
            warnings.warn(f"solution: {text}", stacklevel=2)
    scorer = Scorer(against.exactly(), replace(truth, metrics=(asked,)), cut=asked.k or 1)
    _, submitted = scorer.lists(lists, force=True)  # of what is wrong now nothing is told
    try:
        value = score_lists(submitted, (asked,), scorer.cut).metrics[str(asked)].mean
    except HarnessError as error:
        raise HostVisibleError(str(error)) from error
    if not math.isfinite(value):
        raise HostVisibleError(f"{asked} is {value}")
    return value


def _items(path: Path) -> Known:
    if is_parquet(path):  # its reader is a second process, which a host's kernel may not start
        raise HostVisibleError(f"items_path: {path} is Parquet; write it as CSV")
    return ids(path)


def _truth(
    solution: pd.DataFrame, user: str, item: str, *, keep: bool
) -> tuple[Solution, pl.Series, Format]:
    """Return the solution, the users of its rows, and what a submission looks like."""
    frame = _whole(as_polars(solution, "solution"))
    try:
        user, items = users_and_items(frame.columns, user=user, item=item or None)
    except Refused as error:
        raise HostVisibleError(
            f"solution: several columns may hold the items: {error.value}; name one with "
            "item_column"
        ) from error
    missing = [name for name in (user, items) if name not in frame.columns]
    if missing:
        raise HostVisibleError(
            f'solution: no column "{missing[0]}"; it has {", ".join(frame.columns)}'
        )
    frame = frame.select(pl.col(user).cast(pl.String), items)
    if frame[user].null_count() > 0:
        raise HostVisibleError(
            f'solution: ids in column "{user}" are missing; pandas reads NA, null and None as '
            "missing, unless you set keep_default_na=False; rename such users"
        )
    if frame[user].is_duplicated().any():
        raise HostVisibleError(f'solution: ids in column "{user}" are there twice')
    truth = of_file(frame, TrueColumns(user, items), keep_users_without_items=keep)
    wanted = generic(user, items)
    return truth, frame[user], replace(wanted, between=truth.between or wanted.between)


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame in which ids that pandas made decimals, as it does beside NaN, are whole."""
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    whole = [n for n in floats if (frame[n].drop_nans().drop_nulls() % 1 == 0).all()]
    return frame.with_columns(pl.col(whole).fill_nan(None).cast(pl.Int64).cast(pl.String))


def _line(problem: Problem) -> str:
    more = f" ({problem.count:,} times)" if problem.count > 1 and problem.line is not None else ""
    hint = _HINTS.get(problem.code, problem.hint)
    return f"{problem.where('row')}{problem.message}{more}; {hint}"
