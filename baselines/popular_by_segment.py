"""PopularBySegment: what users like this one have most, by a column of the users' table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.core.arrays import Floats, Int32, Int64
from harness.core.params import ParameterError, is_number, require_from
from harness.data.interactions import pair_matrix
from harness.models.base import Draws, Train
from harness.models.bases import EventWeights
from harness.models.topk import fill, first_of


@dataclass(eq=False)
class PopularBySegment(EventWeights):
    """Candidates by their events within the user's segment, filled up with those of most overall.

    Age groups with last week's sales were the usual start on H&M (Kaggle, 2022). A segment's
    score is its own events plus `prior` times the candidate's share of all events, so that small
    segments lean on everybody. Users whose segment is unknown get the overall list.

    Parameters
    ----------
    column : str
        Of the users' table.
    bins : sequence of numbers, optional
        The column is a number, cut at these edges: ``[25, 40]`` makes below 25, 25 to below 40,
        and from 40. Without bins each value is a segment.
    prior : float
        In events; 0 or more.
    window_days, half_life_days, weights : optional
        Which events count and how much: `harness.models.base.Train.event_weights`.
    """

    column: str
    bins: Sequence[float] | None = None
    prior: float = 10.0
    window_days: float | None = field(default=7, kw_only=True)

    def fit(self, train: Train) -> Self:
        """Count every segment's events of every candidate."""
        require_from(0, prior=self.prior)
        if not isinstance(self.column, str):
            raise ParameterError(f'column is {self.column!r}; expected a name such as "age"')
        counted, weight = self.event_weights(train)
        self.segment_, n_segments = segments(train.user_attribute(self.column), self.bins)
        self.order_ = train.candidates_by_count(counted, weight)
        keep = np.ones(len(train.events), np.bool_) if counted is None else counted
        value = np.ones(len(keep)) if weight is None else weight
        segment = self.segment_[train.events.user]
        candidate = train.candidate_of_item[train.events.item]
        known = keep & (candidate >= 0) & (segment >= 0)
        shape = (n_segments, len(train.candidates))
        found = pair_matrix(segment[known], candidate[known], value[known], shape, counts=True)
        overall = train.candidate_sums(counted, weight)
        share = overall / (overall.sum() or 1.0)
        self.starts_, self.orders_ = _orders(found, self.prior * share)
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the most popular candidates of each user's segment."""
        own = first_of(self.starts_, self.orders_, self.segment_[users], k, exclude)
        return fill(own, self.order_, exclude)


def segments(values: pl.Series, bins: Sequence[float] | None) -> tuple[Int32, int]:
    """Return each value's segment, −1 where it is empty, and how many segments there are.

    Raises
    ------
    ValueError
        Bins that do not rise, or a value that is no number where there are bins.
    """
    values = values.str.strip_chars().replace("", None)
    if bins is None:
        names = values.drop_nulls().unique().sort()
        found = values.cast(pl.Enum(names)).to_physical().cast(pl.Int32).fill_null(-1)
        return found.to_numpy(), len(names)
    edges = list(bins) if isinstance(bins, list | tuple) else []
    rising = all(map(is_number, edges)) and all(low < high for low, high in pairwise(edges))
    if not edges or not rising:
        raise ParameterError(f"bins is {bins!r}; expected rising edges such as [25, 40]")
    numbers = values.cast(pl.Float64, strict=False)
    odd = values.filter(~numbers.is_finite().fill_null(False) & values.is_not_null())
    if len(odd) > 0:
        raise ParameterError(f'column "{values.name}" holds "{odd[0]}"; bins need numbers')
    place = np.searchsorted(np.asarray(edges, np.float64), numbers.fill_null(0), side="right")
    return np.where(numbers.is_null(), -1, place).astype(np.int32), len(edges) + 1


def _orders(found: csr_array[Any], prior: Floats) -> tuple[Int64, Int32]:
    """Return each row's columns with entries, the best score first, ties by column."""
    row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    order = np.lexsort((found.indices, -(found.data + prior[found.indices]), row))
    return found.indptr.astype(np.int64), found.indices[order].astype(np.int32)
