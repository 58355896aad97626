"""What a worker does with the rows of some users: it scores them with the local code.

What it returns is text and numbers: counts, and sums that the driver adds up exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from harness.core.arrays import Floats, Int32, Int64
from harness.core.errors import HarnessError, UsageError
from harness.core.exact_sum import partials
from harness.metrics import Block, Judgments, Metric, parse, sums_of
from harness.metrics.beyond_accuracy import listings
from harness.metrics.inputs import beyond
from harness.metrics.inputs.beyond import Given, ItemCounts
from harness.metrics.inputs.order import check_grades
from harness.metrics.inputs.read import Rows, longest_of, read_rows
from harness.metrics.scores import user_scores
from harness.spark.failures import own_version
from harness.spark.tables import Sent

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Items:
    """What metrics beyond accuracy need to know of the items, as Arrow IPC."""

    user: str
    item: str
    train: bytes | None = None
    train_users: int = 0
    candidates: bytes | None = None
    attributes: bytes | None = None

    def given(self) -> Given:
        """Return it as the local code takes it."""
        train = None if self.train is None else ItemCounts(read(self.train), self.train_users)
        chosen = None if self.candidates is None else read(self.candidates)["item"]
        table = None if self.attributes is None else read(self.attributes)
        return Given(None, None, self.user, self.item, None, None, None, train, chosen, table)


def read(data: bytes) -> pl.DataFrame:
    """Return a frame from its bytes."""
    return pl.read_ipc(BytesIO(data))


def written(frame: pl.DataFrame) -> bytes:
    """Return a frame as bytes, Arrow IPC."""
    file = BytesIO()
    frame.write_ipc(file)
    return file.getvalue()


@dataclass(frozen=True)
class Scored:
    """The rows of some users, and what they score."""

    rows: Rows
    values: Mapping[Metric, Floats]
    counts: Mapping[Metric, Int64]
    """Of metrics of all lists together, which need no candidates."""
    listings: Sequence[Int64]
    """How often each item is listed, at each of the cut-offs of `Call.cuts`."""
    strangers: beyond.Strangers

    def told(self) -> dict[str, Any]:
        """Return what the driver is told: counts, and sums by their partials."""
        rows = self.rows
        texts = rows.listed_texts, rows.true_texts
        return {
            "seen": asdict(rows.seen),
            "texts": [None if of is None else asdict(of) for of in texts],
            "order": rows.lists.order,
            "sums": [partials(values).tolist() for values in self.values.values()],
            "counts": [counts.tolist() for counts in self.counts.values()],
            "strangers": self.strangers,
        }

    def listed(self) -> list[pl.DataFrame]:
        """Return how often items are listed at each cut-off, those that are."""
        ids = self.rows.coders.items.ids.cast(pl.String).alias("item")
        frames = (
            pl.DataFrame([ids, pl.Series("listed", counts)]).filter(pl.col("listed") > 0)
            for counts in self.listings
        )
        return [frame.with_columns(at=pl.lit(at, pl.Int32)) for at, frame in enumerate(frames)]


@dataclass(frozen=True)
class Call:
    """What workers need beside rows; they get it as Spark sends functions."""

    version: str
    metrics: tuple[str, ...]
    listed: Sent
    true: Sent
    items: Items

    @property
    def asked(self) -> tuple[Metric, ...]:
        """The metrics."""
        return tuple(map(parse, self.metrics))

    @property
    def cuts(self) -> tuple[int | None, ...]:
        """The cut-offs at which items' listings are counted: the last is the longest there is."""
        of = [m.k for m in self.asked if m.definition.needs == "candidates"]
        return (*dict.fromkeys(of), longest_of(self.asked)) if of else ()

    def of(self, batches: Iterator[pa.RecordBatch]) -> Scored | None:
        """Return what a partition scores; None where it has no rows."""
        import pyarrow as pa

        if self.version != own_version():
            raise UsageError(
                f"a worker has version {own_version()} of this package, the driver has "
                f"{self.version}; install the same on every worker"
            )
        held = list(batches)
        if not held:
            return None
        frame: Any = pl.from_arrow(pa.Table.from_batches(held))
        return self.scored(self.listed.own(frame, True), self.true.own(frame, False))

    def scored(self, listed: pl.DataFrame, true: pl.DataFrame) -> Scored:
        """Return what whole users score."""
        tables = self.listed.table(listed), self.true.table(true)
        check_grades(tables[1])
        asked = self.asked
        rows = read_rows(*tables, asked)
        catalogue, strangers = beyond.read(self.items.given(), rows.coders, asked)
        judgments = replace(rows.judgments, catalogue=catalogue)
        own = [metric for metric in asked if metric.definition.of == "user"]
        scores = user_scores(rows.lists.items, judgments, own, threads=1)
        counts = {
            metric: sums_of(metric, _block(rows.lists.items, judgments, metric.k))
            for metric in asked
            if metric.definition.of == "set" and not metric.definition.needs
        }
        return Scored(
            rows,
            scores,
            counts,
            [listings(_block(rows.lists.items, judgments, k)) for k in self.cuts],
            strangers,
        )


def _block(items: Int32, judgments: Judgments, k: int | None) -> Block:
    return Block(items, judgments, max(items.shape[1], 1) if k is None else k)


SUMMARY = "told string, item string, at int, listed bigint"
"""Columns of what `summary` yields."""


def summary(call: Call, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield a row that tells of a partition, as JSON, and rows of how often items are listed.

    A mistake in the data is told in that row too: raised, it would be met again by each retry.
    """
    import pyarrow as pa

    listed: list[pl.DataFrame] = []
    try:
        scored = call.of(batches)
        if scored is None:
            return
        told, listed = scored.told(), scored.listed()
    except HarnessError as error:
        told = {"error": [type(error).__name__, str(error)]}
    schema = {"told": pl.String, "item": pl.String, "at": pl.Int32, "listed": pl.Int64}
    first = pl.DataFrame({"told": [json.dumps(told)]})
    rows = pl.concat([pl.DataFrame(schema=schema), first, *listed], how="diagonal")
    types = pa.schema(
        list(zip(schema, (pa.string(), pa.string(), pa.int32(), pa.int64()), strict=True))
    )
    yield from rows.to_arrow().cast(types).to_batches()


def values(call: Call, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the users of a partition and their values, a column a metric."""
    import pyarrow as pa

    scored = call.of(batches)
    if scored is None:
        return
    users = scored.rows.users
    text = users.dtype == pl.String
    column = users.to_arrow().cast(pa.string()) if text else users.cast(pl.Int64).to_arrow()
    found = {"user": column} | {f"m{at}": v for at, v in enumerate(scored.values.values())}
    yield pa.RecordBatch.from_pydict(found)
