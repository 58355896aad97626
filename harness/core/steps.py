"""What follows from sums over users: whoever's part is at hand, the sums of parts add up.

A computation is a generator. It yields a step, a function of a part of the users that returns sums;
is sent their total over all parts, and yields the next step; at last it returns what it found. So
the same code serves all users at once, buckets of them on disk, and the partitions of a cluster.
Source: the summation form of Chu, Kim, Lin, Yu, Bradski, Ng and Olukotun, Map-Reduce for Machine
Learning on Multicore, NIPS 2006.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias, TypeVar

from harness.core.exact_sum import Sums, add

Part = TypeVar("Part")
Found = TypeVar("Found")
Step: TypeAlias = Callable[[Part], Sums]
"""What is added up over the parts: a function of one of them."""
Steps: TypeAlias = Generator[Step[Part], Sums, Found]
"""Steps, each made when the total of the one before it has been sent."""
Total: TypeAlias = Callable[[Step[Part]], Sums]
"""What adds a step up over all parts."""


def of_parts(parts: Callable[[], Iterable[Part]]) -> Total[Part]:
    """Return what adds up over parts that are at hand one after the other, as often as called."""

    def total(step: Step[Part]) -> Sums:
        nothing: Sums = {}
        return reduce(add, map(step, parts()), nothing)

    return total


def of_one(part: Part) -> Total[Part]:
    """Return what adds up over a single part, all users."""
    return of_parts(lambda: [part])


class Ended(NamedTuple):
    """What stands for a step where there is none, and holds what was found."""

    found: Any


def after(steps: Steps[Part, Any], total: Sums | None = None) -> Step[Part] | Ended:
    """Return the step after that of a total, or without one the first; `Ended` behind the last."""
    try:
        return steps.send(total)  # type: ignore[arg-type]  # None starts a generator
    except StopIteration as end:
        return Ended(end.value)


def found(steps: Steps[Part, Found], total: Total[Part]) -> Found:
    """Take all steps; return what they found.

    Examples
    --------
    The mean of numbers, whoever holds them:

    >>> import numpy as np
    >>> def mean():
    ...     sums = yield lambda part: {"sum": np.array([sum(part)]), "n": np.array([len(part)])}
    ...     return float(sums["sum"][0] / sums["n"][0])
    >>> found(mean(), of_parts(lambda: [[1, 2], [6]]))
    3.0
    """
    with closing(steps):
        step = after(steps)
        while not isinstance(step, Ended):
            step = after(steps, total(step))  # no name: a total would stay while the next is made
    return step.found  # type: ignore[no-any-return]


def one_step(step: Step[Part]) -> Steps[Part, Sums]:
    """Yield one step; return its total."""
    return (yield step)


def side_by_side(
    several: Sequence[Steps[Part, Any]], *, threads: bool = False
) -> Steps[Part, list[Any]]:
    """Yield the steps of several computations as one each, until all have ended.

    Parameters
    ----------
    threads : bool
        Whether steps may be taken by threads: not where they call a stranger's code.

    Returns
    -------
    list
        What each of them found.
    """
    with ExitStack() as stack:  # who is left waiting where a step fails, is told so
        for one in several:
            stack.enter_context(closing(one))
        states = [after(one) for one in several]
        while waiting := {at: s for at, s in enumerate(states) if not isinstance(s, Ended)}:
            total: Any = yield partial(_sums_of, waiting, threads)
            for at in waiting:
                states[at] = after(several[at], total.get(at, {}))
            del total  # it is let go before the next steps are taken
    return [state.found for state in states if isinstance(state, Ended)]


def _sums_of(steps: Mapping[int, Step[Part]], threads: bool, part: Part) -> Sums:
    if not threads:
        return {at: step(part) for at, step in steps.items()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy lets go of Python's lock
        return dict(zip(steps, pool.map(lambda step: step(part), steps.values()), strict=True))
