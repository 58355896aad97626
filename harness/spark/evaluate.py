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
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import polars as pl

from harness.core.arrays import Floats, Int64
from harness.core.column_names import has_role, order_of
from harness.core.errors import DataError, UsageError
from harness.core.exact_sum import exact_sum
from harness.metrics import Metric, value_of
from harness.metrics.evaluate import metrics_of
from harness.metrics.inputs import beyond
from harness.metrics.inputs.cells import as_list, ids_of
from harness.metrics.inputs.codes import Coder
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
from harness.spark.scoring import ATTRIBUTES, CANDIDATES, TRAIN, Call, Sent
from harness.spark.session import installed_version, require_pyspark, spark_errors
from harness.spark.transport import error_of, pack, unpack

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

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
    _refuse_without_order(listed, score)
    shared = not (listed.table.wide or true.table.wide)
    with spark_errors():
        for name in ("user", "item"):
            _refuse_kinds(true, listed, name)
        tables, train_users = dict[str, Any](), 0
        if any(metric.definition.needs for metric in asked):
            if train is not None:
                events = side_of(train, "train", {}, user=user, item=item)
                tables[TRAIN], train_users = _counted(events, true)
            if candidates is not None:
                tables[CANDIDATES] = _candidates(candidates)
            if attributes is not None:
                tables[ATTRIBUTES] = _attributes(attributes)
        call = Call(
            version=installed_version(),
            metrics=tuple(map(str, asked)),
            listed=listed.sent(shared),
            true=true.sent(shared),
            user=user,
            item=item,
            tables=pack(tables),
            train_users=train_users,
        )
        call.scored(listed.empty, true.empty)  # what is wrong whatever the rows is told at once
        both = listed.select(call.listed, True).unionByName(
            true.select(call.true, False), allowMissingColumns=True
        )
        both = both.repartition("user")
        summary = _summary(both, call)
        _check(summary, listed, true, _CALLER)
        if not per_user:
            return _means(summary, call)
        return _of_users(both, call, true)


@dataclass(frozen=True)
class Side:
    """Lists or truth: the DataFrame, and what its columns are for: a table without rows."""

    frame: DataFrame
    table: Table

    @property
    def empty(self) -> pl.DataFrame:
        """A frame of its columns, without rows."""
        frame: Any = self.table.frame
        return pl.DataFrame(frame)

    def kind(self, name: str) -> str:
        """Return what the ids of a column are, in words; raise DataError over any other."""
        column = self.table.names[name]
        dtype: Any = self.empty.schema[column]
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

    def sent(self, shared: bool) -> Sent:
        """Return what workers get; where both sides are long they share the column of items."""
        names, role = self.table.names, self.table.role
        columns = {names["user"]: "user", names["item"]: "item" if shared else f"{role} item"}
        if "number" in names:
            columns[names["number"]] = f"{role} number"
        elif role == "truth" and not self.table.wide:
            for name, dtype in self.empty.schema.items():
                is_number = dtype.is_numeric() or dtype == pl.Boolean
                if name not in columns and has_role(name, ("grade",)) and is_number:
                    columns[name] = f"{role} {name}"
        return Sent(role=role, names=names, meaning=self.table.meaning, columns=columns)

    def select(self, sent: Sent, listed: bool) -> DataFrame:
        """Return the columns that are sent."""
        from pyspark.sql import functions

        types = {self.table.names[name]: self.type(name) for name in ("user", "item")}
        columns = [functions.lit(listed).alias("listed")]
        for name, wire in sent.columns.items():
            cells = column_of(name)
            columns.append((cells.cast(types[name]) if name in types else cells).alias(wire))
        return self.frame.select(columns)

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
    return Side(frame, accept(empty, role, numbers=numbers, **names))


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
    orders = [f'{order_of(n)}="{n}"' for n in listed.empty.columns if n not in ids and order_of(n)]
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


def _counted(train: Side, true: Side) -> tuple[pl.DataFrame, int]:
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
    return counts.select("item", "count", "users").sort("item"), users


def _candidates(candidates: Any) -> pl.Series:
    cells = None if isinstance(candidates, (Mapping, str, bytes)) else as_list(candidates)
    if not isinstance(cells, list):
        raise UsageError(f"candidates: found {type(candidates).__name__}; give a list of item ids")
    ids = ids_of(cells, "candidates")
    return ids.cast(pl.Int64) if ids.dtype == pl.Int128 else ids


def _attributes(attributes: Any) -> pl.DataFrame:
    from pyspark.sql import DataFrame

    if isinstance(attributes, DataFrame):
        return _local(attributes)
    return as_polars(attributes, "attributes")


@dataclass(frozen=True, eq=False)
class _Summary:
    """What `Scored.summary` and `Scored.listed` of all partitions tell, added up."""

    seen: Seen
    texts: tuple[Texts | None, Texts | None]
    order: str
    sums: Sequence[Floats]
    counts: Sequence[Int64]
    strangers: beyond.Strangers
    listed: pl.DataFrame


def _summary(both: DataFrame, call: Call) -> _Summary:
    """Return what the partitions tell, added up; raise what the first of them refuses."""
    from pyspark.sql import functions

    partitions = both.mapInArrow(partial(scoring.summary, call), scoring.SUMMARY)
    if call.cuts:
        partitions = partitions.groupBy("item", "cut").agg(
            functions.sum("listed").alias("listed"),
            functions.collect_list("summary").alias("summary"),
        )
    rows = _local(partitions)
    of_partitions = rows.filter(pl.col("item").is_null())["summary"]
    texts = of_partitions.explode() if call.cuts else of_partitions
    parts = [json.loads(text) for text in texts]
    refused = sorted(part["error"] for part in parts if "error" in part)
    if refused:
        raise error_of(*refused[0])
    if not parts:
        raise DataError("truth: there are no rows, so there is nobody to evaluate")
    listed, true = (
        _added([Texts(**part["texts"][side]) for part in parts if part["texts"][side]])
        for side in (0, 1)
    )
    seen = _added([Seen(**part["seen"]) for part in parts])
    assert seen is not None  # noqa: S101
    sums = zip(*(part["sums"] for part in parts), strict=True)
    counts = zip(*(part["counts"] for part in parts), strict=True)
    return _Summary(
        seen=seen,
        texts=(listed, true),
        order=parts[0]["order"],
        sums=[np.concatenate(partials) for partials in sums],
        counts=[np.sum(arrays, axis=0) for arrays in counts],
        strangers=_strangers([part["strangers"] for part in parts]),
        listed=rows.drop_nulls("item"),
    )


def _added(parts: Sequence[Counted]) -> Counted | None:
    """Return counts of parts of the users as one: numbers added up, examples the first in order."""
    return reduce(_sum, parts) if parts else None


def _sum(first: Counted, second: Counted) -> Counted:
    def both(a: Any, b: Any) -> Any:
        if isinstance(a, bool):
            return a or b
        if isinstance(a, int):
            return a + b
        if isinstance(a, dict):
            return {key: min(side[key] for side in (a, b) if key in side) for key in {**a, **b}}
        return min((text for text in (a, b) if text is not None), default=None)

    names = [field.name for field in fields(first)]
    sums = {name: both(getattr(first, name), getattr(second, name)) for name in names}
    return replace(first, **sums)


def _strangers(parts: Sequence[beyond.Strangers]) -> beyond.Strangers:
    """Return which tables of items have none that any partition knows."""
    pairs: dict[str, list[Any]] = {}
    for part in parts:
        for role, pair in part.items():
            pairs.setdefault(role, []).append(pair)
    return {
        role: None if None in met else min(map(tuple, filter(None, met)))
        for role, met in pairs.items()
    }


def _check(summary: _Summary, listed: Side, true: Side, caller: int) -> None:
    """Refuse, or warn of, what is wrong with all rows together, as `harness.evaluate` does."""
    seen = summary.seen
    refuse_strangers("predictions", seen)
    for side, texts in zip((listed, true), summary.texts, strict=True):
        refuse_written_lists(side.table.role, texts)
    if not seen.known_items and "strange item" in seen.examples:
        # A partition sees only its own true items: is anyone's listed for anybody?
        ids = [side.frame.select(side.cells("item").alias("id")) for side in (listed, true)]
        seen = replace(seen, known_items=not ids[0].join(ids[1], "id", "left_semi").isEmpty())
    unknown = [
        beyond.of_strangers(role, here=pair[0], there=pair[1])
        for role, pair in summary.strangers.items()
        if pair is not None
    ]
    for text in (*remarks(seen), *unknown):
        warnings.warn(text, stacklevel=caller)


def _means(summary: _Summary, call: Call) -> pd.Series:
    import pandas as pd

    sums, counts = iter(summary.sums), iter(summary.counts)
    means: dict[str, float] = {}
    report = report_of(summary.seen, summary.order)
    for metric in call.asked:
        if metric.definition.of == "user":
            means[str(metric)] = exact_sum(next(sums)) / summary.seen.users
        elif metric.definition.needs:
            listings, _ = _of_candidates(summary, call, call.cuts.index(metric.k))
            means[str(metric)] = value_of(metric, listings)
        else:
            means[str(metric)] = value_of(metric, next(counts))
    if call.cuts:
        report["items_no_candidates"] = _of_candidates(summary, call, len(call.cuts) - 1)[1]
    result = pd.Series(means)
    result.attrs.update(report)
    return result


def _of_candidates(summary: _Summary, call: Call, cut: int) -> tuple[Int64, int]:
    """Return each candidate's listings at a cut-off, and how many listed items are none."""
    tables = unpack(call.tables)
    candidates = tables[CANDIDATES] if CANDIDATES in tables else tables[TRAIN]["item"]
    coder = Coder()
    coder.codes(candidates, "candidates")
    listings = np.zeros(len(coder), np.int64)
    rows = summary.listed.filter(pl.col("cut") == cut)
    codes = coder.codes(rows["item"].cast(candidates.dtype), "predictions")
    inside = codes < len(listings)
    listings[codes[inside]] = rows["listed"].to_numpy()[inside]
    return listings, int(np.count_nonzero(~inside))


def _of_users(both: DataFrame, call: Call, true: Side) -> DataFrame:
    """Return every user's values, which workers work out when they are read."""
    names = [f"m{number}" for number in range(len(call.asked))]
    schema = ", ".join([f"user {true.type('user')}", *(f"{name} double" for name in names)])
    values = both.mapInArrow(partial(scoring.values, call), schema)
    user = true.table.names["user"]
    users = column_of("user").cast(true.frame.schema[user].dataType).alias(user)
    metrics = zip(names, call.asked, strict=True)
    return values.select(users, *(column_of(n).alias(str(metric)) for n, metric in metrics))
