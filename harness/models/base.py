"""The contract: what a recommender is given, what it answers, and the random draws it makes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array

from harness.core import random
from harness.core.arrays import Bool, Floats, Int32, Int64, counts_of, places
from harness.core.errors import in_toml
from harness.core.exact_sum import rounded, weight_slices
from harness.core.params import ParameterError, require_above, require_flag, require_from
from harness.data import attributes
from harness.data.dataset import DAY_US, ITEM, KIND, TIME, USER, VALUE, Dataset, Events

Draws = random.Draws
Kept = TypeVar("Kept", bound=npt.NDArray[Any])
_LENT = {"dataset", "candidate_ids", "matrix", "frame", "users_table", "items_table"}
"""Attributes of `Train` of which every reader has a copy that shares their memory."""


class Recommender(Protocol):
    """A model: any class with these two methods, whose constructor only stores its parameters.

    A model that learns from sums over users has two more: `harness.models.sums.FromSums`.
    """

    def fit(self, train: Train) -> Self:
        """Learn from `train`, forget what was learnt before, and return self."""

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return a list for each user.

        Parameters
        ----------
        users : int32 array, (n,)
            Positions into ``train.user_ids``; a batch of the evaluated users.
        k : int
            The length of a list.
        draws : Draws
            The only source of randomness.
        exclude : csr_array, (n, n candidates), optional
            Row i holds the candidates that must not be in the list of ``users[i]``.

        Returns
        -------
        int32 array, (n, k)
            Positions into ``train.candidate_ids``, best first; −1 = empty; no item twice in a row.
        """


@dataclass(frozen=True, eq=False)
class Train:
    """The training data of a recommender: the past events, and the candidates.

    All models of a run share this memory, and no model can change it: arrays are read-only, and
    matrices, frames and series are copies that share their memory.

    Attributes
    ----------
    dataset : Dataset
        Ids, event types and attribute tables, with the training events alone.
    events : Events
        The training events, ordered by user, time and item.
    candidates : int32 array, (N,)
        Item positions of the candidates, in id order.
    cutoff : int, optional
        Microseconds since 1970; every training event is earlier. None: events have no times.
    """

    dataset: Dataset
    events: Events
    candidates: Int32
    cutoff: int | None

    def __post_init__(self) -> None:
        # What lies behind the cut-off must not be within a model's reach.
        data = replace(self.dataset, events=self.events, span=None)
        object.__setattr__(self, "dataset", data)
        for array in (self.candidates, data.catalogue, data.shown_from, data.registered):
            if array is not None:
                _kept(array)

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute, or a shallow copy: no reader changes what others read."""
        value = super().__getattribute__(name)
        return copy(value) if name in _LENT else value

    @property
    def user_ids(self) -> pl.Series:
        """All user ids (str), in order; a user position is an index into these."""
        return self.dataset.user_ids

    @property
    def item_ids(self) -> pl.Series:
        """All item ids (str), in order; an item position is an index into these."""
        return self.dataset.item_ids

    @cached_property
    def candidate_ids(self) -> pl.Series:
        """The candidates' ids (str), in order; answers are positions into these."""
        return self.item_ids.gather(self.candidates)

    @cached_property
    def candidate_of_item(self) -> Int32:
        """The candidate position of every item, −1 for items that are no candidates."""
        return _kept(places(self.candidates, len(self.item_ids)))

    @cached_property
    def user_starts(self) -> Int64:
        """Where each user's events begin in `events`, one offset per user, and where they end."""
        return _kept(self.events.user_starts(len(self.user_ids)))

    @cached_property
    def matrix(self) -> csr_array[Any]:
        """Events of each user with each item, a (users, items) CSR matrix of counts (float32)."""
        counts = np.ones(len(self.events), np.float32)
        # SciPy sorts and sums in place, so it must have arrays of its own.
        parts = counts, self.events.item.copy(), self.user_starts.copy()
        matrix = csr_array(parts, shape=(len(self.user_ids), len(self.item_ids)))
        matrix.sum_duplicates()
        for array in (matrix.data, matrix.indices, matrix.indptr):
            _kept(array)
        return matrix

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The events as a frame of user, item, kind (str), time (datetime) and value (float).

        It has values if ``[data] value`` names their column.
        """
        columns = {
            USER: self.user_ids.gather(self.events.user),
            ITEM: self.item_ids.gather(self.events.item),
            TIME: pl.Series(self.events.time).cast(pl.Datetime("us")),
            KIND: pl.Series(self.dataset.kinds).gather(self.events.kind),
        }
        if self.events.value is not None:
            columns[VALUE] = pl.Series(self.events.value)
        return pl.DataFrame(columns)

    @cached_property
    def users_table(self) -> pl.DataFrame | None:
        """The users' attributes as text, ids first, a row a user; None where there are none."""
        return attributes.whole(self.dataset.users_table)

    def user_attribute(self, column: str) -> pl.Series:
        """Return one column of the users' table as text, an entry a user; null where unknown.

        Raises
        ------
        ParameterError
            No table of users, or no such column.
        DataError
            No such column in the file of the table.
        """
        table = self.dataset.users_table
        if table is None:
            raise ParameterError(
                'there is no table of users; with layout "table", name one as [data] users'
            )
        if column not in self._user_columns:
            self._user_columns[column] = attributes.column(table, column, self.user_ids)
        return self._user_columns[column].clone()

    @cached_property
    def _user_columns(self) -> dict[str, pl.Series]:
        return {}  # what has been read

    @cached_property
    def items_table(self) -> pl.DataFrame | None:
        """The items' attributes as text, ids first, a row an item; None where there are none."""
        return attributes.whole(self.dataset.items_table)

    def age_days(self) -> Floats:
        """Return how many days before the cut-off each event happened."""
        return (self._cutoff() - self.events.time) / DAY_US

    def last_days(self, days: float) -> Bool:
        """Return which events happened within the last `days` before the cut-off."""
        return self.events.since(self._cutoff() - round(days * DAY_US))

    def _cutoff(self) -> int:
        if self.cutoff is None:
            raise ParameterError("the events have no times, so there is no latest event")
        return self.cutoff

    def kind_weights(self, weights: Mapping[str, float]) -> Floats:
        """Return a weight for every event by its type; types that are not named weigh 1.

        Raises
        ------
        ParameterError
            `weights` names an event type that this data set does not have.
        """
        if not isinstance(weights, Mapping):
            raise ParameterError(
                f"weights is {in_toml(weights)}; expected a table: {{ visit = 0.1 }}"
            )
        for kind in sorted(set(weights) - set(self.dataset.kinds)):
            there = ", ".join(dict.fromkeys(self.dataset.kinds))
            raise ParameterError(f'no event type "{kind}"; there are {there}')
        require_from(0, **{f"the weight of {kind}": weight for kind, weight in weights.items()})
        return np.array([weights.get(k, 1.0) for k in self.dataset.kinds])[self.events.kind]

    def values(self) -> Floats:
        """Return the value of every event.

        Raises
        ------
        ParameterError
            Events have no values, or one is below 0.
        """
        value = self.events.value
        if value is None:
            raise ParameterError(
                "values = true weighs events by their values, but they have none; name a column "
                "of numbers as [data] value"
            )
        if len(value) > 0 and value.min() < 0:
            raise ParameterError(
                f"values = true weighs events by their values, but one is {value.min():g}, and a "
                "weight must be 0 or more. Remove values = true from the model, or leave out "
                'such events: with value = "rating", where = { rating = { min = 0 } } under '
                "[data]"
            )
        return value

    def event_weights(
        self,
        window_days: float | None = None,
        half_life_days: float | None = None,
        weights: Mapping[str, float] | None = None,
        values: bool = False,
    ) -> tuple[Bool | None, Floats | None]:
        """Return which events count, and how much: None and None where all count 1.

        Parameters
        ----------
        window_days : float, optional
            Only events of the last so many days before the cut-off count; all by default.
        half_life_days : float, optional
            An event counts 2^(−age / half_life_days), never less than 2⁻⁵⁰⁰; 1 by default.
        weights : mapping of event type to weight, optional
            What an event of each type counts, from 0; 1 by default.
        values : bool
            Whether an event counts as much as its value (times all that is said above).

        Raises
        ------
        ParameterError
            Days that are not above 0, types that are not there, events without times, or without
            values from 0.
        """
        counted = weight = None
        if window_days is not None:
            require_above(0, window_days=window_days)
            counted = self.last_days(window_days)
        if weights is not None and weights != {}:
            weight = self.kind_weights(weights)
        if values:
            weight = self.values() if weight is None else weight * self.values()
        if half_life_days is not None:
            require_above(0, half_life_days=half_life_days)
            # Beyond 500 half-lives squares would vanish, and similarities with them.
            decay = np.exp2(-np.minimum(self.age_days() / half_life_days, 500.0))
            weight = decay if weight is None else weight * decay
        return counted, weight

    def interactions(
        self,
        window_days: float | None = None,
        half_life_days: float | None = None,
        weights: Mapping[str, float] | None = None,
        counts: bool = False,
        values: bool = False,
    ) -> csr_array[Any]:
        """Return what users did with items, a (users, items) CSR matrix without zeros.

        Parameters
        ----------
        window_days, half_life_days, weights, values : optional
            As in `event_weights`.
        counts : bool
            Several events of a user with an item add up; by default the one of most weight counts.

        Returns
        -------
        csr_array of float32, float64 where events are weighed
        """
        require_flag(counts=counts)
        counted, weight = self.event_weights(window_days, half_life_days, weights, values)
        if counted is None and weight is None:
            matrix = self.matrix
            if not counts:
                matrix.data = np.ones_like(matrix.data)
            return matrix
        keep = slice(None) if counted is None else counted
        user, item = self.events.user[keep], self.events.item[keep]
        value = np.ones(len(user), np.float32) if weight is None else weight[keep]
        shape = (len(self.user_ids), len(self.item_ids))
        return pair_matrix(user, item, value, shape, counts)

    def candidates_by_count(
        self, events: Bool | None = None, weights: Floats | None = None
    ) -> Int32:
        """Return the candidates that have events, most first; ties by item id ascending.

        Parameters
        ----------
        events : bool array, optional
            Which events count; all by default.
        weights : float64 array, optional
            What each event counts, one entry an event; 1 by default.
        """
        sums = self.candidate_sums(events, weights)
        return descending(sums, sums > 0)

    def candidates_by_sum(self, slices: Mapping[str | int, Any]) -> Int32:
        """Return the candidates whose sum is above 0, largest first; ties by item id ascending.

        Parameters
        ----------
        slices : dict of int to int64 array, (n items,)
            As `exact_sums` gives them, or the sum of several such.
        """
        sums = rounded(slices, len(self.item_ids))[self.candidates]
        return descending(sums, sums > 0)

    def candidate_sums(
        self, events: Bool | None = None, weights: Floats | None = None
    ) -> npt.NDArray[Any]:
        """Return `item_sums` of the candidates, (N,)."""
        sums: npt.NDArray[Any] = self.item_sums(events, weights)[self.candidates]
        return sums

    def item_sums(
        self, events: Bool | None = None, weights: Floats | None = None
    ) -> npt.NDArray[Any]:
        """Return the number of events of each item, or the sum of their weights.

        Parameters
        ----------
        events, weights : optional
            As in `candidates_by_count`, and as `event_weights` gives them.

        Returns
        -------
        int64 array, (n items,), or float64 where there are weights
        """
        slices = self.exact_sums(events, weights)
        if weights is None:
            return slices[0]
        return rounded(slices, len(self.item_ids))

    def exact_sums(
        self, events: Bool | None = None, weights: Floats | None = None
    ) -> dict[str | int, Int64]:
        """Return `item_sums` before they are rounded: those of parts add up to those of all.

        Parameters
        ----------
        events, weights : optional
            As in `candidates_by_count`, and as `event_weights` gives them.

        Returns
        -------
        dict of int to int64 array, (n items,)
            As `harness.core.exact_sum.weight_slices` gives them; counts are slice 0.
        """
        if events is None and weights is None:
            return {0: self._counts.copy()}
        item = self.events.item if events is None else self.events.item[events]
        n_items = len(self.item_ids)
        if weights is None:
            return {0: counts_of(item, n_items)}
        return weight_slices(item, weights if events is None else weights[events], n_items)

    @cached_property
    def _counts(self) -> Int64:
        return _kept(self.events.item_counts(len(self.item_ids)))

    def candidates_by_last_event(self) -> Int32:
        """Return the candidates that have events, latest first; ties by item id ascending.

        Raises
        ------
        ParameterError
            The events carry no time.
        """
        self._cutoff()
        latest = np.full(len(self.item_ids), np.iinfo(np.int64).min)
        np.maximum.at(latest, self.events.item, self.events.time)
        return descending(latest[self.candidates], self._counts[self.candidates] > 0)


def _kept(array: Kept) -> Kept:
    """Return an array that stays as it is: all models of a run read the same one."""
    array.setflags(write=False)
    return array


def pair_matrix(
    user: Int32, item: Int32, value: npt.NDArray[Any], shape: tuple[int, int], counts: bool
) -> csr_array[Any]:
    """Return a CSR matrix of the sum, or the largest, of the values of each pair (user, item)."""
    pairs = user.astype(np.int64) * shape[1] + item
    # From the smallest weight up: equal weights in another order make equal sums.
    order = np.lexsort((value, pairs)) if counts else np.argsort(pairs, kind="stable")
    pairs, value = pairs[order], value[order]
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    merge = np.add if counts else np.maximum
    data = merge.reduceat(value, first) if len(first) > 0 else value
    rows, columns = np.divmod(pairs[first], shape[1])
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=shape[0])))
    matrix = csr_array((data, columns.astype(np.int32), indptr), shape=shape)
    matrix.eliminate_zeros()
    return matrix


def descending(values: npt.NDArray[Any], keep: Bool) -> Int32:
    """Return the positions that `keep` selects, the largest value first, ties by position."""
    order = np.argsort(-values, kind="stable")
    return order[keep[order]].astype(np.int32)
