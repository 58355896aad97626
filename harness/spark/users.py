"""How users are divided into buckets, and what their table says of those of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Counts
from harness.core.errors import UsageError
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import attributes, loading
from harness.data.dataset import NO_TIME
from harness.data.layout import AttributeTable, Layout
from harness.spark import remote
from harness.spark.packing import narrow
from harness.spark.parts import SCHEMA, Batches, attempted, pairs, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE, SINCE = "table", "since"
_TRIED = 24
"""Keys for each bucket, of which one is taken."""
_LAST = (1 << 31) - 1
"""The number of what is told of the users' table: that of events comes first."""


class Division(NamedTuple):
    """How users are divided into buckets.

    Attributes
    ----------
    keys : sequence of int
        What Spark knows each bucket by.
    """

    keys: Sequence[int]

    def buckets_of(self, users: pl.Series) -> Counts:
        """Return the bucket of each user: a bucket has the users of some leaves, all of them."""
        count = len(self.keys)
        ends = [LEAVES * at // count for at in range(count + 1)]
        of_leaf = np.repeat(narrow(np.arange(count)), np.diff(ends))
        found: Counts = of_leaf[leaf_of(id_hashes(users))]
        return found

    @classmethod
    def of(cls, spark: SparkSession, count: int) -> Division:
        """Return that into so many buckets, each of which Spark puts into a partition of its own.

        Where it does not, two are worked on one after the other.

        Raises
        ------
        UsageError
            A number that users cannot be divided into.
        """
        if not 1 <= count <= LEAVES:
            raise UsageError(f"buckets is {count}; expected 1 to {LEAVES:,}")
        hashed = f"pmod(hash(CAST(id AS INT)), {count}) AS at"
        found = spark.range(0, _TRIED * count, 1, 1).selectExpr("CAST(id AS INT) AS id", hashed)
        key: dict[int, int] = {}
        for tried, at in pairs(found.toArrow()):
            key.setdefault(at, tried)
        others = iter(range(_TRIED * count, (_TRIED + 1) * count))
        return cls([key[at] if at in key else next(others) for at in range(count)])


def described(
    spark: SparkSession, layout: Layout, division: Division
) -> tuple[list[str], list[DataFrame]]:
    """Return the columns of users' rows, and frames of what each bucket gets; none if it can wait.

    Attributes wait where files hold them: who needs some reads them.
    """
    table = layout.users
    if table is not None and table.table.remote:
        found = remote.texts(spark, table)
        pattern = remote.pattern(found, table.since, table.time_format)
        work = partial(_of_rows, table, pattern, division)
        return found.columns, [found.mapInArrow(work, SCHEMA)]
    if table is None or table.since is None:
        loading.users_of(layout)  # its columns are there
        return [], []
    task = spark.range(0, 1, 1, 1)
    return [table.id], [task.mapInArrow(partial(_of_files, layout, table, division), SCHEMA)]


def _of_files(
    layout: Layout, table: AttributeTable, division: Division, batches: Batches
) -> Batches:
    def work() -> Batches:
        frame = loading.users_of(layout)
        since = attributes.since(table, frame)
        yield from _divided(division, frame.select(table.id), since, 0)

    for _ in batches:
        yield from attempted(_LAST, work)


def _of_rows(
    table: AttributeTable, pattern: str | None, division: Division, batches: Batches
) -> Batches:
    rules = remote.rules(table, pattern)

    def work(source: int, batch: Any) -> Batches:
        read = pl.DataFrame(pl.from_arrow(batch))
        frame = remote.checked(table.table.name, read, rules)
        since = None if table.since is None else rules[-1].parsed(frame[table.since])
        yield from _divided(division, frame, since, source)

    for source, batch in enumerate(batches):
        yield from attempted(_LAST, partial(work, source, batch))


def _divided(
    division: Division, frame: pl.DataFrame, since: pl.Series | None, source: int
) -> Batches:
    """Yield rows of a users' table, ids first, for the bucket of each."""
    bucket = division.buckets_of(frame.to_series())
    for at, key in enumerate(division.keys):
        own = np.flatnonzero(bucket == at)
        content: dict[str, Any] = {TABLE: frame[own]}
        if since is not None:
            content[SINCE] = since.fill_null(NO_TIME).to_numpy()[own]
        if len(own) > 0:
            yield from rows(key, content, source=source)
