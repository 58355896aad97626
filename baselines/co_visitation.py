"""CoVisitation: what others took with, or soon after, what is in the user's last basket."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from baselines import _kernels
from harness.core.arrays import Floats, Int32, Int64, counts_of
from harness.core.exact_sum import Sums, rounded, weight_slices
from harness.core.params import require_above, require_whole
from harness.data import dataset
from harness.data.dataset import Events
from harness.models.base import Draws, Train, pair_matrix
from harness.models.products import as_matrix, in_threads, largest_products
from harness.models.sums import FromSums, Steps

_BITS = 62
"""Sums of pairs are whole numbers below 2 to this power, which int64 holds."""


class _Prepared(NamedTuple):
    """Events that make pairs: each one's candidate position and weight, at most 1.

    `counts` says how many pairs each item begins, those with what is no candidate as well.
    """

    events: Events
    candidate: Int32
    weight: Floats
    counts: Int64


@dataclass(eq=False)
class CoVisitation(FromSums):
    """Candidates j by Σ over the items i of the last basket of weight(i → j) / weight(i).

    A pair i → j counts if a user has j together with i or within some days after it. Direction
    matters: people buy other things after a camera than before it. A pair counts
    2^(−gap / half-life), and less if it is old: the co-visitation matrix of OTTO's best entries
    (Kaggle, 2023; Linden, Smith and York 2003 for the undirected form). Users without events, or
    with nothing after the items of their basket, get no list.

    What a pair counts is rounded to a multiple of a power of 2, the smallest of which all pairs of
    i, were they all the heaviest that i can have, fit into 62 bits: so sums are exact, whatever
    their order. Where i has less than 2^22 pairs (4 million), it is 2^−40 of the heaviest or finer.

    Parameters
    ----------
    within_days : float
        How many days after i an item j still makes a pair.
    gap_half_life_days : float
        The days between i and j that halve a pair's weight.
    half_life_days : float, optional
        The age that halves a pair's weight; None: age does not matter.
    window_days : float, optional
        Only events of the last so many days make pairs; all by default.
    basket_days : float
        The last basket has the items of this many days up to the user's last event.
    neighbours : int
        How many j each i keeps, those with the largest weight.
    """

    # No parameters of the model: they change no list, only memory and time.
    pairs_at_a_time: ClassVar[int] = 1 << 25  # of 12 bytes; as many again while parts are added up
    items_at_a_time: ClassVar[int] = 256  # whose pairs a thread counts in one go
    within_days: float = 7
    gap_half_life_days: float = 7
    half_life_days: float | None = 30
    window_days: float | None = None
    basket_days: float = 1
    neighbours: int = 100

    def fit_steps(self, train: Train) -> Steps:
        """Weigh the pairs of all items, of as many at a time as fit into memory."""
        require_whole(1, neighbours=self.neighbours)
        require_above(
            0,
            within_days=self.within_days,
            gap_half_life_days=self.gap_half_life_days,
            basket_days=self.basket_days,
        )
        n_items, width = len(train.item_ids), len(train.candidates)
        prepare = _Preparing(self, train)
        total: Any = yield lambda part: _sizes(prepare(part))
        weights, counts = rounded(total["own"], n_items), total["pairs"]
        halvings = 0.0 if self.half_life_days is None else self.within_days / self.half_life_days
        scales = powers_of_two(weights, counts, halvings)
        columns = np.full((n_items, min(self.neighbours, width)), -1, np.int32)
        values = np.zeros(columns.shape)
        for items in _ranges(np.minimum(counts, width), self.pairs_at_a_time):
            step = partial(self._pairs, prepare, items, scales[items], width)
            _keep_heaviest((yield step), columns[items], values[items], self.items_at_a_time)
        shares = values / np.maximum(scales * weights, 1e-300)[:, None]
        self.votes_ = as_matrix(columns, shares, width)

    def for_users(self, train: Train) -> Self:
        """Keep the users' own events, which are read when they are asked for."""
        self.train_ = train
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates of the highest scores above 0."""
        train = self.train_
        events = train.events.of_users(users, len(train.user_ids))
        starts = events.user_starts(len(users))
        last = events.time[starts[events.user + 1] - 1]
        keep = events.time > last - float(self.basket_days) * dataset.DAY_US
        user, item = events.user[keep], events.item[keep]
        shape = (len(users), len(train.item_ids))
        baskets = pair_matrix(user, item, np.ones(len(user), np.float32), shape, counts=False)
        return largest_products(baskets, self.votes_, k, exclude=exclude)[0]

    @property
    def _span(self) -> float:
        return float(self.within_days * dataset.DAY_US)

    def _prepared(self, to: Train, train: Train) -> _Prepared:
        """Return the events of `train` that make pairs with the candidates of `to`."""
        counted, _ = train.event_weights(self.window_days)
        if counted is not None:
            train = replace(train, events=train.events.where(counted))
        _, weight = train.event_weights(None, self.half_life_days)
        events, counts = train.events, np.zeros(len(train.item_ids), np.int64)
        _kernels.count_pairs(events.user, events.item, events.time, self._span, counts)
        weight = np.ones(len(events)) if weight is None else weight
        return _Prepared(events, to.candidate_of_item[events.item], weight, counts)

    def _pairs(
        self,
        prepare: Callable[[Train], _Prepared],
        items: slice,
        scales: Floats,
        width: int,
        train: Train,
    ) -> Sums:
        """Return the sums of pairs of some items, (items, candidates), times `scales`."""
        events, candidate, weight, counts = prepare(train)
        n = items.stop - items.start
        starts, order = _by_item(events.item, items)
        span, half = self._span, float(self.gap_half_life_days * dataset.DAY_US)
        room = np.append(0, np.cumsum(np.minimum(counts[items], width)))
        sizes, columns = np.zeros(n, np.int64), np.empty(room[-1], np.int32)
        values = np.empty(room[-1], np.int64)

        def block(first: int, last: int) -> None:
            sums, touched = np.zeros(width, np.int64), np.empty(width + 1, np.int32)
            _kernels.pairs(
                first, last, starts, order, events.user, candidate, events.time, weight,
                scales, span, half, room, sums, touched, sizes, columns, values,
            )  # fmt: skip

        in_threads(block, n, self.items_at_a_time)
        pairs = _packed(sizes, room, columns, values, width, self.items_at_a_time)
        return {"pairs": pairs}


def powers_of_two(weight_sums: Floats, counts: Int64, halvings: float) -> Floats:
    """Return for each item the power of 2 that its pairs' weights are multiplied by.

    No weight is more than 2^most: an event that is later than one of the item's by less than
    `within_days` has at most 2^halvings times its weight, which is at most the sum, and none has
    more than 1. There are less than 2^bits of them: together less than 2^62. `weight_sums` are of
    the events of each item, and `counts` how many pairs it begins; `halvings` is how often a weight
    halves within `within_days`.
    """
    most = np.minimum(np.frexp(weight_sums)[1] + min(np.ceil(halvings) + 1, 2000.0), 0)
    bits = np.frexp(counts.astype(np.float64))[1]
    scales: Floats = np.ldexp(1.0, (_BITS - bits - most).astype(np.int32))
    return scales


@dataclass(eq=False)
class _Preparing:
    """Prepares parts of the events for the candidates of `to`.

    The last part is kept, as it may be the only one.
    """

    model: CoVisitation
    to: Train
    last: tuple[Train, _Prepared] | None = None

    def __call__(self, part: Train) -> _Prepared:
        if self.last is None or self.last[0] is not part:
            self.last = part, self.model._prepared(self.to, part)
        return self.last[1]

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "to": self.to, "last": None}


def _by_item(item: Int32, items: slice) -> tuple[Int64, Int64]:
    """Return where the events of each of some items begin in an order by item, and that order."""
    place, n = item - np.int32(items.start), items.stop - items.start
    order = np.flatnonzero((place >= 0) & (place < n))
    order = order[np.argsort(place[order], kind="stable")]
    return np.append(0, np.cumsum(counts_of(place[order], n))), order


def _sizes(events: _Prepared) -> Sums:
    """Return each item's own weight, and how many pairs it begins."""
    weights = weight_slices(events.events.item, events.weight, len(events.counts))
    return {"own": weights, "pairs": events.counts}


def _ranges(sizes: Int64, most: int) -> Iterator[slice]:
    """Yield items, one range behind the other, whose sizes add up to `most`, or one item alone."""
    ends, start, before = np.cumsum(sizes), 0, 0
    while start < len(sizes):
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield slice(start, stop)
        start, before = stop, int(ends[stop - 1])


def _packed(
    sizes: Int64, room: Int64, columns: Int32, values: Int64, width: int, block: int
) -> csr_array[Any]:
    """Return pairs as a matrix; those of each block of items stand together, where its room is."""
    end = 0
    for first in range(0, len(sizes), block):  # moved ahead in place: copies would be large
        begin, size = room[first], sizes[first : first + block].sum()
        for array in (columns, values):
            array[end : end + size] = array[begin : begin + size]
        end += size
    indptr = np.append(0, np.cumsum(sizes)).astype(np.int32)
    return csr_array((values[:end], columns[:end], indptr), shape=(len(sizes), width))


def _keep_heaviest(
    total: Mapping[str | int, Any], columns: Int32, values: Floats, block: int
) -> None:
    """Write the heaviest pairs of each item."""
    pairs = total["pairs"]

    def write(first: int, last: int) -> None:
        _kernels.heaviest(first, last, pairs.indptr, pairs.indices, pairs.data, columns, values)

    in_threads(write, pairs.shape[0], block)
