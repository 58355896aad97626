"""Data sets of a few events, for tests of splits and of what is made of them."""

from collections.abc import Iterable

import numpy as np
import polars as pl

from harness.data.dataset import Dataset, Events
from harness.data.ordering import canonical

DAY = 86_400_000_000
Row = tuple[str, str, int]


def dataset(rows: list[Row], valid: list[Row] | None = None, items: Iterable[str] = ()) -> Dataset:
    """Return the data set of (user, item, microseconds); with `valid`, as a second table.

    It knows more `items`.
    """
    every = [*rows, *(valid or [])]
    users, known = sorted({u for u, _, _ in every}), sorted({*items, *(i for _, i, _ in every)})
    kinds = [0] * len(rows) + [1] * len(valid or [])
    events = Events(
        np.array([users.index(u) for u, _, _ in every], np.int32),
        np.array([known.index(i) for _, i, _ in every], np.int32),
        np.array([t for _, _, t in every], np.int64),
        np.array(kinds, np.uint8),
    )
    names = ("event",) if valid is None else ("event", "event")
    ordered = canonical(events, len(users), len(known), len(names))
    return Dataset(
        "table",
        pl.Series(users, dtype=pl.String),
        pl.Series(known, dtype=pl.String),
        ordered,
        names,
        "train",
        valid_kinds=(1,) if valid else (),
    )
