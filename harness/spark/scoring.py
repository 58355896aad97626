"""What a worker does with the rows of some users: it scores them with the local code.

What it returns is text and numbers: counts, and sums that the driver adds up exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from harness.core.arrays import Floats, Int32, Int64
from harness.core.errors import HarnessError, UsageError
from harness.core.exact_sum import partials
from harness.metrics import Block, Judgments, Metric, parse, sums_of
from harness.metrics.beyond_accuracy import listings
from harness.metrics.inputs import beyond
from harness.metrics.inputs.beyond import Given, ItemCounts
from harness.metrics.inputs.frame import Table, accept
from harness.metrics.inputs.order import check_grades
from harness.metrics.inputs.read import Rows, longest_of, read_rows
from harness.metrics.scores import user_scores
from harness.spark.session import installed_version
from harness.spark.transport import Batches, unpack

if TYPE_CHECKING:
    import pyarrow as pa

TRAIN, CANDIDATES, ATTRIBUTES = "train", "candidates", "attributes"


@dataclass(frozen=True)
class Sent:
    """Lists or truth as workers get them.

    Attributes
    ----------
    names : mapping of ``user``, ``item`` and ``number`` to column
    meaning : str
        What the numbers are: ``rank``, ``score``, ``grade`` or nothing.
    columns : mapping of column to what it is called on its way
    """

    role: str
    names: Mapping[str, str]
    meaning: str
    columns: Mapping[str, str]

    def table(self, frame: pl.DataFrame) -> Table:
        """Return the rows, which have no numbers, of a frame with a person's own columns."""
        numbers: dict[str, str | None] = (
            {self.meaning: self.names["number"]} if self.meaning else {}
        )
        user, item = self.names["user"], self.names["item"]
        table = accept(frame, self.role, user=user, item=item, numbers=numbers)
        return replace(table, place=None)

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows of this side with a person's own columns."""
        return frame.select(pl.col(wire).alias(column) for column, wire in self.columns.items())


@dataclass(frozen=True)
class Scored:
    """The rows of some users, and what they score.

    Attributes
    ----------
    counts : mapping of Metric to int64 array
        Of metrics of all lists together, which need no candidates.
    listings : sequence of int64 arrays, (items,)
        How often each item is listed, at each of the cut-offs of `Call.cuts`.
    """

    rows: Rows
    values: Mapping[Metric, Floats]
    counts: Mapping[Metric, Int64]
    listings: Sequence[Int64]
    strangers: beyond.Strangers

    def summary(self) -> dict[str, Any]:
        """Return what the driver adds up: counts, and sums by their partials."""
        rows = self.rows
        texts = rows.listed_texts, rows.true_texts
        return {
            "seen": asdict(rows.seen),
            "texts": [None if side is None else asdict(side) for side in texts],
            "order": rows.lists.order,
            "sums": [partials(values).tolist() for values in self.values.values()],
            "counts": [counts.tolist() for counts in self.counts.values()],
            "strangers": self.strangers,
        }

    def listed(self) -> list[pl.DataFrame]:
        """Return how often items are listed at each cut-off, those that are."""
        ids = self.rows.coders.items.ids.cast(pl.String).alias("item")
        return [
            pl.DataFrame([ids, pl.Series("listed", counts)])
            .filter(pl.col("listed") > 0)
            .with_columns(cut=pl.lit(cut, pl.Int32))
            for cut, counts in enumerate(self.listings)
        ]


@dataclass(frozen=True)
class Call:
    """What workers need beside rows; they get it as Spark sends functions.

    Attributes
    ----------
    tables : bytes
        What metrics beyond accuracy need to know of the items, packed: training events counted by
        item, candidates, attributes.
    train_users : int
        How many users have training events.
    """

    version: str
    metrics: tuple[str, ...]
    listed: Sent
    true: Sent
    user: str
    item: str
    tables: bytes
    train_users: int

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
        listed, true = frame.filter("listed"), frame.filter(~pl.col("listed"))
        return self.scored(self.listed.rows(listed), self.true.rows(true))

    def scored(self, listed: pl.DataFrame, true: pl.DataFrame) -> Scored:
        """Return what whole users score."""
        asked, truth = self.asked, self.true.table(true)
        check_grades(truth)
        rows = read_rows(self.listed.table(listed), truth, asked)
        catalogue, strangers = beyond.read(self._given(), rows.coders, asked)
        judgments = replace(rows.judgments, catalogue=catalogue)
        items = rows.lists.items
        of_users = [metric for metric in asked if metric.definition.of == "user"]
        of_sets = [m for m in asked if m.definition.of == "set" and not m.definition.needs]
        return Scored(
            rows=rows,
            values=user_scores(items, judgments, of_users, threads=1),
            counts={m: sums_of(m, _block(items, judgments, m.k)) for m in of_sets},
            listings=[listings(_block(items, judgments, k)) for k in self.cuts],
            strangers=strangers,
        )

    def _given(self) -> Given:
        tables = unpack(self.tables)
        train = tables.get(TRAIN)
        return Given(
            recommendations=None,
            truth=None,
            user=self.user,
            item=self.item,
            train=None if train is None else ItemCounts(train, self.train_users),
            candidates=tables.get(CANDIDATES),
            attributes=tables.get(ATTRIBUTES),
        )


def _block(items: Int32, judgments: Judgments, k: int | None) -> Block:
    return Block(items, judgments, max(items.shape[1], 1) if k is None else k)


SUMMARY = "summary string, item string, cut int, listed bigint"
"""Columns of what `summary` yields."""


def summary(call: Call, batches: Batches) -> Batches:
    """Yield a row with the summary of a partition, as JSON, and rows of how often items are listed.

    A mistake in the data is told in that row too: raised, it would be met again by each retry.
    """
    import pyarrow as pa

    listed: list[pl.DataFrame] = []
    try:
        scored = call.of(batches)
        if scored is None:
            return
        facts, listed = scored.summary(), scored.listed()
    except HarnessError as error:
        facts = {"error": [type(error).__name__, str(error)]}
    schema = {"summary": pl.String, "item": pl.String, "cut": pl.Int32, "listed": pl.Int64}
    first = pl.DataFrame({"summary": [json.dumps(facts)]})
    rows = pl.concat([pl.DataFrame(schema=schema), first, *listed], how="diagonal")
    kinds = pa.string(), pa.string(), pa.int32(), pa.int64()
    types = pa.schema(list(zip(schema, kinds, strict=True)))
    yield from rows.to_arrow().cast(types).to_batches()


def values(call: Call, batches: Batches) -> Iterator[pa.RecordBatch]:
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
