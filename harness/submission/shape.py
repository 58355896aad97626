"""Whether a row holds a list or one item of it, where the header tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.submission.formats import INDEX, Format
from harness.submission.read import Named

_ORDERS = ("rank", "score")


def shaped(wanted: Format, columns: Sequence[str], named: Named | None = None) -> Format:
    """Return the format with the order of its items, where the header has a column for it.

    Such a file has a row an item. Its items stand in the format's column, or else in the only one
    that is left.
    """
    if named is not None and named.row_order:
        return wanted
    asked = {} if named is None else {"rank": named.rank, "score": named.score}
    own = [column for column in columns if column not in (wanted.user, wanted.items)]
    own += [column for column in asked.values() if column == wanted.items]  # it holds no items
    plain = {column.strip().casefold(): column for column in own}
    for order in _ORDERS:
        column = asked.get(order) or plain.get(order)
        if column is not None and not any(asked.get(o) for o in _ORDERS if o != order):
            left = [c for c in own if c not in (column, *INDEX)]
            others = [c for c in left if c.strip().casefold() != "usage"]
            kept = wanted.items in columns and wanted.items != column
            items = wanted.items if kept or len(others) != 1 else others[0].strip()
            name, highest = asked.get(order) or order, order == "score"
            return replace(wanted, items=items, order=name, descending=highest, long=True)
    return wanted
