"""`harness.evaluate` on Spark DataFrames: whole users in each partition, scored by the local code.

Each partition returns counts and partial sums, which the driver adds up exactly: neither partitions
nor the order of rows change a bit.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Floats
from harness.core.column_names import has_role, order_of
from harness.core.errors import DataError, UsageError
from harness.core.exact_sum import exact_sum, partials
from harness.metrics import Judgments, Metric, parse, value_of
from harness.metrics.evaluate import metrics_of
from harness.metrics.inputs import beyond
from harness.metrics.inputs.beyond import Given, ItemCounts, Strangers
from harness.metrics.inputs.cells import as_list, ids_of
from harness.metrics.inputs.frame import Table, accept, as_polars, two_columns
from harness.metrics.inputs.order import check_grades
from harness.metrics.inputs.read import (
    Rows,
    Seen,
    Texts,
    longest_of,
    names_of_lists,
    names_of_truth,
    read_rows,
    refuse_strangers,
    refuse_written_lists,
    remarks,
    report_of,
)
from harness.metrics.scores import sums_of_lists, user_scores
from harness.spark.reading import column as column_of
from harness.spark.session import installed_version, require_pyspark, spark_errors
from harness.spark.transport import Batches, Content, mapped, merged, to_rows

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

_CALLER = 3
"""How far up the person's own line is, for warnings."""
_FACTS, _LISTED = "facts", "listed"
"""What partitions return: counts and sums as JSON, and how often items are listed."""


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
    with spark_errors():
        orders = {"rank": rank, "score": score or None}
        listed = _side(predictions, "predictions", orders, **names_of_lists(user, item))
        names = names_of_truth(user, item, truth_user, truth_item)
        true = _side(truth, "truth", {"grade": grade}, **names)
        _refuse_without_order(listed, score)
        for name in ("user", "item"):
            _refuse_kinds(true, listed, name)
        counts = items = None
        if any(metric.definition.needs for metric in asked):
            if train is not None:
                counts = _counted(_side(train, "train", {}, user=user, item=item), true)
            if attributes is not None:
                is_spark = isinstance(attributes, type(truth))
                items = as_polars(attributes.toArrow() if is_spark else attributes, "attributes")
        call = Call(
            version=installed_version(),
            metric_names=tuple(map(str, asked)),
            listed=listed.table,
            true=true.table,
            inputs=Given(
                None, None, user, item, train=counts, candidates=candidates, attributes=items
            ),
        )
        call.scored(listed.table, true.table)  # what is wrong whatever the rows is told at once
        both = listed.sent().unionByName(true.sent(), allowMissingColumns=True).repartition("user")
        facts, listings = _summary(both, call)
        seen = _check(facts, listed, true)
        if per_user:
            return _of_users(both, call, true)
        return _means(facts, seen, listings, call)


class _Side(NamedTuple):
    """Lists, truth or training events: a DataFrame, and a table of its columns without rows."""

    frame: DataFrame
    schema: pl.Schema
    table: Table

    def kind(self, name: str) -> str:
        """Return Spark's type of ids, text or whole numbers of any width; refuse any other."""
        column = self.table.names[name]
        dtype: Any = self.schema[column]
        dtype = getattr(dtype, "inner", dtype)
        if dtype != pl.String and not dtype.is_integer():
            raise DataError(
                f"{self.table.where(name)} holds "
                f"{self.frame.schema[column].dataType.simpleString()} values; ids are text or "
                'whole numbers (.cast("string") or .cast("bigint") makes them)'
            )
        return "string" if dtype == pl.String else "bigint"

    def cells(self, name: str) -> Any:
        """Return the ids of a column as a column of Spark's, items of lists one a row."""
        from pyspark.sql import functions

        cells = column_of(self.table.names[name])
        return functions.explode(cells) if self.table.wide and name == "item" else cells

    def sent(self) -> DataFrame:
        """Return the rows that workers need; all columns but the users' are named by the role."""
        from pyspark.sql import functions

        table, item = self.table, self.kind("item")
        kinds = {
            table.names["user"]: self.kind("user"),
            table.names["item"]: f"array<{item}>" if table.wide else item,
        }
        names = list(table.names.values())
        if table.role == "truth" and not table.wide and "number" not in table.names:
            for name, dtype in self.schema.items():
                if has_role(name, ("grade",)) and (dtype.is_numeric() or dtype == pl.Boolean):
                    names.append(name)
        columns = [functions.lit(table.role != "truth").alias("listed")]
        for name in dict.fromkeys(names):
            cells = column_of(name).cast(kinds[name]) if name in kinds else column_of(name)
            sent = "user" if name == table.names["user"] else f"{table.role} {name}"
            columns.append(cells.alias(sent))
        return self.frame.select(columns)


def _side(frame: DataFrame, role: str, numbers: Mapping[str, str | None], **names: Any) -> _Side:
    """Return a DataFrame with what its columns are for, by the names that `accept` takes."""
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise UsageError(
            f"{role}: found {type(frame).__module__.partition('.')[0]} {type(frame).__name__}; "
            "give a Spark DataFrame, or call harness.evaluate, which takes other forms"
        )
    if len(set(frame.columns)) < len(frame.columns):
        raise two_columns(frame, role)
    empty = pl.DataFrame(schema={field.name: _dtype(field) for field in frame.schema})
    return _Side(frame, empty.schema, accept(empty, role, numbers=numbers, **names))


def _dtype(field: StructField) -> pl.DataType:
    """Return the type of a column; binary where Arrow has none, as of intervals."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    with suppress(PySparkException, TypeError):
        table = to_arrow_schema(StructType([field])).empty_table()
        return pl.DataFrame(table).schema[field.name]
    return pl.Binary()


def _refuse_without_order(listed: _Side, score: str | Literal[False] | None) -> None:
    """Raise UsageError where nothing orders the rows of long predictions."""
    table = listed.table
    if score is not False and (table.wide or "number" in table.names):
        return
    columns = [name for name in listed.frame.columns if name not in table.names.values()]
    orders = [f'{order_of(name)}="{name}"' for name in columns if order_of(name)]
    named = orders or ['rank="…" (1 first)', 'score="…" (highest first)']
    raise UsageError(
        "predictions: Spark keeps no order of rows; name the column that orders those of a user: "
        f"{' or '.join(named)}; or give one row a user, with an array of items"
    )


def _refuse_kinds(true: _Side, other: _Side, name: str) -> None:
    """Raise DataError where two sides have ids of different kinds."""
    words = {"string": "text", "bigint": "whole numbers"}
    here, there = words[other.kind(name)], words[true.kind(name)]
    if here != there:
        raise DataError(
            f"{other.table.where(name)} holds {here}, {true.table.where(name)} holds {there}: no "
            'id would match; make both text (.cast("string")) or both whole numbers'
        )


def _counted(train: _Side, true: _Side) -> ItemCounts:
    """Return the training events and the users of each item, and how many users there are."""
    from pyspark.sql import functions

    _refuse_kinds(true, train, "item")
    train.kind("user")
    events = train.frame.select(
        train.cells("user").alias("user"), train.cells("item").alias("item")
    )
    counts = events.groupBy("item").agg(
        functions.count(functions.lit(1)).alias("count"),
        functions.countDistinct("user").alias("users"),
        functions.count_if(functions.col("user").isNull()).alias("missing"),
    )
    items = pl.DataFrame(pl.from_arrow(counts.toArrow())).sort("item")
    for name, rows in {"user": items["missing"].sum(), "item": items["item"].null_count()}.items():
        if rows:
            raise DataError(
                f"{train.table.where(name)}: an id is missing; drop such rows, or give them an id"
            )
    return ItemCounts(items.drop("missing"), events.select("user").distinct().count())


# What workers do.


@dataclass(frozen=True)
class Scored:
    """Whole users' lists and truth, and the items that they are judged by."""

    rows: Rows
    judgments: Judgments
    strangers: Strangers
    values: Mapping[Metric, Floats]


@dataclass(frozen=True)
class Call:
    """What workers need beside rows; they get it as Spark sends functions."""

    version: str
    metric_names: tuple[str, ...]  # workers import functions of your own by them
    listed: Table  # without rows, as is `true`
    true: Table
    inputs: Given  # training events are counted by item

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What is asked for."""
        return tuple(map(parse, self.metric_names))

    @property
    def cuts(self) -> tuple[int | None, ...]:
        """The cut-offs at which items' listings are counted: the last is the longest there is."""
        cuts = [m.k for m in self.metrics if m.definition.needs == "candidates"]
        return (*dict.fromkeys(cuts), longest_of(self.metrics)) if cuts else ()

    def of(self, batches: Batches) -> Scored | None:
        """Return what a partition scores; None where it has no rows."""
        import pyarrow as pa

        if self.version != installed_version():
            raise UsageError(
                f"a worker has version {installed_version()} of this package, the driver has "
                f"{self.version}; install the same on every worker"
            )
        rows = list(batches)
        if not rows:
            return None
        frame = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(rows)))

        def side(table: Table, rows: pl.Expr) -> Table:
            before = f"{table.role} "
            columns = [name for name in frame.columns if name.startswith(before)]
            names = {name: name.removeprefix(before) for name in columns}
            names["user"] = table.names["user"]
            selected = frame.filter(rows).select(list(names)).rename(names)
            return replace(table, frame=selected, place=None)

        is_listed = pl.col("listed")
        return self.scored(side(self.listed, is_listed), side(self.true, ~is_listed))

    def scored(self, listed: Table, true: Table) -> Scored:
        """Return what whole users score."""
        check_grades(true)
        rows = read_rows(listed, true, self.metrics)
        catalogue, strangers = beyond.read(self.inputs, rows.coders, self.metrics)
        judgments = replace(rows.judgments, catalogue=catalogue)
        of_users = [metric for metric in self.metrics if metric.definition.of == "user"]
        values = user_scores(rows.lists.items, judgments, of_users, threads=1)
        return Scored(rows, judgments, strangers, values)


def _partition_sums(call: Call, batches: Batches) -> Batches:
    """Yield what the driver adds up: counts, sums by their partials, and items' listings."""
    scored = call.of(batches)
    if scored is None:
        return
    rows, seen = scored.rows, asdict(scored.rows.seen)
    of_sets = [m for m in call.metrics if m.definition.of == "set" and not m.definition.needs]
    counts = sums_of_lists(rows.lists.items, scored.judgments, of_sets)
    facts = {
        "seen": seen | {"examples": {what: [id_] for what, id_ in seen["examples"].items()}},
        "texts": {
            table.role: None if texts is None else asdict(texts)
            for table, texts in ((call.listed, rows.listed_texts), (call.true, rows.true_texts))
        },
        "order": rows.lists.order,
        "sums": {str(m): partials(values).tolist() for m, values in scored.values.items()},
        "counts": {str(m): [counts[number].tolist()] for number, m in enumerate(of_sets)},
        "strangers": {role: [pair] for role, pair in scored.strangers.items()},
    }
    listed = pl.DataFrame(schema={"item": pl.String, "cut": pl.Int32, "times": pl.Int64})
    ids = rows.coders.items.ids.cast(pl.String)
    for cut, k in enumerate(call.cuts):
        items = rows.lists.items[:, :k]
        codes, times = np.unique(items[items >= 0], return_counts=True)
        of_cut = {"item": ids.gather(codes), "cut": cut, "times": times}
        listed.extend(pl.DataFrame(of_cut, schema=listed.schema))
    yield from to_rows(0, {_FACTS: pl.Series([json.dumps(facts)]), _LISTED: listed})


def _partition_values(call: Call, batches: Batches) -> Batches:
    """Yield the users of a partition and their values, a column a metric."""
    import pyarrow as pa

    scored = call.of(batches)
    if scored is None:
        return
    users = scored.rows.users
    is_text = users.dtype == pl.String
    column = users.to_arrow().cast(pa.string()) if is_text else users.cast(pl.Int64).to_arrow()
    columns = {f"m{number}": numbers for number, numbers in enumerate(scored.values.values())}
    yield pa.RecordBatch.from_pydict({"user": column} | columns)


# What the driver makes of it.


def _summary(both: DataFrame, call: Call) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return counts and sums of all partitions, and how often items are listed."""
    partitions = both.sparkSession.conf.get("spark.sql.shuffle.partitions")
    count = int(partitions or 1) if call.cuts else 1  # without listings all that comes is short
    content = merged(mapped(both, partial(_partition_sums, call)), count, _together)
    if not content:
        raise DataError("truth: there are no rows, so there is nobody to evaluate")
    return reduce(_added, map(json.loads, content[_FACTS])), content[_LISTED]


def _together(first: Content, second: Content) -> Content:
    """Return two summaries as one."""
    listed = pl.concat([first[_LISTED], second[_LISTED]])
    return {
        _FACTS: pl.concat([first[_FACTS], second[_FACTS]]),
        _LISTED: listed.group_by("item", "cut").agg(pl.sum("times")),
    }


def _added(first: Any, second: Any) -> Any:
    """Return facts of two partitions as one: numbers and lists add up, of texts the first stays."""
    if isinstance(first, dict):
        return {key: _added(first.get(key), second.get(key)) for key in {**first, **second}}
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, bool):
        return first or second
    return min(first, second) if isinstance(first, str) else first + second


def _check(facts: Mapping[str, Any], listed: _Side, true: _Side) -> Seen:
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
    exposure = {}
    if call.cuts:
        inputs = call.inputs
        every = inputs.train.items["item"] if inputs.candidates is None else inputs.candidates
        ids = ids_of(as_list(every), "candidates").unique()
        inside = pl.col("item").is_in(ids.cast(pl.String).implode())
        for cut, k in enumerate(call.cuts):
            times = listings.filter(inside, cut=cut)["times"].to_numpy()
            exposure[k] = np.pad(times, (0, len(ids) - len(times)))
        report["items_no_candidates"] = len(listings.filter(~inside, cut=len(call.cuts) - 1))
    means = {}
    for metric in call.metrics:
        name = str(metric)
        if metric.definition.of == "user":
            means[name] = exact_sum(np.array(facts["sums"][name])) / seen.users
        elif metric.definition.needs:
            means[name] = value_of(metric, exposure[metric.k])
        else:
            means[name] = value_of(metric, np.sum(facts["counts"][name], axis=0))
    result = pd.Series(means)
    result.attrs.update(report)
    return result


def _of_users(both: DataFrame, call: Call, true: _Side) -> DataFrame:
    """Return every user's values, which workers work out when they are read."""
    names = {f"m{number}": metric for number, metric in enumerate(call.metric_names)}
    schema = ", ".join([f"user {true.kind('user')}", *(f"{name} double" for name in names)])
    values = both.mapInArrow(partial(_partition_values, call), schema)
    user = true.table.names["user"]
    users = column_of("user").cast(true.frame.schema[user].dataType).alias(user)
    return values.select(users, *(column_of(name).alias(names[name]) for name in names))
