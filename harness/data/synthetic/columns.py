"""Columns of raw files: ids in the true formats, and values drawn from short lists.

Early entries of a list are drawn more often than late ones.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import ArrayLike

from harness.core.arrays import Bool, Int64

_FIRST_PRODUCT, _LAST_PRODUCT = 108_775, 959_461
_PIECES = 3

ARTICLE_LIMIT = 850_000
"""The most articles that fit the ten-character format."""


def hex_ids(rng: Generator, count: int, width: int) -> pl.Series:
    """Random lower-case hexadecimal ids.

    Parameters
    ----------
    rng : Generator
    count : int
        How many ids.
    width : int
        Characters of one id, even.

    Returns
    -------
    Series of String, length `count`
    """
    text = rng.bytes(count * width // 2).hex()
    return pl.Series([text[at : at + width] for at in range(0, len(text), width)], dtype=pl.String)


def article_ids(rng: Generator, count: int) -> pl.Series:
    """Ascending H&M article ids: a zero, six digits of product and three of colour.

    Examples
    --------
    >>> article_ids(np.random.default_rng(1), 4).to_list()
    ['0108775001', '0108775004', '0534118002', '0534118005']
    """
    new = rng.random(count) < 1 / 2.2
    new[:1] = True
    product = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    colour = (np.arange(count) - first[product]) * _PIECES + 1 + product % _PIECES
    step = (_LAST_PRODUCT - _FIRST_PRODUCT) / (product[-1] + 1)
    code = _FIRST_PRODUCT + (product * step).astype(np.int64)
    return pl.Series(code * 1000 + colour).cast(pl.String).str.zfill(10)


def number_ids(rng: Generator, count: int) -> pl.Series:
    """Distinct whole numbers in no order, about a fifth of the range unused, as in KION."""
    return pl.Series(rng.permutation(count + count // 5 + 1)[:count])


def skewed(rng: Generator, count: int, size: int, power: float = 2.0) -> Int64:
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


def where(keep: Bool, column: pl.Series) -> pl.Series:
    """Keep the values where `keep` is true and leave the others empty."""
    return column.zip_with(pl.Series(keep), pl.Series([None], dtype=column.dtype))
