"""Columns of raw files: a file declares how each column is drawn, and `table` draws them in order.

Early entries of a list are drawn more often than late ones, and the more so, the larger the power.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

import numpy as np
import polars as pl
from numpy.random import Generator

from harness.core.arrays import Int64

_FIRST_PRODUCT, _LAST_PRODUCT = 108_775, 959_461
_PIECES = 3

ARTICLE_LIMIT = 850_000
"""The most articles that fit the ten-character format."""

Draw = Callable[[Generator, pl.DataFrame], pl.Series]
"""Draws a value for each row of a frame."""

Columns = dict[str, Draw | pl.Expr]
"""Columns, drawn or worked out from those before; a name that begins with _ is not in the file."""

Tables = Iterator[tuple[str, pl.DataFrame]]
"""The files of a shop: a file's name with the rows that follow in it."""


def table(columns: Columns, rng: Generator, rows: pl.DataFrame) -> pl.DataFrame:
    """Make the columns one after the other; `rows` has those that are neither drawn nor derived."""
    for name, values in columns.items():
        rows = rows.with_columns(_series(values, rng, rows).alias(name))
    return rows.select(name for name in columns if not name.startswith("_"))


def _series(values: Draw | pl.Expr, rng: Generator, rows: pl.DataFrame) -> pl.Series | pl.Expr:
    return values if isinstance(values, pl.Expr) else values(rng, rows)


def fraction(power: float = 1.0) -> Draw:
    """Draw numbers from 0 to 1."""
    return lambda rng, rows: pl.Series(rng.random(rows.height) ** power)


def whole(size: int, power: float = 2.0, first: int = 0) -> Draw:
    """Draw from the `size` whole numbers that begin with `first`."""
    return lambda rng, rows: pl.Series(first + skewed(rng, rows.height, size, power))


def pick(values: Sequence[object] | pl.Series, power: float = 2.0) -> Draw:
    """Draw from a list."""
    column = pl.Series(values)
    return lambda rng, rows: column[skewed(rng, rows.height, len(column), power)]


def chance(share: float, values: Sequence[object] = (False, True)) -> Draw:
    """Draw the second of two values with this chance."""
    column = pl.Series(values)
    return lambda rng, rows: column[(rng.random(rows.height) < share).astype(np.int64)]


def filled(flag: float | str, values: Draw | pl.Expr) -> Draw:
    """Keep that share of the values, or those of rows that have a flag; leave the rest empty."""

    def draw(rng: Generator, rows: pl.DataFrame) -> pl.Series:
        column = rows.select(_series(values, rng, rows)).to_series()
        keep = rows[flag] if isinstance(flag, str) else chance(flag)(rng, rows)
        return column.set(~keep, None)

    return draw


def per_basket(draw: Draw) -> Draw:
    """Draw once for each basket."""
    return lambda rng, rows: draw(rng, rows.head(rows["_basket"][-1] + 1))[rows["_basket"]]


def lookup(values: Sequence[object] | pl.Series, position: str | pl.Expr) -> pl.Expr:
    """Take the values of a list at the positions in a column."""
    return pl.lit(pl.Series(values)).gather(position)


def dates(first: date, days: int) -> pl.Expr:
    """Write the days that column _day counts from the first."""
    return lookup([(first + timedelta(days=day)).isoformat() for day in range(days)], "_day")


def fields(words: pl.DataFrame, position: str) -> dict[str, pl.Expr]:
    """Take the rows of a list of words at the positions in a column."""
    return {column.name: lookup(column, position) for column in words}


def skewed(rng: Generator, count: int, size: int, power: float = 2.0) -> Int64:
    """Draw positions below `size`, int64 of shape (count,)."""
    return (size * rng.random(count) ** power).astype(np.int64)


def hex_ids(rng: Generator, count: int, width: int) -> pl.Series:
    """Draw lower-case hexadecimal ids of `width` characters, an even number."""
    text = rng.bytes(count * width // 2).hex()
    return pl.Series((text[i : i + width] for i in range(0, len(text), width)), dtype=pl.String)


def article_ids(rng: Generator, count: int) -> pl.Series:
    """Draw ascending H&M article ids: a zero, six digits of product and three of colour.

    >>> article_ids(np.random.default_rng(1), 4).to_list()
    ['0108775001', '0108775004', '0534118002', '0534118005']
    """
    new = rng.random(count) < 1 / 2.2
    new[:1] = True
    product = np.cumsum(new) - 1
    colour = (np.arange(count) - np.flatnonzero(new)[product]) * _PIECES + 1 + product % _PIECES
    step = (_LAST_PRODUCT - _FIRST_PRODUCT) / (product[-1] + 1)
    code = _FIRST_PRODUCT + (product * step).astype(np.int64)
    return pl.Series(code * 1000 + colour).cast(pl.String).str.zfill(10)
