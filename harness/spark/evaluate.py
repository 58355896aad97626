"""`harness.evaluate` on Spark DataFrames: whole users in each partition, scored locally."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from harness.core.arrays import Floats
from harness.core.column_names import has_role, order_of
from harness.core.errors import DataError, UsageError
from harness.core.exact_sum import Distinct, Exact, Sums
from harness.metrics import Metric, parse, value_of
from harness.metrics.evaluate import metrics_of
from harness.metrics.inputs import read
from harness.metrics.inputs.beyond import ItemCounts, ItemTables
from harness.metrics.inputs.frame import Table, accept, as_polars, two_columns
from harness.metrics.inputs.order import check_grades
from harness.metrics.scores import sums_of_lists, user_scores
from harness.results.folder import installed_version
from harness.spark.reading import column as column_of
from harness.spark.session import require_pyspark, spark_errors
from harness.spark.transport import Batches, total

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField


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

    Users are spread over the partitions of a shuffle (``spark.sql.shuffle.partitions``); those of
    each must fit in a worker's memory. Only items reach the driver, for metrics beyond accuracy.

    Parameters
    ----------
    predictions, truth : pyspark.sql.DataFrame
        Classic or Connect; long (one row an item) or wide (one row a user, an array of items).
    metrics : str, Metric or a sequence of them
        Such as ``"MAP@12"``; workers must be able to import a function of yours,
        ``module:function``.
    user, item, rank, score, grade, truth_user, truth_item
        As in `harness.evaluate`. Spark keeps no order of rows, so long predictions need a rank or
        a score.
    train : pyspark.sql.DataFrame, optional
        Training events, one row each.
    candidates, attributes, per_user
        As in `harness.evaluate`; attributes may be a Spark DataFrame, too.

    Returns
    -------
    pandas.Series or pyspark.sql.DataFrame
        Metric to mean, with the ``attrs`` of `harness.evaluate`. With `per_user` a column of users
        and one a metric (float64), in no order; it is checked at once, and workers work it out
        whenever you read it.

    Raises
    ------
    UsageError, DataError
        As `harness.evaluate`, naming a row by its user; and what Spark cannot do.

    Examples
    --------
    Hits at ranks 1 and 3 of two true items: AP@3 = (1/1 + 2/3) / 2.

    >>> rows = [("ann", "a", 1), ("ann", "x", 2), ("ann", "b", 3)]  # doctest: +SKIP
    >>> lists = spark.createDataFrame(rows, ["user", "item", "rank"])  # doctest: +SKIP
    >>> truth = lists.where("item in ('a', 'b')").drop("rank")  # doctest: +SKIP
    >>> evaluate(lists, truth, "MAP@3").round(4).to_dict()  # doctest: +SKIP
    {'MAP@3': 0.8333}
    """
    asked = metrics_of(metrics, per_user)
    require_pyspark()
    with spark_errors():
        orders = {"rank": rank, "score": score or None}
        listed = _columns(predictions, "predictions", orders, **read.names_of_lists(user, item))
        names = read.names_of_truth(user, item, truth_user, truth_item)
        true = _columns(truth, "truth", {"grade": grade}, **names)
        if score is False or not (listed.wide or "number" in listed.names):
            raise _without_order(predictions, listed)
        _refuse_kinds(true, listed, "user")
        _refuse_kinds(true, listed, "item")
        if not any(metric.definition.needs for metric in asked):
            train = attributes = None
        if isinstance(attributes, type(truth)):
            attributes = attributes.toArrow()
        tables = ItemTables(
            user=user,
            item=item,
            train=None if train is None else _counted(train, user, item, true),
            candidates=candidates,
            attributes=None if attributes is None else as_polars(attributes, "attributes"),
        )
        scorer = Scorer(installed_version(), tuple(map(str, asked)), listed, true, tables)
        rows, _ = scorer.score(listed, true)  # refuses what is wrong whatever the rows
        both = _sent(predictions, listed).unionByName(_sent(truth, true), allowMissingColumns=True)
        both = both.repartition("user")
        partitions = 1  # without listings all that comes is short
        if rows.no_candidates is not None:
            partitions = int(both.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
        sums = total(both, scorer.sums, partitions)
        seen = read.Seen.of_sums(sums["seen"]) if sums else rows.seen
        read.refuse_seen("predictions", seen)
        items = seen.overlaps["items"]
        if items.is_none:
            # A partition sees only its own true items: is anyone's listed for anybody?
            ids = _ids(predictions, listed, "item"), _ids(truth, true, "item")
            known = ids[0].join(ids[1], "item", "left_semi").limit(1).count()
            items = replace(items, known=known)
            seen = replace(seen, overlaps={**seen.overlaps, "items": items})
        for remark in read.remarks(seen):
            warnings.warn(remark, stacklevel=2)
        if per_user:
            return _of_users(both, scorer, truth.schema[true.names["user"]])
        import pandas as pd

        means = {}
        for metric in asked:
            amount = sums["metrics"][str(metric)]
            of_users = metric.definition.of == "user"
            means[str(metric)] = amount.total / seen.users if of_users else value_of(metric, amount)
        result = pd.Series(means)
        if rows.no_candidates is not None:
            rows = replace(rows, no_candidates=sums["no_candidates"].values)
        result.attrs.update(replace(rows, seen=seen).report)
        return result


def _columns(frame: DataFrame, role: str, numbers: Mapping[str, str | None], **names: Any) -> Table:
    """Return a table without rows of what a DataFrame's columns are for; names as of `accept`."""
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise UsageError(
            f"{role}: found {type(frame).__module__.partition('.')[0]} {type(frame).__name__}; "
            "give a Spark DataFrame, or call harness.evaluate, which takes other forms"
        )
    if len(set(frame.columns)) < len(frame.columns):
        raise two_columns(frame, role)
    empty = pl.DataFrame(schema={field.name: _dtype(field.dataType) for field in frame.schema})
    return accept(empty, role, numbers=numbers, **names)


def _dtype(kind: DataType) -> pl.DataType:
    from pyspark.sql.types import ArrayType, BooleanType, IntegralType, NumericType, StringType

    if isinstance(kind, ArrayType):
        return pl.List(_dtype(kind.elementType))
    for spark, dtype in {
        StringType: pl.String(),
        BooleanType: pl.Boolean(),
        IntegralType: pl.Int64(),
        NumericType: pl.Float64(),
    }.items():
        if isinstance(kind, spark):
            return dtype
    return pl.Binary()


def _without_order(predictions: DataFrame, listed: Table) -> UsageError:
    """Return what to say of long predictions whose rows nothing orders."""
    columns = [name for name in predictions.columns if name not in listed.names.values()]
    orders = [f'{order_of(name)}="{name}"' for name in columns if order_of(name)]
    named = orders or ['rank="…" (1 first)', 'score="…" (highest first)']
    return UsageError(
        "predictions: Spark does not keep the order of rows; name the column that ranks the "
        f"items of a user: {' or '.join(named)}; or give one row per user, with an array of items"
    )


def _kind(table: Table, name: str) -> str:
    """Return Spark's type of ids, text or whole numbers of any width; refuse any other."""
    dtype = table.column(name).dtype
    dtype = getattr(dtype, "inner", dtype)
    if dtype not in (pl.String, pl.Int64):
        raise DataError(
            f"{table.where(name)} holds {dtype} values; ids are text or whole numbers: "
            '.cast("string") or .cast("long") makes them'
        )
    return "string" if dtype == pl.String else "long"


def _refuse_kinds(true: Table, other: Table, name: str) -> None:
    here, there = _kind(other, name), _kind(true, name)
    if here != there:
        raise DataError(
            f"{other.where(name)} holds {here}, {true.where(name)} holds {there}: no id would "
            'match; make both text (.cast("string")) or both whole numbers'
        )


def _ids(frame: DataFrame, table: Table, *names: str) -> DataFrame:
    """Return columns of ids by what they are, items of lists one a row."""
    from pyspark.sql import functions

    cells = {name: column_of(table.names[name]) for name in names}
    if table.wide:
        cells["item"] = functions.explode(cells["item"])
    return frame.select([cells[name].alias(name) for name in names])


def _counted(train: DataFrame, user: str, item: str, true: Table) -> ItemCounts:
    """Return the training events and the users of each item, and how many users there are."""
    from pyspark.sql import functions

    table = _columns(train, "train", {}, user=user, item=item)
    _refuse_kinds(true, table, "item")
    _kind(table, "user")
    events = _ids(train, table, "user", "item")
    counts = events.groupBy("item").agg(
        functions.count(functions.lit(1)).alias("count"),
        functions.countDistinct("user").alias("users"),
        functions.count_if(functions.col("user").isNull()).alias("missing"),
    )
    items = pl.DataFrame(pl.from_arrow(counts.toArrow())).sort("item")
    for name, rows in {"user": items["missing"].sum(), "item": items["item"].null_count()}.items():
        if rows:
            raise DataError(
                f"{table.where(name)}: an id is missing; drop such rows, or give them an id"
            )
    return ItemCounts(items.drop("missing"), events.select("user").distinct().count())


def _sent(frame: DataFrame, table: Table) -> DataFrame:
    """Return the rows that workers need: users, and all else in one struct named by the role."""
    from pyspark.sql import functions

    names = [name for key, name in table.names.items() if key != "user"]
    if table.role == "truth" and not table.wide and "number" not in table.names:
        may_be_grades = pl.selectors.numeric() | pl.selectors.boolean()
        columns = pl.DataFrame(table.frame).select(may_be_grades).columns
        names += [name for name in columns if has_role(name, ("grade",)) and name not in names]
    kinds = {name: _kind(table, name) for name in ("user", "item")}
    cells = {name: column_of(name) for name in names}
    item = table.names["item"]
    cells[item] = cells[item].cast(f"array<{kinds['item']}>" if table.wide else kinds["item"])
    return frame.select(
        column_of(table.names["user"]).cast(kinds["user"]).alias("user"),
        functions.struct([column.alias(name) for name, column in cells.items()]).alias(table.role),
    )


def _received(frame: pl.DataFrame, table: Table) -> Table:
    """Return a table with its rows of those that `_sent` made."""
    rows = frame.filter(pl.col(table.role).is_not_null())
    user = pl.col("user").alias(table.names["user"])
    columns = rows.select(user, pl.col(table.role).struct.unnest())
    return replace(table, frame=columns, place=None)


@dataclass(frozen=True)
class Scorer:
    """What workers do with the rows of whole users; they get it as Spark sends functions."""

    version: str
    metric_names: tuple[str, ...]  # workers import functions of your own by them
    listed: Table  # without rows, as is `true`
    true: Table
    tables: ItemTables  # training events are counted by item

    def score(self, listed: Table, true: Table) -> tuple[read.Rows, dict[str, Floats]]:
        """Return the rows of whole users, and their values of each metric that has some."""
        check_grades(true)
        metrics = tuple(map(parse, self.metric_names))
        rows = read.read_rows(listed, true, metrics, self.tables)
        of_users = [metric for metric in metrics if metric.definition.of == "user"]
        values = user_scores(rows.lists.items, rows.judgments, of_users, threads=1)
        return rows, {str(metric): numbers for metric, numbers in values.items()}

    def _partition(self, batches: Batches) -> Iterator[tuple[read.Rows, dict[str, Floats]]]:
        """Yield what `score` returns of a partition, if it has rows."""
        import pyarrow as pa

        if self.version != installed_version():
            raise UsageError(
                f"a worker has version {installed_version()} of this package, the driver has "
                f"{self.version}; install the same on every worker"
            )
        if rows := list(batches):
            frame = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(rows)))
            yield self.score(_received(frame, self.listed), _received(frame, self.true))

    def sums(self, batches: Batches) -> Iterator[Sums]:
        """Yield what adds up over all partitions."""
        for rows, values in self._partition(batches):
            metrics: dict[str, Any] = {name: Exact.of(value) for name, value in values.items()}
            of_sets = [m for m in map(parse, self.metric_names) if m.definition.of == "set"]
            counts = sums_of_lists(rows.lists.items, rows.judgments, of_sets)
            metrics |= {str(metric): counts[number] for number, metric in enumerate(of_sets)}
            added: dict[str, Any] = {"seen": asdict(rows.seen), "metrics": metrics}
            if rows.no_candidates is not None and rows.judgments.catalogue is not None:
                added["no_candidates"] = Distinct(rows.no_candidates.cast(pl.String))
                candidates = rows.items.filter(pl.Series(rows.judgments.catalogue.candidate))
                by_id = candidates.arg_sort().to_numpy()  # their codes differ by partition
                for metric in of_sets:
                    if metric.definition.needs == "candidates":
                        metrics[str(metric)] = metrics[str(metric)][by_id]
            yield added

    def values(self, batches: Batches) -> Batches:
        """Yield the users of a partition and their values, a column a metric."""
        import pyarrow as pa

        for rows, values in self._partition(batches):
            kind = pa.string() if rows.users.dtype == pl.String else pa.int64()
            users = pa.array(rows.users.to_list(), kind)
            yield pa.RecordBatch.from_pydict({"user": users} | values)


def _of_users(both: DataFrame, scorer: Scorer, user: StructField) -> DataFrame:
    """Return every user's values, which workers work out when they are read."""
    from pyspark.sql.types import StructType

    schema = StructType().add("user", _kind(scorer.true, "user"))
    for name in scorer.metric_names:
        schema.add(name, "double")
    values = both.mapInArrow(scorer.values, schema)
    users = values.withColumn("user", column_of("user").cast(user.dataType))
    return users.withColumnRenamed("user", user.name)
