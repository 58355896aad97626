"""What stands between the items of a list: which there are, and which one lists plainly have."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

NAMES: Mapping[str, str] = {" ": "one space", ",": "a comma", ";": "a semicolon", "|": "a bar"}
_DRESS = r"[\[\](){}'\"]"


def held(lists: pl.Series) -> dict[str, int]:
    """Return how many lists hold each separator, of those that any holds."""
    texts = lists.drop_nulls().str.strip_chars()
    counts = {s: int(texts.str.contains(s, literal=True).sum()) for s in NAMES}
    return {separator: count for separator, count in counts.items() if count > 0}


def only(lists: pl.Series) -> str | None:
    """Return the only separator that any list holds; lists in brackets or quotes have none."""
    counts = held(lists)
    return None if len(counts) != 1 or lists.str.contains(_DRESS).any() else next(iter(counts))


def plain(lists: pl.Series) -> str | None:
    """Return the separator of lists where it is plain: the only one, and most lists hold it.

    Fewer would leave open whether it is a part of ids.

    Parameters
    ----------
    lists : polars.Series of str
        Null or empty where there is no item.

    Examples
    --------
    >>> plain(pl.Series(["a,b", "c,a", "b"]))
    ','
    >>> plain(pl.Series(["a, b", "c"])) is None
    True
    """
    found = only(lists)
    most = int((lists.str.strip_chars() != "").sum())
    return found if found is not None and 2 * held(lists)[found] >= most else None


def split(lists: pl.Series, between: str) -> pl.Series:
    """Return the items of each list."""
    if between == " ":
        return lists.str.extract_all(r"\S+")
    items = lists.str.split(between)
    return items.list.eval(pl.element().str.strip_chars()).list.eval(
        pl.element().filter(pl.element() != "")
    )
