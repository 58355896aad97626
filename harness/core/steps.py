"""Sums over users, wherever they are: what a function of a part returns, added up over all parts.

So the same code serves all users at once, buckets of them on disk, and the partitions of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TypeAlias, TypeVar

from harness.core.exact_sum import Sums, add

Part = TypeVar("Part")
Total: TypeAlias = Callable[[Callable[[Part], Sums]], Sums]
"""What adds a step, a function of one part, up over all parts."""


def of_parts(parts: Callable[[], Iterable[Part]]) -> Total[Part]:
    """Return what adds up over parts that are at hand one after the other, as often as called."""

    def total(step: Callable[[Part], Sums]) -> Sums:
        nothing: Sums = {}
        return reduce(add, map(step, parts()), nothing)

    return total


def of_one(part: Part) -> Total[Part]:
    """Return what adds up over a single part, all users."""
    return of_parts(lambda: [part])
