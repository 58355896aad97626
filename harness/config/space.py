"""The values that a model's parameters are searched in, and the record that a search leaves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from harness.config.paths import Section
from harness.core.errors import in_toml, suggest

SearchName = Literal["random", "grid", "tpe"]
_KEYS = ("low", "high", "log")


@dataclass(frozen=True)
class Range:
    """All numbers from `low` to `high`, both included; whole where both are.

    `log`: equal ratios are as likely as each other, instead of equal differences.
    """

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether the values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)


Domain = Range | tuple[Any, ...]
"""A range, or the values there are."""


def domains(space: Mapping[str, Any]) -> dict[str, Domain]:
    """Return what each parameter may be, in the order of the file.

    Raises
    ------
    ValueError
        A value is neither a list nor a range, or no parameter could be drawn from it.
    """
    return {name: _domain(f"space.{name}", value) for name, value in space.items()}


def _domain(where: str, value: Any) -> Domain:
    if isinstance(value, dict):
        return _range(where, value)
    if not isinstance(value, list):
        raise ValueError(
            f"{where} is {in_toml(value)}; expected a list of values, or a range such as "
            "{ low = 1, high = 100 }"
        )
    if not value:
        raise ValueError(f"{where} is an empty list; give it at least one value")
    texts = [in_toml(element) for element in value]
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"{where} holds {text} twice; name each value once")
    return tuple(value)


def _range(where: str, value: Mapping[str, Any]) -> Range:
    for key in value:
        if key not in _KEYS:
            raise ValueError(f'{where} has no key "{key}"; {suggest(key, _KEYS)}')
    for key in ("low", "high"):
        if key not in value:
            raise ValueError(f'{where} needs the key "{key}"; or write a list of values')
        end = value[key]
        is_number = isinstance(end, int | float) and not isinstance(end, bool)
        if not is_number or not math.isfinite(end):
            raise ValueError(f"{where}.{key} is {in_toml(end)}; expected a number")
    low, high, log = value["low"], value["high"], value.get("log", False)
    if not isinstance(log, bool):
        raise ValueError(f"{where}.log is {in_toml(log)}; expected true or false")
    if low >= high:
        raise ValueError(f"{where}: low = {low} is not below high = {high}")
    if log and low <= 0:
        raise ValueError(f"{where}: log = true needs low above 0, found low = {low}")
    return Range(low, high, log)


Space = Annotated[dict[str, Any], AfterValidator(lambda space: domains(space) and space)]
"""A `space` as it is written, checked."""


class TunedRecord(Section):
    """``tuned``: how parameters were found; `exam`: the inner evaluation set's fingerprint."""

    trials: Annotated[int, Field(ge=1)]
    search: SearchName
    seed: Annotated[int, Field(ge=0)]
    metric: str
    value: float
    exam: str
