"""The values that a model's parameters are searched in, and the record that a search leaves."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

from pydantic import (
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    Tag,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from harness.config.paths import Section
from harness.core.errors import in_toml

SearchName = Literal["random", "grid", "tpe"]


def _number(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:
        raise PydanticCustomError("number", "expected a finite number")
    return value


class Range(Section):
    """All numbers from `low` to `high`, both included; whole where both are.

    `log`: equal ratios are as likely as each other, instead of equal differences.
    """

    low: Annotated[float, PlainValidator(_number)]
    high: Annotated[float, PlainValidator(_number)]
    log: bool = False

    @model_validator(mode="after")
    def _from_low_to_high(self) -> Range:
        if self.low >= self.high:
            raise ValueError(f"has low = {self.low}, not below high = {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"has log = true and low = {self.low}; low must be above 0")
        return self

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        return {key: value for key, value in self if key in self.model_fields_set}

    @property
    def whole(self) -> bool:
        """Whether the values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def _values(values: Any) -> tuple[Any, ...]:
    if not isinstance(values, list | tuple) or not values:
        hint = "expected a list of values, or a range such as { low = 1, high = 100 }"
        raise PydanticCustomError("values", hint)
    texts = list(map(in_toml, values))
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"holds {text} twice; name each value once")
    return tuple(values)


_Values = Annotated[tuple[Any, ...], PlainValidator(_values), PlainSerializer(list)]
Domain = Range | tuple[Any, ...]  # a range, or the values there are
Space = dict[
    str,
    Annotated[
        Annotated[Range, Tag("range")] | Annotated[_Values, Tag("values")],
        Discriminator(lambda value: "range" if isinstance(value, dict | Range) else "values"),
    ],
]


class TunedRecord(Section):
    """``tuned``: how parameters were found; `exam`: the inner evaluation set's fingerprint."""

    trials: Annotated[int, Field(ge=1)]
    search: SearchName
    seed: Annotated[int, Field(ge=0)]
    metric: str
    value: float
    exam: str
