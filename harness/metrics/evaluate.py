"""The functions of notebooks: lists and truth in any form in, estimates out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.core.arrays import Int64
from harness.core.errors import UsageError
from harness.metrics import Metric, each_once, parse
from harness.metrics.conventions import CONVENTIONS, map_by_convention
from harness.metrics.inputs.beyond import ItemTables
from harness.metrics.inputs.read import read_both
from harness.metrics.scores import mean, user_scores

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
    score: str | Literal[False] | None = None,
    grade: str | None = None,
    truth_user: str | None = None,
    truth_item: str | None = None,
    train: Any = None,
    candidates: Any = None,
    attributes: Any = None,
    per_user: bool = False,
) -> pd.Series | pd.DataFrame:
    """Score lists against the truth: the mean of each metric, or the score of each user.

    Every user of the truth counts: a user without a list scores 0. Rows of other users are left
    out, with a warning.

    Parameters
    ----------
    recommendations : frame, dict or lists
        A pandas, Polars or Arrow frame, long (one row per item) or wide (one row per user, with a
        column of lists); a dict ``{user: [item, …]}``, best first, or ``{user: {item: score}}``;
        or one list per row (a 2-d array, a list of lists).
    truth : frame, dict or lists
        The same forms; ``{user: {item: grade}}`` for graded relevance. If one of the two has one
        list per row, so must the other. A repeated item counts once; grade 0 is not relevant.
    metrics : str, Metric or a sequence of them
        Such as ``"MAP@12"``; ``harness list metrics`` shows all.
    user, item : str
        The names of the columns.
    truth_user, truth_item : str, optional
        The names in the truth, if they are different there.
    rank, score : str, optional
        The column that orders a user's rows: ranks from 1, or scores (highest first, ties by item
        id as text). By default the column ``rank``, else ``score``, else the order of rows. If
        another column may order the rows, a usual name such as ``prediction`` is an error, any
        other name a warning; ``score=False`` confirms the order of rows.
    grade : str, optional
        The column of grades in the truth; by default ``grade``. Another column that may mark items
        as not relevant is an error: one such as ``quantity`` or ``label`` with values of 0 or
        less, or one that has only 0 and 1.
    train : frame or dict, optional
        Training events, for novelty, popularity and serendipity. Their items are the candidates
        for coverage and Gini, unless you give `candidates`.
    candidates : sequence of ids, optional
        The items that may be recommended.
    attributes : frame, optional
        One row per item, with the column `item` and attributes, for ILD.
    per_user : bool
        Return the score of each user instead of the means.

    Returns
    -------
    pandas.Series or pandas.DataFrame
        The mean of each metric; or one row per user, in the order of ids, and one column per
        metric. Its ``attrs`` have the source of the lists' order, and counts of what was left out.

    Raises
    ------
    UsageError
        A metric or form is unknown, a metric needs other data, or a column of numbers may order
        the rows.
    DataError
        Columns or ids are missing, ids are of two types, or ranks or scores cannot be used. The
        message names the table, the column, the row and what to do.

    Examples
    --------
    Hits at ranks 1 and 3 of two true items: AP@3 = (1/1 + 2/3) / 2.

    >>> evaluate({"ann": ["a", "x", "b"]}, {"ann": ["a", "b"]}, "MAP@3").round(4).to_dict()
    {'MAP@3': 0.8333}
    """
    asked = metrics_of(metrics, per_user)
    rows = read_both(
        recommendations,
        truth,
        asked,
        ItemTables(user, item, train, candidates, attributes),
        rank=rank,
        score=score,
        grade=grade,
        truth_user=truth_user,
        truth_item=truth_item,
    )
    values = user_scores(rows.lists.items, rows.judgments, asked)
    import pandas as pd

    result: pd.Series | pd.DataFrame
    if per_user:
        order: Int64 = rows.users.arg_sort().to_numpy()
        index = pd.Index(rows.users.gather(order).to_list(), name="user")
        columns = {str(metric): value[order] for metric, value in values.items()}
        result = pd.DataFrame(columns, index=index)
    else:
        result = pd.Series({str(metric): mean(value) for metric, value in values.items()})
    result.attrs.update(rows.report)
    return result


def conventions(
    recommendations: Any,
    truth: Any,
    k: int,
    *,
    user: str = "user",
    item: str = "item",
    rank: str | None = None,
    score: str | Literal[False] | None = None,
    truth_user: str | None = None,
    truth_item: str | None = None,
) -> pd.DataFrame:
    """Return MAP@k under every convention, and the tools that use it.

    Parameters
    ----------
    recommendations, truth, user, item, rank, score, truth_user, truth_item
        As in `evaluate`.
    k : int
        The cut-off.

    Returns
    -------
    pandas.DataFrame
        One row per convention: its MAP@k (NaN if no user is in its mean), the divisor, how a
        repeated item counts, the users in the mean, and the tools that use it.

    Examples
    --------
    >>> table = conventions({"ann": ["a", "a", "b"]}, {"ann": ["a", "b"]}, k=10)
    >>> table["MAP@10"][["kaggle", "replay"]].round(4).to_dict()
    {'kaggle': 0.8333, 'replay': 1.5}
    """
    import pandas as pd

    metric = parse(f"MAP@{k}")
    rows = read_both(
        recommendations,
        truth,
        (metric,),
        ItemTables(user, item),
        rank=rank,
        score=score,
        grade=None,
        truth_user=truth_user,
        truth_item=truth_item,
        whole=True,
    )
    values = map_by_convention(rows.lists.items, rows.judgments, metric.k or 0)
    used = [CONVENTIONS[name] for name in values]
    columns = {
        str(metric): list(values.values()),
        "divisor": [convention.divisor_text for convention in used],
        "repeats": [convention.repeats_text for convention in used],
        "users": [convention.users for convention in used],
        "tools": [convention.tools for convention in used],
    }
    table = pd.DataFrame(columns, index=pd.Index(values, name="convention"))
    table.attrs.update(rows.report)
    return table


def metrics_of(
    metrics: str | Metric | Sequence[str | Metric],
    per_user: bool = False,
    folder: Path = Path(),
) -> tuple[Metric, ...]:
    """Return the metrics that are asked for, each once; those of one's own from a folder."""
    several = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    several = list(several) if isinstance(several, Iterable) else [several]
    for metric in several:
        if not isinstance(metric, (str, Metric)):
            kind = f"{type(metric).__name__} in {type(metrics).__name__}"
            raise UsageError(f'metrics: found {kind}; give texts, such as ["MAP@12", "NDCG@12"]')
    asked = each_once(m if isinstance(m, Metric) else parse(m, folder) for m in several)
    if not asked:
        raise UsageError('no metric; name one, such as "MAP@12"')
    for metric in asked:
        if per_user and metric.definition.of == "set":
            raise UsageError(
                f"metric {metric} has one value for all lists, none per user; remove it, or use "
                "per_user=False"
            )
    return asked
