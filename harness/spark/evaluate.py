"""`harness.evaluate` on Spark DataFrames: whole users in each partition, scored by the local code.

Each partition returns counts and partial sums, which the driver adds up exactly: neither partitions
nor the order of rows change a bit.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import polars as pl

from harness.core import errors
from harness.core.arrays import Int64
from harness.core.errors import DataError, UsageError
from harness.core.exact_sum import exact_sum
from harness.metrics import Metric, value_of
from harness.metrics.evaluate import metrics_of
from harness.metrics.inputs import beyond
from harness.metrics.inputs.cells import as_list, ids_of
from harness.metrics.inputs.codes import Coder
from harness.metrics.inputs.frame import as_polars
from harness.metrics.inputs.read import (
    Seen,
    Texts,
    names_of_lists,
    names_of_truth,
    refuse_strangers,
    refuse_written_lists,
    remarks,
    report_of,
)
from harness.spark import scoring
from harness.spark.failures import own_version, spark_errors
from harness.spark.scoring import Call, Items, read, written
from harness.spark.session import require_pyspark
from harness.spark.tables import (
    Side,
    local,
    quoted,
    refuse_kinds,
    refuse_without_order,
    side_of,
)

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

Counted = TypeVar("Counted", Seen, Texts)

_CALLER = 3
"""How far up the person's own line is, for warnings."""


def evaluate(
    predictions: DataFrame,
    truth: DataFrame,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    user: str = "user",
    item: str = "item",
    rank: str | None = None,
    score: str | Literal[False] | None = None,
    grade: str | None = None,
    truth_user: str | None = None,
    truth_item: str | None = None,
    train: DataFrame | None = None,
    candidates: Any = None,
    attributes: Any = None,
    per_user: bool = False,
) -> pd.Series | DataFrame:
    """Score lists against the truth, as `harness.evaluate` does, to the same last bit.

    Users are spread over the partitions of a shuffle (``spark.sql.shuffle.partitions``), and those
    of each must fit in a worker's memory. Nothing of the size of users reaches the driver; what is
    of the size of items does, where metrics beyond accuracy are asked for.

    Parameters
    ----------
    predictions, truth : pyspark.sql.DataFrame
        Classic or Connect; long (one row an item) or wide (one row a user, an array of items).
    metrics : str, Metric or a sequence of them
        Such as ``"MAP@12"``; a function of one's own, ``module:function``, must be a module that
        workers can import.
    user, item, rank, score, grade, truth_user, truth_item
        As in `harness.evaluate`. Spark keeps no order of rows, so long predictions need a rank or
        a score.
    train : pyspark.sql.DataFrame, optional
        Training events, one row each.
    candidates : sequence of ids, optional
    attributes : frame, optional
        One row an item; Spark's, or any that `harness.evaluate` takes.
    per_user : bool
        Return every user's values instead of the means.

    Returns
    -------
    pandas.Series or pyspark.sql.DataFrame
        Metric to mean, whose ``attrs`` are those of `harness.evaluate`. With `per_user` a column of
        users and one a metric (float64), in no order; it is checked at once, and worked out again
        by the workers whenever it is read.

    Raises
    ------
    UsageError, DataError
        As `harness.evaluate`; a row is named by its user. And what Spark cannot do.

    Examples
    --------
    Hits at ranks 1 and 3 of two true items: AP@3 = (1/1 + 2/3) / 2.

    >>> rows = [("ann", "a", 1), ("ann", "x", 2), ("ann", "b", 3)]  # doctest: +SKIP
    >>> lists = spark.createDataFrame(rows, ["user", "item", "rank"])  # doctest: +SKIP
    >>> true = spark.createDataFrame([("ann", "a"), ("ann", "b")], ["user", "item"])
    ... # doctest: +SKIP
    >>> evaluate(lists, true, "MAP@3").round(4).to_dict()  # doctest: +SKIP
    {'MAP@3': 0.8333}
    """
    asked = metrics_of(metrics, per_user)
    require_pyspark()
    orders = {"rank": rank, "score": score or None}
    listed = side_of(predictions, "predictions", orders, **names_of_lists(user, item))
    names = names_of_truth(user, item, truth_user, truth_item)
    true = side_of(truth, "truth", {"grade": grade}, **names)
    refuse_without_order(listed, score)
    shared = not (listed.table.wide or true.table.wide)
    with spark_errors():
        for name in ("user", "item"):
            refuse_kinds(true, listed, name)
        items = _items_of(train, candidates, attributes, asked, true, user, item)
        sent = listed.sent(shared), true.sent(shared)
        call = Call(own_version(), tuple(map(str, asked)), *sent, items)
        call.scored(listed.empty, true.empty)  # what is wrong whatever the rows is told at once
        both = listed.select(call.listed, True).unionByName(
            true.select(call.true, False), allowMissingColumns=True
        )
        both = both.repartition("user")
        found = _found(both, call)
        _check(found, listed, true, _CALLER)
        if not per_user:
            return _means(found, call)
        return _of_users(both, call, true)


def _items_of(
    train: Any,
    candidates: Any,
    attributes: Any,
    asked: Sequence[Metric],
    true: Side,
    user: str,
    item: str,
) -> Items:
    """Return what the metrics that are asked for need to know of the items."""
    if not any(metric.definition.needs for metric in asked):
        return Items(user, item)
    counted: tuple[bytes | None, int] = (None, 0)
    if train is not None:
        counted = _counted(side_of(train, "train", {}, user=user, item=item), true)
    chosen = None if candidates is None else _candidates(candidates)
    table = None if attributes is None else written(_attributes(attributes))
    return Items(user, item, *counted, chosen, table)


def _counted(train: Side, true: Side) -> tuple[bytes, int]:
    """Return the training events and the users of each item, and how many users there are."""
    from pyspark.sql import functions

    refuse_kinds(true, train, "item")
    train.kind("user")
    user, item = (quoted(train.table.names[name]) for name in ("user", "item"))
    cells = functions.explode(functions.col(item)) if train.table.wide else functions.col(item)
    events = train.frame.select(functions.col(user).alias("user"), cells.alias("item"))
    sums = (
        functions.count(functions.lit(1)),
        functions.countDistinct("user"),
        functions.count_if(functions.col("user").isNull()),
    )
    named = [s.alias(name) for s, name in zip(sums, ("count", "users", "missing"), strict=True)]
    counts = local(events.groupBy("item").agg(*named))
    for name, missing in (
        ("user", counts["missing"].sum()),
        ("item", counts["item"].null_count()),
    ):
        if missing:
            raise DataError(
                f"{train.table.where(name)}: an id is missing; drop such rows, or give them an id"
            )
    users = events.select("user").distinct().count()
    return written(counts.select("item", "count", "users").sort("item")), users


def _candidates(given: Any) -> bytes:
    cells = None if isinstance(given, (Mapping, str, bytes)) else as_list(given)
    if not isinstance(cells, list):
        raise UsageError(f"candidates: found {type(given).__name__}; give a list of item ids")
    ids = ids_of(cells, "candidates").alias("item")
    return written(ids.to_frame().cast({pl.Int128: pl.Int64}))


def _attributes(given: Any) -> pl.DataFrame:
    from pyspark.sql import DataFrame

    return local(given) if isinstance(given, DataFrame) else as_polars(given, "attributes")


@dataclass(frozen=True, eq=False)
class _Found:
    """What all partitions tell, added up.

    Attributes
    ----------
    texts : of the lists and of the truth
    sums : list of lists of float
        The numbers whose exact sum is that of all users' values, a metric of users each.
    counts : list of int64 arrays
        Of metrics of all lists, which need no candidates.
    listed : polars.DataFrame
        Columns item (as text), at (the place of a cut-off in `Call.cuts`) and listed.
    """

    seen: Seen
    texts: tuple[Texts | None, Texts | None]
    order: str
    sums: Sequence[Sequence[float]]
    counts: Sequence[Int64]
    strangers: beyond.Strangers
    listed: pl.DataFrame


def _found(both: DataFrame, call: Call) -> _Found:
    """Return what the partitions tell."""
    told, listed = _summaries(both, call)
    refused = sorted(part["error"] for part in told if "error" in part)
    if refused:
        kind, text = refused[0]
        raise getattr(errors, kind)(text)
    if not told:
        raise DataError("truth: there are no rows, so there is nobody to evaluate")
    one, other = (
        _added([Texts(**part["texts"][side]) for part in told if part["texts"][side]])
        for side in (0, 1)
    )
    seen = _added([Seen(**part["seen"]) for part in told])
    assert seen is not None  # noqa: S101
    return _Found(
        seen,
        (one, other),
        told[0]["order"],
        [list(chain(*of)) for of in zip(*(part["sums"] for part in told), strict=True)],
        [np.sum(of, axis=0) for of in zip(*(part["counts"] for part in told), strict=True)],
        _strangers([part["strangers"] for part in told]),
        listed,
    )


def _summaries(both: DataFrame, call: Call) -> tuple[list[dict[str, Any]], pl.DataFrame]:
    """Return what each partition tells, and how often each item is listed."""
    from pyspark.sql import functions

    parts = both.mapInArrow(partial(scoring.summary, call), scoring.SUMMARY)
    if not call.cuts:
        rows = local(parts)
        return [json.loads(text) for text in rows["told"]], rows
    sums = functions.sum("listed").alias("listed"), functions.collect_list("told").alias("told")
    rows = local(parts.groupBy("item", "at").agg(*sums))
    of_parts, of_items = rows.filter(pl.col("item").is_null()), rows.drop_nulls("item")
    return [json.loads(text) for text in of_parts["told"].explode()], of_items


def _added(parts: Sequence[Counted]) -> Counted | None:
    """Return counts of parts of the users as one: numbers added up, examples the first in order."""
    return reduce(_sum, parts) if parts else None


def _sum(one: Counted, other: Counted) -> Counted:
    def both(a: Any, b: Any) -> Any:
        if isinstance(a, bool):
            return a or b
        if isinstance(a, int):
            return a + b
        if isinstance(a, dict):
            return {key: min(of[key] for of in (a, b) if key in of) for key in {**a, **b}}
        return min((text for text in (a, b) if text is not None), default=None)

    names = [field.name for field in fields(one)]
    return replace(one, **{name: both(getattr(one, name), getattr(other, name)) for name in names})


def _strangers(parts: Sequence[beyond.Strangers]) -> beyond.Strangers:
    """Return which tables of items have none that any partition knows."""
    of = {role: [part[role] for part in parts if role in part] for part in parts for role in part}
    return {
        role: None if None in found else min(map(tuple, filter(None, found)))
        for role, found in of.items()
    }


def _check(found: _Found, listed: Side, true: Side, caller: int) -> None:
    """Refuse, or warn of, what is wrong with all rows together, as `harness.evaluate` does."""
    seen = found.seen
    refuse_strangers("predictions", seen)
    for side, texts in zip((listed, true), found.texts, strict=True):
        refuse_written_lists(side.table.role, texts)
    if not seen.known_items and "strange item" in seen.examples:
        # A partition sees only its own true items: is anyone's listed for anybody?
        common = listed.ids("item").join(true.ids("item"), "id", "left_semi")
        seen = replace(seen, known_items=not common.isEmpty())
    of_items = [
        beyond.of_strangers(role, *ids) for role, ids in found.strangers.items() if ids is not None
    ]
    for text in (*remarks(seen), *of_items):
        warnings.warn(text, stacklevel=caller)


def _means(found: _Found, call: Call) -> pd.Series:
    import pandas as pd

    asked, users = call.asked, found.seen.users
    sums, counts = iter(found.sums), iter(found.counts)
    means: dict[str, float] = {}
    report = report_of(found.seen, found.order)
    for metric in asked:
        if metric.definition.of == "user":
            means[str(metric)] = exact_sum(np.array(next(sums))) / users
        elif metric.definition.needs:
            listings, _ = _of_candidates(found, call, call.cuts.index(metric.k))
            means[str(metric)] = value_of(metric, listings)
        else:
            means[str(metric)] = value_of(metric, next(counts))
    if call.cuts:
        report["items_no_candidates"] = _of_candidates(found, call, len(call.cuts) - 1)[1]
    result = pd.Series(means)
    result.attrs.update(report)
    return result


def _of_candidates(found: _Found, call: Call, at: int) -> tuple[Int64, int]:
    """Return each candidate's listings at a cut-off, and how many listed items are none."""
    given = call.items.candidates or call.items.train
    assert given is not None  # noqa: S101
    candidates = read(given)["item"]
    coder = Coder()
    coder.codes(candidates, "candidates")
    listings = np.zeros(len(coder), np.int64)
    rows = found.listed.filter(pl.col("at") == at)
    codes = coder.codes(rows["item"].cast(candidates.dtype), "predictions")
    inside = codes < len(listings)
    listings[codes[inside]] = rows["listed"].to_numpy()[inside]
    return listings, int(np.count_nonzero(~inside))


def _of_users(both: DataFrame, call: Call, true: Side) -> DataFrame:
    """Return every user's values, which workers work out when they are read."""
    from pyspark.sql import functions

    names = [f"m{at}" for at in range(len(call.asked))]
    schema = ", ".join([f"user {true.type('user')}", *(f"{name} double" for name in names)])
    found = both.mapInArrow(partial(scoring.values, call), schema)
    column = true.table.names["user"]
    users = functions.col("user").cast(true.frame.schema[column].dataType).alias(column)
    values = (functions.col(n).alias(str(m)) for n, m in zip(names, call.asked, strict=True))
    return found.select(users, *values)
