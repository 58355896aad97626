"""PopularBySegment: what users like this one have most, by a column of the users' table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.core.arrays import Int32, distinct
from harness.core.errors import in_toml
from harness.core.exact_sum import Sums, rounded, weight_slices
from harness.core.params import ParameterError, is_number, require_from
from harness.models.base import Draws, Train
from harness.models.bases import EventWeights
from harness.models.sums import FromSums, Steps
from harness.models.topk import fill, first_of


@dataclass(eq=False)
class PopularBySegment(EventWeights, FromSums):
    """Candidates by their events in the user's segment, then by all events.

    Age groups with last week's sales were the usual start on H&M (Kaggle, 2022). A segment's
    score is its own events plus `prior` times the candidate's share of all events, so small
    segments rely more on all users. Users with an unknown segment get the overall list.

    Parameters
    ----------
    column : str
        A column of the users' table.
    bins : sequence of numbers, optional
        The column is a number, cut at these edges: ``[25, 40]`` makes below 25, 25 to below 40,
        and from 40. Without bins each value is a segment.
    prior : float
        The weight of all events, in events; 0 or more.
    window_days, half_life_days, weights, values : optional
        Which events count and how much: `harness.models.base.Train.event_weights`.
    """

    column: str
    bins: Sequence[float] | None = None
    prior: float = 10.0
    window_days: float | None = field(default=7, kw_only=True)

    def fit_steps(self, train: Train) -> Steps:
        """Find the segments, then count every segment's events of every candidate."""
        require_from(0, prior=self.prior)
        if not isinstance(self.column, str):
            raise ParameterError(f'column is {in_toml(self.column)}; expected a name such as "age"')
        self.names_ = sorted(map(str, (yield self._names))) if self.bins is None else []
        total: Any = yield partial(self._sums, train)
        self.order_ = train.candidates_by_sum(total["all"])
        overall = rounded(total["all"], len(train.item_ids))[train.candidates]
        share = overall / (overall.sum() or 1.0)
        sums = _rounded(total["segments"], (self._n_segments, len(train.candidates)))
        row = np.repeat(np.arange(sums.shape[0]), np.diff(sums.indptr))
        scores = sums.data + (self.prior * share)[sums.indices]
        order = np.lexsort((sums.indices, -scores, row))
        self.starts_ = sums.indptr.astype(np.int64)
        self.orders_ = sums.indices[order].astype(np.int32)

    def for_users(self, train: Train) -> Self:
        """Find the users' segments."""
        self.segment_ = self._segments(train)
        return self

    @property
    def _n_segments(self) -> int:
        return len(self.names_) if self.bins is None else len(self.bins) + 1

    def _names(self, train: Train) -> Sums:
        """Return how many users have each value of the column."""
        values = _values(train.user_attribute(self.column)).drop_nulls()
        counts = values.value_counts(name="users").cast({"users": pl.Int64})
        return {name: np.array([users]) for name, users in counts.iter_rows()}

    def _segments(self, train: Train) -> Int32:
        return segments(train.user_attribute(self.column), self.bins, self.names_)

    def _sums(self, to: Train, train: Train) -> Sums:
        """Return the sums of all items, and of each segment's candidates among those of `to`."""
        counted, weight = self.event_weights(train)
        segment = self._segments(train)[train.events.user]
        candidate = to.candidate_of_item[train.events.item]
        known = (candidate >= 0) & (segment >= 0) & (True if counted is None else counted)
        value = np.ones(len(known)) if weight is None else weight
        shape = self._n_segments, len(to.candidates)
        pairs = segment[known].astype(np.int64) * shape[1] + candidate[known]
        distinct_pairs, pair = np.unique(pairs, return_inverse=True)
        slices = weight_slices(pair.astype(np.int32), value[known], len(distinct_pairs))
        place = np.divmod(distinct_pairs, shape[1])
        return {
            "all": train.exact_sums(counted, weight),
            "segments": {
                key: csr_array((sums, place), shape=shape) for key, sums in slices.items()
            },
        }

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the most popular candidates of each user's segment."""
        lists = first_of(self.starts_, self.orders_, self.segment_[users], k, exclude)
        return fill(lists, self.order_, exclude)


def segments(values: pl.Series, bins: Sequence[float] | None, names: Sequence[str]) -> Int32:
    """Return each value's segment, −1 where it is empty: its bin, or else its place in `names`."""
    values = _values(values)
    if bins is None:
        codes = values.cast(pl.Enum(names)).to_physical().cast(pl.Int32).fill_null(-1)
        return codes.to_numpy()
    edges = list(bins) if isinstance(bins, list | tuple) else []
    rising = all(map(is_number, edges)) and all(low < high for low, high in pairwise(edges))
    if not edges or not rising:
        raise ParameterError(f"bins is {in_toml(bins)}; expected rising edges such as [25, 40]")
    numbers = values.cast(pl.Float64, strict=False)
    odd = values.filter(~numbers.is_finite().fill_null(False) & values.is_not_null())
    if len(odd) > 0:
        raise ParameterError(f'column "{values.name}" holds "{odd[0]}"; bins need numbers')
    place = np.searchsorted(np.asarray(edges, np.float64), numbers.fill_null(0), side="right")
    return np.where(numbers.is_null(), -1, place).astype(np.int32)


def _values(column: pl.Series) -> pl.Series:
    """Return the entries of a column without spaces around them, null where nothing is left."""
    return column.str.strip_chars().replace("", None)


def _rounded(slices: dict[str | int, Any], shape: tuple[int, int]) -> csr_array[Any]:
    """Return sums of pairs, rounded, as a matrix of those above 0."""
    entries = {key: part.tocoo() for key, part in slices.items()}
    codes = {key: part.row.astype(np.int64) * shape[1] + part.col for key, part in entries.items()}
    pairs = distinct(np.concatenate([np.zeros(0, np.int64), *codes.values()]))
    dense = {key: np.zeros(len(pairs), np.int64) for key in slices}
    for key, part in entries.items():
        dense[key][np.searchsorted(pairs, codes[key])] = part.data
    return csr_array((rounded(dense, len(pairs)), np.divmod(pairs, shape[1])), shape=shape)
