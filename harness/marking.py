"""The function of notebooks: lists and truth in any form in, figures out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness.errors import DataError, UsageError
from harness.frames import beyond, lists
from harness.frames import truth as truth_
from harness.frames.accept import accept
from harness.frames.ids import Coder, Coders
from harness.frames.table import Int64, shown
from harness.metrics import Floats, Key, Metric, parse
from harness.scoring import marks, mean

if TYPE_CHECKING:
    import pandas as pd


def evaluate(
    recommendations: Any,
    truth: Any,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    user: str = "user",
    item: str = "item",
    rank: str | None = None,
    score: str | None = None,
    grade: str | None = None,
    train: Any = None,
    candidates: Any = None,
    attributes: Any = None,
    per_user: bool = False,
) -> pd.Series | pd.DataFrame:
    """Mark lists against the truth: one figure a metric, or one a user and metric.

    Every user of the truth counts: one without a list scores 0. Rows of other users are left out,
    counted, and reported by a warning.

    Parameters
    ----------
    recommendations : frame, dict or lists
        A pandas, Polars or Arrow frame, long (one row an item) or wide (one row a user, a column
        of lists); a dict ``{user: [item, …]}``, best first, or ``{user: {item: score}}``; or one
        list a row (a 2-d array, a list of lists).
    truth : frame, dict or lists
        The same forms, ``{user: {item: grade}}`` for graded relevance; lists a row go with lists
        a row. An item that stands twice counts once; an item of grade 0 is not relevant.
    metrics : str, Metric or a sequence of them
        Such as ``"MAP@12"``; ``harness list metrics`` shows what there is.
    user, item : str
        Names of the columns.
    rank, score : str, optional
        The column that orders a user's rows: ranks from 1, or scores, the highest first and ties
        by item id as text. By default a column of that name, ``rank`` before ``score``; without
        either, rows count as they stand.
    grade : str, optional
        The column of the truth that holds grades; by default a column of that name.
    train : frame or dict, optional
        Training events, for novelty, popularity and serendipity; their items are the candidates
        for coverage and Gini unless `candidates` are given.
    candidates : sequence of ids, optional
        The items that may be recommended.
    attributes : frame, optional
        One row an item, the column `item` and attributes, for ILD.
    per_user : bool
        Return every user's value instead of the means.

    Returns
    -------
    pandas.Series or pandas.DataFrame
        Metric to figure; or one row a user, in the order of ids, and one column a metric. Its
        ``attrs`` tell where the order of the lists comes from and what was left out.

    Raises
    ------
    UsageError
        An unknown metric or form, or something that a metric needs and was not given.
    DataError
        Missing columns or ids, ids of two kinds, ranks or scores that cannot be used; the message
        names the table, the column, the row and what to do.

    Examples
    --------
    Hits at ranks 1 and 3 of two true items: AP@3 = (1/1 + 2/3) / 2.

    >>> evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "MAP@3").round(4).to_dict()
    {'MAP@3': 0.8333}
    """
    asked = _asked(metrics, per_user)
    names = {"user": user, "item": item}
    orders = {"rank": rank, "score": score}
    given = accept(recommendations, "recommendations", **names, numbers=orders)
    true = accept(truth, "truth", **names, numbers={"grade": grade})
    beside = beyond.Beside(train, candidates, attributes, user, item)
    with ThreadPoolExecutor(1) as pool:
        coders = Coders(Coder(), Coder(), pool)
        answers = truth_.read(true, coders)
        _check_grades(asked, answers.grades)
        users, true_items = coders.users.ids(), len(coders.items)
        found = lists.read(given, coders, _longest(asked))
        _refuse_strangers(coders, users, true_items, found)
        catalogue = beyond.read(beside, coders, asked)
    values = marks(
        found.items, Key(answers.rows, answers.rows.sizes, answers.grades, catalogue), asked
    )
    report = _report(found, len(users), coders, true_items)
    report["true_items_repeated"] = answers.repeated
    return _result(values, users, per_user, report)


def _asked(metrics: str | Metric | Sequence[str | Metric], per_user: bool) -> tuple[Metric, ...]:
    several = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    asked = tuple(dict.fromkeys(m if isinstance(m, Metric) else parse(m) for m in several))
    if not asked:
        raise UsageError('no metric is asked for; name one, such as "MAP@12"')
    for metric in asked:
        if per_user and metric.definition.of == "set":
            raise UsageError(
                f"metric {metric} is one figure of all lists, not one a user; leave it out, or "
                "ask for it with per_user=False"
            )
    return asked


def _longest(metrics: tuple[Metric, ...]) -> int | None:
    """Return how many places are looked at; None where a metric takes them all."""
    cuts = [metric.k for metric in metrics]
    return None if None in cuts else max(k for k in cuts if k is not None)


def _check_grades(metrics: tuple[Metric, ...], grades: Floats | None) -> None:
    """Raise DataError where pFound would take a grade above 1 for a probability."""
    worst = 0.0 if grades is None else float(grades.max(initial=0.0))
    for metric in metrics:
        if metric.name == "pFound" and worst > 1:
            raise DataError(
                f"truth: found the grade {worst:g}; for {metric} a grade is the probability that "
                "the item satisfies, from 0 to 1: divide grades by the highest there can be"
            )


def _refuse_strangers(
    coders: Coders, users: pl.Series, true_items: int, found: lists.Lists
) -> None:
    """Raise DataError where lists and truth plainly do not speak of the same ids."""
    everyone, items = coders.users.ids(), coders.items.ids()
    if found.outside_rows > 0 and not (found.items >= 0).any():
        raise DataError(
            f"recommendations: none of their {found.outside_users:,} users is in the truth: "
            f"{shown(everyone[len(users)])} here, {shown(users[0])} there; write ids alike"
        )
    known, new = items[:true_items], items[true_items:]
    if new.dtype == pl.String and len(new) > 0:
        listed = r"\S[\s,;]+\S|^\["
        if new.str.contains(listed).all() and not known.str.contains(listed).any():
            raise DataError(
                f"recommendations: {shown(new[0])} looks like a whole list written as text; split "
                'it first, as in frame["item"].str.split(" ")'
            )


def _report(
    found: lists.Lists, users: int, coders: Coders, true_items: int
) -> dict[str, str | int]:
    """Return, and warn of, what a reader of the figures must know."""
    without = users - int(np.count_nonzero((found.items >= 0).any(axis=1)))
    if found.outside_rows > 0:
        example = shown(coders.users.ids()[users])
        warnings.warn(
            f"{found.outside_rows:,} rows of {found.outside_users:,} users who are not in the "
            f"truth are left out, such as {example}",
            stacklevel=3,
        )
    if without < users and not ((found.items >= 0) & (found.items < true_items)).any():
        items = coders.items.ids()
        warnings.warn(
            f"no recommended item is a true item of anyone: {shown(items[true_items])} here, "
            f"{shown(items[0])} there; are the ids written alike?",
            stacklevel=3,
        )
    return {
        "order": found.order,
        "users": users,
        "users_without_list": without,
        "users_outside": found.outside_users,
        "rows_outside": found.outside_rows,
    }


def _result(
    values: dict[Metric, Floats], users: pl.Series, per_user: bool, report: dict[str, str | int]
) -> pd.Series | pd.DataFrame:
    import pandas as pd

    result: pd.Series | pd.DataFrame
    if per_user:
        order: Int64 = users.arg_sort().to_numpy()
        index = pd.Index(users.gather(order).to_list(), name="user")
        columns = {str(metric): value[order] for metric, value in values.items()}
        result = pd.DataFrame(columns, index=index)
    else:
        result = pd.Series({str(metric): mean(value) for metric, value in values.items()})
    result.attrs.update(report)
    return result
