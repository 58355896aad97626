"""What every section of a config is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from harness.core.errors import suggest

UNKNOWN = "unknown_key"
"""The type of the fault of a key that there is not."""


class Section(BaseModel):
    """Keys with values: frozen, of exact types, no key unknown."""

    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, values: Any) -> Any:
        for key in values if isinstance(values, dict) else ():
            if key not in cls.model_fields:
                hint = suggest(str(key), cls.model_fields)
                message = 'has no key "{key}"; {hint}'
                raise PydanticCustomError(UNKNOWN, message, {"key": key, "hint": hint})
        return values
