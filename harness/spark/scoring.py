"""What a worker does with the rows of some users: it scores them with the local code.

What it returns is text and numbers: counts, and sums that the driver adds up exactly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from harness.core.arrays import Floats
from harness.core.errors import UsageError
from harness.core.exact_sum import partials
from harness.metrics import Judgments, Metric, parse
from harness.metrics.inputs import beyond
from harness.metrics.inputs.beyond import Given, Strangers
from harness.metrics.inputs.frame import Table
from harness.metrics.inputs.order import check_grades
from harness.metrics.inputs.read import Rows, longest_of, read_rows
from harness.metrics.scores import sums_of_lists, user_scores
from harness.spark.session import installed_version
from harness.spark.transport import Batches, to_rows

FACTS, LISTED = "facts", "listed"
"""What `summary` yields: counts and sums as JSON, and how often items are listed."""


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
    metrics: tuple[str, ...]  # workers import functions of one's own by their names
    listed: Table  # without rows, as is `true`
    true: Table
    columns: Mapping[str, Mapping[str, str]]  # by role: what each is called on its way
    given: Given  # training events are counted by item

    @property
    def asked(self) -> tuple[Metric, ...]:
        """The metrics."""
        return tuple(map(parse, self.metrics))

    @property
    def cuts(self) -> tuple[int | None, ...]:
        """The cut-offs at which items' listings are counted: the last is the longest there is."""
        cuts = [m.k for m in self.asked if m.definition.needs == "candidates"]
        return (*dict.fromkeys(cuts), longest_of(self.asked)) if cuts else ()

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
        frame: Any = pl.from_arrow(pa.Table.from_batches(rows))
        sides = []
        for table, is_its in ((self.listed, pl.col("listed")), (self.true, ~pl.col("listed"))):
            names = self.columns[table.role].items()
            columns = [pl.col(sent).alias(column) for column, sent in names]
            sides.append(replace(table, frame=frame.filter(is_its).select(columns), place=None))
        return self.scored(*sides)

    def scored(self, listed: Table, true: Table) -> Scored:
        """Return what whole users score."""
        check_grades(true)
        rows = read_rows(listed, true, self.asked)
        catalogue, strangers = beyond.read(self.given, rows.coders, self.asked)
        judgments = replace(rows.judgments, catalogue=catalogue)
        of_users = [metric for metric in self.asked if metric.definition.of == "user"]
        values = user_scores(rows.lists.items, judgments, of_users, threads=1)
        return Scored(rows, judgments, strangers, values)


def summary(call: Call, batches: Batches) -> Batches:
    """Yield what the driver adds up: counts, sums by their partials, and items' listings."""
    from pyspark import TaskContext

    scored = call.of(batches)
    if scored is None:
        return
    rows, seen = scored.rows, asdict(scored.rows.seen)
    of_sets = [m for m in call.asked if m.definition.of == "set" and not m.definition.needs]
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
    part = TaskContext.get().partitionId()
    yield from to_rows(part, {FACTS: pl.Series([json.dumps(facts)]), LISTED: listed})


def values(call: Call, batches: Batches) -> Batches:
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
