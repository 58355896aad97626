"""Columns drawn from short lists, early entries more often than late ones."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray


def skewed(rng: Generator, count: int, size: int, power: float = 2.0) -> NDArray[np.int64]:
    """Draw positions below `size`, int64 of shape (count,); more power favours the first."""
    return (size * rng.random(count) ** power).astype(np.int64)


def pick(values: Sequence[object], positions: ArrayLike, name: str = "") -> pl.Series:
    """Take the column `values[positions]`."""
    return pl.Series(name, values)[np.asarray(positions, dtype=np.int64)]


def fields(
    table: Sequence[tuple[object, ...]], positions: ArrayLike, names: Sequence[str]
) -> dict[str, pl.Series]:
    """Take the table rows at `positions`, one column for each name."""
    columns = zip(*table, strict=True)
    return {
        name: pick(column, positions, name) for name, column in zip(names, columns, strict=True)
    }


def sometimes(rng: Generator, column: pl.Series, share: float) -> pl.Series:
    """Keep that share of the values and leave the others empty."""
    return where(rng.random(len(column)) < share, column)


def where(keep: NDArray[np.bool_], column: pl.Series) -> pl.Series:
    """Keep the values where `keep` is true and leave the others empty."""
    return column.zip_with(pl.Series(keep), pl.Series([None], dtype=column.dtype))
