"""The users of a log in buckets that Spark's workers make, keep, sum over and write.

What each bucket gets of all that is read is gathered as `harness.data.bucketing` does. Only the
items come to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import polars as pl

from harness.core.arrays import Int32, UInt64
from harness.core.errors import DataError
from harness.core.exact_sum import Sums, add
from harness.core.ids import Encoder, hashes_of
from harness.core.io import whole_file
from harness.core.random import id_hashes
from harness.data import attributes, bucketing, dataset, loading
from harness.data.bucketing import EVENTS, Known
from harness.data.buckets import of_bucket
from harness.data.dataset import Dataset, Events, no_events, of_starts, one_kind
from harness.data.event_types import EventType, codes_of, of_types
from harness.data.layout import Layout
from harness.data.loading import Items
from harness.data.oddities import Oddities, notes_of, oddities_of, words_of
from harness.spark import remote
from harness.spark.reading import HASHES, ITEMS, KINDS, SINCE, TABLE, USERS, read
from harness.spark.transport import (
    Batches,
    Content,
    contents,
    facts_of,
    mapped,
    narrow,
    narrow_times,
    pack,
    to_rows,
    unpack,
    widen_times,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Part = TypeVar("Part")
Other = TypeVar("Other")

_FAN_IN = 8
"""So many contents at most are merged by one worker, or by the driver."""
_ROWS = 1 << 16
"""Of a batch that Spark writes."""
_ODD = "odd"
_CHANGED = (
    "other events were read when some were read again: a table changed meanwhile; run the command "
    "again"
)


class PartTable(NamedTuple):
    """A table that parts are written as: Spark's type of each column, and the rows of a part."""

    types: Mapping[str, str]
    frame_of: Callable[[Any], pl.DataFrame]


@dataclass(frozen=True, eq=False)
class SparkParts(Generic[Part]):
    """Parts that are kept by Spark, in memory and on disk.

    Attributes
    ----------
    frame : DataFrame
        Of `harness.spark.transport.SCHEMA`.
    opened : callable
        Takes a part's number and content, and returns what the work is done on; it travels to the
        workers, as all functions do that are given to the methods.
    count : int
        How many parts there are at most.

    Examples
    --------
    >>> def squares(part):  # doctest: +SKIP
    ...     return {"squares": np.array([part["n"] ** 2])}
    >>> parts.total(squares)["squares"].tolist()  # doctest: +SKIP
    [14]
    """

    frame: DataFrame
    opened: Callable[[int, Content], Part]
    count: int
    facts: Mapping[int, Any] = field(default_factory=dict)

    def total(self, step: Callable[[Part], Sums]) -> Sums:
        """Return the sum of what `step` returns of every part; errors are raised as by workers."""
        work = partial(_combined, add, partial(_applied, self.opened, step))
        return merged(mapped(self.frame, work), self.count, add)

    def kept(
        self, make: Callable[[Part], Content], opened: Callable[[int, Content], Other]
    ) -> SparkParts[Other]:
        """Return new parts of what `make` returns of each; errors are those of `total`."""
        work = partial(_made, partial(_applied, self.opened, make))
        return kept(mapped(self.frame, work), opened, self.count)

    def write(self, place: str, tables: Mapping[str, PartTable]) -> None:
        """Write the rows of every part, each table a folder of Parquet files at a place.

        Workers write files that they see, whole or not at all; elsewhere Spark writes.
        """
        if place.startswith("file:"):
            folder = Path(url2pathname(urlparse(place).path))
            work = partial(_write_files, self.opened, tables, folder)
            facts_of(mapped(self.frame, work))
            return
        for name, table in tables.items():
            schema = ", ".join(f"`{column}` {kind}" for column, kind in table.types.items())
            rows = self.frame.mapInArrow(partial(_rows_of, self.opened, table), schema)
            rows.write.parquet(f"{place}/{name}")

    def release(self) -> None:
        """Let Spark forget the parts."""
        self.frame.unpersist()


def kept(frame: DataFrame, opened: Callable[[int, Content], Part], count: int) -> SparkParts[Part]:
    """Return parts of a frame of `SCHEMA`, which is worked out, once, and kept."""
    frame = frame.persist()
    try:
        return SparkParts(frame, opened, count, dict(facts_of(frame)))
    except BaseException:
        frame.unpersist()
        raise


def merged(frame: DataFrame, count: int, combine: Callable[[Any, Any], Content]) -> Content:
    """Return the contents of a frame, `count` at most, combined in any order into one."""
    while count > _FAN_IN:
        count = -(-count // _FAN_IN)
        frame = mapped(
            frame.repartition(count, "part"),
            partial(_combined, combine, lambda _, content: content),
        )
    nothing: Content = {}
    parts = contents(frame.toArrow().to_batches())
    return reduce(combine, (content for _, content in parts), nothing)


def _applied(
    opened: Callable[[int, Content], Part],
    make: Callable[[Part], Content],
    part: int,
    data: Content,
) -> Content:
    return make(opened(part, data))


def _combined(
    combine: Callable[[Any, Any], Content],
    value_of: Callable[[int, Content], Content],
    batches: Batches,
) -> Batches:
    """Yield what is made of a task's parts as one content."""
    total, first = None, 0
    for part, content in contents(batches):
        value = value_of(part, content)
        total, first = (value, part) if total is None else (combine(total, value), first)
    if total is not None:
        yield from to_rows(first, total)


def _made(value_of: Callable[[int, Content], Content], batches: Batches) -> Batches:
    for part, content in contents(batches):
        yield from to_rows(part, value_of(part, content))


def _write_files(
    opened: Callable[[int, Content], Part],
    tables: Mapping[str, PartTable],
    folder: Path,
    batches: Batches,
) -> Batches:
    """Write a file of each part and table; yield what went wrong."""
    for number, content in contents(batches):
        part = opened(number, content)
        for name, table in tables.items():
            frame = table.frame_of(part).select(list(table.types))
            with whole_file(folder / name / f"part-{number:05d}.parquet") as target:
                frame.write_parquet(target)
    yield from ()


def _rows_of(opened: Callable[[int, Content], Part], table: PartTable, batches: Batches) -> Batches:
    """Yield the rows of a table that Spark writes."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "array<string>": pa.list_(pa.string()),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in table.types.items()])
    for number, content in contents(batches):
        frame = table.frame_of(opened(number, content)).select(list(table.types))
        for rows in frame.iter_slices(_ROWS):
            yield from rows.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema).to_batches()


class Buckets(NamedTuple):
    """A log in buckets of users: those with events, and what all have in common (no user)."""

    parts: SparkParts[Dataset]
    shared: Dataset
    known: Known


@contextmanager
def in_buckets(spark: SparkSession, layout: Layout, count: int | None = None) -> Iterator[Buckets]:
    """Yield the buckets of a layout's events; Spark forgets them afterwards.

    Without a count there are as many as the local engine makes.
    """
    with ExitStack() as stack:
        log = read(spark, layout, count)
        stack.callback(log.frame.unpersist)
        met = merged(log.frame.where("part < 0"), log.n_parts, _union)[ITEMS]
        table = None if layout.items is None else remote.items(spark, layout.items)
        items, positions = loading.items_of(layout, met, table)
        gathering = _Gathering(
            layout=layout,
            keys=log.keys,
            user_columns=log.user_columns,
            types=log.known.types,
            n_items=len(items.ids),
            words=words_of(items.ids),
            lookup=pack(Lookup.of(met, positions)._asdict()),
        )
        known = log.known._replace(notes=(*log.known.notes, *items.notes))
        common = {ITEMS: items.frame(), **({} if table is None else {TABLE: table})}
        opening = _Opening(layout=layout, known=known, common=pack(common))
        pieces = log.frame.where("part >= 0 AND content IS NOT NULL")
        parts = kept(mapped(pieces, gathering), opening, len(log.keys))
        stack.callback(parts.release)
        log.frame.unpersist()
        known = _known(layout, known, len(log.keys), parts.facts)
        if sum(known.events) != log.n_events:
            raise DataError(_CHANGED)
        parts = replace(parts, opened=replace(opening, known=known))
        no_ids = pl.Series(dataset.ID, [], pl.String)
        shared = of_bucket(layout, items, known, ids=no_ids, events=no_events(), registered=None)
        yield Buckets(parts, shared, known)


def _union(first: Content, second: Content) -> Content:
    ids = [content[ITEMS].alias(dataset.ID) for content in (first, second) if content]
    return {ITEMS: pl.concat(ids).unique()}


def _known(layout: Layout, known: Known, count: int, facts: Mapping[int, Any]) -> Known:
    """Return what is known of all buckets by what each of them tells."""
    nothing = {USERS: 0, _ODD: Oddities({}, {}, 0, 0, 0)}
    every = [facts.get(bucket, nothing) for bucket in range(count)]
    odd = [Oddities._make(bucket[_ODD]) for bucket in every]
    return known._replace(
        events=[bucket.events for bucket in odd],
        users=[bucket[USERS] for bucket in every],
        notes=(*known.notes, *notes_of(layout, odd)),
    )


class Lookup(NamedTuple):
    """Where items stand, by the hash of the id that they were met with."""

    hashes: UInt64
    places: Int32

    @classmethod
    def of(cls, met: pl.Series, positions: Int32) -> Lookup:
        """Return that of distinct ids and their positions."""
        hashes = id_hashes(met)
        order = np.argsort(hashes)
        hashes = hashes[order]
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        if len(same) > 0:
            first, second = sorted(met.gather(order[same[0] : same[0] + 2]))
            raise DataError(
                f'items "{first}" and "{second}" have the same hash; give one another id'
            )
        return cls(hashes, positions[order])

    def positions(self, hashes: UInt64) -> Int32:
        """Return the positions of items by the hashes of their ids."""
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        if (self.hashes[place] != hashes).any():
            raise DataError(_CHANGED)
        return self.places[place]


@dataclass(frozen=True, eq=False)
class _Gathering:
    """What makes buckets of a partition, which holds all that each of them gets."""

    layout: Layout
    keys: Sequence[int]
    user_columns: Sequence[str]
    types: Sequence[EventType]
    n_items: int
    words: Mapping[int, str]
    lookup: bytes

    def __call__(self, batches: Batches) -> Batches:
        """Yield the rows of buckets; none where users have no events."""
        lookup = Lookup(**unpack(self.lookup))
        number_of = {key: number for number, key in enumerate(self.keys)}
        pieces: dict[int, list[Content]] = {}
        for key, content in contents(batches):
            pieces.setdefault(number_of[key], []).append(content)
        for number in sorted(pieces):
            of_bucket = pieces.pop(number)
            logs = [piece for piece in of_bucket if dataset.TIME in piece]
            if logs:
                ids, events = self._events(logs, lookup)
                tables = [piece for piece in of_bucket if TABLE in piece]
                content = _columns(ids, events, len(self.types)) | self._of_users(tables, ids)
                odd = oddities_of(events, ids, self.words, len(self.types))
                yield from to_rows(number, content, facts={USERS: len(ids), _ODD: odd})

    def _events(self, pieces: list[Content], lookup: Lookup) -> tuple[pl.Series, Events]:
        users, batches = Encoder(), []
        hashes = hashes_of(dataset.ID)
        for piece in pieces:
            ids = piece[USERS].alias(dataset.ID)
            keys = ids.to_frame().select(h.alias(str(i)) for i, h in enumerate(hashes))
            codes = users.codes(ids, (keys["0"], keys["1"]))
            time, row = widen_times(piece[dataset.TIME]), piece.get(dataset.ROW)
            events = Events(
                user=codes[piece[dataset.USER]],
                item=lookup.positions(piece[HASHES])[piece[dataset.ITEM]],
                time=time,
                kind=piece.get(dataset.KIND, np.zeros(len(time), np.uint8)),
                row=None if row is None else row.astype(np.int64),
                value=piece.get(dataset.VALUE),
            )
            met = [EventType._make(kind) for kind in piece[KINDS].iter_rows()]
            batches.append(of_types(events, codes_of(met, self.types)))
        ids = users.ids().alias(dataset.ID)
        return bucketing.gathered(ids, batches, self.n_items, len(self.types))

    def _of_users(self, pieces: list[Content], ids: pl.Series) -> dict[str, Any]:
        """Return what the users' table says of a bucket's users."""
        table, content = self.layout.users, dict[str, Any]()
        if table is None or not self.user_columns:
            return content
        none = pl.DataFrame(schema=dict.fromkeys(self.user_columns, pl.String))
        frame = pl.concat([none, *(piece[TABLE] for piece in pieces)])
        attributes.refuse_repeated(table, frame[table.id])
        if table.since is not None:
            since = [np.zeros(0, np.int64), *(piece[SINCE] for piece in pieces)]
            times = pl.Series(np.concatenate(since))
            content[dataset.REGISTERED] = loading.times_at(frame[table.id], times, ids)
        return content | ({TABLE: frame} if table.table.remote else {})


def _columns(ids: pl.Series, events: Events, n_types: int) -> dict[str, Any]:
    """Return a bucket's users and events as they are kept."""
    content: dict[str, Any] = {
        USERS: ids,
        EVENTS: narrow(np.diff(events.user_starts(len(ids)))),
        dataset.ITEM: narrow(events.item),
        dataset.TIME: narrow_times(events.time),
    }
    if n_types > 1:
        content[dataset.KIND] = events.kind
    if events.row is not None:
        content[dataset.ROW] = narrow(events.row)
    if events.value is not None:
        content[dataset.VALUE] = events.value
    return content


@dataclass(frozen=True, eq=False)
class _Opening:
    """What makes the data set of a bucket of its content, and of the items, packed."""

    layout: Layout
    known: Known
    common: bytes

    def __call__(self, _: int, content: Content) -> Dataset:
        """Return the data set."""
        shared = unpack(self.common)
        starts = np.concatenate(([0], np.cumsum(content[EVENTS], dtype=np.int64)))
        row = content.get(dataset.ROW)
        events = Events(
            user=of_starts(starts),
            item=lambda: content[dataset.ITEM].astype(np.int32),
            time=lambda: widen_times(content[dataset.TIME]),
            kind=content.get(dataset.KIND, one_kind(int(starts[-1]))),
            row=None if row is None else row.astype(np.int64),
            value=content.get(dataset.VALUE),
            starts=starts,
        )
        data = of_bucket(
            self.layout,
            Items.kept(shared[ITEMS], self.layout),
            self.known,
            ids=content[USERS].alias(dataset.ID),
            events=events,
            registered=content.get(dataset.REGISTERED),
        )
        tables = {"users_table": content.get(TABLE), "items_table": shared.get(TABLE)}
        return replace(data, **{name: table for name, table in tables.items() if table is not None})
