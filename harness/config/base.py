"""What every section of a config is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Keys with values: frozen, of exact types, no key unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
