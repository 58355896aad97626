"""Parameters that were removed: a call that still passes one is told what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from harness.core.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")

WHOLE = (
    "if events are in buckets, harness refuses models that learn from all events at once; allow "
    "more memory (--memory; in Python, memory=), choose other models (--model; models=), or use "
    "models that learn by sums"
)
"""What to do in place of `whole`, which `run` had in Python and as an option."""


def removed(**hints: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator: a call with one of these parameters raises UsageError with its hint."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, hint in hints.items():
                if name in kwargs:
                    raise UsageError(f"{function.__name__}: {name} was removed; {hint}")
            return function(*args, **kwargs)

        return call

    return decorate
