"""Every model's estimate over groups of users: by activity, by true items, by any column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from pydantic import NonNegativeInt

from harness.core.arrays import Floats, Int64
from harness.core.exact_sum import Sums
from harness.metrics import Metric
from harness.stats.estimates import Estimate, estimate_of
from harness.stats.folds import ScoredUsers
from harness.stats.intervals import Sample, in_threads, moments

USER = "user"
"""The column of ids."""
NO_VALUE = "no value"
"""The group of users who have none."""
FEW_USERS = 100
FEW_HITS = 10
_BINS = 4
_VALUES = 8
"""A column of text shows its most frequent values, so many; the others together."""


@dataclass(frozen=True)
class Slice:
    """Every model's estimate over a group of users.

    Attributes
    ----------
    by, label : str
        The column, and which of its values.
    models : mapping of model to Estimate
    small : bool
        Fewer than 100 users, or no model with ten users who have a hit: too few to show anything.
    """

    by: str
    label: str
    users: NonNegativeInt
    models: Mapping[str, Estimate]
    small: bool


@dataclass(frozen=True, eq=False)
class ProfiledUsers(ScoredUsers):
    """Scored users of a part, and what is known of them, in the order of the tables."""

    profile: pl.DataFrame

    @cached_property
    def texts(self) -> Mapping[str, pl.Series]:
        """Each column of the profile as text; an empty one stands for nothing."""
        return {name: text_of(self.profile[name]) for name in self.profile.columns if name != USER}


def text_of(values: pl.Series) -> pl.Series:
    """Return a column of users as text, empty where they have no value: null or blank."""
    text = values.cast(pl.String).fill_null("").alias("value")
    return text.set(text.str.strip_chars() == "", "")


@dataclass(frozen=True, eq=False)
class Slices:
    """Every slice of every column of the users' profile.

    Columns of numbers are cut at their quartiles (each value alone where there are few); of text,
    the eight most frequent values stand alone, the others together.
    """

    models: Sequence[str]
    metric: Metric
    columns: Sequence[str]

    def first(self, part: ProfiledUsers) -> Sums:
        """Return how many users have each value, as text; nothing stands for none."""
        counts = {}
        for column in self.columns:
            values = part.texts[column].value_counts(name="users").iter_rows()
            counts[column] = {value: np.array([users]) for value, users in values}
        return counts

    def second(self, part: ProfiledUsers, first: Any) -> Sums:
        """Return the moments of every model's values, of the users of every slice."""
        models, sums = [part.tables[name].of_users(self.metric) for name in self.models], {}
        for column in self.columns:
            labels, group_of = _groups(first.get(column, {}))
            groups = np.empty(0, np.int64)
            if group_of:
                texts = part.texts[column]
                groups = texts.replace_strict(group_of, return_dtype=pl.Int64).to_numpy()
            rows = [np.flatnonzero(groups == number) for number in range(len(labels))]
            sums[column] = {
                number: in_threads(moments, [values[users] for values in models])
                for number, users in enumerate(rows)
            }
        return sums

    def result(self, first: Any, second: Any) -> tuple[Slice, ...]:
        """Return the slices, column by column."""
        slices = []
        for column in self.columns:
            labels, _ = _groups(first.get(column, {}))
            for number, label in enumerate(labels):
                samples = {
                    name: Sample.of_moments(second[column][number][model])
                    for model, name in enumerate(self.models)
                }
                users = next(iter(samples.values())).n
                hits = max(sample.hits for sample in samples.values())
                small = users < FEW_USERS or hits < FEW_HITS
                estimates = {name: estimate_of(self.metric, s) for name, s in samples.items()}
                slices.append(Slice(column, label, users, estimates, small))
        return tuple(slices)


def _groups(counts: Mapping[str, Any]) -> tuple[Sequence[str], Mapping[str, int]]:
    """Return the labels of the groups of a column, and the number of the group of each value."""
    values = pl.DataFrame(
        {"value": list(counts), "users": [int(users[0]) for users in counts.values()]},
        schema={"value": pl.String, "users": pl.Int64},
    )
    known = values.filter(pl.col("value") != "")
    numbers = known["value"].cast(pl.Float64, strict=False)
    if numbers.is_finite().fill_null(False).all():
        labels, group_of = _bins(known["value"], numbers.to_numpy(), known["users"].to_numpy())
    else:
        labels, group_of = _values(known)
    if len(known) < len(values):
        labels, group_of = [*labels, NO_VALUE], {**group_of, "": len(labels)}
    return labels, group_of


def column_title(by: str) -> str:
    """Return a column of users as readers are shown it; files hold its bare name."""
    return "repeats (buyers of known items)" if by == "repeats" else by


def _bins(values: pl.Series, numbers: Floats, users: Int64) -> tuple[list[str], dict[str, int]]:
    """Return the groups of numbers, and which each value is of; `users` is how many have it."""
    different, place = np.unique(numbers, return_inverse=True)
    highs = different
    if len(different) > _BINS:
        highs = _quartiles(different, np.cumsum(np.bincount(place, users).astype(np.int64)))
    group = np.searchsorted(highs, different)
    lows = different[np.searchsorted(group, np.arange(len(highs)))]
    labels = [
        _number(low) if low == high else f"{_number(low)} to {_number(high)}"
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
    ]
    return labels, dict(zip(values, group[place].tolist(), strict=True))


def _quartiles(different: Floats, users: Int64) -> Floats:
    """Return the quartiles of numbers that so many users have or less, and the last number."""
    behind = (users[-1] - 1) * np.arange(1, _BINS) // _BINS
    ends = np.unique(different[np.searchsorted(users, behind, side="right")])
    return np.append(ends[ends < different[-1]], different[-1])


def _number(value: float) -> str:
    """Return a number such that different ones look different."""
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)


def _values(known: pl.DataFrame) -> tuple[list[str], dict[str, int]]:
    """Return the most frequent values as groups of their own, and one of all others."""
    ordered = known.sort(["users", "value"], descending=[True, False])["value"].to_list()
    labels, rare = ordered[:_VALUES], ordered[_VALUES:]
    if rare:
        labels.append(f"{len(rare):,} other values")
    return labels, {value: min(place, _VALUES) for place, value in enumerate(ordered)}
