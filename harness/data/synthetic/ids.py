"""Identifiers in the true formats: from a generator and a count to a column of distinct ids."""

import numpy as np
import polars as pl
from numpy.random import Generator

_FIRST_PRODUCT, _LAST_PRODUCT = 108_775, 959_461
_PIECES = 3

ARTICLE_LIMIT = 850_000
"""The most articles that fit the ten-character format."""


def hexes(rng: Generator, count: int, width: int) -> pl.Series:
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


def articles(rng: Generator, count: int) -> pl.Series:
    """Ascending H&M article ids: a zero, six digits of product and three of colour.

    Examples
    --------
    >>> articles(np.random.default_rng(1), 4).to_list()
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


def numbers(rng: Generator, count: int) -> pl.Series:
    """Distinct whole numbers in no order, about a fifth of the range unused, as in KION."""
    return pl.Series(rng.permutation(count + count // 5 + 1)[:count])
