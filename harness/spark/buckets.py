"""A log of any size in buckets of users, made and kept by Spark: each bucket is a data set.

What each bucket gets of all that is read is gathered as `harness.data.bucketing` does. Only the
items come to the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from harness.core.arrays import Int32, UInt64
from harness.core.errors import DataError
from harness.core.ids import Encoder, hashes_of
from harness.core.random import id_hashes
from harness.data import attributes, bucketing, buckets, dataset, loading
from harness.data.bucketing import EVENTS, Known
from harness.data.dataset import Dataset, Events, no_events, of_starts, one_kind
from harness.data.event_types import EventType, codes_of, of_types
from harness.data.layout import AttributeTable, Layout
from harness.data.loading import Items
from harness.data.oddities import Oddities, notes_of, oddities_of, words_of
from harness.spark import remote
from harness.spark.packing import narrow, narrow_times, packed, times, unpacked
from harness.spark.parts import (
    SCHEMA,
    Batches,
    Content,
    Parts,
    attempted,
    gathered,
    kept,
    merged,
    rows,
)
from harness.spark.reading import HASHES, ITEMS, KINDS, USERS, Read, read
from harness.spark.users import SINCE, TABLE, Division

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    division : Division
    """

    layout: Layout
    items: Items
    known: Known
    parts: Parts[Dataset]
    division: Division

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
        given = read(spark, layout, count)
        stack.callback(given.frame.unpersist)
        found = _gathered(spark, layout, given)
        stack.callback(found.parts.release)
        given.frame.unpersist()
        yield found


_ODD = "odd"


class Lookup(NamedTuple):
    """Where items stand, by the hash of the id that they were met with."""

    hashes: UInt64
    places: Int32

    @classmethod
    def of(cls, met: pl.Series, at: Int32) -> Lookup:
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

    def positions(self, hashes: UInt64) -> Int32:
        """Return the positions of items by the hashes of their ids."""
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        if (self.hashes[at] != hashes).any():
            raise DataError(_CHANGED)
        return self.places[at]


def _gathered(spark: SparkSession, layout: Layout, given: Read) -> Buckets:
    """Return the buckets of what was read."""
    met = merged(given.frame.where("part < 0"), given.n_parts, _union)[ITEMS]
    table = None if layout.items is None else whole(spark, layout.items)
    items, at = loading.items_of(layout, met, table)
    lookup = packed(Lookup.of(met, at)._asdict())
    gather = partial(
        _gather,
        layout,
        given.described,
        given.types,
        len(items.ids),
        words_of(items.ids),
        given.division,
        lookup,
    )
    pieces = given.frame.where("part >= 0 AND content IS NOT NULL")
    shared = Known((), (), given.span, (*given.notes, *items.notes), given.types)
    common = {ITEMS: items.frame(), **({} if table is None else {TABLE: table})}
    opened = partial(_opened, layout, common=packed(common))
    made = kept(pieces.mapInArrow(gather, SCHEMA), partial(opened, shared))
    none = {USERS: 0, _ODD: Oddities({}, {}, 0, 0, 0)}
    facts = [made.facts.get(at, none) for at in range(len(given.division.keys))]
    n_users, odd = [of[USERS] for of in facts], [Oddities(*of[_ODD]) for of in facts]
    events = [part.events for part in odd]
    if sum(events) != given.n_events:
        made.release()
        raise DataError(_CHANGED)
    shared = shared._replace(notes=(*shared.notes, *notes_of(layout, odd)))
    known = shared._replace(events=events, users=n_users)
    parts = replace(made, opened=partial(opened, shared))
    return Buckets(layout, items, known, parts, given.division)


_CHANGED = (
    "other events were read when some were read again: a table changed meanwhile; run the command "
    "again"
)


def _union(one: Content, other: Content) -> Content:
    """Return the items of both."""
    ids = [of[ITEMS].alias(dataset.ID) for of in (one, other) if of]
    return {ITEMS: pl.concat(ids).unique()}


def whole(spark: SparkSession, table: AttributeTable) -> pl.DataFrame | None:
    """Return a table that Spark alone can read; None: any other is read when it is needed."""
    if not table.table.remote:
        return None
    found = remote.texts(spark, table)
    pattern = remote.pattern(found, table.since, table.time_format)
    read = pl.DataFrame(pl.from_arrow(found.toArrow()))
    checked = remote.checked(table.table.name, read, remote.rules(table, pattern))
    attributes.refuse_repeated(table, checked[table.id])
    return checked


def _gather(
    layout: Layout,
    names: Sequence[str],
    types: Sequence[EventType],
    n_items: int,
    words: Mapping[int, str],
    division: Division,
    lookup: bytes,
    batches: Batches,
) -> Batches:
    """Yield the buckets of a partition, which holds all that each of them gets."""
    places = Lookup(**unpacked(lookup))
    for at, pieces in gathered(batches, division.keys):
        work = partial(_bucket, layout, names, types, n_items, words, places, at, pieces)
        yield from attempted(at, work)


def _bucket(
    layout: Layout,
    names: Sequence[str],
    types: Sequence[EventType],
    n_items: int,
    words: Mapping[int, str],
    places: Lookup,
    at: int,
    pieces: list[Content],
) -> Batches:
    """Yield the row of a bucket; none where its users have no events."""
    own = [piece for piece in pieces if dataset.TIME in piece]
    described = [piece for piece in pieces if TABLE in piece]
    if not own:
        return
    ids, events = _events(own, places, n_items, types)
    starts = events.user_starts(len(ids))
    content: dict[str, Any] = {
        USERS: ids,
        EVENTS: narrow(np.diff(starts)),
        dataset.ITEM: narrow(events.item),
        dataset.TIME: narrow_times(events.time),
    }
    if len(types) > 1:
        content[dataset.KIND] = events.kind
    if events.row is not None:
        content[dataset.ROW] = narrow(events.row)
    if events.value is not None:
        content[dataset.VALUE] = events.value
    content |= _of_users(layout, names, described, ids)
    odd = oddities_of(events, ids, words, len(types))
    yield from rows(at, content, {USERS: len(ids), _ODD: odd})


def _events(
    pieces: list[Content], places: Lookup, n_items: int, types: Sequence[EventType]
) -> tuple[pl.Series, Events]:
    users, batches = Encoder(), []
    hashes = hashes_of(dataset.ID)
    for piece in pieces:
        ids = piece[USERS].alias(dataset.ID)
        keys = ids.to_frame().select(h.alias(str(i)) for i, h in enumerate(hashes))
        codes = users.codes(ids, (keys["0"], keys["1"]))
        time = times(piece[dataset.TIME])
        kind, row = piece.get(dataset.KIND), piece.get(dataset.ROW)
        events = Events(
            codes[piece[dataset.USER]],
            places.positions(piece[HASHES])[piece[dataset.ITEM]],
            time,
            np.zeros(len(time), np.uint8) if kind is None else kind,
            None if row is None else row.astype(np.int64),
            piece.get(dataset.VALUE),
        )
        met = [EventType(*of) for of in piece[KINDS].iter_rows()]
        batches.append(of_types(events, codes_of(met, types)))
    return bucketing.gathered(users.ids().alias(dataset.ID), batches, n_items, len(types))


def _of_users(
    layout: Layout, names: Sequence[str], pieces: list[Content], ids: pl.Series
) -> dict[str, Any]:
    """Return what the users' table says of a bucket's users."""
    table, found = layout.users, dict[str, Any]()
    if table is None or not names:
        return found
    none = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    frame = pl.concat([none, *(piece[TABLE] for piece in pieces)])
    attributes.refuse_repeated(table, frame[table.id])
    if table.since is not None:
        since = [np.zeros(0, np.int64), *(piece[SINCE] for piece in pieces)]
        own = pl.Series(np.concatenate(since))
        found[dataset.REGISTERED] = loading.times_at(frame[table.id], own, ids)
    return found | ({TABLE: frame} if table.table.remote else {})


def _opened(layout: Layout, known: Known, _: int, content: Content, *, common: bytes) -> Dataset:
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
        content.get(dataset.VALUE),
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
    tables_of = {"users_table": content.get(TABLE), "items_table": shared.get(TABLE)}
    return replace(found, **{name: frame for name, frame in tables_of.items() if frame is not None})
