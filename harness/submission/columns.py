"""Which columns of a file hold the users and the items: by name, or as the only two."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.column_names import DATA, column_of, has_role, is_index, plain
from harness.delimited.stream import Refused

_NEVER = ("usage", "rank", "score")
"""Columns that hold neither users nor items."""


def users_and_items(
    header: Sequence[str], *, user: str | None = None, item: str | None = None
) -> tuple[str, str]:
    """Return the columns of the users and of the items, or of lists of items.

    Names decide, but those that a person has given go first. Two columns without a telling name are
    the user and the items, in this order. Indexes, times, ranks and scores are neither. The id of
    an order, a grade and ``data``, which may be dates, are one of the two only if nothing else is.
    Where the header has too few columns, ``user`` or ``items`` is returned: the caller says what is
    missing. Refused, fault ``columns``, where several may be meant.

    >>> users_and_items(["Unnamed: 0", "movieId", "userId", "score"])
    ('userId', 'movieId')
    >>> users_and_items(["id", "prediction"]), users_and_items(["user", "data"])
    (('id', 'prediction'), ('user', 'data'))
    """
    names = [name.strip() for name in header]
    never = [n for n in names if is_index(n) or plain(n) in _NEVER or has_role(n, ("time",))]
    free = [name for name in names if name not in (user, item, *never)]
    if len(free) < (user is None) + (item is None):
        free += [name for name in names if plain(name) == DATA and name not in (user, item)]
    user = user or column_of("user", free)
    free = [name for name in free if name != user]
    if user is None and item is None and len(free) == 2 and column_of("list", free):
        user = column_of("item", free)  # a list of items for each item
        free = [name for name in free if name != user]
    item = item or column_of("item", free) or column_of("list", free)
    free = [name for name in free if name != item]
    likely = [name for name in free if not has_role(name, ("order", "grade", "kind", "list"))]
    needed = (user is None) + (item is None)
    candidates = likely if len(likely) >= needed else free
    if needed and len(candidates) > needed:
        raise Refused("columns", ", ".join(candidates))
    if user is None:
        user = candidates.pop(0) if candidates else "user"
    if item is None:
        item = candidates.pop(0) if candidates else "items"
    return user, item


def item_column(header: Sequence[str]) -> str:
    """Return the column of ids in a table of items: by name, else the first that is no index."""
    named = column_of("item", header)
    return named or next((name for name in header if not is_index(name)), header[0])
