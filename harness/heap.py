"""The best of many: a heap whose root is the worst it holds; ties go to the smaller column."""

from __future__ import annotations

from typing import Any

from harness.compiled import compiled


@compiled
def push(values: Any, columns: Any, filled: int, value: float, column: int) -> int:
    """Put an entry among the best, where it belongs there; return how many are held then."""
    if filled < len(values):
        return int(offer(values, columns, filled, value, column))
    if worse(values[0], columns[0], value, column):
        sink(values, columns, filled, value, column)
    return filled


@compiled
def offer(values: Any, columns: Any, filled: int, value: float, column: int) -> int:
    """Put an entry into a heap that has room; return how many it holds then."""
    at = filled
    while at > 0:
        above = (at - 1) // 2
        if not worse(value, column, values[above], columns[above]):
            break
        values[at], columns[at] = values[above], columns[above]
        at = above
    values[at], columns[at] = value, column
    return filled + 1


@compiled
def sink(values: Any, columns: Any, filled: int, value: float, column: int) -> None:
    """Put an entry in the root's place, and let it sink to where it belongs."""
    at = 0
    while 2 * at + 1 < filled:
        child = 2 * at + 1
        if child + 1 < filled and worse(
            values[child + 1], columns[child + 1], values[child], columns[child]
        ):
            child += 1
        if not worse(values[child], columns[child], value, column):
            break
        values[at], columns[at] = values[child], columns[child]
        at = child
    values[at], columns[at] = value, column


@compiled
def in_order(values: Any, columns: Any, filled: int) -> None:
    """Turn a heap into a list, best first."""
    for last in range(filled - 1, 0, -1):
        value, column = values[last], columns[last]
        values[last], columns[last] = values[0], columns[0]
        sink(values, columns, last, value, column)


@compiled
def worse(value: float, column: int, than: float, than_column: int) -> bool:
    """Return whether an entry goes behind another."""
    return value < than or (value == than and column > than_column)
