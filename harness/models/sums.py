"""Learning from sums over users: whoever's events are at hand, the sums of parts add up.

Users are divided into parts, each a `Train` of its own: its users and their events, all items, the
one cut-off. A recommender that learns from such sums never needs more than one part at a time, and
learns the same, to the last bit, however users are divided. It learns in a generator, which yields
a step, a function of a part that returns sums; is sent their total over all parts, and yields the
next. Source: the summation form of Chu, Kim, Lin, Yu, Bradski, Ng and Olukotun, Map-Reduce for
Machine Learning on Multicore, NIPS 2006.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np

from harness.core.exact_sum import Sums, Total, of_one
from harness.data.dataset import no_events
from harness.models.base import Train

Step: TypeAlias = Callable[[Train], Sums]
Steps: TypeAlias = Generator[Step, Sums, None]
"""What a recommender adds up over parts, each step made of the total of the one before it."""


class FromSums(ABC):
    """A recommender that learns from sums over users; `fit` follows from the two other methods.

    Examples
    --------
    The number of all events, which no division of users changes:

    >>> class Counted(FromSums):
    ...     def fit_steps(self, train):
    ...         total = yield lambda part: {"events": np.array([len(part.events)])}
    ...         self.n_events_ = int(total["events"][0])
    >>> from harness.testing import example_train
    >>> Counted().fit(example_train()).n_events_
    11
    """

    @abstractmethod
    def fit_steps(self, train: Train) -> Steps:
        """Yield what to add up, be sent the total, and learn from it; forget what was learnt.

        Parameters
        ----------
        train : Train
            The items, candidates, cut-off, event types and tables; it has no users and no events.

        Yields
        ------
        function of a Train
            Called with every part; in a part each item may be a candidate, so that candidates are
            those of `train` alone. Its sums are of whole numbers, which no order of adding changes,
            in arrays that it does not write to again.
        """

    def for_users(self, train: Train) -> Self:
        """Note whose lists are asked for next, after all steps, and return self.

        Parameters
        ----------
        train : Train
            Their part; its candidates are those of `fit_steps`.
        """
        return self

    def fit(self, train: Train) -> Self:
        """Learn from `train`, forget what was learnt before, and return self."""
        fit_all([steps_of(self, without_events(train))], of_one(train))
        return self.for_users(train)


def fits_in_parts(model: Any) -> bool:
    """Return whether a recommender has `fit_steps` and `for_users`, and all its `models` too."""
    models = getattr(model, "models", ())
    base_models = models if isinstance(models, list | tuple) else ()
    methods = (getattr(model, name, None) for name in ("fit_steps", "for_users"))
    return all(map(callable, methods)) and all(map(fits_in_parts, base_models))


def fit_all(steps: Sequence[Steps], total: Total[Train]) -> None:
    """Take all steps of several recommenders, those that wait in one pass over the parts.

    The recommenders have learnt then; `for_users` comes before they are asked for lists.
    """
    together = side_by_side(steps)
    with closing(together):
        step = after(together)
        while step is not None:
            # No name holds a total while the next is made.
            step = after(together, total(step))


def after(steps: Steps, total: Sums | None = None) -> Step | None:
    """Return the step after that of a total, or without one the first; None behind the last."""
    try:
        return steps.send(total)  # type: ignore[arg-type]  # None starts a generator
    except StopIteration:
        return None


def side_by_side(steps: Sequence[Steps]) -> Steps:
    """Yield the steps of several recommenders as one each, until all have learnt."""
    with ExitStack() as stack:  # where a step fails, the others are closed
        for of_model in steps:
            stack.enter_context(closing(of_model))
        waiting = {number: after(of_model) for number, of_model in enumerate(steps)}
        while waiting := {n: step for n, step in waiting.items() if step is not None}:
            total: Any = yield partial(_sums_of, waiting)
            # Taken out: the total of each is let go before the next one makes its step.
            waiting = {number: after(steps[number], total.pop(number, {})) for number in waiting}


def _sums_of(steps: Mapping[int, Step], part: Train) -> Sums:
    return {number: step(part) for number, step in steps.items()}


def steps_of(model: Any, train: Train) -> Steps:
    """Return the steps of a recommender; raise TypeError where `fit_steps` does not yield."""
    steps = model.fit_steps(train)
    if not isinstance(steps, Generator):
        name = type(steps).__name__
        raise TypeError(f"fit_steps returned {name}; expected a generator, so it must yield")
    return steps


def whole(sums: Sums) -> Sums:
    """Return sums that are of whole numbers.

    TypeError where they are not: a sum of others depends on the order in which it is made.
    """
    if not isinstance(sums, Mapping):
        raise TypeError(f"sums are {type(sums).__name__}; expected a dict of int64 arrays")
    for key, value in sums.items():
        if isinstance(value, Mapping):
            whole(value)
        elif getattr(value, "dtype", None) != np.int64:
            kind = getattr(value, "dtype", type(value).__name__)
            raise TypeError(f"the sums {key!r} are {kind}; expected an int64 array")
    return sums


def without_events(train: Train) -> Train:
    """Return what `fit_steps` is given: all but users and events."""
    dataset = replace(train.dataset, user_ids=train.user_ids.clear(), registered=None)
    return replace(train, dataset=dataset, events=no_events())
