"""A log of any size in buckets of users, made and kept by Spark: each bucket is a data set.

Parts of events are cut into what each bucket gets, and that is gathered as
`harness.data.bucketing` does. Of all that is read only the items come to the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Int32, UInt64
from harness.core.errors import DataError
from harness.core.ids import Encoder, hashes_of
from harness.core.random import LEAVES, id_hashes, leaf_of
from harness.data import attributes, bucketing, buckets, dataset, loading
from harness.data.bucketing import EVENTS, Known
from harness.data.dataset import NO_TIME, Dataset, Events, no_events, of_starts, one_kind
from harness.data.layout import AttributeTable, Layout
from harness.data.loading import Items
from harness.spark import remote
from harness.spark.packing import narrow, narrow_times, packed, times, unpacked
from harness.spark.parts import (
    SCHEMA,
    Batches,
    Content,
    Parts,
    attempted,
    contents,
    kept,
    merged,
    pairs,
    rows,
    told_row,
)
from harness.spark.reading import ENDS, ITEMS, USER_ENDS, USERS, Read, read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TRIED = 24
"""Keys for each bucket, of which one is taken."""
_TABLE, _SINCE = "table", "since"


@dataclass(frozen=True, eq=False)
class Buckets:
    """A log in buckets of users.

    Attributes
    ----------
    items : Items
        Of all buckets.
    known : Known
        How many events and users each bucket has, and when the first and last event happened.
    parts : Parts of Dataset
        Each bucket that has events.
    """

    layout: Layout
    items: Items
    known: Known
    parts: Parts[Dataset]

    def empty(self) -> Dataset:
        """Return what the buckets have in common: the items, and no user or event."""
        ids = pl.Series(dataset.ID, [], pl.String)
        return buckets.of_bucket(self.layout, self.items, self.known, ids, no_events(), None)


@contextmanager
def prepared(spark: SparkSession, layout: Layout, count: int | None = None) -> Iterator[Buckets]:
    """Yield the buckets of a layout's events; Spark forgets them afterwards.

    Parameters
    ----------
    count : int, optional
        How many, 4,096 at most; by default as many as the local engine makes.

    Raises
    ------
    HarnessError
        A file, table, column or value that cannot be used; rows in an order that Spark has not.

    Examples
    --------
    >>> with prepared(spark, config.layout()) as found:  # doctest: +SKIP
    ...     found.parts.total(lambda data: {"events": np.array([len(data.events)])})
    """
    with ExitStack() as stack:
        given = read(spark, layout)
        stack.callback(given.frame.unpersist)
        found = _gathered(spark, layout, given, count or bucketing.bucket_count(given.n_events))
        stack.callback(found.parts.release)
        given.frame.unpersist()
        yield found


class _Division(NamedTuple):
    """How users are divided into buckets: what Spark knows each of them by."""

    keys: Sequence[int]

    def bounds(self, at: int) -> tuple[int, int]:
        """Return the first leaf of a bucket, and the one behind its last."""
        count = len(self.keys)
        return LEAVES * at // count, LEAVES * (at + 1) // count

    @classmethod
    def of(cls, spark: SparkSession, count: int) -> _Division:
        """Return that of so many buckets, each of which Spark puts into a partition of its own.

        Where it does not, two are worked on one after the other.
        """
        hashed = f"pmod(hash(CAST(id AS INT)), {count}) AS at"
        found = spark.range(0, _TRIED * count, 1, 1).selectExpr("CAST(id AS INT) AS id", hashed)
        key: dict[int, int] = {}
        for tried, at in pairs(found.toArrow()):
            key.setdefault(at, tried)
        others = iter(range(_TRIED * count, (_TRIED + 1) * count))
        return cls([key[at] if at in key else next(others) for at in range(count)])


class _Lookup(NamedTuple):
    """Where items stand, by the hash of the id that they were met with."""

    hashes: UInt64
    places: Int32

    @classmethod
    def of(cls, met: pl.Series, at: Int32) -> _Lookup:
        """Return that of distinct ids and their positions.

        Raises
        ------
        DataError
            Two ids have the same hash.
        """
        hashes = id_hashes(met)
        order = np.argsort(hashes)
        hashes = hashes[order]
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        if len(same) > 0:
            one, other = sorted(met.gather(order[same[0] : same[0] + 2]))
            raise DataError(f'items "{one}" and "{other}" have the same hash; give one another id')
        return cls(hashes, at[order])

    def positions(self, ids: pl.Series) -> Int32:
        """Return the positions of items."""
        return self.places[np.searchsorted(self.hashes, id_hashes(ids))]


def _gathered(spark: SparkSession, layout: Layout, given: Read, count: int) -> Buckets:
    """Return the buckets of what was read."""
    met = merged(given.frame.where("part < 0"), given.n_parts, _union)[ITEMS]
    table = None if layout.items is None else _whole(spark, layout.items)
    items, at = loading.items_of(layout, met, table)
    division, lookup = _Division.of(spark, count), _Lookup.of(met, at)._asdict()
    cut = partial(_cut, division, packed(lookup))
    pieces = given.frame.where("part >= 0 AND content IS NOT NULL").mapInArrow(cut, SCHEMA)
    names, users = _users(spark, layout, division)
    if users is not None:
        pieces = pieces.unionAll(users)
    gather = partial(_gather, layout, names, len(items.ids), division)
    frame = pieces.repartition(count, "part").mapInArrow(gather, SCHEMA)
    shared = Known((), (), given.span, (*given.notes, *items.notes))
    common = {ITEMS: items.frame(), **({} if table is None else {_TABLE: table})}
    made = kept(frame, partial(_opened, layout, shared, packed(common)))
    sizes = [made.facts.get(at) or {EVENTS: 0, USERS: 0} for at in range(count)]
    events, n_users = ([of[name] for of in sizes] for name in (EVENTS, USERS))
    if sum(events) != given.n_events:
        made.release()
        raise DataError(
            f"{given.n_events:,} events were read, and {sum(events):,} when some were read again: "
            "the tables changed meanwhile; run the command again"
        )
    return Buckets(layout, items, shared._replace(events=events, users=n_users), made)


def _union(one: Content, other: Content) -> Content:
    """Return the items of both."""
    ids = [of[ITEMS].alias(dataset.ID) for of in (one, other) if of]
    return {ITEMS: pl.concat(ids).unique()}


def _whole(spark: SparkSession, table: AttributeTable) -> pl.DataFrame | None:
    """Return a table that Spark alone can read; None: any other is read when it is needed."""
    if not table.table.remote:
        return None
    found = remote.texts(spark, table)
    pattern = remote.pattern(found, table.since, table.time_format)
    read = pl.DataFrame(pl.from_arrow(found.toArrow()))
    checked = remote.checked(table.table.name, read, remote.rules(table, pattern))
    attributes.refuse_repeated(table, checked[table.id])
    return checked


def _cut(division: _Division, lookup: bytes, batches: Batches) -> Batches:
    """Yield what each bucket gets of parts."""
    items = _Lookup(**unpacked(lookup))
    for source, (part, content, _) in enumerate(contents(batches)):
        work = partial(_of_part, division, items, source, unpacked(content))
        yield from attempted(part, work)


def _of_part(division: _Division, items: _Lookup, source: int, content: Content) -> Batches:
    positions = items.positions(content[ITEMS])
    for at, key in enumerate(division.keys):
        first, behind = division.bounds(at)
        users = slice(*content[USER_ENDS][[first, behind]].tolist())
        own = slice(*content[ENDS][[first, behind]].tolist())
        if own.start == own.stop:
            continue
        time = content[dataset.TIME]
        others = {n: content[n][own] for n in (dataset.KIND, dataset.ROW) if n in content}
        piece = {
            USERS: content[USERS][users],
            dataset.USER: narrow(content[dataset.USER][own] - users.start),
            dataset.ITEM: narrow(positions[content[dataset.ITEM][own]]),
            dataset.TIME: time | {"steps": time["steps"][own]},
        }
        yield from rows(key, piece | others, source=source)


def _users(
    spark: SparkSession, layout: Layout, division: _Division
) -> tuple[list[str], DataFrame | None]:
    """Return what each bucket gets of the users' table, columns and rows; none if it can wait."""
    table = layout.users
    if table is not None and table.table.remote:
        found = remote.texts(spark, table)
        pattern = remote.pattern(found, table.since, table.time_format)
        work = partial(_of_user_rows, table, pattern, division)
        return found.columns, found.mapInArrow(work, SCHEMA)
    if table is None or table.since is None:
        loading.users_of(layout)  # its columns are there
        return [], None
    work = partial(_of_user_files, layout, division)
    return [table.id], spark.range(0, 1, 1, 1).mapInArrow(work, SCHEMA)


def _of_user_files(layout: Layout, division: _Division, batches: Batches) -> Batches:
    table = layout.users

    def work() -> Batches:
        if table is not None:
            frame = loading.users_of(layout)
            since = attributes.since(table, frame)
            yield from _by_bucket(division, frame.select(table.id), since, 0)

    for _ in batches:
        yield from attempted(0, work)


def _of_user_rows(
    table: AttributeTable, pattern: str | None, division: _Division, batches: Batches
) -> Batches:
    rules = remote.rules(table, pattern)

    def work(source: int, batch: Any) -> Batches:
        read = pl.DataFrame(pl.from_arrow(batch))
        frame = remote.checked(table.table.name, read, rules)
        since = None if table.since is None else rules[-1].parsed(frame[table.since])
        yield from _by_bucket(division, frame, since, source)

    for source, batch in enumerate(batches):
        yield from attempted(0, partial(work, source, batch))


def _by_bucket(
    division: _Division, frame: pl.DataFrame, since: pl.Series | None, source: int
) -> Batches:
    """Yield rows of a users' table, ids first, for the bucket of each."""
    leaf = leaf_of(id_hashes(frame.to_series()))
    for at, key in enumerate(division.keys):
        first, behind = division.bounds(at)
        own = np.flatnonzero((leaf >= first) & (leaf < behind))
        content: dict[str, Any] = {_TABLE: frame[own]}
        if since is not None:
            content[_SINCE] = since.fill_null(NO_TIME).to_numpy()[own]
        if len(own) > 0:
            yield from rows(key, content, source=source)


def _gather(
    layout: Layout, names: Sequence[str], n_items: int, division: _Division, batches: Batches
) -> Batches:
    """Yield the buckets of a partition, which holds all that each of them gets."""
    number = {key: at for at, key in enumerate(division.keys)}
    found: dict[int, list[Content]] = {}
    for key, content, told in contents(batches):
        if content is None:
            yield told_row(key, told)
        else:
            found.setdefault(number[key], []).append(unpacked(content))
    for at in sorted(found):
        yield from attempted(at, partial(_bucket, layout, names, n_items, at, found.pop(at)))


def _bucket(
    layout: Layout, names: Sequence[str], n_items: int, at: int, pieces: list[Content]
) -> Batches:
    """Yield the row of a bucket; none where its users have no events."""
    own = [piece for piece in pieces if dataset.TIME in piece]
    described = [piece for piece in pieces if _TABLE in piece]
    if not own:
        return
    ids, events = _events(own, n_items, len(layout.kinds))
    starts = events.user_starts(len(ids))
    content: dict[str, Any] = {
        USERS: ids,
        EVENTS: narrow(np.diff(starts)),
        dataset.ITEM: narrow(events.item),
        dataset.TIME: narrow_times(events.time),
    }
    if len(layout.kinds) > 1:
        content[dataset.KIND] = events.kind
    if events.row is not None:
        content[dataset.ROW] = narrow(events.row)
    content |= _of_users(layout, names, described, ids)
    yield from rows(at, content, {EVENTS: len(events), USERS: len(ids)})


def _events(pieces: list[Content], n_items: int, n_kinds: int) -> tuple[pl.Series, Events]:
    users, batches = Encoder(), []
    hashes = hashes_of(dataset.ID)
    for piece in pieces:
        ids = piece[USERS].alias(dataset.ID)
        keys = ids.to_frame().select(h.alias(str(i)) for i, h in enumerate(hashes))
        codes = users.codes(ids, (keys["0"], keys["1"]))
        time = times(piece[dataset.TIME])
        kind = piece.get(dataset.KIND)
        batches.append(
            Events(
                codes[piece[dataset.USER]],
                piece[dataset.ITEM].astype(np.int32),
                time,
                one_kind(len(time)) if kind is None else kind,
                None if dataset.ROW not in piece else piece[dataset.ROW].astype(np.int64),
            )
        )
    return bucketing.gathered(users.ids().alias(dataset.ID), batches, n_items, n_kinds)


def _of_users(
    layout: Layout, names: Sequence[str], pieces: list[Content], ids: pl.Series
) -> dict[str, Any]:
    """Return what the users' table says of a bucket's users."""
    table, found = layout.users, dict[str, Any]()
    if table is None or not names:
        return found
    none = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    frame = pl.concat([none, *(piece[_TABLE] for piece in pieces)])
    attributes.refuse_repeated(table, frame[table.id])
    if table.since is not None:
        since = [np.zeros(0, np.int64), *(piece[_SINCE] for piece in pieces)]
        own = pl.Series(np.concatenate(since))
        found[dataset.REGISTERED] = loading.times_at(frame[table.id], own, ids)
    return found | ({_TABLE: frame} if table.table.remote else {})


def _opened(layout: Layout, known: Known, common: bytes, _: int, content: Content) -> Dataset:
    """Return the data set of a bucket."""
    shared = unpacked(common)
    starts = np.concatenate(([0], np.cumsum(content[EVENTS], dtype=np.int64)))
    kind, row = content.get(dataset.KIND), content.get(dataset.ROW)
    events = Events(
        of_starts(starts),
        content[dataset.ITEM].astype(np.int32),
        times(content[dataset.TIME]),
        one_kind(int(starts[-1])) if kind is None else kind,
        None if row is None else row.astype(np.int64),
        starts=starts,
    )
    found = buckets.of_bucket(
        layout,
        Items.kept(shared[ITEMS], layout),
        known,
        content[USERS].alias(dataset.ID),
        events,
        content.get(dataset.REGISTERED),
    )
    tables_of = {"users_table": content.get(_TABLE), "items_table": shared.get(_TABLE)}
    return replace(found, **{name: frame for name, frame in tables_of.items() if frame is not None})
