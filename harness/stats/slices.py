"""Every model's estimate over groups of users: by activity, by true items, by any column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from pydantic import NonNegativeInt

from harness.core.arrays import Bool
from harness.metrics import Metric
from harness.stats.estimates import Estimate, Tables, estimate

USER = "user"
"""The column of ids."""
FEW_USERS = 100
FEW_HITS = 10
_BINS = 4
_VALUES = 8
"""A column of text shows its most frequent values, so many; the others together."""

_TITLES = {"repeats": "repeats (buyers of known items)"}


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


def slices(tables: Tables, metric: Metric, profile: pl.DataFrame) -> tuple[Slice, ...]:
    """Return every slice of every column.

    Parameters
    ----------
    profile : polars.DataFrame, (n users, columns)
        The user's id and what is known of them, rows in the order of the tables.

    Notes
    -----
    Columns of numbers are cut at their quartiles (each value alone where there are few); of text,
    the eight most frequent values stand alone, the others together. Every user is in one slice of
    each column.
    """
    if metric.definition.of == "set":
        return ()
    user_scores = {name: table.of_users(metric) for name, table in tables.items()}
    found = []
    for by in profile.columns:
        for label, users in _parts(profile[by]) if by != USER else ():
            models = {name: estimate(metric, values[users]) for name, values in user_scores.items()}
            hits = max(int((values[users] != 0).sum()) for values in user_scores.values())
            small = int(users.sum()) < FEW_USERS or hits < FEW_HITS
            found.append(Slice(by, label, int(users.sum()), models, small))
    return tuple(found)


def column_title(by: str) -> str:
    """Return a column of users as readers are shown it; files hold its bare name.

    Examples
    --------
    >>> column_title("repeats"), column_title("town")
    ('repeats (buyers of known items)', 'town')
    """
    return _TITLES.get(by, by)


def _parts(column: pl.Series) -> Iterator[tuple[str, Bool]]:
    """Yield the groups of a column, each with its label; none is empty."""
    numbers = column.cast(pl.Float64, strict=False)
    missing = column.is_null() | (column.cast(pl.String).str.strip_chars() == "")
    is_number = bool((numbers.is_finite().fill_null(False) | missing).all())
    parts = _bins(numbers) if is_number else _values(column.cast(pl.String), missing)
    for label, users in parts:
        if users.any():
            yield label, users
    if missing.any():
        yield "no value", missing.to_numpy()


def _bins(numbers: pl.Series) -> Iterator[tuple[str, Bool]]:
    values = numbers.to_numpy()
    known = values[np.isfinite(values)]
    different = np.unique(known)
    if len(different) <= _BINS:
        for value in different.tolist():
            yield _number(value), values == value
        return
    ends = np.unique(np.quantile(known, np.arange(1, _BINS) / _BINS, method="lower"))
    lows = np.concatenate(([-np.inf], ends[ends < different[-1]]))
    highs = np.concatenate((lows[1:], [different[-1]]))
    for low, high in zip(lows, highs, strict=True):
        inside = (values > low) & (values <= high)
        first, high = float(different[different > low][0]), float(high)
        label = _number(first) if first == high else f"{_number(first)} to {_number(high)}"
        yield label, inside


def _number(value: float) -> str:
    """Return a number such that different ones look different."""
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)


def _values(texts: pl.Series, missing: pl.Series) -> Iterator[tuple[str, Bool]]:
    counted = texts.filter(~missing).value_counts(sort=False, name="users")
    ordered = counted.sort(["users", texts.name], descending=[True, False])
    kept = ordered[texts.name].head(_VALUES)
    for value in kept:
        yield str(value), (texts == value).fill_null(False).to_numpy()
    rest = ~missing & ~texts.is_in(kept.implode()).fill_null(False)
    yield f"{len(ordered) - len(kept):,} other values", rest.to_numpy()
