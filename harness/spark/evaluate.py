"""`harness.evaluate` on Spark DataFrames: whole users in each partition, scored by the local code.

Each partition returns counts and partial sums, which the driver adds up exactly: neither partitions
nor the order of rows change a bit.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from harness.core.column_names import has_role, order_of
from harness.core.errors import DataError, UsageError
from harness.core.exact_sum import exact_sum
from harness.metrics import Metric, value_of
from harness.metrics.evaluate import metrics_of
from harness.metrics.inputs import beyond
from harness.metrics.inputs.beyond import Given, ItemCounts
from harness.metrics.inputs.cells import as_list, ids_of
from harness.metrics.inputs.frame import Table, accept, as_polars, two_columns
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
from harness.spark.remote import column as column_of
from harness.spark.scoring import FACTS, LISTED, Call
from harness.spark.session import installed_version, require_pyspark, spark_errors
from harness.spark.transport import Content, mapped, merged

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

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
    _refuse_without_order(listed, score)
    shared = not (listed.table.wide or true.table.wide)
    with spark_errors():
        for name in ("user", "item"):
            _refuse_kinds(true, listed, name)
        counts = None
        if any(metric.definition.needs for metric in asked):
            if train is not None:
                counts = _counted(side_of(train, "train", {}, user=user, item=item), true)
            if isinstance(attributes, type(truth)):
                attributes = _local(attributes)
            elif attributes is not None:
                attributes = as_polars(attributes, "attributes")
        call = Call(
            version=installed_version(),
            metrics=tuple(map(str, asked)),
            listed=listed.table,
            true=true.table,
            columns={side.table.role: side.columns(shared) for side in (listed, true)},
            given=Given(
                recommendations=None,
                truth=None,
                user=user,
                item=item,
                train=counts,
                candidates=candidates,
                attributes=attributes,
            ),
        )
        call.scored(listed.table, true.table)  # what is wrong whatever the rows is told at once
        both = _both(listed, true, call).repartition("user")
        facts, listings = _summary(both, call)
        seen = _check(facts, listed, true)
        if not per_user:
            return _means(facts, seen, listings, call)
        return _of_users(both, call, true)


@dataclass(frozen=True)
class Side:
    """Lists or truth: the DataFrame, its types, and what columns are for: a table without rows."""

    frame: DataFrame
    schema: pl.Schema
    table: Table

    def kind(self, name: str) -> str:
        """Return what the ids of a column are, in words; raise DataError over any other."""
        column = self.table.names[name]
        dtype: Any = self.schema[column]
        dtype = getattr(dtype, "inner", dtype)
        if dtype == pl.String:
            return "text"
        if dtype.is_integer():
            return "whole numbers"
        raise DataError(
            f"{self.table.where(name)} holds {self.frame.schema[column].dataType.simpleString()} "
            'values; ids are text or whole numbers (.cast("string") or .cast("bigint") makes them)'
        )

    def type(self, name: str) -> str:
        """Return the type that ids of a column are sent as: whole numbers of any width alike."""
        kind = "string" if self.kind(name) == "text" else "bigint"
        return f"array<{kind}>" if name == "item" and self.table.wide else kind

    def columns(self, shared: bool) -> dict[str, str]:
        """Return what columns are called on their way; long sides share the column of items."""
        names, role = self.table.names, self.table.role
        columns = {names["user"]: "user", names["item"]: "item" if shared else f"{role} item"}
        if "number" in names:
            columns[names["number"]] = f"{role} number"
        elif role == "truth" and not self.table.wide:
            for name, dtype in self.schema.items():
                is_number = dtype.is_numeric() or dtype == pl.Boolean
                if name not in columns and has_role(name, ("grade",)) and is_number:
                    columns[name] = f"{role} {name}"
        return columns

    def cells(self, name: str) -> Any:
        """Return the ids of a column as a column of Spark's, items of lists one a row."""
        from pyspark.sql import functions

        cells = column_of(self.table.names[name])
        return functions.explode(cells) if self.table.wide and name == "item" else cells


def side_of(frame: DataFrame, role: str, numbers: Mapping[str, str | None], **names: Any) -> Side:
    """Return a DataFrame with what its columns are for, by the names that `accept` takes."""
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise UsageError(
            f"{role}: found {type(frame).__module__.partition('.')[0]} {type(frame).__name__}; "
            "give a Spark DataFrame, or call harness.evaluate, which takes other forms"
        )
    with spark_errors():
        columns = frame.schema.fields
    if len({column.name for column in columns}) < len(columns):
        raise two_columns(frame, role)
    empty = pl.DataFrame(schema={column.name: _dtype(column.dataType) for column in columns})
    return Side(frame, empty.schema, accept(empty, role, numbers=numbers, **names))


def _dtype(type_: DataType) -> pl.DataType:
    """Return what stands for a type of Spark, as far as ids and numbers go."""
    name = type_.typeName()
    if name == "array":
        return pl.List(_dtype(type_.elementType))  # type: ignore[attr-defined,unused-ignore]
    return _DTYPES.get(name, pl.Binary())


_DTYPES: Mapping[str, pl.DataType] = {
    **dict.fromkeys(("string", "varchar", "char"), pl.String()),
    **dict.fromkeys(("byte", "short", "integer", "long"), pl.Int64()),
    **dict.fromkeys(("float", "double", "decimal"), pl.Float64()),
    "boolean": pl.Boolean(),
}


def _refuse_without_order(listed: Side, score: str | Literal[False] | None) -> None:
    """Raise UsageError where nothing orders the rows of long predictions."""
    table = listed.table
    if score is not False and (table.wide or "number" in table.names):
        return
    ids = table.names["user"], table.names["item"]
    orders = [f'{order_of(n)}="{n}"' for n in listed.schema if n not in ids and order_of(n)]
    named = orders or ['rank="…" (1 first)', 'score="…" (highest first)']
    raise UsageError(
        "predictions: Spark keeps no order of rows; name the column that orders those of a user: "
        f"{' or '.join(named)}; or give one row a user, with an array of items"
    )


def _refuse_kinds(true: Side, other: Side, name: str) -> None:
    """Raise DataError where two sides have ids of different kinds."""
    kinds = true.kind(name), other.kind(name)
    if kinds[0] != kinds[1]:
        raise DataError(
            f"{other.table.where(name)} holds {kinds[1]}, {true.table.where(name)} holds "
            f'{kinds[0]}: no id would match; make both text (.cast("string")) or both whole numbers'
        )


def _local(frame: DataFrame) -> pl.DataFrame:
    """Return the rows of a small DataFrame."""
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


def _counted(train: Side, true: Side) -> ItemCounts:
    """Return the training events and the users of each item, and how many users there are."""
    from pyspark.sql import functions

    _refuse_kinds(true, train, "item")
    train.kind("user")
    events = train.frame.select(
        train.cells("user").alias("user"), train.cells("item").alias("item")
    )
    counts = _local(
        events.groupBy("item").agg(
            functions.count(functions.lit(1)).alias("count"),
            functions.countDistinct("user").alias("users"),
            functions.count_if(functions.col("user").isNull()).alias("missing"),
        )
    )
    missing = {"user": counts["missing"].sum(), "item": counts["item"].null_count()}
    for name, rows in missing.items():
        if rows:
            raise DataError(
                f"{train.table.where(name)}: an id is missing; drop such rows, or give them an id"
            )
    users = events.select("user").distinct().count()
    return ItemCounts(counts.select("item", "count", "users").sort("item"), users)


def _both(listed: Side, true: Side, call: Call) -> DataFrame:
    """Return what is sent of both sides."""
    from pyspark.sql import functions

    frames = []
    for side in (listed, true):
        types = {side.table.names[name]: side.type(name) for name in ("user", "item")}
        columns = [functions.lit(side is listed).alias("listed")]
        for name, sent in call.columns[side.table.role].items():
            cells = column_of(name)
            columns.append((cells.cast(types[name]) if name in types else cells).alias(sent))
        frames.append(side.frame.select(columns))
    return frames[0].unionByName(frames[1], allowMissingColumns=True)


def _summary(both: DataFrame, call: Call) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return what `scoring.summary` tells of all partitions: counts and sums, and listings."""
    partitions = both.sparkSession.conf.get("spark.sql.shuffle.partitions")
    count = int(partitions or 1) if call.cuts else 1  # without listings all that comes is short
    content = merged(mapped(both, partial(scoring.summary, call)), count, _together)
    if not content:
        raise DataError("truth: there are no rows, so there is nobody to evaluate")
    return reduce(_added, map(json.loads, content[FACTS])), content[LISTED]


def _together(first: Content, second: Content) -> Content:
    """Return two summaries as one."""
    listed = pl.concat([first[LISTED], second[LISTED]]).group_by("item", "cut").agg(pl.sum("times"))
    return {FACTS: pl.concat([first[FACTS], second[FACTS]]), LISTED: listed}


def _added(first: Any, second: Any) -> Any:
    """Return facts of two partitions as one: numbers and lists add up, of texts the first stays."""
    if isinstance(first, dict):
        return {key: _added(first.get(key), second.get(key)) for key in {**first, **second}}
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, bool):
        return first or second
    return min(first, second) if isinstance(first, str) else first + second


def _check(facts: Mapping[str, Any], listed: Side, true: Side) -> Seen:
    """Refuse, or warn of, what is wrong with all rows together, as `harness.evaluate` does."""
    examples = {what: min(ids) for what, ids in facts["seen"]["examples"].items()}
    seen = Seen(**facts["seen"] | {"examples": examples})
    refuse_strangers("predictions", seen)
    for role, written in facts["texts"].items():
        refuse_written_lists(role, None if written is None else Texts(**written))
    if not seen.known_items and "strange item" in seen.examples:
        # A partition sees only its own true items: is anyone's listed for anybody?
        ids = [side.frame.select(side.cells("item").alias("id")) for side in (listed, true)]
        seen = replace(seen, known_items=not ids[0].join(ids[1], "id", "left_semi").isEmpty())
    texts = remarks(seen)
    for role, pairs in facts["strangers"].items():
        if None not in pairs:
            here, there = min(pairs)
            texts.append(beyond.of_strangers(role, here, there))
    for text in texts:
        warnings.warn(text, stacklevel=_CALLER)
    return seen


def _means(facts: Mapping[str, Any], seen: Seen, listings: pl.DataFrame, call: Call) -> pd.Series:
    import pandas as pd

    report = report_of(seen, facts["order"])
    exposure = []
    if call.cuts:
        candidates = call.given.candidates
        if candidates is None:
            ids = call.given.train.items["item"]
        else:
            ids = ids_of(as_list(candidates), "candidates").unique()
        inside = pl.col("item").is_in(ids.cast(pl.String).implode())
        for cut in range(len(call.cuts)):
            rows = listings.filter(inside, cut=cut)["times"]
            exposure.append(np.zeros(len(ids), np.int64))
            exposure[-1][: len(rows)] = rows
        report["items_no_candidates"] = len(listings.filter(~inside, cut=len(call.cuts) - 1))
    means: dict[str, float] = {}
    for metric in call.asked:
        name = str(metric)
        if metric.definition.of == "user":
            means[name] = exact_sum(np.array(facts["sums"][name])) / seen.users
        elif metric.definition.needs:
            means[name] = value_of(metric, exposure[call.cuts.index(metric.k)])
        else:
            means[name] = value_of(metric, np.sum(facts["counts"][name], axis=0))
    result = pd.Series(means)
    result.attrs.update(report)
    return result


def _of_users(both: DataFrame, call: Call, true: Side) -> DataFrame:
    """Return every user's values, which workers work out when they are read."""
    names = [f"m{number}" for number in range(len(call.metrics))]
    schema = ", ".join([f"user {true.type('user')}", *(f"{name} double" for name in names)])
    values = both.mapInArrow(partial(scoring.values, call), schema)
    user = true.table.names["user"]
    users = column_of("user").cast(true.frame.schema[user].dataType).alias(user)
    metrics = zip(names, call.metrics, strict=True)
    return values.select(users, *(column_of(name).alias(metric) for name, metric in metrics))
