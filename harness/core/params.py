"""What a parameter may be: each check names the parameter, what was found and what may be."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, time
from typing import Any

from harness.core.errors import in_toml

MOST_TRIALS = 1_000_000
"""Of a search; the option and the config know it by this."""


class ParameterError(ValueError):
    """A parameter that cannot be, or that does not go with the data: its user's to mend."""


def require_above(low: float, **parameters: object) -> None:
    """Raise ParameterError where a parameter is no number above `low`.

    >>> require_above(0, window_days=7)
    >>> require_above(0, window_days=0)
    Traceback (most recent call last):
    harness.core.params.ParameterError: window_days is 0; expected a number above 0
    """
    _require(parameters, lambda v: is_number(v) and v > low, f"expected a number above {low:g}")


def require_from(low: float, most: float = math.inf, **parameters: object) -> None:
    """Raise ParameterError where a parameter is no number from `low` up, or to `most`."""
    wanted = f", {low:g} or more" if most == math.inf else f" from {low:g} to {most:g}"
    _require(parameters, lambda v: is_number(v) and low <= v <= most, f"expected a number{wanted}")


def require_whole(low: int, **parameters: object) -> None:
    """Raise ParameterError where a parameter is no whole number from `low` up."""

    def is_right(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= low

    _require(parameters, is_right, f"expected a whole number, {low} or more")


def require_flag(**parameters: object) -> None:
    """Raise ParameterError where a parameter is neither true nor false."""
    _require(parameters, lambda value: isinstance(value, bool), "expected true or false")


def require_choice(choices: Sequence[str], **parameters: object) -> None:
    """Raise ParameterError where a parameter is none of the choices.

    >>> require_choice(["item", "candidate"], neighbours_of="user")
    Traceback (most recent call last):
    harness.core.params.ParameterError: neighbours_of is 'user'; allowed: item, candidate
    """
    allowed = f"allowed: {', '.join(choices)}"
    _require(parameters, lambda v: isinstance(v, str) and v in choices, allowed)


def _require(parameters: dict[str, Any], is_right: Callable[[Any], bool], expected: str) -> None:
    for name, value in parameters.items():
        if not is_right(value):
            raise ParameterError(f"{name} is {in_toml(value)}; {expected}")


def require_texts(**parameters: object) -> None:
    """Raise ParameterError where a parameter is no list of texts."""
    for name, value in parameters.items():
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            shown = f'["{value}"]' if isinstance(value, str) else 'as ["one", "two"]'
            raise ParameterError(f"{name} is {in_toml(value)}; expected a list of texts: {shown}")


def is_number(value: object) -> bool:
    """Return whether a parameter is a finite number; true and false are none."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def is_plain(value: object) -> bool:
    """Return whether a config can hold a value, and so may a record of it.

    >>> is_plain([1, {"a": "b"}]), is_plain(None), is_plain({1: "b"})
    (True, False, False)
    """
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_plain(held) for key, held in value.items())
    return isinstance(value, bool | int | float | str | date | time)


def require_models(models: object, most: int | None = None) -> None:
    """Raise ParameterError where a model's `models` is no list of recommenders, or of too many."""
    recommenders = list(models) if isinstance(models, (list, tuple)) else [models]
    for model in recommenders:
        if not all(callable(getattr(model, method, None)) for method in ("fit", "recommend")):
            raise ParameterError(
                f"models holds {model!r}, which has no fit and recommend; in a config, name "
                'other models in of, such as of = ["popular"]'
            )
    if not isinstance(models, (list, tuple)) or not recommenders:
        raise ParameterError(f"models is {models!r}; expected a list of one recommender or more")
    if most is not None and len(recommenders) > most:
        raise ParameterError(f"models holds {len(recommenders)} recommenders; expected {most}")
