"""Lists and truth that plainly do not speak of the same ids: refused rather than scored 0."""

from __future__ import annotations

import polars as pl

from harness.errors import DataError
from harness.frames.table import Held, Table
from harness.frames.values import shown

_WORDS = r"[^\s,;|\[\]'\"]+"


def refuse_users(role: str, examined: int, users: pl.Series) -> None:
    """Raise DataError over lists whose users are all unknown to the truth.

    Parameters
    ----------
    role : str
        What holds the lists, for the message.
    examined : int
        How many of `users`, the first ones, the truth has.
    """
    raise DataError(
        f"{role}: not one of the users is in the truth: {shown(users[examined])} here, "
        f"{shown(users[0])} there; write ids alike"
    )


def refuse_written_lists(table: Table, users: int, ids: pl.Series, every: pl.Series) -> None:
    """Raise DataError where a column of items holds whole lists as text.

    It does where every user has one row, and half of the ids of several words hold a word that is
    an id itself, or where half of all ids begin with a bracket.

    Parameters
    ----------
    users : int
        How many users the table has.
    ids : polars.Series
        The ids of this side, or those that the other has not.
    every : polars.Series
        The ids of both sides.
    """
    if isinstance(table.given, Held) or table.wide or table.columns.number is not None:
        return
    if len(table) != users or every.dtype != pl.String or len(ids) == 0:
        return
    words = ids.str.extract_all(_WORDS)
    several = ids.to_frame("id").with_columns(words.alias("word")).filter(words.list.len() > 1)
    found = several.explode("word").filter(pl.col("word").is_in(every.implode()))["id"].n_unique()
    bracketed = ids.filter(ids.str.starts_with("["))
    if 0 < len(several) <= 2 * found or len(ids) <= 2 * len(bracketed):
        first = bracketed[0] if len(bracketed) > 0 else several["id"][0]
        raise DataError(
            f"{table.role}: {shown(first)} looks like a whole list written as text; split it "
            f'first, as in frame["item"].str.findall(r"{_WORDS}") (Polars: .str.extract_all)'
        )
