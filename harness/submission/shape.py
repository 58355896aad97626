"""Whether a row holds a list or one item of it, told by the header and by the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.submission.formats import Format
from harness.submission.header import Header
from harness.submission.read import Named

_ORDERS = ("rank", "score")


def shaped(wanted: Format, columns: Sequence[str], named: Named | None = None) -> Format:
    """Return the format with the order of its items, where the header has a column for it.

    Such a file has a row an item. Its items stand in the format's column, or else in the only one
    that is left.
    """
    asked = {} if named is None else {"rank": named.rank, "score": named.score}
    own = [column for column in columns if column not in (wanted.user, wanted.items)]
    plain = {column.strip().casefold(): column for column in own}
    for order in _ORDERS:
        column = asked.get(order) or plain.get(order)
        if column is not None and not any(asked.get(o) for o in _ORDERS if o != order):
            others = [c for c in own if c != column and c.strip().casefold() != "usage"]
            items = (
                wanted.items if wanted.items in columns or len(others) != 1 else others[0].strip()
            )
            name, highest = asked.get(order) or order, order == "score"
            return replace(wanted, items=items, order=name, descending=highest, long=True)
    return wanted


def is_long(beginning: bytes, head: Header, places: dict[str, int], wanted: Format) -> bool:
    """Return whether users stand in several rows, each with one item, among the first rows."""
    if b'"' in beginning:
        return False
    whole = beginning.replace(b"\r", b"\n").split(b"\n")[:-1]
    rows = [line.split(head.separator.encode()) for line in whole]
    rows = [row for row in rows if len(row) == len(head.columns)]
    users = [row[places[wanted.user]].strip() for row in rows]
    lists = [row[places[wanted.items]].split() for row in rows]
    return len(set(users)) < len(users) and max(map(len, lists), default=0) == 1
