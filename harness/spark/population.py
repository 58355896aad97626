"""The users of a log in buckets that Spark's workers make, keep, sum over and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import polars as pl

from harness.core.arrays import Int32
from harness.core.errors import DataError
from harness.core.exact_sum import Distinct, Sums
from harness.core.ids import Encoder, hashes_of
from harness.core.io import whole_file
from harness.data import attributes, dataset, loading, ordering
from harness.data.buckets import EVENTS
from harness.data.dataset import Dataset, Events, of_starts, one_kind
from harness.data.layout import Layout
from harness.data.loading import Codes, EventType, codes_of, in_order, of_types
from harness.data.oddities import Oddities, notes_of, oddities_of, words_of
from harness.spark import reading
from harness.spark.reading import ITEMS, KINDS, PLACE, SINCE, TABLE, USERS, checked, divided
from harness.spark.transport import (
    Batches,
    Content,
    contents,
    facts_of,
    mapped,
    narrow,
    to_rows,
    total,
    unnumbered,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Part = TypeVar("Part")
Other = TypeVar("Other")

_ROWS = 1 << 16  # of a batch that Spark writes
_ODD = "odd"
_GATHERED = (1 << 31) - 1
"""The number of what is wrong with buckets: what is wrong with what is read comes first."""
_CHANGED = (
    "a second read of the log gave other events, so a table has changed; run the command again"
)


@dataclass(frozen=True, eq=False)
class SparkParts(Generic[Part]):
    """Parts that Spark keeps; `opened` makes each of its number and content."""

    frame: DataFrame  # of `harness.spark.transport.SCHEMA`
    opened: Callable[[int, Content], Part]
    count: int  # parts at most

    def total(self, step: Callable[[Part], Sums]) -> Sums:
        """Return the sum of what `step` returns of every part; errors are raised as by workers."""
        opened = self.opened  # without the frame, which does not travel

        def sums(batches: Batches) -> Iterator[Sums]:
            return (step(opened(part, content)) for part, content in contents(batches))

        return total(self.frame, sums, self.count)

    def kept(
        self, make: Callable[[Part], Content], opened: Callable[[int, Content], Other]
    ) -> SparkParts[Other]:
        """Return new parts of what `make` returns of each; errors are those of `total`."""
        before = self.opened

        def work(batches: Batches) -> Batches:
            for part, content in contents(batches):
                yield from to_rows(part, make(before(part, content)))

        frame = mapped(self.frame, work).persist()
        try:
            facts_of(frame)
        except BaseException:
            frame.unpersist()
            raise
        return SparkParts(frame, opened, self.count)

    def write(
        self,
        place: str,
        schemas: Mapping[str, pa.Schema],
        rows_of: Callable[[str, Part], pl.DataFrame],
    ) -> None:
        """Write tables, each a folder of Parquet files at a place, of the rows of every part.

        Workers write files that they see, whole or not at all; elsewhere Spark writes.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        opened, path = self.opened, urlparse(place).path

        def write_files(batches: Batches) -> Batches:
            for number, content in contents(batches):
                part = opened(number, content)
                for name, schema in schemas.items():
                    file = Path(url2pathname(path), name, f"part-{number:05d}.parquet")
                    with whole_file(file) as target:
                        rows_of(name, part).select(schema.names).write_parquet(target)
            yield from ()

        def rows(name: str, batches: Batches) -> Batches:
            for number, content in contents(batches):
                frame = rows_of(name, opened(number, content)).select(schemas[name].names)
                for some in frame.iter_slices(_ROWS):
                    table = some.to_arrow(compat_level=pl.CompatLevel.oldest())
                    yield from table.cast(schemas[name]).to_batches()

        if place.startswith("file:"):
            facts_of(mapped(self.frame, write_files))
            return
        for name, schema in schemas.items():
            table = self.frame.mapInArrow(partial(rows, name), from_arrow_schema(schema))
            table.write.parquet(f"{place}/{name}")


class Buckets(NamedTuple):
    """A log in buckets of users: those with events, and what all have in common (no user)."""

    parts: SparkParts[Dataset]
    shared: Dataset


@contextmanager
def in_buckets(spark: SparkSession, layout: Layout, count: int | None = None) -> Iterator[Buckets]:
    """Yield the buckets of a layout's events, by default as many as the local engine makes."""
    log = divided(spark, layout, count)
    work = partial(gathered, layout, log.keys, log.user_schema)
    frame = mapped(log.frame, work, _GATHERED).persist()
    try:
        facts = facts_of(frame)
        read = [piece for piece in facts if "times" in piece]
        odd = [Oddities._make(bucket[_ODD]) for bucket in facts if _ODD in bucket]
        notes = checked(layout, log.type_columns, read)
        if sum(bucket.events for bucket in odd) != sum(piece["events"] for piece in read):
            raise DataError(_CHANGED)
        met = total(frame.where("part < 0"), unnumbered, len(log.keys))[ITEMS].values
        table = reading.items(spark, layout.items)
        items, _ = loading.items_of(layout, met, table)
        times = [time for piece in read for time in piece["times"]]
        shared = loading.dataset_of(
            layout=layout,
            items=items,
            notes=(*notes, *items.notes, *notes_of(layout, odd)),
            types=in_order(EventType._make(kind) for piece in read for kind in piece["kinds"]),
            span=(min(times), max(times)),
        )
        opened = partial(_opened, layout, shared, table)
        yield Buckets(SparkParts(frame.where("part >= 0"), opened, len(log.keys)), shared)
    finally:
        frame.unpersist()


def gathered(
    layout: Layout, keys: Sequence[int], user_schema: Mapping[str, Any], batches: Batches
) -> Batches:
    """Yield the buckets of a partition, and what those tell that have read their events."""
    pieces: dict[int, list[Content]] = {}
    reports: list[pa.RecordBatch] = []
    for key, piece in contents(batches, reports):
        pieces.setdefault(keys.index(key), []).append(piece)
    yield from reports
    if any(report["error"][0].is_valid for report in reports):
        return
    for bucket in sorted(pieces):
        yield from _bucket(layout, user_schema, bucket, pieces.pop(bucket))


def _bucket(
    layout: Layout, user_schema: Mapping[str, Any], bucket: int, pieces: list[Content]
) -> Batches:
    """Yield the rows of a bucket and of its items; none where its users have no events."""
    logs = [piece for piece in pieces if dataset.TIME in piece]
    tables = [piece[TABLE] for piece in pieces if TABLE in piece]
    pieces.clear()
    if not logs:
        return
    types = in_order(kind for piece in logs for kind in _kinds(piece))
    users, items = Encoder(), Encoder()
    batches, codes, last = list[Events](), np.empty(0, np.int32), list[int]()
    for piece in sorted(logs, key=lambda piece: piece[PLACE].tolist()):
        new, place = _codes(users, piece[USERS]), piece[PLACE].tolist()
        if place == last:
            raise RuntimeError(f"two parts of the log have the same place, {place}")
        codes = np.append(codes, new) if place[:-1] == last[:-1] else new
        batches.append(_events(piece, codes, items, types))
        last = place
    logs.clear()
    ids, user_map = loading.sorted_ids(users.ids())
    met = items.ids()
    restored = layout.restore_zeros and layout.items is not None  # as `loading.items_of` does
    item_ids, item_map = loading.index_of(met.str.zfill(layout.id_width or 0) if restored else met)
    events = ordering.merged(batches, user_map, item_map, len(types))
    content: dict[str, Any] = {
        KINDS: pl.DataFrame(types, EventType._fields, orient="row"),
        USERS: ids,
        ITEMS: item_ids,
        EVENTS: narrow(np.diff(events.user_starts(len(ids)))),
        dataset.ITEM: narrow(events.item),
        dataset.TIME: events.time,
        dataset.ROW: events.row,
        dataset.VALUE: events.value,
        dataset.KIND: events.kind if layout.several_types else None,
    }
    if layout.users is not None and user_schema:
        frame, name = pl.concat([pl.DataFrame(schema=user_schema), *tables]), layout.users.id
        attributes.refuse_repeated(layout.users, frame[name])
        if SINCE in frame.columns:
            content[dataset.REGISTERED] = loading.times_at(frame[name], frame[SINCE], ids)
        content[TABLE] = frame.drop(SINCE, strict=False)
    else:
        frame = loading.users_of(layout)
        content[dataset.REGISTERED] = loading.times_of(layout.users, frame, ids)
    odd = oddities_of(events, ids, words_of(item_ids), len(types))
    there = {name: column for name, column in content.items() if column is not None}
    yield from to_rows(bucket, there, facts={_ODD: odd})
    yield from to_rows(-1 - bucket, {ITEMS: Distinct(met)})


def _events(piece: Content, users: Int32, items: Encoder, types: Sequence[EventType]) -> Events:
    """Return the events of a piece by the codes of users, of whom it has numbers, and items."""
    time, row = piece[dataset.TIME], piece.get(dataset.ROW)
    events = Events(
        user=users[piece[dataset.USER]],
        item=_codes(items, piece[ITEMS])[piece[dataset.ITEM]],
        time=time,
        kind=piece.get(dataset.KIND, np.zeros(len(time), np.uint8)),
        row=None if row is None else row.astype(np.int64),
        value=piece.get(dataset.VALUE),
    )
    return of_types(events, codes_of(_kinds(piece), types))


def _kinds(content: Content) -> list[EventType]:
    return [EventType._make(kind) for kind in content[KINDS].iter_rows()]


def _codes(encoder: Encoder, ids: pl.Series) -> Int32:
    ids = ids.alias(dataset.ID)
    texts = pl.col(dataset.ID).cast(pl.String)
    first, second = ids.to_frame().select(hashes_of(texts)[n].alias(str(n)) for n in (0, 1))
    return encoder.codes(ids, (first, second))


def _opened(
    layout: Layout, shared: Dataset, items_table: pl.DataFrame | None, _: int, content: Content
) -> Dataset:
    starts = np.concatenate(([0], np.cumsum(content[EVENTS], dtype=np.int64)))
    row = content.get(dataset.ROW)

    def item() -> Int32:
        places = dataset.positions(content[ITEMS], shared.item_ids)
        if (places < 0).any():
            raise DataError(_CHANGED)
        return places[content[dataset.ITEM]]

    def kind() -> Codes:
        return codes_of(_kinds(content), loading.types_of(shared))[content[dataset.KIND]]

    events = Events(
        user=of_starts(starts),
        item=item,
        time=content[dataset.TIME],
        kind=kind if layout.several_types else one_kind(int(starts[-1])),
        row=None if row is None else row.astype(np.int64),
        value=content.get(dataset.VALUE),
        starts=starts,
    )
    return replace(
        shared,
        user_ids=content[USERS].alias(dataset.ID),
        events=events,
        registered=content.get(dataset.REGISTERED),
        users_table=content.get(TABLE, shared.users_table),
        items_table=shared.items_table if items_table is None else items_table,
    )
